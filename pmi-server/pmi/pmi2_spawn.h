/*
 * pmi2_spawn - the spawn request of PMI-2, out of its frame.
 *
 *     ncmds=N;preputcount=N;ppkey0=..;ppval0=..;
 *     then for each: subcmd=..;maxprocs=N;argc=N;argv0=..;infokeycount=N;infokey0=..;infoval0=..;
 *
 * Here the order of fields counts.
 */
#ifndef PMI_SERVER_PMI_PMI2_SPAWN_H
#define PMI_SERVER_PMI_PMI2_SPAWN_H

#include "base/error.h"
#include "pmi-server/protocol/spawn_request.h"
#include "pmi-server/wire/pmi2_frame.h"

/* NULL with a few words on what is wrong. */
struct spawn_request *pmi2_spawn_parse(const struct pmi2_frame *frame, struct error *err);

#endif

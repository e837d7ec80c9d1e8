/*
 * spawn_private - PMIx_Spawn(): tasks that a task wants started.
 */
#ifndef PMI_SERVER_PMIX_SPAWN_PRIVATE_H
#define PMI_SERVER_PMIX_SPAWN_PRIVATE_H

#include "pmi-server/pmix/library.h"

/* openpmix's thread. */
pmix_status_t spawn_upcall(const pmix_proc_t *proc, const pmix_info_t job_info[], size_t ninfo,
                           const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t done,
                           void *cbdata);

#endif

/*
 * process_setup - what openpmix takes from the process that it is in: its variables, and where its
 * messages go; and what it does of these first, done once for all processes that are forked later.
 *
 * PMIx_server_init() begins with pmix_init_util(): parameter files are read, components are looked
 * for. This begins no thread, opens no descriptor that stays open, and is done once in a process.
 * The library exports it: PRRTE calls it, too. It is the same from openpmix 4.2 to 7.0.0 rc1.
 */
#ifndef PMI_SERVER_PMIX_PROCESS_SETUP_H
#define PMI_SERVER_PMIX_PROCESS_SETUP_H

#include <stdbool.h>

#include "base/error.h"
#include "pmi-server/pmix/library.h"

/* Before openpmix has threads: variables are set, and stay. Quiet: what openpmix says about itself
 * on stderr goes nowhere. -1 with a sentence: the descriptor that was set aside for its messages
 * is in use. */
int process_setup(bool quiet, struct error *err);
/* From now on it is known whether it was done in this process, or in one that was forked from
 * it. */
void process_setup_watch(void);
bool process_setup_was_done(void);
/* For servers in processes that are forked from this one, which has no threads, and has the
 * variables that they will have; it keeps them as they are. Nothing where it would fail. */
void process_setup_ahead(const struct pmix_library *library);

#endif

/*
 * flux_job - the row of Flux among the sources of nodes (batch_system.h): its own command says R.
 */
#ifndef LAUNCHER_SOURCE_FLUX_JOB_H
#define LAUNCHER_SOURCE_FLUX_JOB_H

#include "launcher/source/batch_system.h"

/* NULL with a sentence. */
struct node_list *flux_nodes(const struct batch_system *source, double now, struct error *err);

#endif

/*
 * kubernetes_job - the row of Kubernetes' MPI Operator among the sources of nodes (batch_system.h).
 */
#ifndef LAUNCHER_SOURCE_KUBERNETES_JOB_H
#define LAUNCHER_SOURCE_KUBERNETES_JOB_H

#include "launcher/source/batch_system.h"

/* This is the pod of a job's launcher, which has a list of the workers. */
bool kubernetes_is_there(void);
/* NULL with a sentence. */
struct node_list *kubernetes_nodes(const struct batch_system *source, double now,
                                   struct error *err);
char *kubernetes_identity(const struct batch_system *source);

#endif

/*
 * task_exit_private - tasks that have ended: owners see task_exit.h.
 */
#ifndef PMI_SERVER_PMIX_TASK_EXIT_PRIVATE_H
#define PMI_SERVER_PMIX_TASK_EXIT_PRIVATE_H

#include "pmi-server/pmix/server.h"

/* struct pmix_feature */
void task_exits_look(struct pmix_host *host);
double task_exits_end(const struct pmix_host *host);
void task_exits_free(struct pmix_job *job);

#endif

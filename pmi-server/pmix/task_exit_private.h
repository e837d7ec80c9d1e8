/*
 * task_exit_private - tasks that have ended, here and on other nodes: owners see task_exit.h.
 */
#ifndef PMI_SERVER_PMIX_TASK_EXIT_PRIVATE_H
#define PMI_SERVER_PMIX_TASK_EXIT_PRIVATE_H

#include "pmi-server/pmix/server.h"
#include "pmi-server/protocol/message.h"

/* What the service tells of tasks that ended badly; -1: malformed. */
int terminations_receive(struct pmix_host *host, struct message_down *talk);

/* struct pmix_feature */
void task_exits_look(struct pmix_host *host);
double task_exits_end(const struct pmix_host *host);
void task_exits_free(struct pmix_job *job);

#endif

/*
 * task_death_private - tasks that ended badly, here and on other nodes: owners see task_death.h.
 */
#ifndef PMI_SERVER_PMIX_TASK_DEATH_PRIVATE_H
#define PMI_SERVER_PMIX_TASK_DEATH_PRIVATE_H

#include "pmi-server/pmix/server.h"
#include "pmi-server/protocol/message.h"

/* What the service tells of tasks that ended badly; -1: malformed. */
int terminations_receive(struct pmix_host *host, struct message_down *talk);

#endif

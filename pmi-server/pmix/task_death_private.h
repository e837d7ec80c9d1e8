/*
 * task_death_private - tasks that ended badly, here and on other nodes: owners see task_death.h.
 */
#ifndef PMI_SERVER_PMIX_TASK_DEATH_PRIVATE_H
#define PMI_SERVER_PMIX_TASK_DEATH_PRIVATE_H

#include "pmi-server/pmix/server.h"
#include "pmi-server/protocol/message.h"

struct client;

/* What the service tells of tasks that ended badly; -1: malformed. */
int terminations_receive(struct pmix_host *host, struct message_down *talk);

/* openpmix's thread: may it read the end of this one's connection? */
bool task_death_may_be_read(struct client *client);

/* struct pmix_feature */
void task_deaths_look(struct pmix_host *host);
double task_deaths_end(const struct pmix_host *host);
void task_deaths_free(struct pmix_job *job);

#endif

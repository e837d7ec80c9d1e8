/*
 * collective - what members of several namespaces, or of a group, do together: fences of some,
 * connect, disconnect, groups.
 */
#ifndef PMI_SERVER_SERVICE_COLLECTIVE_H
#define PMI_SERVER_SERVICE_COLLECTIVE_H

#include "pmi-server/service/context.h"
#include "pmi-server/service/outbox.h"

int collectives_take(struct pmi_service *service, const struct requester *asked,
                     struct message_up *talk); /* -1: malformed */
/* A job that is over, and was removed, is a member of one that goes on: it is taken. */
bool collectives_keep(struct pmi_service *service, struct job *job);

/* struct service_feature */
void collectives_open(struct pmi_service *service);
void collectives_close(struct pmi_service *service);
void collectives_forget(struct pmi_service *service, const struct requester *asked);
void collectives_task_ended(struct pmi_service *service, const struct job *job, uint32_t rank);
void collectives_job_removed(struct pmi_service *service, const struct job *job);

#endif

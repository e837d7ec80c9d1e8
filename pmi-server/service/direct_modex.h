/*
 * direct_modex - what a task of another namespace has put, of which its node is asked.
 */
#ifndef PMI_SERVER_SERVICE_DIRECT_MODEX_H
#define PMI_SERVER_SERVICE_DIRECT_MODEX_H

#include "pmi-server/service/context.h"
#include "pmi-server/service/outbox.h"

/* -1: malformed. */
int direct_modexes_take(struct pmi_service *service, const struct requester *asked,
                        struct message_up *talk);
int direct_modexes_take_found(struct pmi_service *service, const struct requester *asked,
                              struct message_up *talk); /* what the node has found */

/* struct service_feature */
void direct_modexes_open(struct pmi_service *service);
void direct_modexes_close(struct pmi_service *service);
void direct_modexes_forget(struct pmi_service *service, const struct requester *asked);
void direct_modexes_job_removed(struct pmi_service *service, const struct job *job);

#endif

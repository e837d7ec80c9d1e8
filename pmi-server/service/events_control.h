/*
 * events_control - events, terminations and job control, brought to the nodes that they concern.
 */
#ifndef PMI_SERVER_SERVICE_EVENTS_CONTROL_H
#define PMI_SERVER_SERVICE_EVENTS_CONTROL_H

#include "pmi-server/service/outbox.h"

/* -1: malformed. */
int events_take(struct pmi_service *service, const struct requester *asked,
                struct message_up *talk);
int terminations_take(struct pmi_service *service, const struct requester *asked,
                      struct message_up *talk);
int control_take(struct pmi_service *service, const struct requester *asked,
                 struct message_up *talk);

/* struct service_feature */
void terminations_nodes_lost(struct pmi_service *service, const struct idset *nodes);

#endif

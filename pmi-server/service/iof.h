/*
 * iof - what tasks write, for tools, and what tools have tasks read: owners see service.h.
 */
#ifndef PMI_SERVER_SERVICE_IOF_H
#define PMI_SERVER_SERVICE_IOF_H

#include "pmi-server/service/context.h"
#include "pmi-server/service/outbox.h"

/* -1: malformed. */
int iof_take_pull(struct pmi_service *service, const struct requester *asked,
                  struct message_up *talk);
int iof_take_unpull(struct pmi_service *service, const struct requester *asked,
                    struct message_up *talk);
int iof_take_taken(struct pmi_service *service, const struct requester *asked,
                   struct message_up *talk); /* output has left the node */
int iof_take_push(struct pmi_service *service, const struct requester *asked,
                  struct message_up *talk);
int iof_take_pushed(struct pmi_service *service, const struct requester *asked,
                    struct message_up *talk); /* a node's tasks have room for more */

/* struct service_feature */
void iof_open(struct pmi_service *service);
void iof_close(struct pmi_service *service);

#endif

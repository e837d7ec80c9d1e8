/*
 * iof - what tasks write, for tools, and what tools have tasks read.
 */
#ifndef PMI_SERVER_SERVICE_IOF_H
#define PMI_SERVER_SERVICE_IOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmi-server/protocol/message.h"
#include "pmi-server/protocol/namespace.h"

struct pmi_service;
struct requester;

/* ---- for owners of a service ---- */

/* A task of that job wrote something: hosts whose tools want it are told. One that is behind by
 * SERVICE_WINDOW bytes loses what comes, and is told how much. */
void pmi_service_output(struct pmi_service *service, const char *job, uint32_t rank,
                        enum output_channel channel, const void *bytes, size_t len);
bool pmi_service_is_pulled(const struct pmi_service *service); /* else nothing comes of it */

/* ---- for the service: requests of hosts ---- */

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

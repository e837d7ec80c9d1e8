/*
 * query - what tasks ask about the program (PMIx_Query_info()).
 */
#ifndef PMI_SERVER_SERVICE_QUERY_H
#define PMI_SERVER_SERVICE_QUERY_H

#include "pmi-server/service/context.h"
#include "pmi-server/service/outbox.h"

/* -1: malformed. */
int queries_take(struct pmi_service *service, const struct requester *asked,
                 struct message_up *talk);
int queries_take_tasks(struct pmi_service *service, const struct requester *asked,
                       struct message_up *talk); /* what a node knows of its tasks */

/* struct service_feature */
void queries_open(struct pmi_service *service);
void queries_close(struct pmi_service *service);
void queries_forget(struct pmi_service *service, const struct requester *asked);
void queries_job_removed(struct pmi_service *service, const struct job *job);

#endif

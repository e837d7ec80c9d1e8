/*
 * publish_lookup - what tasks publish, look up and withdraw. The names are in the store
 * (name_store.h).
 */
#ifndef PMI_SERVER_SERVICE_PUBLISH_LOOKUP_H
#define PMI_SERVER_SERVICE_PUBLISH_LOOKUP_H

#include "pmi-server/protocol/message.h"
#include "pmi-server/protocol/published_name.h"

struct job;
struct pmi_service;
struct requester;

/* ---- for the service's owner ---- */

void pmi_service_names_changed(struct pmi_service *service); /* those of other programs */

/* PMI's: of text, for all, until the end, by no task in particular. */
enum reply_status pmi_service_publish_text(struct pmi_service *service, const char *job,
                                           const char *key, const char *text);
enum reply_status pmi_service_unpublish_text(struct pmi_service *service, const char *key);
/* The caller frees the text. REPLY_UNSUPPORTED: it is none. */
enum reply_status pmi_service_lookup_text(struct pmi_service *service, const char *job,
                                          const char *key, char **text);

/* ---- for the service ---- */

/* -1: malformed. */
int publish_lookup_take_publish(struct pmi_service *service, const struct requester *asked,
                                struct message_up *talk);
int publish_lookup_take_lookup(struct pmi_service *service, const struct requester *asked,
                               struct message_up *talk);
int publish_lookup_take_unpublish(struct pmi_service *service, const struct requester *asked,
                                  struct message_up *talk);
int publish_lookup_take_finalized(struct pmi_service *service, const struct requester *asked,
                                  struct message_up *talk);

/* struct service_feature */
void publish_lookup_open(struct pmi_service *service);
void publish_lookup_close(struct pmi_service *service);
void publish_lookup_forget(struct pmi_service *service, const struct requester *asked);
void publish_lookup_task_ended(struct pmi_service *service, const struct job *job, uint32_t rank);
void publish_lookup_job_removed(struct pmi_service *service, const struct job *job);

#endif

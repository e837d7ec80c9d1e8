/*
 * direct_modex_serve - direct modex on the node that is asked: what a task here has put and
 * committed.
 */
#ifndef PMI_SERVER_PMIX_DIRECT_MODEX_SERVE_H
#define PMI_SERVER_PMIX_DIRECT_MODEX_SERVE_H

#include "base/error.h"
#include "pmi-server/pmix/server.h"
#include "pmi-server/protocol/message.h"
#include "pmi-server/protocol/modex_message.h"

/* The answer is on its way to that node. */
typedef void direct_modex_reply(struct pmix_job *job, uint32_t node,
                                const struct modex_message *answer);

/* What node `from` wants of a task of this node; reply() follows, perhaps from inside. -1 with a
 * sentence: the task is of another node. */
int direct_modex_serve(struct pmix_job *job, uint32_t from, const struct modex_message *message,
                       direct_modex_reply *reply, struct error *err);
/* By order of the service, which is answered; -1: malformed. */
int direct_modex_serve_ordered(struct pmix_host *host, struct message_down *talk);
void direct_modex_serve_ended(struct pmix_job *job, uint32_t rank); /* it commits no more */

/* struct pmix_feature */
void direct_modex_serve_look(struct pmix_host *host);
double direct_modex_serve_end(const struct pmix_host *host);
void direct_modex_serve_free(struct pmix_job *job);

#endif

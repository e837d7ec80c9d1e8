/*
 * service_requests - what the program's service is asked in the name of a task, and answers.
 */
#ifndef PMI_SERVER_PMIX_SERVICE_REQUESTS_H
#define PMI_SERVER_PMIX_SERVICE_REQUESTS_H

#include "base/buf.h"
#include "pmi-server/pmix/upcall_queue.h"
#include "pmi-server/protocol/message.h"

/* `rest` is malformed if pack_ends() says so after it was read; with another status than REPLY_OK
 * there may be nothing. The event is freed after it. */
typedef void service_reply(struct pmix_host *host, struct upcall *event, enum reply_status status,
                           struct pack *rest);

/* In the name of event->proc (of nobody, if it has no namespace), with event->timeout (0: for
 * ever). What the event owns is the reply's event's from here on. NULL: no reply is wanted, and
 * nothing is taken. `rest` may be NULL. The reply may come before this returns. */
void service_request(struct pmix_host *host, struct upcall *event, enum service_request kind,
                     const struct buf *rest, service_reply *reply);
void service_put_procs(struct buf *rest,
                       const struct upcall *event); /* how many, and event->procs */
/* 0: whoever asked reads it, and may find it malformed. */
int service_replied(struct pmix_host *host, struct message_down *talk);
pmix_status_t service_status(enum reply_status status); /* in openpmix's words */

#endif

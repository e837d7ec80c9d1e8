/*
 * remote_namespace - namespaces of the program that have no task on this node.
 */
#ifndef PMI_SERVER_PMIX_REMOTE_NAMESPACE_H
#define PMI_SERVER_PMIX_REMOTE_NAMESPACE_H

#include "pmi-server/pmix/server.h"
#include "pmi-server/pmix/upcall_queue.h"
#include "pmi-server/protocol/message.h"

/* event->proc's and event->procs' namespaces are registered, if they are namespaces of the program,
 * and then goes on, with event->status; perhaps from inside. */
void remote_namespace_need(struct pmix_host *host, struct upcall *event,
                           void (*then)(struct pmix_host *host, struct upcall *event));
void remote_namespace_deny(struct pmix_host *host,
                           const char *name); /* after openpmix was told of none */
int remote_namespace_removed(struct pmix_host *host, struct message_down *talk); /* -1: malformed */
void remote_namespaces_free(struct pmix_host *host);
void remote_namespace_comes(
    struct pmix_job *job); /* struct pmix_feature; it is not remote any more */

#endif

/*
 * outbox - what the service says to the servers of nodes: replies and orders.
 *
 * What is said may be answered before these return: what is told of is unlinked before. `rest` may
 * be NULL.
 */
#ifndef PMI_SERVER_SERVICE_OUTBOX_H
#define PMI_SERVER_SERVICE_OUTBOX_H

#include "affinity/sets/idset.h"
#include "base/buf.h"
#include "pmi-server/protocol/message.h"

struct pmi_service;

/* Who asked; the feature that cannot answer at once keeps a copy. */
struct requester {
    uint32_t node;  /* whose server asked */
    uint64_t token; /* its number for it; 0: no answer is wanted */
};

void outbox_reply(struct pmi_service *service, const struct requester *asked,
                  enum reply_status status, const struct buf *rest);
void outbox_order(struct pmi_service *service, uint32_t node, enum order_kind kind,
                  const struct buf *rest);
void outbox_order_all(struct pmi_service *service, const struct idset *nodes, enum order_kind kind,
                      const struct buf *rest);

#endif

/* What the service says to the servers of nodes. */
#include "pmi-server/service/outbox.h"

#include "pmi-server/service/context.h"

static void outbox_send(struct pmi_service *service, uint32_t node, struct buf *head,
                        const struct buf *rest)
{
    if (rest)
        buf_add(head, buf_bytes(rest), rest->len);
    service->ops->tell(service->arg, node, buf_bytes(head), head->len);
    buf_free(head);
}

void outbox_reply(struct pmi_service *service, const struct requester *asked,
                  enum reply_status status, const struct buf *rest)
{
    struct buf head = BUF_INIT;
    if (!asked->token)
        return;
    message_put_down(&head, ORDER_ANSWER, asked->token, status);
    outbox_send(service, asked->node, &head, rest);
}

void outbox_order(struct pmi_service *service, uint32_t node, enum order_kind kind,
                  const struct buf *rest)
{
    struct buf head = BUF_INIT;
    message_put_down(&head, kind, 0, REPLY_OK);
    outbox_send(service, node, &head, rest);
}

void outbox_order_all(struct pmi_service *service, const struct idset *nodes, enum order_kind kind,
                      const struct buf *rest)
{
    IDSET_FOREACH(node, nodes)
    outbox_order(service, node, kind, rest);
}

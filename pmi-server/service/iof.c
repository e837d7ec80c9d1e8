/*
 * Streams: what tasks write, for tools that are connected to some host.
 *
 * A host is told once, however many of its tools want it, and gives back what has left it: tasks are
 * never held up for a tool, and no memory grows for one.
 */
#include "pmi-server/service/iof.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/sets/idset.h"
#include "base/mem.h"
#include "pmi-server/service/context.h"
#include "pmi-server/service/namespaces.h"
#include "pmi-server/service/outbox.h"

struct iof {
    struct puller *pullers; /* hosts whose tools want what tasks write */
    struct push *pushes;    /* that are not done */
    uint64_t npushes;       /* that there ever were */
};

struct pull {
    struct pull *next;
    unsigned channels;
    struct process_name *procs;
    uint32_t nprocs;
};

struct puller { /* a host */
    struct puller *next;
    uint32_t node;
    struct pull *pulls;
    unsigned npulls;
    size_t under_way;
    uint64_t lost; /* and not told of */
    bool loses;
    struct process_name loser; /* who wrote the last of it */
    enum output_channel channel;
};

/* ---- who wants what ---- */

static void pull_free(struct pull *pull)
{
    for (uint32_t i = 0; i < pull->nprocs; i++)
        free(pull->procs[i].job);
    free(pull->procs);
    free(pull);
}

static void puller_clear(struct puller *puller)
{
    while (puller->pulls) {
        struct pull *next = puller->pulls->next;
        pull_free(puller->pulls);
        puller->pulls = next;
    }
    puller->npulls = 0;
    puller->lost = 0;
}

static struct puller *puller_find(const struct pmi_service *service, uint32_t node)
{
    struct puller *puller = service->iof->pullers;
    while (puller && puller->node != node)
        puller = puller->next;
    return puller;
}

static struct pull *pull_read(struct pack *in)
{
    struct pull *pull = mem_alloc(sizeof(*pull));
    pull->channels = pack_u8(in);
    pull->nprocs = pack_count(in, 8);
    if (pull->nprocs > SERVICE_PULL_PROCS ||
        pull->channels & ~(unsigned)(CHANNEL_STDOUT | CHANNEL_STDERR)) {
        in->bad = true;
        pull->nprocs = 0;
    }
    pull->procs = mem_array(pull->nprocs, sizeof(*pull->procs));
    for (uint32_t i = 0; i < pull->nprocs; i++)
        pull->procs[i] = message_proc(in);
    return pull;
}

static enum reply_status pull_check(const struct pmi_service *service, const struct pull *pull)
{
    for (uint32_t i = 0; i < pull->nprocs; i++) {
        const struct job *job = namespaces_find(service, pull->procs[i].job);
        if (!job)
            return REPLY_NOT_FOUND;
        if (pull->procs[i].rank != SERVICE_ALL &&
            namespaces_node(job, pull->procs[i].rank) == UINT32_MAX)
            return REPLY_BAD;
    }
    return pull->nprocs && pull->channels ? REPLY_OK : REPLY_BAD;
}

int iof_take_pull(struct pmi_service *service, const struct requester *asked,
                  struct message_up *talk)
{
    struct pull *pull = pull_read(&talk->rest);
    bool good = pack_ends(&talk->rest);
    enum reply_status status = pull_check(service, pull);
    struct puller *puller = puller_find(service, asked->node);
    if (status == REPLY_OK && puller && puller->npulls == SERVICE_PULLS)
        status = REPLY_NOT_PERMITTED;
    if (good && status == REPLY_OK && !puller) {
        puller = mem_alloc(sizeof(*puller));
        puller->node = asked->node;
        puller->next = service->iof->pullers;
        service->iof->pullers = puller;
    }
    if (good && status == REPLY_OK) {
        pull->next = puller->pulls;
        puller->pulls = pull;
        puller->npulls++;
    } else {
        pull_free(pull);
    }
    if (good)
        outbox_reply(service, asked, status, NULL);
    return good ? 0 : -1;
}

int iof_take_unpull(struct pmi_service *service, const struct requester *asked,
                    struct message_up *talk)
{
    struct puller *puller = puller_find(service, asked->node);
    if (!pack_ends(&talk->rest))
        return -1;
    if (puller)
        puller_clear(puller);
    return 0;
}

/* ---- what is written ---- */

static bool wants(const struct puller *puller, const char *job, uint32_t rank,
                  enum output_channel channel)
{
    for (const struct pull *pull = puller->pulls; pull; pull = pull->next)
        for (uint32_t i = 0; i < pull->nprocs && pull->channels & channel; i++) {
            const struct process_name *wanted = &pull->procs[i];
            if ((wanted->rank == SERVICE_ALL || wanted->rank == rank) && !strcmp(wanted->job, job))
                return true;
        }
    return false;
}

static void tell_output(struct pmi_service *service, struct puller *puller, const char *job,
                        uint32_t rank, enum output_channel channel, const void *bytes, size_t len)
{
    struct buf rest = BUF_INIT;
    pack_put_u64(&rest, puller->lost);
    message_put_proc(&rest, job, rank);
    pack_put_u8(&rest, (uint8_t)channel);
    pack_put_bytes(&rest, bytes, len);
    puller->lost = 0;
    puller->loses = false;
    puller->under_way += len;
    outbox_order(service, puller->node, ORDER_OUTPUT, &rest);
    buf_free(&rest);
}

void pmi_service_output(struct pmi_service *service, const char *job, uint32_t rank,
                        enum output_channel channel, const void *bytes, size_t len)
{
    for (struct puller *puller = service->iof->pullers; puller && len; puller = puller->next) {
        if (!wants(puller, job, rank, channel))
            continue;
        if (puller->under_way + len <= SERVICE_WINDOW) {
            tell_output(service, puller, job, rank, channel, bytes, len);
            continue;
        }
        /* That something is missing is told at once, how much when there is room again. */
        puller->lost += len;
        if (!puller->loses)
            tell_output(service, puller, job, rank, channel, "", 0);
        puller->loses = true;
        free(puller->loser.job);
        puller->loser = (struct process_name){mem_copy_text(job), rank};
        puller->channel = channel;
    }
}

bool pmi_service_is_pulled(const struct pmi_service *service)
{
    for (const struct puller *puller = service->iof->pullers; puller; puller = puller->next)
        if (puller->pulls)
            return true;
    return false;
}

int iof_take_taken(struct pmi_service *service, const struct requester *asked,
                   struct message_up *talk)
{
    struct puller *puller = puller_find(service, asked->node);
    uint64_t bytes = pack_u64(&talk->rest);
    if (!pack_ends(&talk->rest) || !puller || bytes > puller->under_way)
        return -1;
    puller->under_way -= bytes;
    if (puller->lost && !puller->under_way) /* nothing may follow */
        tell_output(service, puller, puller->loser.job, puller->loser.rank, puller->channel, "", 0);
    return 0;
}

/*
 * Pushes: what tools have tasks read. One is done when all hosts that have some of these tasks say so.
 */

struct push {
    struct push *next;
    uint64_t number;
    struct requester asked;
    struct idset *nodes; /* whose hosts have yet to say something */
    enum reply_status status;
};

/* ---- asked ---- */

/* Where they are; `status` when there is something wrong. */
static struct idset *read_nodes(const struct pmi_service *service, struct pack *in,
                                enum reply_status *status)
{
    struct idset *nodes = idset_new();
    size_t len;
    uint32_t nprocs = pack_count(in, 8);
    for (uint32_t i = 0; i < nprocs; i++) {
        struct process_name proc = message_proc(in);
        const struct job *job = namespaces_find(service, proc.job);
        if (!job)
            *status = REPLY_NOT_FOUND;
        else if (proc.rank == SERVICE_ALL)
            namespaces_add_nodes(nodes, job);
        else if (namespaces_node(job, proc.rank) == UINT32_MAX)
            *status = REPLY_BAD;
        else
            idset_add(nodes, namespaces_node(job, proc.rank));
        free(proc.job);
    }
    pack_u8(in);
    pack_bytes(in, &len);
    if (len > SERVICE_PUSH_MAX)
        in->bad = true;
    return nodes;
}

int iof_take_push(struct pmi_service *service, const struct requester *asked,
                  struct message_up *talk)
{
    enum reply_status status = REPLY_OK;
    const void *bytes = talk->rest.at;
    size_t len = talk->rest.left;
    struct idset *nodes = read_nodes(service, &talk->rest, &status);
    bool good = pack_ends(&talk->rest);
    unsigned count = 0; /* of this host */
    for (const struct push *push = service->iof->pushes; push; push = push->next)
        count += push->asked.node == asked->node;
    if (status == REPLY_OK && count == SERVICE_PUSHES)
        status = REPLY_NOT_PERMITTED;
    if (status == REPLY_OK && idset_empty(nodes))
        status = REPLY_BAD;
    if (good && status == REPLY_OK) {
        struct push *push = mem_alloc(sizeof(*push));
        *push = (struct push){service->iof->pushes, ++service->iof->npushes, *asked,
                              idset_copy(nodes), REPLY_OK};
        service->iof->pushes = push;
        struct buf rest = BUF_INIT;
        pack_put_u64(&rest, push->number);
        buf_add(&rest, bytes, len);
        outbox_order_all(service, nodes, ORDER_PUSH, &rest); /* it may be done after the first */
        buf_free(&rest);
    } else if (good) {
        outbox_reply(service, asked, status, NULL);
    }
    idset_free(nodes);
    return good ? 0 : -1;
}

/* ---- done ---- */

static void push_free(struct push *push)
{
    idset_free(push->nodes);
    free(push);
}

int iof_take_pushed(struct pmi_service *service, const struct requester *asked,
                    struct message_up *talk)
{
    uint64_t number = pack_u64(&talk->rest);
    uint8_t status = pack_u8(&talk->rest);
    struct push **at = &service->iof->pushes, *push;
    if (!pack_ends(&talk->rest) || status >= REPLY_NSTATUS)
        return -1;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    if (!(push = *at) || !idset_has(push->nodes, asked->node))
        return -1;
    idset_remove(push->nodes, asked->node);
    if (status != REPLY_OK)
        push->status = status;
    if (!idset_empty(push->nodes))
        return 0;
    *at = push->next;
    outbox_reply(service, &push->asked, push->status, NULL);
    push_free(push);
    return 0;
}

/* ---- life ---- */

void iof_open(struct pmi_service *service)
{
    service->iof = mem_alloc(sizeof(*service->iof));
}

void iof_close(struct pmi_service *service)
{
    while (service->iof->pullers) {
        struct puller *next = service->iof->pullers->next;
        puller_clear(service->iof->pullers);
        free(service->iof->pullers->loser.job);
        free(service->iof->pullers);
        service->iof->pullers = next;
    }
    while (service->iof->pushes) {
        struct push *next = service->iof->pushes->next;
        push_free(service->iof->pushes);
        service->iof->pushes = next;
    }
    free(service->iof);
}

/*
 * Streams: what tasks write, for tools that are connected to some host.
 *
 * A host is told once, however many of its tools want it, and gives back what has left it: tasks are
 * never held up for a tool, and no memory grows for one.
 */
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/idset.h"
#include "base/mem.h"
#include "pmi-server/service/internal.h"

struct pull {
    struct pull *next;
    unsigned channels;
    struct hub_proc *procs;
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
    struct hub_proc loser; /* who wrote the last of it */
    enum hub_channel channel;
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

static struct puller *puller_find(const struct hub *hub, uint32_t node)
{
    struct puller *puller = hub->pullers;
    while (puller && puller->node != node)
        puller = puller->next;
    return puller;
}

static struct puller *puller_get(struct hub *hub, uint32_t node)
{
    struct puller *puller = puller_find(hub, node);
    if (puller)
        return puller;
    puller = mem_alloc(sizeof(*puller));
    puller->node = node;
    puller->next = hub->pullers;
    hub->pullers = puller;
    return puller;
}

static struct pull *pull_read(struct packet *in)
{
    struct pull *pull = mem_alloc(sizeof(*pull));
    pull->channels = packet_u8(in);
    pull->nprocs = packet_count(in, 8);
    if (pull->nprocs > HUB_PULL_PROCS || pull->channels & ~(unsigned)(HUB_STDOUT | HUB_STDERR)) {
        in->bad = true;
        pull->nprocs = 0;
    }
    pull->procs = mem_array(pull->nprocs, sizeof(*pull->procs));
    for (uint32_t i = 0; i < pull->nprocs; i++)
        pull->procs[i] = talk_proc(in);
    return pull;
}

static enum hub_status pull_check(const struct hub *hub, const struct pull *pull)
{
    for (uint32_t i = 0; i < pull->nprocs; i++) {
        const struct job *job = hub_job(hub, pull->procs[i].job);
        if (!job)
            return HUB_NOT_FOUND;
        if (pull->procs[i].rank != HUB_ALL && hub_node(job, pull->procs[i].rank) == UINT32_MAX)
            return HUB_BAD;
    }
    return pull->nprocs && pull->channels ? HUB_OK : HUB_BAD;
}

int streams_pull(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    struct pull *pull = pull_read(&talk->rest);
    bool good = packet_ends(&talk->rest);
    enum hub_status status = pull_check(hub, pull);
    struct puller *puller = good && status == HUB_OK ? puller_get(hub, asked->node) : NULL;
    if (puller && puller->npulls == HUB_PULLS) {
        status = HUB_NOT_PERMITTED;
        puller = NULL;
    }
    if (puller) {
        pull->next = puller->pulls;
        puller->pulls = pull;
        puller->npulls++;
    } else {
        pull_free(pull);
    }
    if (good)
        hub_answer(hub, asked, status, NULL);
    return good ? 0 : -1;
}

int streams_unpull(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    struct puller *puller = puller_find(hub, asked->node);
    if (!packet_ends(&talk->rest))
        return -1;
    if (puller)
        puller_clear(puller);
    return 0;
}

/* ---- what is written ---- */

static bool proc_is(const struct hub_proc *wanted, const char *job, uint32_t rank)
{
    return (wanted->rank == HUB_ALL || wanted->rank == rank) && !strcmp(wanted->job, job);
}

static bool wants(const struct puller *puller, const char *job, uint32_t rank,
                  enum hub_channel channel)
{
    for (const struct pull *pull = puller->pulls; pull; pull = pull->next)
        for (uint32_t i = 0; i < pull->nprocs && pull->channels & channel; i++)
            if (proc_is(&pull->procs[i], job, rank))
                return true;
    return false;
}

static void tell_output(struct hub *hub, struct puller *puller, const char *job, uint32_t rank,
                        enum hub_channel channel, const void *bytes, size_t len)
{
    struct buf rest = BUF_INIT;
    packet_put_u64(&rest, puller->lost);
    talk_put_proc(&rest, job, rank);
    packet_put_u8(&rest, (uint8_t)channel);
    packet_put_bytes(&rest, bytes, len);
    puller->lost = 0;
    puller->loses = false;
    puller->under_way += len;
    hub_order(hub, puller->node, ORDER_OUTPUT, &rest);
    buf_free(&rest);
}

/* That something is missing is told at once, how much when there is room again. */
static void lose(struct hub *hub, struct puller *puller, const char *job, uint32_t rank,
                 enum hub_channel channel, size_t len)
{
    puller->lost += len;
    if (!puller->loses)
        tell_output(hub, puller, job, rank, channel, "", 0);
    puller->loses = true;
    free(puller->loser.job);
    puller->loser = (struct hub_proc){mem_copy_text(job), rank};
    puller->channel = channel;
}

void hub_output(struct hub *hub, const char *job, uint32_t rank, enum hub_channel channel,
                const void *bytes, size_t len)
{
    for (struct puller *puller = hub->pullers; puller && len; puller = puller->next) {
        if (!wants(puller, job, rank, channel))
            continue;
        if (puller->under_way + len > HUB_WINDOW)
            lose(hub, puller, job, rank, channel, len);
        else
            tell_output(hub, puller, job, rank, channel, bytes, len);
    }
}

bool hub_is_pulled(const struct hub *hub)
{
    for (const struct puller *puller = hub->pullers; puller; puller = puller->next)
        if (puller->pulls)
            return true;
    return false;
}

int streams_taken(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    struct puller *puller = puller_find(hub, asked->node);
    uint64_t bytes = packet_u64(&talk->rest);
    if (!packet_ends(&talk->rest) || !puller || bytes > puller->under_way)
        return -1;
    puller->under_way -= bytes;
    if (puller->lost && !puller->under_way) /* nothing may follow */
        tell_output(hub, puller, puller->loser.job, puller->loser.rank, puller->channel, "", 0);
    return 0;
}

void streams_free(struct hub *hub)
{
    while (hub->pullers) {
        struct puller *next = hub->pullers->next;
        puller_clear(hub->pullers);
        free(hub->pullers->loser.job);
        free(hub->pullers);
        hub->pullers = next;
    }
}

/*
 * Pushes: what tools have tasks read. One is done when all hosts that have some of these tasks say so.
 */

struct push {
    struct push *next;
    uint64_t number;
    struct asked asked;
    struct idset *nodes; /* whose hosts have yet to say something */
    enum hub_status status;
};

/* ---- asked ---- */

static unsigned count_of(const struct hub *hub, uint32_t node)
{
    unsigned count = 0;
    for (const struct push *push = hub->pushes; push; push = push->next)
        count += push->asked.node == node;
    return count;
}

static void add_nodes(struct idset *nodes, const struct job *job, uint32_t rank)
{
    for (uint32_t i = 0; rank == HUB_ALL && i < job->map->nnodes; i++)
        idset_add(nodes, job->node[i]);
    if (rank != HUB_ALL)
        idset_add(nodes, hub_node(job, rank));
}

/* Where they are; `status` when there is something wrong. */
static struct idset *read_nodes(const struct hub *hub, struct packet *in, enum hub_status *status)
{
    struct idset *nodes = idset_new();
    size_t len;
    uint32_t nprocs = packet_count(in, 8);
    for (uint32_t i = 0; i < nprocs; i++) {
        struct hub_proc proc = talk_proc(in);
        const struct job *job = hub_job(hub, proc.job);
        if (!job)
            *status = HUB_NOT_FOUND;
        else if (proc.rank != HUB_ALL && hub_node(job, proc.rank) == UINT32_MAX)
            *status = HUB_BAD;
        else
            add_nodes(nodes, job, proc.rank);
        free(proc.job);
    }
    packet_u8(in);
    packet_bytes(in, &len);
    if (len > HUB_PUSH_MAX)
        in->bad = true;
    return nodes;
}

static void send(struct hub *hub, struct idset *nodes, const void *bytes, size_t len)
{
    struct push *push = hub->pushes;
    struct buf rest = BUF_INIT;
    packet_put_u64(&rest, push->number);
    buf_add(&rest, bytes, len);
    IDSET_FOREACH(node, nodes)
    hub_order(hub, node, ORDER_PUSH, &rest);
    buf_free(&rest);
}

int push_asked(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    enum hub_status status = HUB_OK;
    const void *bytes = talk->rest.at;
    size_t len = talk->rest.left;
    struct idset *nodes = read_nodes(hub, &talk->rest, &status);
    bool good = packet_ends(&talk->rest);
    if (status == HUB_OK && count_of(hub, asked->node) == HUB_PUSHES)
        status = HUB_NOT_PERMITTED;
    if (status == HUB_OK && idset_empty(nodes))
        status = HUB_BAD;
    if (good && status == HUB_OK) {
        struct push *push = mem_alloc(sizeof(*push));
        *push = (struct push){hub->pushes, ++hub->npushes, *asked, idset_copy(nodes), HUB_OK};
        hub->pushes = push;
        send(hub, nodes, bytes, len);
    } else if (good) {
        hub_answer(hub, asked, status, NULL);
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

int push_done(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    uint64_t number = packet_u64(&talk->rest);
    uint8_t status = packet_u8(&talk->rest);
    struct push **at = &hub->pushes, *push;
    if (!packet_ends(&talk->rest) || status >= HUB_NSTATUS)
        return -1;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    if (!(push = *at) || !idset_has(push->nodes, asked->node))
        return -1;
    idset_remove(push->nodes, asked->node);
    if (status != HUB_OK)
        push->status = status;
    if (!idset_empty(push->nodes))
        return 0;
    *at = push->next;
    hub_answer(hub, &push->asked, push->status, NULL);
    push_free(push);
    return 0;
}

void pushes_free(struct hub *hub)
{
    while (hub->pushes) {
        struct push *next = hub->pushes->next;
        push_free(hub->pushes);
        hub->pushes = next;
    }
}

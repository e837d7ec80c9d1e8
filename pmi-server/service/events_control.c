/*
 * Events of tasks: the hosts of those that they concern are told. The host of who made one has told
 * its own tasks already. Nothing is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "pmi-server/service/internal.h"

static struct idset *program_nodes(const struct hub *hub)
{
    struct idset *nodes = idset_new();
    for (const struct job *job = hub->jobs; job; job = job->next)
        hub_add_nodes(nodes, job);
    return nodes;
}

static struct idset *job_nodes(const struct hub *hub, const char *name)
{
    struct idset *nodes = idset_new();
    const struct job *job = hub_job(hub, name);
    if (job)
        hub_add_nodes(nodes, job);
    return nodes;
}

/* Whoever is not there any more is left out. */
static struct idset *nodes_of(const struct hub *hub, const struct hub_proc *procs, uint32_t count)
{
    struct idset *nodes = idset_new();
    for (uint32_t i = 0; i < count; i++) {
        const struct job *job = hub_job(hub, procs[i].job);
        uint32_t node = job ? hub_node(job, procs[i].rank) : UINT32_MAX;
        if (node != UINT32_MAX)
            idset_add(nodes, node);
        else if (job && procs[i].rank == HUB_ALL)
            hub_add_nodes(nodes, job);
    }
    return nodes;
}

static void events_tell(struct hub *hub, const struct talk_up *talk, const struct idset *nodes,
                        const void *bytes, size_t len)
{
    struct buf rest = BUF_INIT;
    talk_put_proc(&rest, talk->from.job, talk->from.rank);
    packet_put_bytes(&rest, bytes, len);
    IDSET_FOREACH(node, nodes)
    hub_order(hub, node, ORDER_NOTIFY, &rest);
    buf_free(&rest);
}

int events_take(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    size_t len;
    uint32_t count;
    uint8_t reach = packet_u8(&talk->rest);
    struct hub_proc *procs = talk_procs(&talk->rest, &count);
    const void *bytes = packet_bytes(&talk->rest, &len);
    int rc = packet_ends(&talk->rest) && reach < HUB_NREACHES ? 0 : -1;
    if (rc == 0) {
        struct idset *nodes = reach == HUB_REACH_SOME  ? nodes_of(hub, procs, count)
                              : reach == HUB_REACH_JOB ? job_nodes(hub, talk->from.job)
                                                       : program_nodes(hub);
        idset_remove(nodes, asked->node);
        events_tell(hub, talk, nodes, bytes, len);
        idset_free(nodes);
        hub_answer(hub, asked, HUB_OK, NULL);
    }
    talk_free_procs(procs, count);
    return rc;
}

/*
 * Deaths: tasks that ended badly, and those that went with their node. The hosts of their job are
 * told, and of those that are connected to it.
 */

/* Their names are added, and their nodes; how many they are. */
static uint32_t audience(const struct hub *hub, const struct job *job, struct buf *names,
                         struct idset *nodes)
{
    uint32_t count = 0;
    for (const struct job *other = hub->jobs; other; other = other->next) {
        if (other != job && !bonds_tied(hub, job, other))
            continue;
        packet_put_text(names, other->name);
        hub_add_nodes(nodes, other);
        count++;
    }
    return count;
}

static void deaths_tell(struct hub *hub, const struct job *job, const struct hub_death *death,
                        const struct idset *without)
{
    struct buf rest = BUF_INIT, names = BUF_INIT;
    struct idset *nodes = idset_new();
    uint32_t count = audience(hub, job, &names, nodes);
    packet_put_text(&rest, job->name);
    talk_put_death(&rest, death);
    talk_put_ranks(&rest, death->ranks);
    packet_put_u32(&rest, count);
    buf_add(&rest, buf_bytes(&names), names.len);
    IDSET_FOREACH(node, nodes)
    if (!without || !idset_has(without, node))
        hub_order(hub, node, ORDER_DIED, &rest);
    idset_free(nodes);
    buf_free(&names);
    buf_free(&rest);
}

/* A rank is told of once. */
static void died(struct hub *hub, struct job *job, const struct hub_death *death,
                 const struct idset *without)
{
    struct hub_death now = *death;
    now.ranks = idset_subtract(death->ranks, job->ended);
    if (!idset_empty(now.ranks))
        deaths_tell(hub, job, &now, without);
    IDSET_FOREACH(rank, now.ranks)
    hub_ended(hub, job->name, rank);
    idset_free(now.ranks);
}

int deaths_take(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    struct hub_death death = talk_death(&talk->rest);
    struct job *job = hub_job(hub, talk->from.job);
    if (!packet_ends(&talk->rest))
        return -1;
    if (!job || hub_node(job, talk->from.rank) != asked->node)
        return 0;
    death.ranks = idset_new();
    idset_add(death.ranks, talk->from.rank);
    died(hub, job, &death, NULL);
    idset_free(death.ranks);
    return 0;
}

void hub_lost(struct hub *hub, const struct idset *nodes)
{
    for (struct job *job = hub->jobs; job; job = job->next) {
        struct hub_death death = {.how = HUB_LOST, .ranks = idset_new()};
        for (uint32_t i = 0; i < job->map->nnodes; i++) {
            if (!idset_has(nodes, job->node[i]))
                continue;
            struct idset *there = taskmap_ranks(job->map, i);
            struct idset *both = idset_union(death.ranks, there);
            idset_free(there);
            idset_free(death.ranks);
            death.ranks = both;
        }
        died(hub, job, &death, nodes);
        idset_free(death.ranks);
    }
}

/*
 * Control: what a task wants done to tasks of its program, brought to the hosts that have them. All
 * of a program may do that to all of it, which is meant where nobody is named. The answer is that the
 * hosts were told.
 */

struct order {
    const struct hub_proc *from;
    uint8_t action;
    uint32_t number;
};

/* `ranks` of the job, by node. */
static void send(struct hub *hub, const struct order *order, const struct job *job,
                 const struct idset *ranks)
{
    for (uint32_t i = 0; i < job->map->nnodes; i++) {
        struct idset *there = taskmap_ranks(job->map, i);
        struct idset *both = idset_intersect(there, ranks);
        struct buf rest = BUF_INIT;
        talk_put_proc(&rest, order->from->job, order->from->rank);
        packet_put_text(&rest, job->name);
        talk_put_ranks(&rest, both);
        packet_put_u8(&rest, order->action);
        packet_put_u32(&rest, order->number);
        if (!idset_empty(both))
            hub_order(hub, job->node[i], ORDER_CONTROL, &rest);
        buf_free(&rest);
        idset_free(both);
        idset_free(there);
    }
}

static struct idset *ranks_of(const struct job *job, const struct hub_proc *procs, uint32_t count)
{
    struct idset *ranks = idset_new();
    if (!count)
        idset_add_range(ranks, 0, (uint32_t)job->map->ntasks - 1);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(procs[i].job, job->name) != 0)
            continue;
        if (procs[i].rank == HUB_ALL)
            idset_add_range(ranks, 0, (uint32_t)job->map->ntasks - 1);
        else
            idset_add(ranks, procs[i].rank);
    }
    return ranks;
}

static bool are_there(const struct hub *hub, const struct hub_proc *procs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct job *job = hub_job(hub, procs[i].job);
        if (!job || (procs[i].rank != HUB_ALL && hub_node(job, procs[i].rank) == UINT32_MAX))
            return false;
    }
    return true;
}

int control_take(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    uint32_t count;
    struct order order = {&talk->from, packet_u8(&talk->rest), 0};
    order.number = packet_u32(&talk->rest);
    struct hub_proc *procs = talk_procs(&talk->rest, &count);
    int rc = packet_ends(&talk->rest) && order.action < HUB_NACTIONS ? 0 : -1;
    bool good = rc == 0 && are_there(hub, procs, count);
    for (const struct job *job = hub->jobs; good && job; job = job->next) {
        struct idset *ranks = ranks_of(job, procs, count);
        send(hub, &order, job, ranks);
        idset_free(ranks);
    }
    if (rc == 0)
        hub_answer(hub, asked, good ? HUB_OK : HUB_NOT_FOUND, NULL);
    talk_free_procs(procs, count);
    return rc;
}

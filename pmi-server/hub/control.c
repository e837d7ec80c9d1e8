/*
 * Control: what a task wants done to tasks of its program, brought to the hosts that have them. All
 * of a program may do that to all of it, which is meant where nobody is named. The answer is that the
 * hosts were told.
 */
#include <stdlib.h>
#include <string.h>

#include "pmi-server/hub/inside.h"

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

/*
 * Deaths: tasks that ended badly, and those that went with their node. The hosts of their job are
 * told, and of those that are connected to it.
 */
#include "pmi-server/hub/inside.h"

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

static void tell(struct hub *hub, const struct job *job, const struct hub_death *death,
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
        tell(hub, job, &now, without);
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

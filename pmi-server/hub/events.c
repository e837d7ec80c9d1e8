/*
 * Events of tasks: the hosts of those that they concern are told. The host of who made one has told
 * its own tasks already. Nothing is kept.
 */
#include "pmi-server/hub/inside.h"

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

static void tell(struct hub *hub, const struct talk_up *talk, const struct idset *nodes,
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
        tell(hub, talk, nodes, bytes, len);
        idset_free(nodes);
        hub_answer(hub, asked, HUB_OK, NULL);
    }
    talk_free_procs(procs, count);
    return rc;
}

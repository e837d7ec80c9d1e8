/*
 * Events of tasks: the hosts of those that they concern are told. The host of who made one has told
 * its own tasks already. Nothing is kept.
 */
#include "pmi-server/service/events_control.h"

#include <stdlib.h>
#include <string.h>

#include "pmi-server/service/namespaces.h"
#include "pmi-server/service/outbox.h"

/* Those of whom an event concerns; who is not there any more is left out. */
static struct idset *nodes_of(const struct pmi_service *service, uint8_t reach, const char *from,
                              const struct process_name *procs, uint32_t count)
{
    struct idset *nodes = idset_new();
    for (const struct job *job = service->jobs; job; job = job->next)
        if (reach == REACH_PROGRAM || (reach == REACH_JOB && strcmp(job->name, from) == 0))
            namespaces_add_nodes(nodes, job);
    for (uint32_t i = 0; reach == REACH_SOME && i < count; i++) {
        const struct job *job = namespaces_find(service, procs[i].job);
        uint32_t node = job ? namespaces_node(job, procs[i].rank) : UINT32_MAX;
        if (node != UINT32_MAX)
            idset_add(nodes, node);
        else if (job && procs[i].rank == SERVICE_ALL)
            namespaces_add_nodes(nodes, job);
    }
    return nodes;
}

int events_take(struct pmi_service *service, const struct requester *asked, struct message_up *talk)
{
    size_t len;
    uint32_t count;
    uint8_t reach = pack_u8(&talk->rest);
    struct process_name *procs = message_procs(&talk->rest, &count);
    const void *bytes = pack_bytes(&talk->rest, &len);
    int rc = pack_ends(&talk->rest) && reach < REACH_NREACHES ? 0 : -1;
    if (rc == 0) {
        struct idset *nodes = nodes_of(service, reach, talk->from.job, procs, count);
        struct buf rest = BUF_INIT;
        idset_remove(nodes, asked->node);
        message_put_proc(&rest, talk->from.job, talk->from.rank);
        pack_put_bytes(&rest, bytes, len);
        outbox_order_all(service, nodes, ORDER_NOTIFY, &rest);
        buf_free(&rest);
        idset_free(nodes);
        outbox_reply(service, asked, REPLY_OK, NULL);
    }
    message_free_procs(procs, count);
    return rc;
}

/*
 * Deaths: tasks that ended badly, and those that went with their node. The hosts of their job are
 * told, and of those that are connected to it.
 */

static void deaths_tell(struct pmi_service *service, const struct job *job,
                        const struct termination *death, const struct idset *without)
{
    struct buf rest = BUF_INIT, names = BUF_INIT;
    struct idset *nodes = idset_new();
    uint32_t count = 0;
    for (const struct job *other = service->jobs; other; other = other->next) {
        if (other != job && !namespaces_tied(service, job, other))
            continue;
        pack_put_text(&names, other->name);
        namespaces_add_nodes(nodes, other);
        count++;
    }
    pack_put_text(&rest, job->name);
    message_put_death(&rest, death);
    message_put_ranks(&rest, death->ranks);
    pack_put_u32(&rest, count);
    buf_add(&rest, buf_bytes(&names), names.len);
    IDSET_FOREACH(node, nodes)
    if (!without || !idset_has(without, node))
        outbox_order(service, node, ORDER_DIED, &rest);
    idset_free(nodes);
    buf_free(&names);
    buf_free(&rest);
}

/* A rank is told of once. */
static void died(struct pmi_service *service, struct job *job, const struct termination *death,
                 const struct idset *without)
{
    struct termination now = *death;
    now.ranks = idset_subtract(death->ranks, job->ended);
    if (!idset_empty(now.ranks))
        deaths_tell(service, job, &now, without);
    IDSET_FOREACH(rank, now.ranks)
    namespaces_task_ended(service, job, rank);
    idset_free(now.ranks);
}

int terminations_take(struct pmi_service *service, const struct requester *asked,
                      struct message_up *talk)
{
    struct termination death = message_death(&talk->rest);
    struct job *job = namespaces_find(service, talk->from.job);
    if (!pack_ends(&talk->rest))
        return -1;
    if (!job || namespaces_node(job, talk->from.rank) != asked->node)
        return 0;
    death.ranks = idset_new();
    idset_add(death.ranks, talk->from.rank);
    died(service, job, &death, NULL);
    idset_free(death.ranks);
    return 0;
}

void terminations_nodes_lost(struct pmi_service *service, const struct idset *nodes)
{
    for (struct job *job = service->jobs; job; job = job->next) {
        struct termination death = {.how = ENDED_LOST, .ranks = idset_new()};
        for (uint32_t i = 0; i < job->map->nnodes; i++) {
            if (!idset_has(nodes, job->node[i]))
                continue;
            struct idset *there = taskmap_ranks(job->map, i);
            struct idset *both = idset_union(death.ranks, there);
            idset_free(there);
            idset_free(death.ranks);
            death.ranks = both;
        }
        died(service, job, &death, nodes);
        idset_free(death.ranks);
    }
}

/*
 * Control: what a task wants done to tasks of its program, brought to the hosts that have them. All
 * of a program may do that to all of it, which is meant where nobody is named. The answer is that the
 * hosts were told.
 */

struct order {
    const struct process_name *from;
    uint8_t action;
    uint32_t number;
};

/* `ranks` of the job, by node. */
static void events_control_send(struct pmi_service *service, const struct order *order,
                                const struct job *job, const struct idset *ranks)
{
    for (uint32_t i = 0; i < job->map->nnodes; i++) {
        struct idset *there = taskmap_ranks(job->map, i);
        struct idset *both = idset_intersect(there, ranks);
        struct buf rest = BUF_INIT;
        message_put_proc(&rest, order->from->job, order->from->rank);
        pack_put_text(&rest, job->name);
        message_put_ranks(&rest, both);
        pack_put_u8(&rest, order->action);
        pack_put_u32(&rest, order->number);
        if (!idset_empty(both))
            outbox_order(service, job->node[i], ORDER_CONTROL, &rest);
        buf_free(&rest);
        idset_free(both);
        idset_free(there);
    }
}

static struct idset *ranks_of(const struct job *job, const struct process_name *procs,
                              uint32_t count)
{
    struct idset *ranks = idset_new();
    if (!count)
        idset_add_range(ranks, 0, (uint32_t)job->map->ntasks - 1);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(procs[i].job, job->name) != 0)
            continue;
        if (procs[i].rank == SERVICE_ALL)
            idset_add_range(ranks, 0, (uint32_t)job->map->ntasks - 1);
        else
            idset_add(ranks, procs[i].rank);
    }
    return ranks;
}

int control_take(struct pmi_service *service, const struct requester *asked,
                 struct message_up *talk)
{
    uint32_t count;
    struct order order = {&talk->from, pack_u8(&talk->rest), 0};
    order.number = pack_u32(&talk->rest);
    struct process_name *procs = message_procs(&talk->rest, &count);
    int rc = pack_ends(&talk->rest) && order.action < CONTROL_NACTIONS ? 0 : -1;
    bool good = rc == 0; /* all of them are there */
    for (uint32_t i = 0; i < count && good; i++) {
        const struct job *job = namespaces_find(service, procs[i].job);
        good = job &&
               (procs[i].rank == SERVICE_ALL || namespaces_node(job, procs[i].rank) != UINT32_MAX);
    }
    for (const struct job *job = service->jobs; good && job; job = job->next) {
        struct idset *ranks = ranks_of(job, procs, count);
        events_control_send(service, &order, job, ranks);
        idset_free(ranks);
    }
    if (rc == 0)
        outbox_reply(service, asked, good ? REPLY_OK : REPLY_NOT_FOUND, NULL);
    message_free_procs(procs, count);
    return rc;
}

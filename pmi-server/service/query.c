/*
 * What is known of the program and its jobs; and of a job's tasks, which the hosts of their nodes
 * are asked for first.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/protocol/task_states.h"
#include "pmi-server/service/internal.h"

struct table { /* of a job whose tasks are wanted */
    char *job;
    struct idset *waiting; /* nodes that have not told of their tasks */
    struct buf tasks;
    uint32_t ntasks;
};

struct query { /* that waits for hosts */
    struct query *next;
    struct asked asked;
    uint64_t number;
    struct table *tables;
    uint32_t ntables;
};

/* ---- life ---- */

static void query_free(struct query *query)
{
    for (uint32_t i = 0; i < query->ntables; i++) {
        free(query->tables[i].job);
        idset_free(query->tables[i].waiting);
        buf_free(&query->tables[i].tasks);
    }
    free(query->tables);
    free(query);
}

static void query_drop(struct hub *hub, struct query *query)
{
    struct query **at = &hub->queries;
    while (*at && *at != query)
        at = &(*at)->next;
    if (*at)
        *at = query->next;
    query_free(query);
}

void hub_queries_free(struct hub *hub)
{
    while (hub->queries)
        query_drop(hub, hub->queries);
}

void hub_query_forget(struct hub *hub, const struct asked *asked)
{
    struct query *query = hub->queries;
    while (query && (query->asked.node != asked->node || query->asked.token != asked->token))
        query = query->next;
    if (query)
        query_drop(hub, query);
}

static uint32_t count_of(const struct hub *hub, uint32_t node)
{
    uint32_t count = 0;
    for (const struct query *query = hub->queries; query; query = query->next)
        count += query->asked.node == node;
    return count;
}

/* ---- answered ---- */

static void put_facts(const struct hub *hub, struct buf *out)
{
    struct hub_facts facts = {.left = INFINITY};
    if (hub->ops->facts)
        hub->ops->facts(hub->arg, &facts);
    packet_put_u32(out, facts.slots);
    packet_put_u64(out, isinf(facts.left) ? UINT64_MAX : (uint64_t)fmax(facts.left, 0));
    packet_put_text(out, facts.hosts);
    free(facts.hosts);
}

static void put_jobs(const struct hub *hub, struct buf *out)
{
    uint32_t count = 0;
    for (const struct job *job = hub->jobs; job; job = job->next)
        count += job->description.len > 0;
    packet_put_u32(out, count);
    for (const struct job *job = hub->jobs; job; job = job->next)
        buf_add(out, buf_bytes(&job->description), job->description.len);
}

static void put_tables(const struct query *query, struct buf *out)
{
    packet_put_u32(out, query->ntables);
    for (uint32_t i = 0; i < query->ntables; i++) {
        const struct table *table = &query->tables[i];
        packet_put_text(out, table->job);
        packet_put_u32(out, table->ntasks);
        buf_add(out, buf_bytes(&table->tasks), table->tasks.len);
    }
}

static void answer(struct hub *hub, const struct query *query)
{
    struct buf rest = BUF_INIT;
    put_facts(hub, &rest);
    put_jobs(hub, &rest);
    put_tables(query, &rest);
    bool full = rest.len > HUB_BYTES_MAX;
    hub_answer(hub, &query->asked, full ? HUB_FULL : HUB_OK, full ? NULL : &rest);
    buf_free(&rest);
}

static bool waits(const struct query *query)
{
    for (uint32_t i = 0; i < query->ntables; i++)
        if (!idset_empty(query->tables[i].waiting))
            return true;
    return false;
}

/* Once nobody is waited for. */
static void settle(struct hub *hub, struct query *query)
{
    if (waits(query))
        return;
    answer(hub, query);
    query_drop(hub, query);
}

/* ---- asked ---- */

/* "": the only one there is. */
static const struct job *find_job(const struct hub *hub, const char *name)
{
    if (*name)
        return hub_job(hub, name);
    return hub->jobs && !hub->jobs->next ? hub->jobs : NULL;
}

static bool has_table(const struct query *query, const char *job)
{
    for (uint32_t i = 0; i < query->ntables; i++)
        if (!strcmp(query->tables[i].job, job))
            return true;
    return false;
}

static void add_table(struct query *query, const struct job *job)
{
    struct table *table = &query->tables[query->ntables++];
    table->job = mem_copy_text(job->name);
    table->waiting = idset_new();
    for (uint32_t i = 0; i < job->map->nnodes; i++)
        idset_add(table->waiting, job->node[i]);
}

/* Those that are not there are left out. */
static void read_tables(const struct hub *hub, struct query *query, struct packet *in)
{
    uint32_t count = packet_count(in, 4);
    query->tables = mem_array(count, sizeof(*query->tables));
    for (uint32_t i = 0; i < count; i++) {
        char *name = packet_text(in);
        const struct job *job = find_job(hub, name);
        if (job && !has_table(query, job->name))
            add_table(query, job);
        free(name);
    }
}

/* They may answer at once, the last of them last: there is no query then. */
static void ask_hosts(struct hub *hub, const struct query *query)
{
    uint32_t ntables = query->ntables;
    for (uint32_t i = 0; i < ntables; i++) {
        struct idset *nodes = idset_copy(query->tables[i].waiting);
        struct buf rest = BUF_INIT;
        packet_put_u64(&rest, query->number);
        packet_put_text(&rest, query->tables[i].job);
        IDSET_FOREACH(node, nodes)
        hub_order(hub, node, ORDER_TASKS, &rest);
        buf_free(&rest);
        idset_free(nodes);
    }
}

int hub_query(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    struct query *query = mem_alloc(sizeof(*query));
    query->asked = *asked;
    query->number = ++hub->queried;
    read_tables(hub, query, &talk->rest);
    int rc = packet_ends(&talk->rest) ? 0 : -1;
    bool full = count_of(hub, asked->node) >= HUB_QUERIES_MAX;
    if (rc == 0 && full)
        hub_answer(hub, asked, HUB_FULL, NULL);
    else if (rc == 0 && !query->ntables)
        answer(hub, query);
    if (rc < 0 || full || !query->ntables) {
        query_free(query);
        return rc;
    }
    query->next = hub->queries;
    hub->queries = query;
    ask_hosts(hub, query);
    return 0;
}

/* ---- told ---- */

static struct query *find_query(const struct hub *hub, uint64_t number)
{
    struct query *query = hub->queries;
    while (query && query->number != number)
        query = query->next;
    return query;
}

static struct table *find_table(struct query *query, const char *job)
{
    for (uint32_t i = 0; query && i < query->ntables; i++)
        if (!strcmp(query->tables[i].job, job))
            return &query->tables[i];
    return NULL;
}

/* Whether the node has them. Of a job that is over this cannot be told any more. */
static bool has_tasks(const struct hub *hub, uint32_t node, const char *name,
                      const struct hub_task *tasks, uint32_t count)
{
    const struct job *job = hub_job(hub, name);
    for (uint32_t i = 0; job && i < count; i++)
        if (hub_node(job, tasks[i].rank) != node)
            return false;
    return true;
}

/* It may have been given up, and the job may be over. */
static void take_tasks(struct hub *hub, struct query *query, struct table *table, uint32_t node,
                       const struct hub_task *tasks, uint32_t count)
{
    if (!table || !idset_has(table->waiting, node))
        return;
    struct buf entries = BUF_INIT;
    tasks_put(&entries, tasks, count);
    buf_add(&table->tasks, buf_bytes(&entries) + 4, entries.len - 4); /* without how many */
    buf_free(&entries);
    table->ntasks += count;
    idset_remove(table->waiting, node);
    settle(hub, query);
}

int hub_tasks(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    uint32_t count;
    struct query *query = find_query(hub, packet_u64(&talk->rest));
    char *name = packet_text(&talk->rest);
    struct hub_task *tasks = tasks_read(&talk->rest, &count);
    bool good = packet_ends(&talk->rest) && has_tasks(hub, asked->node, name, tasks, count);
    if (good)
        take_tasks(hub, query, find_table(query, name), asked->node, tasks, count);
    free(tasks);
    free(name);
    return good ? 0 : -1;
}

/* Its hosts need not answer any more. */
void hub_query_removed(struct hub *hub, const struct job *job)
{
    struct query *next;
    for (struct query *query = hub->queries; query; query = next) {
        struct table *table = find_table(query, job->name);
        next = query->next;
        if (!table)
            continue;
        idset_free(table->waiting);
        table->waiting = idset_new();
        settle(hub, query);
    }
}

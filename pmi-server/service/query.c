/*
 * What is known of the program and its jobs; and of a job's tasks, which the hosts of their nodes
 * are asked for first.
 */
#include "pmi-server/service/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/protocol/task_states.h"
#include "pmi-server/service/namespaces.h"
#include "pmi-server/service/outbox.h"

struct table { /* of a job whose tasks are wanted */
    char *job;
    struct idset *waiting; /* nodes that have not told of their tasks */
    struct buf tasks;
    uint32_t ntasks;
};

struct queries {
    struct query *open; /* that wait for what hosts know of their tasks */
    uint64_t numbers;   /* that they were given */
};

struct query { /* that waits for hosts */
    struct query *next;
    struct requester asked;
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

static struct table *find_table(struct query *query, const char *job)
{
    for (uint32_t i = 0; query && i < query->ntables; i++)
        if (!strcmp(query->tables[i].job, job))
            return &query->tables[i];
    return NULL;
}

static void query_drop(struct pmi_service *service, struct query *query)
{
    struct query **at = &service->queries->open;
    while (*at && *at != query)
        at = &(*at)->next;
    if (*at)
        *at = query->next;
    query_free(query);
}

void queries_open(struct pmi_service *service)
{
    service->queries = mem_alloc(sizeof(*service->queries));
}

void queries_close(struct pmi_service *service)
{
    while (service->queries->open)
        query_drop(service, service->queries->open);
    free(service->queries);
}

void queries_forget(struct pmi_service *service, const struct requester *asked)
{
    struct query *query = service->queries->open;
    while (query && (query->asked.node != asked->node || query->asked.token != asked->token))
        query = query->next;
    if (query)
        query_drop(service, query);
}

/* ---- answered ---- */

static void service_query_answer(struct pmi_service *service, const struct query *query)
{
    /* What the program has. */
    struct buf rest = BUF_INIT;
    struct program_facts facts = {.left = INFINITY};
    if (service->ops->facts)
        service->ops->facts(service->arg, &facts);
    pack_put_u32(&rest, facts.slots);
    pack_put_u64(&rest, isinf(facts.left) ? UINT64_MAX : (uint64_t)fmax(facts.left, 0));
    pack_put_text(&rest, facts.hosts);
    free(facts.hosts);

    /* Its jobs. */
    uint32_t njobs = 0;
    for (const struct job *job = service->jobs; job; job = job->next)
        njobs += job->description.len > 0;
    pack_put_u32(&rest, njobs);
    for (const struct job *job = service->jobs; job; job = job->next)
        buf_add(&rest, buf_bytes(&job->description), job->description.len);

    /* And the tasks of those that were asked for. */
    pack_put_u32(&rest, query->ntables);
    for (uint32_t i = 0; i < query->ntables; i++) {
        const struct table *table = &query->tables[i];
        pack_put_text(&rest, table->job);
        pack_put_u32(&rest, table->ntasks);
        buf_add(&rest, buf_bytes(&table->tasks), table->tasks.len);
    }
    bool full = rest.len > SERVICE_BYTES_MAX;
    outbox_reply(service, &query->asked, full ? REPLY_FULL : REPLY_OK, full ? NULL : &rest);
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
static void query_settle(struct pmi_service *service, struct query *query)
{
    if (waits(query))
        return;
    service_query_answer(service, query);
    query_drop(service, query);
}

/* ---- asked ---- */

/* Those that are not there are left out. */
static void read_tables(const struct pmi_service *service, struct query *query, struct pack *in)
{
    uint32_t count = pack_count(in, 4);
    query->tables = mem_array(count, sizeof(*query->tables));
    for (uint32_t i = 0; i < count; i++) {
        char *name = pack_get_text(in);
        const struct job *job = namespaces_find(service, name);
        if (!*name) /* the only one there is */
            job = service->jobs && !service->jobs->next ? service->jobs : NULL;
        free(name);
        if (!job || find_table(query, job->name))
            continue;
        struct table *table = &query->tables[query->ntables++];
        table->job = mem_copy_text(job->name);
        table->waiting = idset_new();
        namespaces_add_nodes(table->waiting, job);
    }
}

/* They may answer at once, the last of them last: there is no query then. */
static void ask_hosts(struct pmi_service *service, const struct query *query)
{
    uint32_t ntables = query->ntables;
    for (uint32_t i = 0; i < ntables; i++) {
        struct idset *nodes = idset_copy(query->tables[i].waiting);
        struct buf rest = BUF_INIT;
        pack_put_u64(&rest, query->number);
        pack_put_text(&rest, query->tables[i].job);
        IDSET_FOREACH(node, nodes)
        outbox_order(service, node, ORDER_TASKS, &rest);
        buf_free(&rest);
        idset_free(nodes);
    }
}

int queries_take(struct pmi_service *service, const struct requester *asked,
                 struct message_up *talk)
{
    struct query *query = mem_alloc(sizeof(*query));
    query->asked = *asked;
    query->number = ++service->queries->numbers;
    read_tables(service, query, &talk->rest);
    int rc = pack_ends(&talk->rest) ? 0 : -1;
    uint32_t count = 0; /* of this host */
    for (const struct query *other = service->queries->open; other; other = other->next)
        count += other->asked.node == asked->node;
    bool full = count >= SERVICE_QUERIES_MAX;
    if (rc == 0 && full)
        outbox_reply(service, asked, REPLY_FULL, NULL);
    else if (rc == 0 && !query->ntables)
        service_query_answer(service, query);
    if (rc < 0 || full || !query->ntables) {
        query_free(query);
        return rc;
    }
    query->next = service->queries->open;
    service->queries->open = query;
    ask_hosts(service, query);
    return 0;
}

/* ---- told ---- */

/* Whether the node has them. Of a job that is over this cannot be told any more. */
static bool has_tasks(const struct pmi_service *service, uint32_t node, const char *name,
                      const struct task_info *tasks, uint32_t count)
{
    const struct job *job = namespaces_find(service, name);
    for (uint32_t i = 0; job && i < count; i++)
        if (namespaces_node(job, tasks[i].rank) != node)
            return false;
    return true;
}

int queries_take_tasks(struct pmi_service *service, const struct requester *asked,
                       struct message_up *talk)
{
    uint32_t count;
    uint64_t number = pack_u64(&talk->rest);
    char *name = pack_get_text(&talk->rest);
    struct task_info *tasks = task_states_read(&talk->rest, &count);
    bool good = pack_ends(&talk->rest) && has_tasks(service, asked->node, name, tasks, count);
    /* The query may have been given up, and the job may be over. */
    struct query *query = service->queries->open;
    while (query && query->number != number)
        query = query->next;
    struct table *table = find_table(query, name);
    if (good && table && idset_has(table->waiting, asked->node)) {
        struct buf entries = BUF_INIT;
        task_states_put(&entries, tasks, count);
        buf_add(&table->tasks, buf_bytes(&entries) + 4, entries.len - 4); /* without how many */
        buf_free(&entries);
        table->ntasks += count;
        idset_remove(table->waiting, asked->node);
        query_settle(service, query);
    }
    free(tasks);
    free(name);
    return good ? 0 : -1;
}

/* Its hosts need not answer any more. */
void queries_job_removed(struct pmi_service *service, const struct job *job)
{
    struct query *next;
    for (struct query *query = service->queries->open; query; query = next) {
        struct table *table = find_table(query, job->name);
        next = query->next;
        if (!table)
            continue;
        idset_free(table->waiting);
        table->waiting = idset_new();
        query_settle(service, query);
    }
}

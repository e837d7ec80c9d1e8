/* The keys of PMIx_Query_info(): a table, and a function for each row. */
#include "pmi-server/pmix/query_keys.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "pmi-server/pmix/spawn_directives.h"

struct answering {
    struct info_list *out;
    const struct query_key_asked *asked;
    const struct program_info *view;
    const char *hostname;
    unsigned major;
};

static void put_taken(struct answering *answering, char *text)
{
    info_text(answering->out, answering->asked->key, text);
    free(text);
}

/* ---- of the program ---- */

static pmix_status_t query_keys_put_names(struct answering *answering)
{
    const struct program_info *view = answering->view;
    struct buf names = BUF_INIT;
    for (uint32_t i = view->njobs; i-- > 0;)
        buf_printf(&names, "%s%s", names.len ? "," : "", view->jobs[i].description->job.name);
    put_taken(answering, buf_take_text(&names));
    return PMIX_SUCCESS;
}

static pmix_status_t put_slots(struct answering *answering)
{
    info_u32(answering->out, answering->asked->key, answering->view->slots);
    return PMIX_SUCCESS;
}

static pmix_status_t put_left(struct answering *answering)
{
    uint64_t left = answering->view->left;
    if (left == UINT64_MAX)
        return PMIX_ERR_NOT_FOUND;
    info_u32(answering->out, answering->asked->key,
             left < UINT32_MAX ? (uint32_t)left : UINT32_MAX);
    return PMIX_SUCCESS;
}

static pmix_status_t put_held(struct answering *answering)
{
    info_text(answering->out, answering->asked->key, answering->view->hosts);
    return PMIX_SUCCESS;
}

static pmix_status_t put_nheld(struct answering *answering)
{
    uint32_t count = answering->view->hosts[0] != '\0';
    for (const char *at = answering->view->hosts; (at = strchr(at, ',')); at++)
        count++;
    info_u32(answering->out, answering->asked->key, count);
    return PMIX_SUCCESS;
}

static pmix_status_t put_spawns(struct answering *answering)
{
    put_taken(answering, spawn_directives_known());
    return PMIX_SUCCESS;
}

static pmix_status_t put_nothing(struct answering *answering)
{
    info_text(answering->out, answering->asked->key, "");
    return PMIX_SUCCESS;
}

static pmix_status_t query_keys_put_keys(struct answering *answering);

/* ---- of a job ---- */

/* NULL: it is not there, and *status says so; or it is not said which. */
static const struct namespace_facts *query_keys_job_of(const struct answering *answering,
                                                       pmix_status_t *status)
{
    const char *name = answering->asked->job;
    const struct program_info_job *job = program_info_job(answering->view, name);
    *status = job ? PMIX_SUCCESS : *name ? PMIX_ERR_NOT_FOUND : PMIX_ERR_BAD_PARAM;
    return job ? &job->description->job : NULL;
}

static void query_keys_put_job(struct info_list *jobs, const struct namespace_facts *job)
{
    struct info_list infos = {0};
    struct buf command = BUF_INIT;
    for (uint32_t i = 0; i < job->napps; i++)
        for (char *const *at = job->apps[i].argv; at && *at; at++)
            buf_printf(&command, "%s%s", at > job->apps[i].argv ? " " : i ? " : " : "", *at);
    info_text(&infos, PMIX_NSPACE, job->name);
    info_text(&infos, PMIX_CMD_LINE, buf_text(&command));
    info_u32(&infos, PMIX_JOB_SIZE, (uint32_t)job->map->ntasks);
    info_u32(&infos, PMIX_NUM_NODES, job->map->nnodes);
    if (job->spawner)
        info_proc(&infos, PMIX_PARENT_ID, job->spawner, job->spawner_rank);
    info_array(jobs, PMIX_JOB_INFO_ARRAY, &infos);
    buf_free(&command);
}

static pmix_status_t query_keys_put_jobs(struct answering *answering)
{
    const struct program_info *view = answering->view;
    struct info_list jobs = {0};
    pmix_status_t status = PMIX_SUCCESS;
    const struct namespace_facts *only =
        answering->asked->job[0] ? query_keys_job_of(answering, &status) : NULL;
    if (status != PMIX_SUCCESS)
        return status;
    for (uint32_t i = view->njobs; i-- > 0;)
        if (!only || only == &view->jobs[i].description->job)
            query_keys_put_job(&jobs, &view->jobs[i].description->job);
    info_array(answering->out, answering->asked->key, &jobs);
    return PMIX_SUCCESS;
}

static pmix_status_t put_job_status(struct answering *answering)
{
    pmix_status_t status;
    if (query_keys_job_of(answering, &status))
        info_status(answering->out, answering->asked->key, PMIX_SUCCESS);
    return status;
}

static pmix_status_t put_count(struct answering *answering)
{
    pmix_status_t status;
    const char *key = answering->asked->key;
    const struct namespace_facts *job = query_keys_job_of(answering, &status);
    if (job)
        info_u32(answering->out, key,
                 !strcmp(key, PMIX_JOB_SIZE)    ? (uint32_t)job->map->ntasks
                 : !strcmp(key, PMIX_NUM_NODES) ? job->map->nnodes
                                                : job->napps);
    return status;
}

static pmix_status_t put_nodes(struct answering *answering)
{
    struct buf names = BUF_INIT;
    pmix_status_t status;
    const struct namespace_facts *job = query_keys_job_of(answering, &status);
    for (uint32_t i = 0; job && i < job->map->nnodes; i++)
        buf_printf(&names, "%s%s", names.len ? "," : "", job->hosts[i]);
    if (job)
        info_text(answering->out, answering->asked->key, buf_text(&names));
    buf_free(&names);
    return status;
}

/* ---- PMIx_Resolve_nodes() and PMIx_Resolve_peers() of 5.0 and later ---- */

/* Of one of the jobs before this. */
static bool is_known_host(const struct program_info *view, uint32_t job, const char *host)
{
    for (uint32_t i = view->njobs; i-- > job + 1;) {
        const struct namespace_facts *other = &view->jobs[i].description->job;
        for (uint32_t node = 0; node < other->map->nnodes; node++)
            if (!strcmp(other->hosts[node], host))
                return true;
    }
    return false;
}

static pmix_status_t put_resolved_nodes(struct answering *answering)
{
    const struct program_info *view = answering->view;
    if (answering->asked->job[0])
        return put_nodes(answering);
    /* No job is all of them. */
    struct buf names = BUF_INIT;
    for (uint32_t i = view->njobs; i-- > 0;) {
        const struct namespace_facts *job = &view->jobs[i].description->job;
        for (uint32_t k = 0; k < job->map->nnodes; k++)
            if (!is_known_host(view, i, job->hosts[k]))
                buf_printf(&names, "%s%s", names.len ? "," : "", job->hosts[k]);
    }
    info_text(answering->out, answering->asked->key, buf_text(&names));
    buf_free(&names);
    return PMIX_SUCCESS;
}

static size_t add_peers(pmix_proc_t **procs, size_t count, const struct namespace_facts *job,
                        const char *host)
{
    for (uint32_t node = 0; node < job->map->nnodes; node++) {
        if (strcmp(job->hosts[node], host) != 0)
            continue;
        struct idset *ranks = taskmap_ranks(job->map, node);
        *procs = mem_resize(*procs, count + idset_count(ranks), sizeof(**procs));
        IDSET_FOREACH(rank, ranks)
        {
            (*procs)[count] = (pmix_proc_t){.rank = rank};
            strncpy((*procs)[count].nspace, job->name, sizeof((*procs)[count].nspace) - 1);
            count++;
        }
        idset_free(ranks);
    }
    return count;
}

static pmix_status_t query_keys_put_peers(struct answering *answering)
{
    const struct program_info *view = answering->view;
    const char *host = answering->asked->host[0] ? answering->asked->host : answering->hostname;
    pmix_status_t status = PMIX_SUCCESS;
    const struct namespace_facts *only =
        answering->asked->job[0] ? query_keys_job_of(answering, &status) : NULL;
    pmix_proc_t *procs = NULL;
    size_t count = 0;
    if (status != PMIX_SUCCESS)
        return status;
    for (uint32_t i = view->njobs; i-- > 0;)
        if (!only || only == &view->jobs[i].description->job)
            count = add_peers(&procs, count, &view->jobs[i].description->job, host);
    info_data(answering->out, answering->asked->key, PMIX_PROC, procs, count);
    return PMIX_SUCCESS;
}

/* ---- of tasks ---- */

static void query_keys_put_task(pmix_proc_info_t *to, const struct namespace_facts *job,
                                const struct task_info *task)
{
    static const pmix_proc_state_t states[TASK_NSTATES] = {
        [TASK_WAITS] = PMIX_PROC_STATE_LAUNCH_UNDERWAY,
        [TASK_RUNS] = PMIX_PROC_STATE_RUNNING,
        [TASK_SPEAKS] = PMIX_PROC_STATE_CONNECTED,
        [TASK_ENDED] = PMIX_PROC_STATE_TERMINATED,
    };
    const struct namespace_app *app = program_info_app(job, task->rank);
    const char *program = app && app->argv && app->argv[0] ? app->argv[0] : "";
    bool signaled = WIFSIGNALED(task->status);
    strncpy(to->proc.nspace, job->name, sizeof(to->proc.nspace) - 1);
    to->proc.rank = task->rank;
    to->hostname = mem_copy_text(job->hosts[taskmap_node(job->map, task->rank)]);
    to->executable_name = mem_copy_text(program);
    to->pid = (pid_t)task->pid;
    to->exit_code = signaled ? 128 + WTERMSIG(task->status) : WEXITSTATUS(task->status);
    to->state = states[task->state];
    if (task->state == TASK_ENDED && to->exit_code)
        to->state = signaled ? PMIX_PROC_STATE_ABORTED_BY_SIG : PMIX_PROC_STATE_TERM_NON_ZERO;
}

static pmix_status_t put_tasks(struct answering *answering)
{
    pmix_status_t status;
    size_t count = 0;
    const struct namespace_facts *job = query_keys_job_of(answering, &status);
    if (!job)
        return status;
    const struct program_info_job *shown = program_info_job(answering->view, job->name);
    bool everywhere = !strcmp(answering->asked->key, PMIX_QUERY_PROC_TABLE); /* or on this node */
    pmix_proc_info_t *table = mem_array(shown->ntasks, sizeof(*table));
    for (uint32_t i = 0; i < shown->ntasks; i++) {
        const struct task_info *task = &shown->tasks[i];
        if (everywhere ||
            !strcmp(job->hosts[taskmap_node(job->map, task->rank)], answering->hostname))
            query_keys_put_task(&table[count++], job, task);
    }
    info_data(answering->out, answering->asked->key, PMIX_PROC_INFO, table, count);
    return PMIX_SUCCESS;
}

/* ---- of process sets ---- */

/* Whether a part's set is named by none of those before it. */
static bool is_new_set(const struct program_info *view, uint32_t job, uint32_t part)
{
    const char *name = view->jobs[job].description->job.apps[part].pset;
    for (uint32_t i = 0; name && i <= job; i++) {
        const struct namespace_facts *other = &view->jobs[i].description->job;
        for (uint32_t k = 0; k < (i < job ? other->napps : part); k++)
            if (other->apps[k].pset && !strcmp(other->apps[k].pset, name))
                return false;
    }
    return name;
}

static pmix_status_t put_sets(struct answering *answering)
{
    const struct program_info *view = answering->view;
    struct buf names = BUF_INIT;
    size_t count = 0;
    for (uint32_t i = 0; i < view->njobs; i++) {
        const struct namespace_facts *job = &view->jobs[i].description->job;
        for (uint32_t k = 0; k < job->napps; k++)
            if (is_new_set(view, i, k))
                buf_printf(&names, "%s%s", count++ ? "," : "", job->apps[k].pset);
    }
    if (!strcmp(answering->asked->key, PMIX_QUERY_NUM_PSETS))
        info_size(answering->out, answering->asked->key, count);
    else
        info_text(answering->out, answering->asked->key, buf_text(&names));
    buf_free(&names);
    return PMIX_SUCCESS;
}

static size_t query_keys_add_members(pmix_proc_t **procs, size_t count,
                                     const struct namespace_facts *job,
                                     const struct namespace_app *app)
{
    *procs = mem_resize(*procs, count + app->ntasks, sizeof(**procs));
    memset(*procs + count, 0, app->ntasks * sizeof(**procs));
    for (uint32_t i = 0; i < app->ntasks; i++, count++) {
        strncpy((*procs)[count].nspace, job->name, sizeof((*procs)[count].nspace) - 1);
        (*procs)[count].rank = app->first_rank + i;
    }
    return count;
}

static pmix_status_t query_keys_put_members(struct answering *answering)
{
    const struct program_info *view = answering->view;
    const char *name = answering->asked->pset;
    pmix_proc_t *procs = NULL;
    size_t count = 0;
    for (uint32_t i = view->njobs; i-- > 0;) {
        const struct namespace_facts *job = &view->jobs[i].description->job;
        for (uint32_t k = 0; k < job->napps; k++)
            if (job->apps[k].pset && !strcmp(job->apps[k].pset, name))
                count = query_keys_add_members(&procs, count, job, &job->apps[k]);
    }
    if (count)
        info_data(answering->out, answering->asked->key, PMIX_PROC, procs, count);
    return count ? PMIX_SUCCESS : *name ? PMIX_ERR_NOT_FOUND : PMIX_ERR_BAD_PARAM;
}

/* ---- the table ---- */

static const struct {
    const char *key;
    pmix_status_t (*put)(struct answering *answering);
    bool tasks;
    /* openpmix's major version: older ones complain of a key that they do not know. */
    unsigned since;
} keys[] = {
    {PMIX_QUERY_NAMESPACES, query_keys_put_names, false, 4},
    {PMIX_QUERY_NAMESPACE_INFO, query_keys_put_jobs, false, 4},
    {PMIX_QUERY_JOB_STATUS, put_job_status, false, 4},
    {PMIX_QUERY_PROC_TABLE, put_tasks, true, 4},
    {PMIX_QUERY_LOCAL_PROC_TABLE, put_tasks, true, 4},
    {PMIX_QUERY_NUM_PSETS, put_sets, false, 4},
    {PMIX_QUERY_PSET_NAMES, put_sets, false, 4},
    {PMIX_QUERY_PSET_MEMBERSHIP, query_keys_put_members, false, 4},
    {PMIX_QUERY_SPAWN_SUPPORT, put_spawns, false, 4},
    {PMIX_QUERY_DEBUG_SUPPORT, put_nothing, false, 4},
    {PMIX_QUERY_SUPPORTED_KEYS, query_keys_put_keys, false, 4},
    {PMIX_JOB_SIZE, put_count, false, 4},
    {PMIX_NUM_NODES, put_count, false, 4},
    {PMIX_JOB_NUM_APPS, put_count, false, 4},
    {PMIX_NODE_LIST, put_nodes, false, 4},
    {PMIX_QUERY_RESOLVE_NODE, put_resolved_nodes, false, 5},
    {PMIX_QUERY_RESOLVE_PEERS, query_keys_put_peers, false, 5},
    {PMIX_NUM_SLOTS, put_slots, false, 4},
    {PMIX_NUM_ALLOCATED_NODES, put_nheld, false, 4},
    {PMIX_ALLOCATED_NODELIST, put_held, false, 4},
    {PMIX_TIME_REMAINING, put_left, false, 4},
};

#define NKEYS (sizeof(keys) / sizeof(keys[0]))

static pmix_status_t query_keys_put_keys(struct answering *answering)
{
    struct buf names = BUF_INIT;
    for (size_t i = 0; i < NKEYS; i++)
        if (answering->major >= keys[i].since)
            buf_printf(&names, "%s%s", names.len ? "," : "", keys[i].key);
    put_taken(answering, buf_take_text(&names));
    return PMIX_SUCCESS;
}

static size_t query_keys_find(const char *key)
{
    size_t i = 0;
    while (i < NKEYS && strcmp(keys[i].key, key) != 0)
        i++;
    return i;
}

bool query_key_wants_tasks(const char *key)
{
    size_t i = query_keys_find(key);
    return i < NKEYS && keys[i].tasks;
}

pmix_status_t query_key_answer(struct info_list *out, const struct query_key_asked *asked,
                               const struct program_info *view, const char *hostname,
                               unsigned major)
{
    struct answering answering = {out, asked, view, hostname, major};
    size_t i = query_keys_find(asked->key);
    return i < NKEYS && major >= keys[i].since ? keys[i].put(&answering) : PMIX_ERR_NOT_SUPPORTED;
}

/* The infos that a namespace is registered with, and its process sets. */
#include "pmi-server/pmix/job_info.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pmi-server/pmix/context.h"
#include "pmi-server/pmix/namespace.h"

/* ---- where everybody is ---- */

static pmix_status_t put_hosts(struct info_list *infos, const struct pmix_namespace_config *config,
                               const struct pmix_library *library)
{
    struct buf names = BUF_INIT;
    char *regex = NULL;
    for (uint32_t i = 0; i < config->map->nnodes; i++)
        buf_printf(&names, "%s%s", i ? "," : "", config->hosts[i]);
    pmix_status_t status = library->generate_regex(buf_text(&names), &regex);
    if (status == PMIX_SUCCESS)
        info_regex(infos, PMIX_NODE_MAP, regex, library);
    free(regex);
    buf_free(&names);
    return status;
}

/* "0,2;1,3". openpmix from 4.2 on (still so in 7.0.0 rc1): "0-3" is taken for the rank 0. */
static pmix_status_t job_info_put_ranks(struct info_list *infos,
                                        const struct pmix_namespace_config *config,
                                        const struct pmix_library *library)
{
    struct buf text = BUF_INIT;
    char *regex = NULL;
    for (uint32_t node = 0; node < config->map->nnodes; node++) {
        struct idset *ranks = taskmap_ranks(config->map, node);
        uint32_t first = idset_first(ranks);
        IDSET_FOREACH(rank, ranks)
        buf_printf(&text, "%s%" PRIu32, rank != first ? "," : node ? ";" : "", rank);
        idset_free(ranks);
    }
    pmix_status_t status = library->generate_ppn(buf_text(&text), &regex);
    if (status == PMIX_SUCCESS)
        info_regex(infos, PMIX_PROC_MAP, regex, library);
    free(regex);
    buf_free(&text);
    return status;
}

/* ---- the job ---- */

static void job_info_put_job(struct info_list *infos, const struct pmix_namespace_config *config)
{
    uint32_t ntasks = (uint32_t)config->map->ntasks;
    char *mapping = taskmap_encode_pmi(config->map);
    info_text(infos, PMIX_JOBID, config->name);
    info_u32(infos, PMIX_SESSION_ID, config->session);
    info_rank(infos, PMIX_NPROC_OFFSET, 0);
    info_u32(infos, PMIX_JOB_SIZE, ntasks);
    info_u32(infos, PMIX_MAX_PROCS, ntasks);
    info_u32(infos, PMIX_UNIV_SIZE,
             config->universe_size < 0 ? ntasks : (uint32_t)config->universe_size);
    info_u32(infos, PMIX_NUM_NODES, config->map->nnodes);
    info_u32(infos, PMIX_JOB_NUM_APPS, config->napps);
    info_bool(infos, PMIX_SPAWNED, config->spawner != NULL);
    info_text(infos, PMIX_ANL_MAP, mapping);
    info_text(infos, PMIX_MAPBY, config->map_by);
    info_text(infos, PMIX_RANKBY, config->rank_by);
    info_text(infos, PMIX_BINDTO, config->bind_to);
    info_bool(infos, PMIX_HOSTNAME_KEEP_FQDN, true);
    if (config->napps == 1)
        info_u32(infos, PMIX_APPNUM, 0);
    /* Programs put their files there, and need not tidy up. */
    info_text(infos, PMIX_TMPDIR, config->tmpdir);
    info_text(infos, PMIX_NSDIR, config->tmpdir);
    if (config->tmpdir)
        info_bool(infos, PMIX_TDIR_RMCLEAN, true);
    free(mapping);
}

/* ---- this node ---- */

static void job_info_put_peers(struct info_list *infos, const struct pmix_namespace_config *config)
{
    struct buf peers = BUF_INIT;
    pmix_proc_t *procs = mem_array(config->nlocals, sizeof(*procs));
    uint32_t leader = UINT32_MAX;
    for (uint32_t i = 0; i < config->nlocals; i++) {
        uint32_t rank = config->locals[i].rank;
        buf_printf(&peers, "%s%u", i ? "," : "", rank);
        strncpy(procs[i].nspace, config->name, sizeof(procs[i].nspace) - 1);
        procs[i].rank = rank;
        leader = rank < leader ? rank : leader;
    }
    info_u32(infos, PMIX_LOCAL_SIZE, config->nlocals);
    info_u32(infos, PMIX_NODE_SIZE, config->nlocals);
    info_text(infos, PMIX_LOCAL_PEERS, buf_text(&peers));
    info_procs(infos, PMIX_LOCAL_PROCS, procs, config->nlocals);
    if (config->nlocals)
        info_rank(infos, PMIX_LOCALLDR, leader);
    free(procs);
    buf_free(&peers);
}

/* ---- parts of the job ---- */

static void job_info_put_app(struct info_list *infos, uint32_t number,
                             const struct namespace_app *part)
{
    struct info_list app = {0};
    struct buf argv = BUF_INIT;
    for (size_t i = 0; part->argv && part->argv[i]; i++)
        buf_printf(&argv, "%s%s", i ? " " : "", part->argv[i]);
    info_u32(&app, PMIX_APPNUM, number); /* first */
    info_u32(&app, PMIX_APP_SIZE, part->ntasks);
    info_rank(&app, PMIX_APPLDR, part->first_rank);
    info_text(&app, PMIX_WDIR, part->directory);
    info_text(&app, PMIX_APP_ARGV, buf_text(&argv));
    info_text(&app, PMIX_PSET_NAME, part->pset);
    info_array(infos, PMIX_APP_INFO_ARRAY, &app);
    buf_free(&argv);
}

/* ---- tasks of this node ---- */

static void put_binding(struct info_list *task, const struct pmix_local *local,
                        const struct pmix_host *host)
{
    char *cpus = idset_encode(local->cpus), *locality = NULL;
    char *text = mem_format("hwloc:%s", cpus);
    info_text(task, PMIX_CPUSET, text);
    pmix_cpuset_t set = {.source = (char *)"hwloc", .bitmap = hwloc_bitmap_alloc()};
    if (host->topology.topology && !hwloc_bitmap_list_sscanf(set.bitmap, cpus) &&
        host->library->generate_locality_string(&set, &locality) == PMIX_SUCCESS)
        info_text(task, PMIX_LOCALITY_STRING, locality);
    hwloc_bitmap_free(set.bitmap);
    free(locality);
    free(text);
    free(cpus);
}

static void job_info_put_task(struct info_list *infos, const struct pmix_host *host,
                              const struct pmix_namespace_config *config, uint32_t local_rank)
{
    const struct pmix_local *local = &config->locals[local_rank];
    const struct namespace_app *app = local->app < config->napps ? &config->apps[local->app] : NULL;
    struct info_list task = {0};
    info_rank(&task, PMIX_RANK, local->rank); /* first */
    info_u32(&task, PMIX_APPNUM, local->app);
    info_rank(&task, PMIX_GLOBAL_RANK, local->rank);
    info_rank(&task, PMIX_APP_RANK, local->rank - (app ? app->first_rank : 0));
    info_u32(&task, PMIX_REINCARNATION, 0);
    if (config->spawner)
        info_proc(&task, PMIX_PARENT_ID, config->spawner, config->spawner_rank);
    if (local->cpus && !idset_empty(local->cpus))
        put_binding(&task, local, host);
    info_array(infos, PMIX_PROC_INFO_ARRAY, &task);
}

/* ---- all of it ---- */

static void job_info_send(struct pmix_host *host, const struct pmix_namespace_config *config,
                          const struct info_list *infos, struct library_calls *calls)
{
    library_calls_begin(calls);
    library_calls_begun(calls, host->library->register_nspace(config->name, (int)config->nlocals,
                                                              infos->at, infos->count,
                                                              library_calls_end, calls));
}

static pmix_status_t make_job(struct info_list *infos, struct pmix_host *host,
                              const struct pmix_namespace_config *config)
{
    pmix_status_t status = put_hosts(infos, config, host->library);
    if (status == PMIX_SUCCESS)
        status = job_info_put_ranks(infos, config, host->library);
    if (status != PMIX_SUCCESS)
        return status;
    job_info_put_job(infos, config);
    if (config->nlocals) {
        struct info_list node = {0};
        job_info_put_peers(infos, config);
        info_text(&node, PMIX_HOSTNAME, config->hosts[config->node]); /* first: what it is about */
        info_u32(&node, PMIX_NODEID, config->node);
        job_info_put_peers(&node, config);
        info_bool(&node, PMIX_NODE_OVERSUBSCRIBED, config->oversubscribed);
        info_array(infos, PMIX_NODE_INFO_ARRAY, &node);
        info_text(infos, PMIX_HWLOC_XML_V2, config->topology);
    }
    for (uint32_t i = 0; i < config->napps; i++)
        job_info_put_app(infos, i, &config->apps[i]);
    return PMIX_SUCCESS;
}

void job_info_register(struct pmix_host *host, const struct pmix_namespace_config *config,
                       struct job_data *data, struct library_calls *calls)
{
    pmix_status_t status = make_job(&data->job, host, config);
    if (status != PMIX_SUCCESS) {
        library_calls_begin(calls);
        library_calls_begun(calls, status);
        return;
    }
    job_info_send(host, config, &data->job, calls);
    /* openpmix makes nothing of the maps where tasks come along, so these come after them. */
    for (uint32_t i = 0; i < config->nlocals; i++)
        job_info_put_task(&data->tasks, host, config, i);
    if (data->tasks.count)
        job_info_send(host, config, &data->tasks, calls);
}

void job_info_free(struct job_data *data, const struct pmix_library *library)
{
    info_free(&data->job, library);
    info_free(&data->tasks, library);
}

/*
 * Process sets of a job: parts of it that have a name. Several parts may have the same one.
 */

static bool named(const struct namespace_app *app, const char *name)
{
    return app->pset && !strcmp(app->pset, name);
}

/* openpmix 4.2.0 to 4.2.2: what it returns is not set. */
static void define(const struct pmix_library *library, const struct pmix_namespace_config *config,
                   const char *name)
{
    size_t count = 0;
    pmix_proc_t *procs = mem_array((size_t)config->map->ntasks, sizeof(*procs));
    for (uint32_t i = 0; i < config->napps; i++) {
        const struct namespace_app *app = &config->apps[i];
        for (uint32_t k = 0; named(app, name) && k < app->ntasks && count < config->map->ntasks;
             k++) {
            strcpy(procs[count].nspace, config->name); /* checked: as long at most */
            procs[count++].rank = app->first_rank + k;
        }
    }
    library->define_process_set(procs, count, name);
    free(procs);
}

char **process_sets_define(const struct pmix_library *library,
                           const struct pmix_namespace_config *config)
{
    size_t count = 0;
    char **sets = mem_array(config->napps + 1, sizeof(*sets));
    for (uint32_t i = 0; i < config->napps; i++) {
        const char *name = config->apps[i].pset;
        uint32_t first = 0; /* part of that name */
        while (name && first < i && !named(&config->apps[first], name))
            first++;
        if (!name || first < i)
            continue;
        define(library, config, name);
        sets[count++] = mem_copy_text(name);
    }
    return sets;
}

void process_sets_delete(const struct pmix_library *library, char **sets)
{
    for (char **at = sets; at && *at; at++) {
        library->delete_process_set(*at);
        free(*at);
    }
    free(sets);
}

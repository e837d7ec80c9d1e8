/* What may be used: nodes, instance, what is free there, and how many hosts to wake for it. */
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/manager/internal.h"

static double wall_clock(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (double)now.tv_sec + (double)now.tv_usec / 1e6;
}

/* ---- the instance ---- */

/* By which others know it: the command of its first part. */
static char *command_text(const struct spec *spec)
{
    struct buf text = BUF_INIT;
    for (char *const *word = spec->parts[0].argv; *word; word++)
        buf_printf(&text, "%s%s", text.len ? " " : "", *word);
    return buf_take_text(&text);
}

int resources_enter(struct manager *manager, struct error *err)
{
    const struct spec *spec = manager->spec;
    if (spec->dry_run || manager->entry)
        return 0;
    char *command = command_text(spec);
    manager->entry = entry_new(manager->instance, command, err);
    free(command);
    if (!manager->entry)
        return -1;
    json_t *value = spec_to_json(spec);
    int result = entry_write(manager->entry, "spec.json", value, err);
    json_decref(value);
    return result;
}

/* One instance for each R file, each batch job, and this machine; a task's run is in the instance
 * of its program. */
static int resources_open_instance(struct manager *manager, struct error *err)
{
    if (!manager->instance)
        manager->instance = instance_open(manager->nodes->identity, err);
    if (!manager->instance)
        return -1;
    instance_set_patience(manager->instance, RESOURCES_PATIENCE);
    return 0;
}

/* Cores of R less what others hold there. */
static int free_of_R(struct manager *manager, size_t index)
{
    const struct node *node = &manager->nodes->list[index];
    struct idset **cores = &manager->free_cores[index];
    const struct rset_node *held = manager->held ? rset_find_host(manager->held, node->host) : NULL;
    idset_free(*cores);
    *cores = NULL;
    if (!node->cores)
        return 1;
    *cores = held ? idset_subtract(node->cores, held->children->cores) : idset_copy(node->cores);
    return !idset_empty(*cores);
}

void resources_share(struct manager *manager)
{
    for (size_t i = 0; i < manager->nodes->count; i++) {
        bool free = free_of_R(manager, i);
        manager->wanted[i] &= free;
        manager->spare[i] &= free;
    }
}

static void count_held(struct manager *manager)
{
    manager->held_cores = manager->held_gpus = 0;
    for (size_t i = 0; i < manager->held->nnodes; i++) {
        manager->held_cores += idset_count(manager->held->nodes[i].children->cores);
        manager->held_gpus += idset_count(manager->held->nodes[i].children->gpus);
    }
}

/* What stands before this run in line is as good as held. */
static int add_barred(struct manager *manager, struct error *err)
{
    struct rset *barred = entry_barred(manager->entry, err);
    if (!barred)
        return -1;
    const struct rset *both[] = {manager->held, barred};
    struct rset *all = barred->nnodes ? rset_union_hosts(both, 2) : manager->held;
    if (all != manager->held)
        rset_free(manager->held);
    manager->held = all;
    rset_free(barred);
    return 0;
}

int resources_read_unheld(struct manager *manager, struct error *err)
{
    rset_free(manager->held);
    manager->held = NULL;
    if (manager->instance && !manager->spec->overlap) {
        manager->held = instance_held(manager->instance, err);
        if (!manager->held)
            return -1;
        count_held(manager);
        if (manager->entry && add_barred(manager, err) < 0)
            return -1;
    }
    resources_share(manager);
    return 0;
}

/* ---- how many hosts to start ---- */

/* Whether a policy fills a node before the next: then the first nodes of R that have cores enough
 * will do. All words but node do; map strings and :span are not looked into. */
static bool fills_nodes(const char *map)
{
    static const char *const words[] = {"slot",    "core", "hwthread", "l1cache", "l2cache",
                                        "l3cache", "numa", "socket",   "package", "board"};
    for (size_t i = 0; map && i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(map, words[i]) == 0)
            return true;
    return !map;
}

/* Cores that the run is likely to need; SIZE_MAX: no telling. */
static size_t likely_cores(const struct spec *spec)
{
    size_t cores = 0;
    for (size_t i = 0; i < spec->nparts; i++) {
        const struct spec_part *part = &spec->parts[i];
        if (!fills_nodes(part->map) || part->mppr || part->bind || part->per || part->taskmap ||
            part->rankfile || part->fill)
            return SIZE_MAX;
        cores += (size_t)(part->ntasks ? part->ntasks : 1) *
                 (part->cores_per_task ? part->cores_per_task : 1);
    }
    return cores;
}

bool resources_fills(const struct spec *spec)
{
    return likely_cores(spec) != SIZE_MAX;
}

/* How many of these cores a host is likely to have tasks on: with -g no more than go with its
 * GPUs. */
static size_t likely_share(const struct manager *manager, size_t index)
{
    const struct spec_part *part = &manager->spec->parts[0];
    const struct idset *gpus = manager->nodes->list[index].gpus;
    size_t cores = idset_count(manager->free_cores[index]);
    if (!gpus || !part->gpus_per_task || manager->spec->nparts > 1)
        return cores;
    size_t most =
        idset_count(gpus) / part->gpus_per_task * (part->cores_per_task ? part->cores_per_task : 1);
    return most < cores ? most : cores;
}

/* A run on a few nodes of a large R need not wake them all. */
static void want_hosts(struct manager *manager)
{
    const struct spec *spec = manager->spec;
    size_t cores = likely_cores(spec), nodes = spec->nnodes ? spec->nnodes : SIZE_MAX;
    size_t found = 0, count = 0;
    for (size_t i = 0; i < manager->nodes->count; i++) {
        const struct idset *some = manager->free_cores[i];
        size_t share = some ? likely_share(manager, i) : 0;
        manager->wanted[i] = !some || (share && count < nodes && (spec->nnodes || found < cores));
        manager->spare[i] = !manager->wanted[i];
        if (manager->wanted[i] && share) {
            found += share;
            count++;
        }
        if (some && idset_empty(some))
            manager->wanted[i] = manager->spare[i] = false;
    }
}

bool resources_want_spare(struct manager *manager)
{
    bool spare = false;
    for (size_t i = 0; i < manager->nodes->count; i++) {
        spare |= manager->spare[i];
        manager->wanted[i] |= manager->spare[i];
        manager->spare[i] = false;
    }
    return spare;
}

bool resources_can_spare(const struct manager *manager)
{
    const struct spec *spec = manager->spec;
    bool up = false;
    if (manager->on || manager->grant || manager->named ||
        (!spec->nnodes && !resources_fills(spec)))
        return false;
    for (size_t i = 0; i < manager->nodes->count; i++) {
        const struct host *host = host_at(manager->hosts, (uint32_t)i);
        if (host->failure && !host->unreached)
            return false;
        up |= host->topo || manager->spare[i];
    }
    return up;
}

/* ---- opening ---- */

static int open_topologies(struct manager *manager, struct error *err)
{
    const struct node_list *nodes = manager->nodes;
    struct topo *topo = NULL;
    for (size_t i = 0; i < nodes->count; i++) {
        const char *text = manager->descriptions[i];
        if (!i || strcmp(text, manager->descriptions[i - 1]) != 0) {
            topo_free(topo);
            topo = text[0] == '@' ? topo_load_xml(text + 1, err) : topo_load_synthetic(text, err);
        }
        if (!topo)
            return error_prefix(err, "--topology %s", nodes->list[i].host);
        host_known(manager->hosts, (uint32_t)i, topo);
    }
    topo_free(topo);
    return 0;
}

/* A program's claim may have more cores of this machine than the task of it that we are. */
static int keep_to_mask(struct manager *manager, struct error *err)
{
    struct node_list *nodes = manager->nodes;
    for (size_t i = 0; nodes->enclosed && i < nodes->count; i++) {
        struct node *node = &nodes->list[i];
        if (!node->here || !node->cores)
            continue;
        if (local_topology_find(manager->local, err) < 0)
            return -1;
        struct idset *allowed = topo_allowed_cores(local_topology_topo(manager->local)),
                     *all = node->cores;
        node->cores = idset_intersect(all, allowed);
        idset_free(allowed);
        idset_free(all);
        if (idset_empty(node->cores) && nodes->count == 1)
            return error_set(err,
                             "%s holds no core of this machine that this task may use: run where "
                             "its tasks run, or name nodes with --hosts or -R",
                             nodes->source);
    }
    return 0;
}

static bool only_here(const struct manager *manager)
{
    for (size_t i = 0; i < manager->nodes->count; i++)
        if (!manager->nodes->list[i].here)
            return false;
    return true;
}

void resources_want(struct manager *manager)
{
    if (!placement_hosts_want(manager))
        want_hosts(manager);
}

/* Exactly what --on says, as the nodes call it. */
static int keep_on(struct manager *manager, struct error *err)
{
    const char *path = manager->spec->on;
    char *name = mem_format("--on %s", path);
    struct rset *on = node_list_read_set(path, name, wall_clock(), err);
    int rc = on ? node_list_keep(manager->nodes, on, name, err) : -1;
    if (rc == 0)
        manager->on = rset_copy(manager->nodes->R);
    rset_free(on);
    free(name);
    return rc;
}

/* The nodes that there are, and what of them this run may use. */
static int open_real(struct manager *manager, struct error *err)
{
    if (enclosing_open(manager, err) < 0)
        return -1;
    manager->nodes = node_list_from_spec(manager->spec, wall_clock(), err);
    if (!manager->nodes)
        return -1;
    if (resources_open_instance(manager, err) < 0)
        return -1;
    if (manager->enclosing &&
        node_list_bound(manager->nodes, manager->enclosing_set, manager->enclosing_name, err) < 0)
        return -1;
    if (keep_to_mask(manager, err) < 0 || (manager->spec->on && keep_on(manager, err) < 0))
        return -1;
    return 0;
}

static int open_imagined(struct manager *manager, struct error *err)
{
    manager->nodes =
        node_list_from_topologies(manager->spec, wall_clock(), &manager->descriptions, err);
    return manager->nodes ? 0 : -1;
}

int resources_open(struct manager *manager, struct error *err)
{
    const struct spec *spec = manager->spec;
    bool imagined = spec->dry_run && spec->ntopologies;
    if ((imagined ? open_imagined(manager, err) : open_real(manager, err)) < 0)
        return -1;
    if (!imagined && resources_enter(manager, err) < 0 && !instance_is_busy(manager->instance))
        return -1;
    error_clear(err);
    if (manager->nodes->note)
        viewer_note(manager, manager->nodes->note);
    size_t count = manager->nodes->count;
    manager->hosts = host_table_new(manager->nodes);
    manager->free_cores = mem_array(count, sizeof(*manager->free_cores));
    manager->wanted = mem_array(count, sizeof(*manager->wanted));
    manager->spare = mem_array(count, sizeof(*manager->spare));
    if (!spec->hostfile && !imagined)
        manager->slots_where = mem_format("granted by %s", manager->nodes->identity);
    if (imagined && open_topologies(manager, err) < 0)
        return -1;
    if (resources_read_unheld(manager, err) < 0 || placement_hosts_open(manager, err) < 0)
        return -1;
    resources_want(manager);
    manager->agents =
        agents_new(manager->loop, spec, manager->hosts, manager->local, manager->way,
                   !imagined && !only_here(manager) ? topology_cache_open(manager->instance) : NULL,
                   manager->tree, &agent_frames_agents_ops, manager);
    return 0;
}

void resources_close(struct manager *manager)
{
    for (size_t i = 0; manager->hosts && i < manager->nodes->count; i++) {
        idset_free(manager->free_cores[i]);
        if (manager->descriptions)
            free(manager->descriptions[i]);
    }
    free(manager->descriptions);
    free(manager->free_cores);
    free(manager->wanted);
    free(manager->spare);
    agents_free(manager->agents);
    rset_free(manager->held);
    free(manager->slots_where);
    rset_free(manager->on);
    enclosing_close(manager);
    placement_hosts_close(manager);
    if (manager->hosts)
        host_table_free(manager->hosts);
    else
        node_list_free(manager->nodes);
}

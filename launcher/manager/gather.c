/* Who is there, and what is free. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/mem.h"
#include "config.h"
#include "launcher/manager/state.h"
#include "launcher/program/allowed.h"

static double wall_clock(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (double)now.tv_sec + (double)now.tv_usec / 1e6;
}

/* ---- the instance ---- */

/* One instance for each R file; this machine and named hosts share the user's own. */
static int open_instance(struct manager *manager, struct error *err)
{
    const char *identity = manager->nodes->R ? manager->nodes->source : "this machine";
    manager->instance = instance_open(identity, err);
    if (!manager->instance)
        return -1;
    const char *outer = getenv("TPRUN_INSTANCE"), *enclosing = getenv("TPRUN_ENCLOSING");
    if (outer && enclosing && strcmp(outer, instance_path(manager->instance)) == 0) {
        manager->enclosing = enclosing;
        instance_draw_from(manager->instance, enclosing);
    }
    if (manager->spec->dry_run)
        return 0;
    manager->program = program_new(manager->instance, err);
    if (!manager->program)
        return -1;
    json_t *spec = spec_to_json(manager->spec);
    int result = program_write(manager->program, "spec.json", spec, err);
    json_decref(spec);
    return result;
}

/* Cores of R less what others hold there. */
static int free_of_R(struct manager *manager, size_t index)
{
    const struct node *node = &manager->nodes->list[index];
    struct host *host = &manager->hosts[index];
    const struct rset_node *held = manager->held ? rset_find_host(manager->held, node->host) : NULL;
    idset_free(host->cores);
    host->cores = NULL;
    if (!node->cores)
        return 1;
    host->cores =
        held ? idset_subtract(node->cores, held->children->cores) : idset_copy(node->cores);
    return !idset_empty(host->cores);
}

int gather_free(struct manager *manager, struct error *err)
{
    rset_free(manager->held);
    manager->held = NULL;
    if (manager->instance && !manager->spec->overlap) {
        manager->held = instance_held(manager->instance, err);
        if (!manager->held)
            return -1;
    }
    for (size_t i = 0; i < manager->nodes->count; i++) {
        bool free = free_of_R(manager, i);
        manager->hosts[i].wanted &= free;
        manager->hosts[i].spare &= free;
    }
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
        if (!fills_nodes(part->map) || part->mppr || part->bind)
            return SIZE_MAX;
        cores += (size_t)(part->ntasks ? part->ntasks : 1) *
                 (part->cores_per_task ? part->cores_per_task : 1);
    }
    return cores;
}

/* A run on a few nodes of a large R need not wake them all. */
static void want_hosts(struct manager *manager)
{
    const struct spec *spec = manager->spec;
    size_t cores = likely_cores(spec), nodes = spec->nnodes ? spec->nnodes : SIZE_MAX;
    size_t found = 0, count = 0;
    for (size_t i = 0; i < manager->nodes->count; i++) {
        struct host *host = &manager->hosts[i];
        host->wanted = !host->cores || (count < nodes && (spec->nnodes || found < cores));
        host->spare = !host->wanted;
        if (host->wanted && host->cores && !idset_empty(host->cores)) {
            found += idset_count(host->cores);
            count++;
        }
        if (host->cores && idset_empty(host->cores))
            host->wanted = host->spare = false;
    }
}

/* ---- opening ---- */

static int open_topologies(struct manager *manager, struct error *err)
{
    struct nodes *nodes = manager->nodes;
    for (size_t i = 0; i < nodes->count; i++) {
        const char *text = manager->descriptions[i];
        struct host *host = &manager->hosts[i];
        if (i && strcmp(text, manager->descriptions[i - 1]) == 0)
            host->topo = topo_ref(manager->hosts[i - 1].topo);
        else if (text[0] == '@')
            host->topo = topo_load_xml(text + 1, err);
        else
            host->topo = topo_load_synthetic(text, err);
        if (!host->topo)
            return error_prefix(err, "--topology %s", nodes->list[i].host);
        host->settled = true;
    }
    return 0;
}

int gather_open(struct manager *manager, struct error *err)
{
    const struct spec *spec = manager->spec;
    bool imagined = spec->dry_run && spec->ntopologies;
    manager->nodes = imagined
                         ? nodes_from_topologies(spec, wall_clock(), &manager->descriptions, err)
                         : nodes_from_spec(spec, wall_clock(), err);
    if (!manager->nodes)
        return -1;
    manager->hosts = mem_array(manager->nodes->count, sizeof(*manager->hosts));
    if (imagined) {
        if (open_topologies(manager, err) < 0)
            return -1;
    } else if (open_instance(manager, err) < 0) {
        return -1;
    }
    if (gather_free(manager, err) < 0)
        return -1;
    want_hosts(manager);
    return 0;
}

/* ---- agents ---- */

static int know_here(struct manager *manager, struct error *err)
{
    if (!manager->here)
        manager->here = topo_load_local(err);
    return manager->here ? 0 : -1;
}

static void host_settled(struct manager *manager, uint32_t index)
{
    if (manager->hosts[index].settled)
        return;
    manager->hosts[index].settled = true;
    if (--manager->waiting == 0)
        manager_gathered(manager);
}

/* A dry run needs no agent to know this very machine. */
static bool settle_here(struct manager *manager, size_t index, struct error *err)
{
    const struct node *node = &manager->nodes->list[index];
    struct host *host = &manager->hosts[index];
    if (!node->here || !manager->spec->dry_run)
        return false;
    char *cores = node->cores ? idset_encode(node->cores) : NULL;
    if (know_here(manager, err) == 0 && (!cores || allowed_check(manager->here, cores, err) == 0)) {
        host->topo = topo_ref(manager->here);
        host->settled = true;
    }
    free(cores);
    return true;
}

static void fill_target(struct manager *manager, uint32_t index, struct tree_target *target)
{
    const struct node *node = &manager->nodes->list[index];
    *target = (struct tree_target){
        .node = index,
        .host = node->host,
        .login = node->login,
        .here = node->here,
        .cores = node->cores ? idset_encode(node->cores) : NULL,
        .digest = node->here && manager->here ? topo_digest(manager->here) : NULL};
    /* A method that was named is used for this machine too. */
    if (strcmp(manager->boot.method, "auto") != 0 && strcmp(manager->boot.method, "local") != 0)
        target->here = false;
}

static void start_targets(struct manager *manager, const struct idset *nodes, bool flat)
{
    size_t count = 0;
    struct tree_target *targets = mem_array(idset_count(nodes), sizeof(*targets));
    IDSET_FOREACH(node, nodes)
    {
        fill_target(manager, node, &targets[count++]);
        if (flat)
            manager->hosts[node].direct = true;
    }
    tree_start(manager->tree, targets, count, flat);
    for (size_t i = 0; i < count; i++) {
        free(targets[i].cores);
        free(targets[i].digest);
    }
    free(targets);
}

static int check_local_only(const struct manager *manager, size_t index, struct error *err)
{
    if (strcmp(manager->boot.method, "local") == 0 && !manager->nodes->list[index].here)
        return error_set(err, "%s is not this machine, and --bootstrap local reaches no other",
                         manager->nodes->list[index].host);
    return 0;
}

void gather_start(struct manager *manager)
{
    struct idset *nodes = idset_new();
    struct error err = ERROR_INIT;
    for (size_t i = 0; i < manager->nodes->count && !err.text; i++) {
        if (!manager->hosts[i].wanted || manager->hosts[i].settled)
            continue;
        if (settle_here(manager, i, &err) || check_local_only(manager, i, &err) < 0)
            continue;
        if (manager->nodes->list[i].here)
            know_here(manager, &err);
        idset_add(nodes, (uint32_t)i);
    }
    manager->waiting = idset_count(nodes);
    manager_say(manager, "resources: %s; %zu of %zu host%s asked", manager->nodes->source,
                manager->waiting, manager->nodes->count, manager->nodes->count > 1 ? "s" : "");
    if (err.text)
        manager_refuse(manager, &err);
    else if (!manager->waiting)
        manager_gathered(manager);
    else
        start_targets(manager, nodes, false);
    error_clear(&err);
    idset_free(nodes);
}

bool gather_more(struct manager *manager)
{
    size_t spare = 0;
    for (size_t i = 0; i < manager->nodes->count; i++) {
        spare += manager->hosts[i].spare;
        manager->hosts[i].wanted |= manager->hosts[i].spare;
        manager->hosts[i].spare = false;
    }
    if (spare)
        gather_start(manager);
    return spare > 0;
}

/* Equal nodes share one topology: the layout engine knows them by the pointer. */
static void share_topology(struct manager *manager, struct host *host, const char *digest)
{
    host->digest = mem_copy_text(digest);
    for (size_t i = 0; digest && i < manager->nodes->count; i++) {
        struct host *other = &manager->hosts[i];
        if (other == host || !other->topo || !other->digest || strcmp(other->digest, digest) != 0)
            continue;
        topo_free(host->topo);
        host->topo = topo_ref(other->topo);
        return;
    }
}

static void host_failed(struct manager *manager, uint32_t index, char *line)
{
    free(manager->hosts[index].failure);
    manager->hosts[index].failure = line;
    host_settled(manager, index);
}

void gather_hello(struct manager *manager, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    json_t *value = frame_json(frame, &err), *topology;
    if (frame->node >= manager->nodes->count || manager->hosts[frame->node].settled) {
        json_decref(value);
        error_clear(&err);
        return;
    }
    struct host *host = &manager->hosts[frame->node];
    const char *version = json_string_value(json_object_get(value, "version"));
    const char *refusal = json_string_value(json_object_get(value, "error"));
    if (version && strcmp(version, PACKAGE_VERSION) != 0)
        error_set(&err, "its tpagent is version %s, this tprun is %s: install the same on both",
                  version, PACKAGE_VERSION);
    else if (refusal)
        error_set(&err, "%s", refusal);
    else if ((topology = json_object_get(value, "topology")))
        host->topo = topo_from_json(topology, &err);
    else if (manager->nodes->list[frame->node].here)
        host->topo = topo_ref(manager->here);
    if (!host->topo) {
        host_failed(manager, frame->node,
                    mem_format("%s: %s", manager->nodes->list[frame->node].host, error_text(&err)));
    } else {
        manager_say(manager, "%s: agent is up, %u hardware threads",
                    manager->nodes->list[frame->node].host, host->topo->npus);
        share_topology(manager, host, json_string_value(json_object_get(value, "digest")));
        host_settled(manager, frame->node);
    }
    error_clear(&err);
    json_decref(value);
}

/* What an inner agent could not reach is tried from here before it counts as failed. */
void gather_unreached(struct manager *manager, const struct tree_unreached *what, bool direct)
{
    struct idset *again = idset_copy(what->nodes);
    if (what->node >= manager->nodes->count) {
        idset_free(again);
        return;
    }
    if (direct) {
        idset_remove(again, what->node);
        char *line = mem_format("%s: not started: %s: %s (after %.1f s)", what->host,
                                bootstrap_stage_name(what->stage), what->text, what->elapsed);
        tree_forget(manager->tree, what->nodes);
        if (!idset_empty(again))
            start_targets(manager, again, true);
        host_failed(manager, what->node, line);
    } else {
        tree_forget(manager->tree, what->nodes);
        start_targets(manager, again, true);
    }
    idset_free(again);
}

void gather_close(struct manager *manager)
{
    for (size_t i = 0; manager->nodes && i < manager->nodes->count; i++) {
        topo_free(manager->hosts[i].topo);
        idset_free(manager->hosts[i].cores);
        free(manager->hosts[i].failure);
        free(manager->hosts[i].digest);
        if (manager->descriptions)
            free(manager->descriptions[i]);
    }
    free(manager->descriptions);
    free(manager->hosts);
    rset_free(manager->held);
    topo_free(manager->here);
    nodes_free(manager->nodes);
}

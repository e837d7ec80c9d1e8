/* What a run may use: nodes, instance, this program in the ledger, and what others hold. */
#include "launcher/instance/resources_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "affinity/policy/part_options.h"
#include "affinity/policy/policy_gpu.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "launcher/ledger/claim.h"
#include "launcher/ledger/claim_queue.h"
#include "launcher/ledger/instance_directory.h"
#include "launcher/ledger/instance_lock.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/source/batch_system.h"
#include "launcher/source/nodes_from_options.h"
#include "launcher/spec/spec_build.h"
#include "launcher/spec/spec_file.h"

#define CLAIM_STANDS 1.0         /* s; the end of an older claim is reckoned anew */
#define TOPOLOGY_MAX (64u << 20) /* bytes of a file; affinity/topology has a lower limit */

static double wall_clock(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (double)now.tv_sec + (double)now.tv_usec / 1e6;
}

/* ---- the instance, and this program in it ---- */

struct instance *resources_instance(const struct resources *resources)
{
    return resources ? resources->instance : NULL;
}

struct ledger_entry *resources_entry(const struct resources *resources)
{
    return resources ? resources->entry : NULL;
}

const char *resources_instance_id(const struct resources *resources)
{
    return resources->outer.family ? resources->outer.family : instance_id(resources->instance);
}

const char *resources_enclosing(const struct resources *resources)
{
    return resources->outer.programs;
}

bool resources_is_enclosed(const struct resources *resources)
{
    return resources->outer.program;
}

/* From the start of its tasks on. */
static double longest_run(const struct spec *spec, double time_limit)
{
    return time_limit + spec->stop_grace + (spec->epilog ? spec->hook_timeout : 0);
}

/* Staging has no bound: it goes on for as long as some node takes bytes. Nor have agents that start once a shape is
 * held. */
double resources_longest_hold(const struct spec *spec, double time_limit)
{
    if (spec->stage)
        return INFINITY;
    for (size_t i = 0; i < spec->nparts; i++)
        if (spec->parts[i].shape)
            return INFINITY;
    return longest_run(spec, time_limit) + (spec->prolog ? spec->hook_timeout : 0);
}

/* The end that others are told is reckoned from the next claim. */
static void set_limit(struct resources *resources)
{
    const struct rset *R = host_nodes(resources->hosts)->R;
    double longest = resources_longest_hold(resources->spec, resources->spec->time_limit);
    entry_set_limit(resources->entry, longest, R ? R->expiration : 0);
}

int resources_enter(struct resources *resources, struct error *err)
{
    const struct spec *spec = resources->spec;
    if (spec->dry_run || resources->entry)
        return 0;
    struct buf command = BUF_INIT; /* of its first part: others know it by that */
    for (char *const *word = spec->parts[0].argv; *word; word++)
        buf_printf(&command, "%s%s", command.len ? " " : "", *word);
    resources->entry = entry_new(resources->instance, buf_text(&command), err);
    buf_free(&command);
    if (!resources->entry)
        return -1;
    set_limit(resources);
    json_t *value = spec_to_json(spec);
    if (spec->origins)
        json_object_set(value, "origins", spec->origins);
    int result = entry_write(resources->entry, "spec.json", value, err);
    json_decref(value);
    return result;
}

void resources_leave(struct resources *resources)
{
    if (!resources)
        return;
    entry_end(resources->entry);
    resources->entry = NULL;
}

int resources_claim(struct resources *resources, const struct rset *set, struct error *err)
{
    if (!resources->entry || resources->spec->overlap)
        return 0;
    int rc = entry_claim(resources->entry, set, err);
    if (rc == 0)
        resources->claimed = clock_monotonic_seconds();
    return rc;
}

void resources_give_back(struct resources *resources)
{
    struct error ignored = ERROR_INIT; /* then it is held until another claim or the end */
    struct rset *none = rset_new();
    resources_claim(resources, none, &ignored);
    rset_free(none);
    error_clear(&ignored);
    if (resources->entry)
        set_limit(resources);
}

void resources_begin_limit(struct resources *resources, const struct rset *claim)
{
    const struct spec *spec = resources->spec;
    bool known = !isinf(resources_longest_hold(spec, spec->time_limit)) &&
                 clock_monotonic_seconds() - resources->claimed < CLAIM_STANDS;
    if (isinf(spec->time_limit) || known || !resources->entry || spec->overlap)
        return;
    const struct rset *R = host_nodes(resources->hosts)->R;
    entry_set_limit(resources->entry, longest_run(spec, spec->time_limit), R ? R->expiration : 0);
    struct error ignored = ERROR_INIT; /* others wait longer where that fails */
    entry_share(resources->entry, claim, &ignored);
    error_clear(&ignored);
}

/* ---- what others hold ---- */

/* Of each host where others hold something the cores of R less these. Where they hold nothing no
 * host is looked at. */
static void resources_subtract_held(struct resources *resources)
{
    const struct rset *all = resources_held(resources);
    bool any = all && all->nnodes;
    if (any && !resources->free)
        resources->free = mem_array(host_count(resources->hosts), sizeof(*resources->free));
    for (uint32_t i = 0; (any || resources->any_less) && i < host_count(resources->hosts); i++) {
        const struct node *node = host_at(resources->hosts, i)->node;
        const struct rset_node *held = resources_held_of(resources, i);
        idset_free(resources->free[i]);
        resources->free[i] =
            held && node->cores ? idset_subtract(node->cores, held->children->cores) : NULL;
    }
    resources->any_less = any;
}

/* Reads what others hold, and what those keep that stand before this run in line, which is as good as held. */
static int resources_read_held(struct resources *resources, struct error *err)
{
    struct rset *barred = NULL;
    struct rset *held = resources->entry ? entry_held(resources->entry, &barred, err)
                                         : instance_held(resources->instance, err);
    if (!held)
        return -1;
    resources->held_cores = resources->held_gpus = 0;
    for (size_t i = 0; i < held->nnodes; i++) {
        resources->held_cores += idset_count(held->nodes[i].children->cores);
        resources->held_gpus += idset_count(held->nodes[i].children->gpus);
    }
    if (barred && barred->nnodes) {
        struct rset *all = rset_union_hosts((const struct rset *const[]){held, barred}, 2);
        rset_free(held);
        held = all;
    }
    rset_free(barred);
    resources->held = held;
    resources->held_index = rset_host_index(held);
    return 0;
}

int resources_refresh(struct resources *resources, struct error *err)
{
    rset_free(resources->held);
    host_index_free(resources->held_index);
    resources->held = NULL;
    resources->held_index = NULL;
    if (resources->instance && !resources->spec->overlap && resources_read_held(resources, err) < 0)
        return -1;
    resources_subtract_held(resources);
    return 0;
}

void resources_begin_trial(struct resources *resources, const struct rset *held)
{
    resources->is_trial = true;
    resources->trial_held = held;
    resources->trial_index = held ? rset_host_index(held) : NULL;
    resources_subtract_held(resources);
}

void resources_end_trial(struct resources *resources)
{
    host_index_free(resources->trial_index);
    resources->is_trial = false;
    resources->trial_held = NULL;
    resources->trial_index = NULL;
    resources_subtract_held(resources);
}

const struct rset *resources_held(const struct resources *resources)
{
    return resources->is_trial ? resources->trial_held : resources->held;
}

const struct rset_node *resources_held_of(const struct resources *resources, uint32_t host)
{
    const struct rset *held = resources_held(resources);
    const char *name = host_names(resources->hosts)[host];
    const struct host_index *index =
        resources->is_trial ? resources->trial_index : resources->held_index;
    size_t at = held ? host_index_find(index, name) : HOST_INDEX_NONE;
    return at == HOST_INDEX_NONE ? NULL : &held->nodes[at];
}

size_t resources_held_cores(const struct resources *resources)
{
    return resources->held_cores;
}

size_t resources_held_gpus(const struct resources *resources)
{
    return resources->held_gpus;
}

/* ---- what there is ---- */

struct host_table *resources_hosts(const struct resources *resources)
{
    return resources ? resources->hosts : NULL;
}

const char *resources_note(const struct resources *resources)
{
    return host_nodes(resources->hosts)->note;
}

const struct rset *resources_on(const struct resources *resources)
{
    return resources->on;
}

const char *resources_limits_source(const struct resources *resources)
{
    return resources->limits_source;
}

bool resources_are_this_machine(const struct resources *resources)
{
    const struct batch_system *from = host_nodes(resources->hosts)->from;
    return from && !batch_system_variable(from);
}

const struct idset *resources_free_of_R(const struct resources *resources, uint32_t host)
{
    const struct idset *less = resources->free ? resources->free[host] : NULL;
    return less ? less : host_at(resources->hosts, host)->node->cores;
}

/* ---- opening ---- */

static struct topo *read_topology(const struct resources *resources, const char *path,
                                  struct error *err)
{
    struct buf text = BUF_INIT;
    struct topo *topo = NULL;
    if (!resources->spec->is_sent)
        return topo_load_xml(path, err);
    char *name = mem_format("topology file %s", path);
    if (spec_file_read(resources->spec, path, name, TOPOLOGY_MAX, &text, err) == 0)
        topo = topo_load_xml_text(name, buf_text(&text), err);
    buf_free(&text);
    free(name);
    return topo;
}

int resources_read_topologies(struct resources *resources, struct error *err)
{
    struct topo *topo = NULL;
    char *const *texts = resources->descriptions;
    for (uint32_t i = 0; texts && i < host_count(resources->hosts); i++) {
        if (!i || strcmp(texts[i], texts[i - 1]) != 0) {
            topo_free(topo);
            topo = texts[i][0] == '@' ? read_topology(resources, texts[i] + 1, err)
                                      : topo_load_synthetic(texts[i], err);
        }
        if (!topo)
            return error_prefix(err, "--topology %s", host_at(resources->hosts, i)->node->host);
        host_known(resources->hosts, i, topo);
    }
    topo_free(topo);
    return 0;
}

/* A program's claim may have more cores of this machine than the task of it that we are. */
static int keep_to_mask(const struct node_list *nodes, struct local_topology *local,
                        struct error *err)
{
    struct node *node = nodes->enclosed ? node_list_this_machine(nodes) : NULL;
    if (!node || !node->cores)
        return 0;
    if (local_topology_find(local, err) < 0)
        return -1;
    struct idset *allowed = topo_allowed_cores(local_topology_topo(local)), *all = node->cores;
    node->cores = idset_intersect(all, allowed);
    idset_free(allowed);
    idset_free(all);
    if (idset_empty(node->cores) && nodes->count == 1)
        return error_set(err,
                         "%s holds no core of this machine that this task may use: run where "
                         "its tasks run, or name nodes with --hosts or -R",
                         nodes->source);
    return 0;
}

/* Exactly what --on says, as the nodes call it. */
static int keep_on(struct resources *resources, struct node_list *nodes, struct error *err)
{
    const char *path = resources->spec->on;
    char *name = mem_format("--on %s", path);
    struct rset *on = node_list_read_set(resources->spec, path, name, wall_clock(), err);
    int rc = on ? node_list_keep(nodes, on, name, err) : -1;
    if (rc == 0)
        resources->on = rset_copy(nodes->R);
    rset_free(on);
    free(name);
    return rc;
}

/* The nodes that there are, and what of them this run may use. One instance for each R file, each
 * batch job, and this machine; a task's run is in the instance of its program. */
static struct node_list *open_real(struct resources *resources, struct local_topology *local,
                                   struct error *err)
{
    struct enclosing_resources *outer = &resources->outer;
    if (enclosing_resources_open(outer, &resources->instance, err) < 0)
        return NULL;
    struct node_list *nodes = resources_take_ahead(resources);
    if (!nodes)
        nodes = node_list_from_spec(resources->spec, outer->program, wall_clock(), err);
    if (!nodes)
        return NULL;
    if (!resources->instance)
        resources->instance = instance_open(nodes->identity, err);
    bool ok = resources->instance;
    if (ok)
        instance_set_patience(resources->instance, RESOURCES_PATIENCE);
    if (ok && outer->program && outer->program->R) /* else it has named the nodes itself */
        ok = node_list_bound(nodes, outer->program->R, outer->name, err) == 0;
    ok = ok && keep_to_mask(nodes, local, err) == 0 &&
         (!resources->spec->on || keep_on(resources, nodes, err) == 0);
    if (ok)
        return nodes;
    if (!resources->keeps_hosts)
        node_list_free(nodes);
    return NULL;
}

/* GPUs that are hidden from tprun are looked for only where any are to be given out. */
static bool wants_gpus(const struct spec *spec)
{
    for (size_t i = 0; i < spec->nparts; i++) {
        struct layout_part part = spec_part_layout(&spec->parts[i]);
        bool whole = spec->initial_program && spec->parts[i].fill;
        if (whole || spec->parts[i].shape || layout_part_uses_gpus(&part))
            return true;
    }
    return false;
}

struct resources *resources_open(const struct spec *spec, struct local_topology *local,
                                 struct error *err)
{
    struct resources *resources = mem_alloc(sizeof(*resources));
    bool imagined = spec->dry_run && spec->ntopologies;
    resources->spec = spec;
    resources->wants_gpus = wants_gpus(spec);
    struct node_list *nodes =
        imagined ? node_list_from_topologies(spec, wall_clock(), &resources->descriptions, err)
                 : open_real(resources, local, err);
    if (!nodes) {
        resources_free(resources);
        return NULL;
    }
    if (!resources->hosts)
        resources->hosts = host_table_new(nodes);
    if (!spec->hostfile && !imagined)
        resources->limits_source = mem_format("granted by %s", nodes->identity);
    if (!imagined && resources_enter(resources, err) < 0 &&
        !instance_is_busy(resources->instance)) {
        resources_free(resources);
        return NULL;
    }
    error_clear(err);
    return resources;
}

struct topology_cache *resources_topology_cache(const struct resources *resources)
{
    for (uint32_t i = 0; i < host_count(resources->hosts) && !resources->descriptions; i++)
        if (!host_at(resources->hosts, i)->node->here)
            return topology_cache_open(resources->instance);
    return NULL;
}

void resources_free(struct resources *resources)
{
    if (!resources)
        return;
    for (uint32_t i = 0; resources->free && i < host_count(resources->hosts); i++)
        idset_free(resources->free[i]);
    for (uint32_t i = 0; resources->descriptions && i < host_count(resources->hosts); i++)
        free(resources->descriptions[i]);
    free(resources->descriptions);
    free(resources->free);
    host_index_free(resources->held_index);
    rset_free(resources->held);
    rset_free(resources->on);
    free(resources->limits_source);
    entry_end(resources->entry);
    instance_close(resources->instance);
    enclosing_resources_clear(&resources->outer);
    if (!resources->keeps_hosts)
        host_table_free(resources->hosts);
    free(resources);
}

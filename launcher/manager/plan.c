/* Where everything goes: layout, claim, what is shown, the launch. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/picture/picture.h"
#include "affinity/resource/scheduling.h"
#include "base/buf.h"
#include "base/mem.h"
#include "launcher/manager/internal.h"
#include "launcher/plan/picture_file.h"
#include "launcher/protocol/launch.h"
#include "launcher/spec/spec_build.h"

#define PLACE_TRIES 100 /* races for the same cores that may be lost before it is given up */

/* ---- candidates ---- */

static void fill_parts(struct manager *manager)
{
    const struct spec *spec = manager->spec;
    if (manager->parts)
        return;
    manager->parts = mem_array(spec->nparts, sizeof(*manager->parts));
    for (size_t i = 0; i < spec->nparts; i++) {
        manager->parts[i] = spec_part_layout(&spec->parts[i]);
        manager->parts[i].rankfile = manager->rankfiles[i];
    }
}

static void free_candidate(const struct layout_node *candidate)
{
    idset_free((struct idset *)(uintptr_t)candidate->cores);
    idset_free((struct idset *)(uintptr_t)candidate->gpus);
}

static void free_candidates(struct manager *manager)
{
    for (uint32_t i = 0; i < manager->ncandidates; i++)
        free_candidate(&manager->candidates[i]);
    free(manager->candidates);
    free(manager->candidate_host);
    manager->candidates = NULL;
    manager->candidate_host = NULL;
    manager->ncandidates = 0;
}

/* Most tasks that a node takes; 0: as many as fit, or with *full none. Where cores were granted,
 * tasks with -c take several, and those that other programs hold are gone. */
static uint32_t task_limit(const struct manager *manager, size_t index, bool *full)
{
    const struct node *node = &manager->nodes->list[index];
    const struct rset_node *held = manager->held ? rset_find_host(manager->held, node->host) : NULL;
    size_t taken = held ? idset_count(held->children->cores) : 0;
    uint32_t widest = 1;
    bool more = false;
    *full = false;
    if (manager->nodes->limits_cores && manager->grant) /* what was allocated keeps to it */
        return 0;
    if (!manager->nodes->limits_cores || !node->limit)
        return node->limit;
    for (size_t i = 0; i < manager->spec->nparts; i++) {
        const struct spec_part *part = &manager->spec->parts[i];
        widest = part->cores_per_task > widest ? part->cores_per_task : widest;
        more = more || part->oversubscribe;
    }
    uint32_t limit = taken < node->limit ? (uint32_t)(node->limit - taken) / widest : 0;
    *full = !limit && !more;
    return limit || !more ? limit : 1;
}

static int plan_find_candidates(struct manager *manager, struct error *err)
{
    size_t count = manager->nodes->count;
    free_candidates(manager);
    manager->candidates = mem_array(count, sizeof(*manager->candidates));
    manager->candidate_host = mem_array(count, sizeof(*manager->candidate_host));
    for (size_t i = 0; i < count; i++) {
        const struct node *node = &manager->nodes->list[i];
        if (!host_at(manager->hosts, (uint32_t)i)->topo ||
            !(manager->wanted[i] || manager->wishing))
            continue;
        struct idset *cores = resources_free_cores(manager, i), *gpus;
        bool full;
        uint32_t limit = task_limit(manager, i, &full);
        if (full || idset_empty(cores)) {
            idset_free(cores);
            continue;
        }
        if (resources_free_gpus(manager, i, &gpus, err) < 0) {
            idset_free(cores);
            return -1;
        }
        manager->candidate_host[manager->ncandidates] = (uint32_t)i;
        manager->candidates[manager->ncandidates++] =
            (struct layout_node){.host = node->host,
                                 .target = node->target,
                                 .topo = host_at(manager->hosts, (uint32_t)i)->topo,
                                 .cores = cores,
                                 .gpus = gpus,
                                 .limit = limit};
    }
    return 0;
}

static void fill_request(struct manager *manager)
{
    const struct spec *spec = manager->spec;
    manager->request = (struct layout_request){.nodes = manager->candidates,
                                               .nnodes = manager->ncandidates,
                                               .slots_where = manager->slots_where,
                                               .claim_all = manager->grant,
                                               .node_count = spec->nnodes,
                                               .parts = manager->parts,
                                               .nparts = (uint32_t)spec->nparts,
                                               .hosts = host_names(manager->hosts),
                                               .nhosts = (uint32_t)manager->nodes->count,
                                               .positions = manager->candidate_host};
}

/* ---- the claim ---- */

/* What was left out before anything was placed. */
static void explain_refusal(const struct manager *manager, struct error *err)
{
    size_t held = manager->wishing ? 0 : manager->held_cores, gpus = manager->held_gpus;
    struct buf text = BUF_INIT;
    if (err->kind != ERROR_REFUSED || manager->grant)
        return;
    buf_add_text(&text, error_text(err));
    if (held)
        buf_printf(&text, "; %zu core%s", held, held > 1 ? "s" : "");
    if (held && gpus)
        buf_printf(&text, " and %zu GPU%s", gpus, gpus > 1 ? "s" : "");
    if (held)
        buf_printf(&text, " held by other running programs %s left out (--overlap shares %s)",
                   held + gpus > 1 ? "were" : "was", held + gpus > 1 ? "them" : "it");
    if (manager->gpus_hidden)
        buf_add_text(&text, "; GPUs of this machine that tprun's own environment hides "
                            "(CUDA_VISIBLE_DEVICES and the like) were left out");
    error_set(err, "%s", buf_text(&text));
    buf_free(&text);
}

static void make_claim(struct manager *manager)
{
    struct layout *layout = manager->layout;
    rset_free(manager->claim);
    manager->claim = NULL;
    if (manager->grant || manager->on)
        manager->claim = rset_copy(manager->grant ? shape_allocation_R(manager) : manager->on);
    if (manager->grant)
        return;
    if (!manager->claim)
        manager->claim = rset_new();
    for (uint32_t i = 0; i < layout->nnodes && !manager->on; i++) {
        const struct layout_node *node = &manager->candidates[layout->nodes[i].source];
        rset_append(manager->claim, node->target, node->host, layout->nodes[i].claim,
                    layout->nodes[i].gpus);
    }
    if (manager->nodes->R)
        scheduling_describe(manager->claim, manager->nodes->R);
}

/* Of --on all has to be free. */
static int check_on(const struct manager *manager, struct error *err)
{
    const char *host =
        manager->on && manager->held ? rset_overlap(manager->on, manager->held, NULL) : NULL;
    if (!host)
        return 0;
    return error_set(err, "--on %s: not all of it is free: some of %s is held by others",
                     manager->spec->on, host);
}

static int make_layout(struct manager *manager, struct error *err)
{
    layout_free(manager->layout);
    manager->layout = NULL;
    fill_parts(manager);
    if (check_on(manager, err) < 0 || plan_find_candidates(manager, err) < 0 ||
        shape_allocation_fill_parts(manager, err) < 0)
        return -1;
    fill_request(manager);
    if (!manager->ncandidates && !manager->named && manager->nodes->limits_cores &&
        !manager->held_cores)
        return error_set(err,
                         "-c: %s grants fewer cores on each node than a task is to have; "
                         "--oversubscribe runs one there",
                         manager->nodes->source);
    if (!manager->ncandidates && !manager->named)
        return error_set(err,
                         "every core is held by other running programs (%zu of them) or by those "
                         "that wait; wait for them to end, or share with --overlap",
                         manager->held_cores);
    manager->layout = layout_make(&manager->request, err);
    if (!manager->layout)
        explain_refusal(manager, err);
    return manager->layout ? 0 : -1;
}

static int check_input(const struct manager *manager, struct error *err)
{
    const struct spec *spec = manager->spec;
    if (spec->input != SPEC_INPUT_RANKS || !spec->input_arg)
        return 0;
    struct idset *ranks = idset_decode(spec->input_arg, err);
    int result = ranks ? 0 : -1;
    if (ranks && !idset_empty(ranks) && idset_last(ranks) >= manager->layout->ntasks)
        result = error_usage(err, "--input %s: there is no rank %u, the program has ranks 0 to %u",
                             spec->input_arg, idset_last(ranks), manager->layout->ntasks - 1);
    idset_free(ranks);
    return result;
}

static int map_and_claim(struct manager *manager, int *turn, struct error *err)
{
    fill_parts(manager);
    if (shape_allocation_take(manager, err) < 0)
        return -1;
    for (int tries = 0; tries < PLACE_TRIES; tries++) {
        error_clear(err);
        if (make_layout(manager, err) < 0 || check_input(manager, err) < 0)
            return -1;
        make_claim(manager);
        if (!manager->entry || manager->spec->overlap || manager->grant)
            return 0;
        int lost = entry_claim(manager->entry, manager->claim, err);
        if (lost <= 0)
            return lost;
        if (*turn < 0)
            *turn = instance_turn(manager->instance);
        if (resources_read_unheld(manager, err) < 0)
            return -1;
    }
    return error_prefix(err, "lost the race for free cores %d times", PLACE_TRIES);
}

int plan_map(struct manager *manager, struct error *err)
{
    int turn = -1, result = map_and_claim(manager, &turn, err);
    if (turn >= 0)
        close(turn);
    return result;
}

/* Hosts that were not asked are as the instance remembers them. */
static bool lend_topologies(struct manager *manager)
{
    bool all = true;
    for (size_t i = 0; i < manager->nodes->count; i++) {
        const struct host *host = host_at(manager->hosts, (uint32_t)i);
        bool open = host->state == HOST_UNUSED || host->state == HOST_STARTING;
        struct topo *known = open ? agents_known_topology(manager->agents, (uint32_t)i) : NULL;
        if (known)
            host_lend(manager->hosts, (uint32_t)i, known);
        all &= known || !open;
    }
    return all;
}

struct rset *plan_wish(struct manager *manager, bool *known, struct error *err)
{
    struct rset *held = manager->held, *wish = NULL;
    if (manager->grant)
        return shape_allocation_wish(manager, known, err);
    *known = lend_topologies(manager);
    manager->held = NULL;
    manager->wishing = true;
    resources_share(manager);
    if (make_layout(manager, err) == 0) {
        make_claim(manager);
        wish = manager->claim;
        manager->claim = NULL;
    }
    manager->held = held;
    manager->wishing = false;
    resources_share(manager);
    host_take_back(manager->hosts);
    return wish;
}

/* ---- what is shown ---- */

/* The picture of --draw - has the standard output for itself. */
static bool draws_alone(const struct spec *spec)
{
    return spec->draw && strcmp(spec->draw, "-") == 0;
}

static void put_text(void *arg, const char *text)
{
    struct manager *manager = arg;
    viewer_show(manager, text, !manager->spec->dry_run || draws_alone(manager->spec));
}

static void show(struct manager *manager, const struct layout *layout, unsigned what)
{
    if (!what)
        return;
    if (manager->spec->format == SPEC_SHOW_JSON) {
        json_t *r = rset_to_json(manager->claim);
        layout_print_json(layout, &manager->request, r, put_text, manager);
        json_decref(r);
        return;
    }
    char *text = picture_text(layout, &manager->request, what);
    put_text(manager, text);
    free(text);
}

static int draw(struct manager *manager, struct error *err)
{
    if (!manager->spec->draw)
        return 0;
    char *text = picture_svg(manager->layout, &manager->request);
    int rc = 0;
    if (draws_alone(manager->spec))
        viewer_show(manager, text, false);
    else
        rc = picture_file_write(manager->spec->draw, text, strlen(text), err);
    free(text);
    return rc;
}

/* Limits that leave cores out are easily taken for more of the default, which is one task a core.
 * Who shares cores with other runs knows. */
static void note_crowd(struct manager *manager)
{
    const struct layout *layout = manager->layout;
    const struct layout_crowd *crowd = &layout->crowd;
    if (!crowd->each || manager->spec->overlap)
        return;
    const char *host = manager->request.nodes[layout->nodes[crowd->node].source].host;
    uint32_t others = crowd->nnodes - 1;
    char *more = others ? mem_format(" and %u other node%s", others, others == 1 ? "" : "s")
                        : mem_copy_text("");
    char *note = mem_format("up to %u tasks share a core on %s%s; --oversubscribe leaves this line "
                            "out",
                            crowd->each, host, more);
    viewer_note(manager, note);
    free(more);
    free(note);
}

/* Where nothing says how many tasks there are to be, and they are not in a program that has said so
 * before. */
static bool is_one_by_default(const struct manager *manager)
{
    const struct spec *spec = manager->spec;
    const struct spec_part *part = &spec->parts[0];
    return !spec->overlap && spec->nparts == 1 && manager->layout->ntasks == 1 && !part->ntasks &&
           !part->fill && !spec->nnodes && !part->per && !part->shape && !part->taskmap &&
           !part->rankfile && !manager->enclosing && !manager->nodes->enclosed;
}

/* The slots or cores that a node is said to have here; 0: nothing is said of that. */
static size_t granted_count(const struct node *node)
{
    return node->cores ? idset_count(node->cores) : node->limit;
}

/* All nodes' together; 0 where one says nothing. */
static size_t granted_sum(const struct node_list *nodes)
{
    size_t sum = 0;
    for (size_t i = 0; i < nodes->count; i++) {
        size_t count = granted_count(&nodes->list[i]);
        if (!count)
            return 0;
        sum += count;
    }
    return sum;
}

/* A batch script's author who knows other launchers expects a task for each slot. */
static void note_unused(struct manager *manager)
{
    const struct node_list *nodes = manager->nodes;
    const struct layout_used_node *used = &manager->layout->nodes[0];
    const struct node *node = &nodes->list[manager->candidate_host[used->source]];
    size_t cores = manager->layout->bound ? idset_count(used->claim) : SIZE_MAX;
    if (!is_one_by_default(manager) || (nodes->count == 1 && granted_count(node) <= cores))
        return;
    size_t sum = granted_sum(nodes);
    bool slots = !nodes->limits_cores && !node->cores;
    char *unused = sum ? mem_format("the %zu %s on %zu node%s", sum, slots ? "slots" : "cores",
                                    nodes->count, nodes->count == 1 ? "" : "s")
                       : mem_format("the %zu nodes", nodes->count);
    char *note = mem_format("1 task is started for %s of %s: -n all starts as many as fit, -n 1 "
                            "leaves this line out",
                            unused, nodes->source);
    viewer_note(manager, note);
    free(unused);
    free(note);
}

/* Of a real run, bindings are shown when they are a fact; JSON is one object, at one time. */
int plan_show(struct manager *manager, struct error *err)
{
    const struct spec *spec = manager->spec;
    unsigned what = spec->display;
    note_crowd(manager);
    if (!spec->dry_run)
        note_unused(manager);
    if (draw(manager, err) < 0)
        return -1;
    if (spec->dry_run && !what && (!draws_alone(spec) || spec->format == SPEC_SHOW_JSON))
        what = LAYOUT_SHOW_MAP | LAYOUT_SHOW_BIND;
    if (!spec->dry_run && what & LAYOUT_SHOW_BIND)
        what = spec->format == SPEC_SHOW_JSON ? 0 : what & ~(unsigned)LAYOUT_SHOW_BIND;
    show(manager, manager->layout, what);
    return 0;
}

void plan_show_found(struct manager *manager)
{
    bool text = manager->spec->format == SPEC_SHOW_TEXT;
    show(manager, readback_layout(manager->found),
         text ? LAYOUT_SHOW_BIND : manager->spec->display);
}

/* ---- the launch ---- */

void plan_launch(struct manager *manager)
{
    struct task_group_plan plan = {.spec = manager->spec,
                                   .layout = manager->layout,
                                   .candidates = manager->candidates,
                                   .candidate_host = manager->candidate_host,
                                   .idle = manager->grant};
    task_groups_set_claim(manager->groups, manager->claim);
    const struct task_group *group = program_start_group(manager, &plan);
    manager->input_nodes =
        launch_input_nodes(manager->spec, task_group_map(group), task_group_tree_nodes(group),
                           task_group_nnodes(group));
}

void plan_close(struct manager *manager)
{
    readback_free(manager->found);
    layout_free(manager->layout);
    free_candidates(manager);
    rset_free(manager->claim);
    free(manager->parts);
}

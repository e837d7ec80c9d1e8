/* The layout of the first tasks, and what is claimed for it. */
#include "launcher/plan/plan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/resource/scheduling.h"
#include "base/buf.h"
#include "base/mem.h"
#include "launcher/ledger/instance_lock.h"
#include "launcher/spec/spec_build.h"

#define PLACE_TRIES 100 /* races for the same cores that may be lost before it is given up */

struct plan {
    const struct spec *spec;
    struct resources *resources;
    struct host_table *hosts;
    const struct agents *agents;
    struct host_choice *choice;
    struct shape_allocation *shapes;
    struct candidates candidates;
    struct layout_part *parts; /* NULL: not filled yet */
    struct layout_request request;
    struct layout *layout;
    struct rset *claim;
    bool trial; /* as if nothing were held */
};

struct plan *plan_new(const struct spec *spec, struct resources *resources,
                      const struct agents *agents, struct host_choice *choice,
                      struct shape_allocation *shapes)
{
    struct plan *plan = mem_alloc(sizeof(*plan));
    *plan = (struct plan){.spec = spec,
                          .resources = resources,
                          .hosts = resources_hosts(resources),
                          .agents = agents,
                          .choice = choice,
                          .shapes = shapes};
    plan->parts = mem_array(spec->nparts, sizeof(*plan->parts));
    for (size_t i = 0; i < spec->nparts; i++) {
        plan->parts[i] = spec_part_layout(&spec->parts[i]);
        plan->parts[i].rankfile = host_choice_rankfile(choice, i);
    }
    return plan;
}

void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    layout_free(plan->layout);
    candidates_clear(&plan->candidates);
    rset_free(plan->claim);
    free(plan->parts);
    free(plan);
}

const struct layout *plan_layout(const struct plan *plan)
{
    return plan ? plan->layout : NULL;
}

const struct rset *plan_claim(const struct plan *plan)
{
    return plan ? plan->claim : NULL;
}

const struct layout_request *plan_request(const struct plan *plan)
{
    return &plan->request;
}

const struct candidates *plan_candidates(const struct plan *plan)
{
    return &plan->candidates;
}

/* ---- the layout ---- */

/* What was left out before anything was placed. */
static void explain_refusal(const struct plan *plan, struct error *err)
{
    size_t held = plan->trial ? 0 : resources_held_cores(plan->resources);
    size_t gpus = resources_held_gpus(plan->resources);
    struct buf text = BUF_INIT;
    if (err->kind != ERROR_REFUSED || plan->shapes)
        return;
    buf_add_text(&text, error_text(err));
    if (held)
        buf_printf(&text, "; %zu core%s", held, held > 1 ? "s" : "");
    if (held && gpus)
        buf_printf(&text, " and %zu GPU%s", gpus, gpus > 1 ? "s" : "");
    if (held)
        buf_printf(&text, " held by other running programs %s left out (--overlap shares %s)",
                   held + gpus > 1 ? "were" : "was", held + gpus > 1 ? "them" : "it");
    if (resources_gpus_are_hidden(plan->resources))
        buf_add_text(&text, "; GPUs of this machine that tprun's own environment hides "
                            "(CUDA_VISIBLE_DEVICES and the like) were left out");
    error_set(err, "%s", buf_text(&text));
    buf_free(&text);
}

/* Of --on all has to be free. */
static int check_on(const struct plan *plan, struct error *err)
{
    const struct rset *on = resources_on(plan->resources), *held = resources_held(plan->resources);
    const char *host = on && held ? rset_overlap(on, held, NULL) : NULL;
    if (!host)
        return 0;
    return error_set(err, "--on %s: not all of it is free: some of %s is held by others",
                     plan->spec->on, host);
}

static int make_layout(struct plan *plan, struct error *err)
{
    const struct node_list *nodes = host_nodes(plan->hosts);
    struct candidates *candidates = &plan->candidates;
    struct candidates_source source = {plan->spec, plan->resources,
                                       plan->trial ? NULL : plan->choice, plan->shapes};
    size_t held_cores = resources_held_cores(plan->resources);
    layout_free(plan->layout);
    plan->layout = NULL;
    if (check_on(plan, err) < 0 || candidates_find(&source, candidates, err) < 0 ||
        shape_allocation_fill_parts(plan->shapes, plan->parts, candidates->nodes, candidates->count,
                                    err) < 0)
        return -1;
    plan->request = (struct layout_request){.nodes = candidates->nodes,
                                            .nnodes = candidates->count,
                                            .slots_where = resources_limits_source(plan->resources),
                                            .claim_all = plan->shapes,
                                            .node_count = plan->spec->nnodes,
                                            .parts = plan->parts,
                                            .nparts = (uint32_t)plan->spec->nparts,
                                            .hosts = host_names(plan->hosts),
                                            .nhosts = host_count(plan->hosts),
                                            .positions = candidates->hosts};
    bool by_name = host_choice_is_by_name(plan->choice);
    if (!candidates->count && !by_name && nodes->limits_cores && !held_cores)
        return error_set(err,
                         "-c: %s grants fewer cores on each node than a task is to have; "
                         "--oversubscribe runs one there",
                         nodes->source);
    if (!candidates->count && !by_name)
        return error_set(err,
                         "every core is held by other running programs (%zu of them) or by those "
                         "that wait; wait for them to end, or share with --overlap",
                         held_cores);
    plan->layout = layout_make(&plan->request, err);
    if (!plan->layout)
        explain_refusal(plan, err);
    return plan->layout ? 0 : -1;
}

static int check_input(const struct plan *plan, struct error *err)
{
    const struct spec *spec = plan->spec;
    if (spec->input != SPEC_INPUT_RANKS || !spec->input_arg)
        return 0;
    struct idset *ranks = idset_decode(spec->input_arg, err);
    int result = ranks ? 0 : -1;
    if (ranks && !idset_empty(ranks) && idset_last(ranks) >= plan->layout->ntasks)
        result = error_usage(err, "--input %s: there is no rank %u, the program has ranks 0 to %u",
                             spec->input_arg, idset_last(ranks), plan->layout->ntasks - 1);
    idset_free(ranks);
    return result;
}

/* ---- the claim ---- */

/* All that the shapes were given, or that --on says; else what the layout uses. Caller frees. */
static struct rset *make_claim(const struct plan *plan)
{
    const struct rset *on = resources_on(plan->resources), *R = host_nodes(plan->hosts)->R;
    const struct layout *layout = plan->layout;
    if (plan->shapes)
        return rset_copy(shape_allocation_R(plan->shapes));
    struct rset *claim = on ? rset_copy(on) : rset_new();
    for (uint32_t i = 0; i < layout->nnodes && !on; i++) {
        const struct layout_used_node *used = &layout->nodes[i];
        const struct layout_node *node = &plan->candidates.nodes[used->source];
        rset_append(claim, node->target, node->host, used->claim, used->gpus);
    }
    if (R)
        scheduling_describe(claim, R);
    return claim;
}

static int map_and_claim(struct plan *plan, int *turn, struct error *err)
{
    struct resources *resources = plan->resources;
    if (shape_allocation_take(plan->shapes, err) < 0)
        return -1;
    for (int tries = 0; tries < PLACE_TRIES; tries++) {
        error_clear(err);
        if (make_layout(plan, err) < 0 || check_input(plan, err) < 0)
            return -1;
        rset_free(plan->claim);
        plan->claim = make_claim(plan);
        int lost = plan->shapes ? 0 : resources_claim(resources, plan->claim, err);
        if (lost <= 0)
            return lost;
        if (*turn < 0)
            *turn = instance_turn(resources_instance(resources));
        if (resources_refresh(resources, err) < 0)
            return -1;
        host_choice_drop_full(plan->choice);
    }
    return error_prefix(err, "lost the race for free cores %d times", PLACE_TRIES);
}

int plan_map(struct plan *plan, struct error *err)
{
    int turn = -1, result = map_and_claim(plan, &turn, err);
    if (turn >= 0)
        close(turn);
    return result;
}

/* ---- with nothing held ---- */

/* Hosts that were not asked are as the instance remembers them. */
static bool lend_topologies(struct plan *plan)
{
    bool all = true;
    for (uint32_t i = 0; i < host_count(plan->hosts); i++) {
        const struct host *host = host_at(plan->hosts, i);
        if (host->state != HOST_UNUSED && host->state != HOST_STARTING)
            continue;
        struct topo *known = agents_known_topology(plan->agents, i);
        if (known)
            host_lend(plan->hosts, i, known);
        all &= known != NULL;
    }
    return all;
}

struct rset *plan_fits_ever(struct plan *plan, bool *known, struct error *err)
{
    if (plan->shapes)
        return shape_allocation_fits_ever(plan->shapes, known, err);
    *known = lend_topologies(plan);
    plan->trial = true;
    resources_ignore_held(plan->resources, true);
    struct rset *set = make_layout(plan, err) == 0 ? make_claim(plan) : NULL;
    resources_ignore_held(plan->resources, false);
    plan->trial = false;
    host_take_back(plan->hosts);
    return set;
}

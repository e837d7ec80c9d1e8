/* The plan of a program's first tasks, and whether there could ever be one. */
#include "launcher/plan/first_plan.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/resource/scheduling.h"
#include "affinity/sets/host_index.h"
#include "base/buf.h"
#include "base/mem.h"
#include "launcher/spec/spec_build.h"

struct first_plan {
    const struct spec *spec;
    struct resources *resources;
    struct host_table *hosts;
    const struct agents *agents;
    struct host_choice *choice;
    struct shape_allocation *shapes;
    bool trial; /* as if others held something else than they do */
};

struct first_plan *first_plan_new(const struct spec *spec, struct resources *resources,
                                  const struct agents *agents, struct host_choice *choice,
                                  struct shape_allocation *shapes)
{
    struct first_plan *first = mem_alloc(sizeof(*first));
    *first = (struct first_plan){.spec = spec,
                                 .resources = resources,
                                 .hosts = resources_hosts(resources),
                                 .agents = agents,
                                 .choice = choice,
                                 .shapes = shapes};
    return first;
}

void first_plan_free(struct first_plan *first)
{
    free(first);
}

/* ---- the layout ---- */

/* What was left out before anything was placed. */
static void explain_refusal(const struct first_plan *first, struct error *err)
{
    size_t held = first->trial ? 0 : resources_held_cores(first->resources);
    size_t gpus = resources_held_gpus(first->resources);
    struct buf text = BUF_INIT;
    if (!err || err->kind != ERROR_REFUSED || first->shapes)
        return;
    buf_add_text(&text, error_text(err));
    if (held)
        buf_printf(&text, "; %zu core%s", held, held > 1 ? "s" : "");
    if (held && gpus)
        buf_printf(&text, " and %zu GPU%s", gpus, gpus > 1 ? "s" : "");
    if (held)
        buf_printf(&text, " held by other running programs %s left out (--overlap shares %s)",
                   held + gpus > 1 ? "were" : "was", held + gpus > 1 ? "them" : "it");
    if (resources_gpus_are_hidden(first->resources))
        buf_add_text(&text, "; GPUs of this machine that tprun's own environment hides "
                            "(CUDA_VISIBLE_DEVICES and the like) were left out");
    if (first->spec->nnodes > 1 && resources_are_this_machine(first->resources))
        buf_add_text(&text, "; name nodes with --hosts or --hostfile, or start it in a batch job");
    error_set(err, "%s", buf_text(&text));
    buf_free(&text);
}

/* Of --on all has to be free. */
static int check_on(const struct first_plan *first, struct error *err)
{
    const struct rset *on = resources_on(first->resources),
                      *held = resources_held(first->resources);
    const char *host = on && held ? rset_overlap(on, held, NULL) : NULL;
    if (!host)
        return 0;
    return error_set(err, "--on %s: not all of it is free: some of %s is held by others",
                     first->spec->on, host);
}

static int check_any(const struct first_plan *first, const struct candidates *candidates,
                     struct error *err)
{
    const struct node_list *nodes = host_nodes(first->hosts);
    size_t held_cores = resources_held_cores(first->resources);
    if (candidates->count || host_choice_is_by_name(first->choice))
        return 0;
    if (nodes->limits_cores && !held_cores)
        return error_set(err,
                         "-c: %s grants fewer cores on each node than a task is to have; "
                         "--oversubscribe runs one there",
                         nodes->source);
    return error_set(err,
                     "every core is held by other running programs (%zu core%s) or by those that "
                     "wait; wait for them to end, or share with --overlap",
                     held_cores, held_cores == 1 ? "" : "s");
}

/* As the spec has them. Caller frees. */
static struct layout_part *parts_of_spec(const struct first_plan *first)
{
    const struct spec *spec = first->spec;
    struct layout_part *parts = mem_array(spec->nparts, sizeof(*parts));
    for (size_t i = 0; i < spec->nparts; i++) {
        parts[i] = spec_part_layout(&spec->parts[i]);
        parts[i].rankfile = host_choice_rankfile(first->choice, i);
    }
    return parts;
}

/* Without a claim. */
static struct plan *lay_out(const struct first_plan *first, struct error *err)
{
    const struct spec *spec = first->spec;
    struct candidates candidates = {0};
    struct candidates_source source = {spec, first->resources, first->trial ? NULL : first->choice,
                                       first->shapes};
    struct layout_part *parts = parts_of_spec(first);
    if (check_on(first, err) < 0 || candidates_find(&source, &candidates, err) < 0 ||
        shape_allocation_fill_parts(first->shapes, parts, candidates.nodes, candidates.count, err) <
            0 ||
        check_any(first, &candidates, err) < 0) {
        candidates_clear(&candidates);
        free(parts);
        return NULL;
    }
    struct layout_request request = {.slots_where = resources_limits_source(first->resources),
                                     .claim_all = first->shapes,
                                     .node_count = spec->nnodes,
                                     .parts = parts,
                                     .nparts = (uint32_t)spec->nparts,
                                     .hosts = host_names(first->hosts),
                                     .nhosts = host_count(first->hosts),
                                     .positions = candidates.hosts};
    struct plan *plan = plan_make(&candidates, &request, err);
    if (!plan)
        explain_refusal(first, err);
    return plan;
}

/* The one task of an instance's initial program, on the first node of what the instance holds. */
static struct plan *lay_out_initial(const struct first_plan *first, const struct rset *held,
                                    struct error *err)
{
    struct candidates candidates = {0};
    struct candidates_source source = {first->spec, first->resources, first->choice, first->shapes};
    struct layout_part *part = mem_alloc(sizeof(*part));
    *part = (struct layout_part){.ntasks = 1,
                                 .bind = "none",
                                 .oversubscribe = true,
                                 .program = first->spec->parts[0].argv[0]};
    if (candidates_find(&source, &candidates, err) < 0) {
        candidates_clear(&candidates);
        free(part);
        return NULL;
    }
    candidates_keep(&candidates, &held->nodes[0]);
    struct layout_request request = {.parts = part,
                                     .nparts = 1,
                                     .hosts = host_names(first->hosts),
                                     .nhosts = host_count(first->hosts),
                                     .positions = candidates.hosts};
    return plan_make(&candidates, &request, err);
}

static int check_input(const struct spec *spec, uint32_t ntasks, struct error *err)
{
    if (spec->input != SPEC_INPUT_RANKS || !spec->input_arg)
        return 0;
    struct idset *ranks = idset_decode(spec->input_arg, err);
    int result = ranks ? 0 : -1;
    if (ranks && !idset_empty(ranks) && idset_last(ranks) >= ntasks)
        result = error_usage(err, "--input %s: there is no rank %u, the program has ranks 0 to %u",
                             spec->input_arg, idset_last(ranks), ntasks - 1);
    idset_free(ranks);
    return result;
}

/* The same cores, and all GPUs of their hosts that are free: an instance on whole nodes has these, too. Takes the set. */
static struct rset *with_gpus(const struct first_plan *first, struct rset *claim)
{
    struct rset *all = rset_new();
    struct host_index *index = rset_host_index(claim);
    struct idset **gpus = mem_array(claim->nnodes + 1, sizeof(*gpus));
    for (uint32_t i = 0; i < host_count(first->hosts); i++) {
        size_t at = host_index_find(index, host_names(first->hosts)[i]);
        /* of a host that cannot tell which it may use it has none */
        if (at != HOST_INDEX_NONE)
            resources_free_gpus(first->resources, i, &gpus[at], NULL);
    }
    for (size_t i = 0; i < claim->nnodes; i++) {
        const struct rset_node *node = &claim->nodes[i];
        rset_append(all, node->rank, node->host, node->children->cores, gpus[i]);
        idset_free(gpus[i]);
    }
    free(gpus);
    host_index_free(index);
    rset_free(claim);
    return all;
}

/* All that the shapes were given, or that --on says; else what the layout uses. Caller frees. */
static struct rset *make_claim(const struct first_plan *first, const struct plan *plan)
{
    const struct rset *on = resources_on(first->resources), *R = host_nodes(first->hosts)->R;
    if (first->shapes)
        return rset_copy(shape_allocation_R(first->shapes));
    const struct spec_part *part = &first->spec->parts[0];
    struct rset *claim = on ? rset_copy(on) : plan_used(plan);
    if (first->spec->initial_program && part->fill && !part->gpus_per_task && !on)
        claim = with_gpus(first, claim);
    if (R)
        scheduling_describe(claim, R);
    return claim;
}

struct plan *first_plan_make(struct first_plan *first, struct error *err)
{
    if (shape_allocation_take(first->shapes, err) < 0)
        return NULL;
    struct plan *plan = lay_out(first, err);
    struct rset *held = plan ? make_claim(first, plan) : NULL;
    if (plan && first->spec->initial_program) {
        plan_free(plan);
        plan = lay_out_initial(first, held, err);
    }
    if (!plan || check_input(first->spec, plan_layout(plan)->ntasks, err) < 0) {
        plan_free(plan);
        rset_free(held);
        return NULL;
    }
    plan_set_claim(plan, held);
    return plan;
}

/* ---- trials ---- */

struct rset *first_plan_try(struct first_plan *first, const struct rset *held, bool *known,
                            struct error *err)
{
    if (first->shapes)
        return shape_allocation_try(first->shapes, held, known, err);
    /* Hosts that were not asked are as the instance remembers them. */
    *known = true;
    for (uint32_t i = 0; i < host_count(first->hosts); i++) {
        const struct host *host = host_at(first->hosts, i);
        if (host->state != HOST_UNUSED && host->state != HOST_STARTING)
            continue;
        struct topo *topo = agents_known_topology(first->agents, i);
        if (topo)
            host_lend(first->hosts, i, topo);
        *known &= topo != NULL;
    }
    first->trial = true;
    resources_begin_trial(first->resources, held);
    struct plan *plan = lay_out(first, err);
    struct rset *set = plan ? make_claim(first, plan) : NULL;
    plan_free(plan);
    resources_end_trial(first->resources);
    first->trial = false;
    host_take_back(first->hosts);
    return set;
}

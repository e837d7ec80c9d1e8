/*
 * Why a layout cannot be made: a word for hardware that no node has, a width that no node has, GPUs
 * that are not there, more tasks than fit. Each sentence says what was asked, what there is, and
 * what would run.
 */
#include "affinity/layout/infeasible.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/allocated_hosts.h"
#include "affinity/layout/build.h"
#include "affinity/layout/limits.h"
#include "affinity/layout/node_class.h"
#include "affinity/layout/node_count.h"
#include "affinity/layout/placement.h"
#include "affinity/sets/hostlist.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

static const char *const one_of[TOPO_NLEVELS] = {"node",     "board",    "NUMA domain",
                                                 "socket",   "L3 cache", "L2 cache",
                                                 "L1 cache", "core",     "hardware thread"};

void infeasible_add_object(struct buf *out, const struct policy *policy, enum topo_level level)
{
    if (policy->cores_per_task && level >= TOPO_CORE)
        buf_printf(out, "slot of %u core%s", policy->cores_per_task,
                   policy->cores_per_task == 1 ? "" : "s");
    else
        buf_add_text(out, one_of[level]);
}

void infeasible_add_objects(struct buf *out, const struct policy *policy, enum topo_level level,
                            uint32_t count)
{
    const char *plural = count == 1 ? "" : "s";
    if (policy->cores_per_task && level >= TOPO_CORE)
        buf_printf(out, "%u slot%s of %u core%s", count, plural, policy->cores_per_task,
                   policy->cores_per_task == 1 ? "" : "s");
    else
        buf_printf(out, "%u %s%s", count, one_of[level], plural);
}

/* ---- a word for what is not there ---- */

static bool level_exists(const struct all_positions *plans, enum topo_level level)
{
    for (uint32_t i = 0; i < plans->nplans; i++)
        if (plans->plans[i].nunits && (plans->plans[i].exists[level] || level == TOPO_CORE))
            return true;
    return false;
}

static bool hardware_has(const struct all_positions *plans, enum topo_level level)
{
    for (uint32_t i = 0; i < plans->nplans; i++)
        if (plans->plans[i].class->nrows && plans->plans[i].class->topo->count[level])
            return true;
    return false;
}

static int refuse_level(const struct all_positions *plans, const struct policy *policy,
                        const char *option, enum topo_level word, struct error *err)
{
    struct buf levels = BUF_INIT;
    for (enum topo_level level = TOPO_NODE; level < TOPO_NLEVELS; level++)
        if (level_exists(plans, level))
            buf_printf(&levels, "%s%s", levels.len ? ", " : "", topo_level_name(level));
    if (hardware_has(plans, word))
        error_set(err, "%s %s: that is smaller than a task's slot of -c %u cores; %s would do",
                  option, topo_level_name(word), policy->cores_per_task, buf_text(&levels));
    else
        error_set(err, "%s %s: no allocated node has that level; %s would do", option,
                  topo_level_name(word), buf_text(&levels));
    buf_free(&levels);
    return -1;
}

static bool any_units(const struct all_positions *plans)
{
    for (uint32_t i = 0; i < plans->nplans; i++)
        if (plans->plans[i].nunits)
            return true;
    return false;
}

int infeasible_word(const struct all_positions *plans, const struct policy *policy,
                    struct error *err)
{
    if (!any_units(plans)) /* nothing would do; infeasible_no_place() says why */
        return 0;
    if (policy->map_word != TOPO_NLEVELS && !level_exists(plans, policy->map_word))
        return refuse_level(plans, policy, policy->per_count ? "--per" : "--map-by",
                            policy->map_word, err);
    if (policy->bind_word != TOPO_NLEVELS && policy->cores_per_task &&
        !level_exists(plans, policy->bind_word) && hardware_has(plans, policy->bind_word))
        return refuse_level(plans, policy, "--bind-to", policy->bind_word, err);
    return 0;
}

/* ---- no position at all ---- */

int infeasible_no_place(const struct layout_build *build, const struct placement *placement,
                        const struct all_positions *plans, struct error *err)
{
    const struct policy *policy = &placement->policy;
    bool cut = any_units(plans), unpaired = false;
    uint32_t best = 0, most = 0;
    for (uint32_t i = 0; i < plans->nplans; i++) {
        const struct positions *plan = &plans->plans[i];
        unpaired = unpaired || plan->unpaired;
        uint32_t count = cut ? plan->count[policy->bind_level] : plan->class->count[TOPO_CORE];
        if (count > most) {
            most = count;
            best = i;
        }
    }
    if (cut && unpaired) /* GPUs were to go with the positions */
        return infeasible_gpus(build, placement, plans, err);
    const char *host = build->request->nodes[plans->plans[best].class->example].host;
    if (most == 0)
        return error_set(err, "no core is allocated on any node");
    if (!cut)
        return error_set(err, "-c %u: no node has so many cores; the largest, %s, has %u allocated",
                         policy->cores_per_task, host, most);
    struct buf have = BUF_INIT;
    infeasible_add_objects(&have, policy, policy->bind_level, most);
    error_set(err, "--bind-to %u%s: no node has so many; the largest, %s, has %s allocated",
              policy->bind_count, topo_level_letter(policy->bind_level), host, buf_text(&have));
    buf_free(&have);
    return -1;
}

const char *infeasible_where(const struct layout_request *request)
{
    return request->slots_where ? request->slots_where : "in the host file";
}

/* ---- GPUs, where not one task can have any ---- */

int infeasible_gpus(const struct layout_build *build, const struct placement *placement,
                    const struct all_positions *plans, struct error *err)
{
    const struct layout_request *request = build->request;
    const struct node_class *best = plans->plans[0].class;
    const char *beside = placement->number > 0 ? " left by the parts before" : "";
    struct buf option = BUF_INIT;
    if (policy_is_per_gpu(&placement->policy))
        buf_printf(&option, "--per %u:gpu", placement->policy.per_count);
    else
        buf_printf(&option, "-g %u", placement->policy.gpus_per_task);
    for (uint32_t i = 1; i < plans->nplans; i++)
        if (plans->plans[i].class->ngpus > best->ngpus)
            best = plans->plans[i].class;
    const char *host = request->nodes[best->example].host;
    if (best->ngpus == 0 && request->nnodes == 1)
        error_set(err, "%s: %s has no GPU%s; without %s tasks run on its cores alone",
                  buf_text(&option), host, beside, buf_text(&option));
    else if (best->ngpus == 0)
        error_set(err, "%s: none of the %u nodes has a GPU%s; without %s tasks run on cores alone",
                  buf_text(&option), request->nnodes, beside, buf_text(&option));
    else
        error_set(err, "%s: no node has so many GPUs%s; the largest, %s, has %u; -g %u would run",
                  buf_text(&option), beside, host, best->ngpus, best->ngpus);
    buf_free(&option);
    return -1;
}

/*
 * More tasks than fit: what was asked, under which limit, what each class of node has and took, and
 * what would run.
 */

#define MAX_CLASSES 4 /* of nodes, spelled out in one sentence */

/* ---- the limits ---- */

/* " with 2 GPUs for each task" or " with 2 tasks for each GPU"; then " under the limit of 1 task for each
 * core", or " under --mppr 2:s,3:n (2 tasks for each socket, 3 for each node)" where that was said. Nothing
 * where there is no limit but slots of a host file. */
static void add_limits(struct buf *out, const struct policy *policy)
{
    struct buf option = BUF_INIT, words = BUF_INIT;
    if (policy_is_per_gpu(policy))
        buf_printf(out, " with %u task%s for each GPU", policy->gpu_tasks,
                   text_plural(policy->gpu_tasks));
    else if (policy->gpus_per_task)
        buf_printf(out, " with %u GPU%s for each task", policy->gpus_per_task,
                   text_plural(policy->gpus_per_task));
    for (uint32_t i = 0; i < policy->nlimits; i++) {
        const struct policy_limit *limit = &policy->limits[i];
        buf_printf(&option, "%s%u:%s", i ? "," : "", limit->count, topo_level_letter(limit->level));
        if (i)
            buf_printf(&words, ", %u for each ", limit->count);
        else
            buf_printf(&words, "%u task%s for each ", limit->count, text_plural(limit->count));
        infeasible_add_object(&words, policy, limit->level);
    }
    if (policy->nlimits && policy->limits_given)
        buf_printf(out, " under --mppr %s (%s)", buf_text(&option), buf_text(&words));
    else if (policy->nlimits)
        buf_printf(out, " under the limit of %s", buf_text(&words));
    buf_free(&option);
    buf_free(&words);
}

/* ---- nodes that are alike ---- */

/* Nodes that took the same number of tasks for the same reason. */
struct room_class {
    uint32_t plan, ntasks, limit;
    struct hostlist *hosts;
};

struct room_classes {
    struct room_class classes[MAX_CLASSES];
    uint32_t count;
    uint32_t others;       /* nodes beyond MAX_CLASSES */
    uint64_t others_tasks; /* and what they took */
};

/* For the reader two nodes are alike when the sentence would say the same about them. */
static bool same_reason(const struct positions *a, const struct positions *b,
                        const struct policy *policy)
{
    for (uint32_t i = 0; i < policy->nlimits; i++)
        if (a->count[policy->limits[i].level] != b->count[policy->limits[i].level])
            return false;
    return a->class->ngpus == b->class->ngpus && (a->npositions == 0) == (b->npositions == 0) &&
           (!policy->cores_per_task || a->class->count[TOPO_CORE] == b->class->count[TOPO_CORE]);
}

static void add_node(struct room_classes *all, const struct layout_build *build,
                     const struct passes *passes, uint32_t node, uint32_t ntasks)
{
    const struct layout_node *given = &build->request->nodes[node];
    const struct positions *plans = passes->plans->plans, *plan = &plans[passes->plan_of[node]];
    uint32_t i = 0;
    while (i < all->count &&
           (all->classes[i].ntasks != ntasks || all->classes[i].limit != given->limit ||
            !same_reason(&plans[all->classes[i].plan], plan, passes->policy)))
        i++;
    if (i == MAX_CLASSES) {
        all->others++;
        all->others_tasks += ntasks;
        return;
    }
    if (i == all->count)
        all->classes[all->count++] =
            (struct room_class){passes->plan_of[node], ntasks, given->limit, hostlist_new()};
    hostlist_append(all->classes[i].hosts, given->host);
}

/* What a node has of what is limited: " (2 slots of 3 cores, out of 8 cores)", " (4 cores, 3 for each task;
 * 2 sockets; 4 slots in the host file)". */
static void add_has(struct buf *out, const struct positions *plan, const struct policy *policy,
                    uint32_t slots, const char *where)
{
    struct buf has = BUF_INIT;
    bool width_limited = false;
    if (plan->pairs)
        buf_printf(&has, "%u GPU%s", plan->class->ngpus, text_plural(plan->class->ngpus));
    for (uint32_t i = 0; i < policy->nlimits; i++) {
        enum topo_level level = policy->limits[i].level;
        width_limited = width_limited || level == policy->bind_level;
        if (level == TOPO_NODE)
            continue;
        buf_add_text(&has, has.len ? "; " : "");
        infeasible_add_objects(&has, policy, level, plan->count[level]);
        uint32_t cores = plan->class->count[TOPO_CORE], each = policy->cores_per_task;
        if (level >= TOPO_CORE && each > 1 && plan->count[level] * each < cores)
            buf_printf(&has, ", out of %u core%s", cores, text_plural(cores));
        if (level == policy->bind_level && policy_is_narrow(policy) && policy->bind_count > 1)
            buf_printf(&has, ", %u for each task", policy->bind_count);
    }
    if (slots)
        buf_printf(&has, "%s%u slot%s %s", has.len ? "; " : "", slots, text_plural(slots), where);
    if (policy->bind_count > 1 && !width_limited) {
        buf_add_text(&has, has.len ? "; a task needs " : "a task needs ");
        infeasible_add_objects(&has, policy, policy->bind_level, policy->bind_count);
        buf_add_text(&has, " from its place on");
    }
    if (has.len)
        buf_printf(out, " (%s)", buf_text(&has));
    buf_free(&has);
}

static void add_classes(struct buf *out, struct room_classes *all,
                        const struct all_positions *plans, const struct policy *policy,
                        const char *where)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const struct room_class *class = &all->classes[i];
        char *hosts = hostlist_encode(class->hosts);
        buf_add_text(out, i ? ", " : ": ");
        if (class->ntasks)
            buf_printf(out, "%u", class->ntasks);
        else
            buf_add_text(out, "none");
        buf_printf(out, " on %s%.200s%s", hostlist_count(class->hosts) > 1 ? "each of " : "", hosts,
                   strlen(hosts) > 200 ? "..." : "");
        add_has(out, &plans->plans[class->plan], policy, class->limit, where);
        hostlist_free(class->hosts);
        free(hosts);
    }
    if (all->others)
        buf_printf(out, ", and %llu on %u more node%s", (unsigned long long)all->others_tasks,
                   all->others, text_plural(all->others));
}

/* ---- what would run ---- */

static uint64_t count_threads(const struct layout_build *build)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < build->choice->count; i++)
        total += layout_build_class(build, build->choice->nodes[i])->nrows;
    return total;
}

static bool hosts_have_slots(const struct layout_build *build)
{
    for (uint32_t i = 0; i < build->choice->count; i++)
        if (build->request->nodes[build->choice->nodes[i]].limit)
            return true;
    return false;
}

/* Whether all tasks would fit with one on each hardware thread, and no option forbids that. */
static bool threads_would_do(const struct layout_build *build, const struct placement *placement)
{
    const struct layout_part *part = &build->request->parts[placement->first_part];
    return !part->mppr && !part->bind && !part->cores_per_task && !part->gpus_per_task &&
           !part->per && build->placements->count == 1 && !build->request->node_count &&
           !hosts_have_slots(build) && placement->policy.limits[0].level == TOPO_CORE &&
           count_threads(build) >= placement->ntasks;
}

static void add_remedies(struct buf *out, const struct layout_build *build,
                         const struct placement *placement, uint32_t fit)
{
    if (fit && placement->nparts == 1)
        buf_printf(out, "-n %u %swould run, ", fit,
                   build->placements->count > 1 ? "for this part " : "");
    if (threads_would_do(build, placement))
        buf_printf(out, "--map-by hwthread would run them on %llu hardware threads, ",
                   (unsigned long long)count_threads(build));
    if (hosts_have_slots(build))
        buf_printf(out, "more slots %s may allow more, ", infeasible_where(build->request));
    else if (placement->policy.limits_given)
        buf_add_text(out, "a higher --mppr allows more, ");
    if (placement->policy.cores_per_task > 1)
        buf_add_text(out, "a smaller -c may, ");
    buf_printf(out, "--oversubscribe runs %s%s", placement->ntasks == 1 ? "it anyway" : "them all",
               placement->policy.gpus_per_task ? ", sharing cores or GPUs" : "");
}

/* ---- too many tasks ---- */

int infeasible_room(const struct layout_build *build, const struct passes *passes,
                    const struct placement *placement, struct error *err)
{
    struct buf out = BUF_INIT;
    if (build->placements->count > 1 && placement->nparts > 1)
        buf_printf(&out, "parts %u to %u of the command line: ", placement->first_part + 1,
                   placement->first_part + placement->nparts);
    else if (build->placements->count > 1)
        buf_printf(&out, "part %u of the command line: ", placement->first_part + 1);
    buf_printf(&out, "asked for %u task%s", placement->ntasks, text_plural(placement->ntasks));
    if (placement->nparts > 1)
        buf_printf(&out, " in %u parts", placement->nparts);
    if (passes->nseats)
        buf_printf(&out, ", %u fit%s", passes->nseats, passes->nseats == 1 ? "s" : "");
    else
        buf_add_text(&out, ", none fits");
    add_limits(&out, &placement->policy);
    if (placement->number > 0)
        buf_add_text(&out, " beside the parts before");

    /* Tasks that earlier placements put on each node are not this placement's. */
    struct room_classes classes = {.count = 0};
    uint32_t *seats = mem_array(build->request->nnodes, sizeof(*seats));
    for (uint32_t i = 0; i < passes->nseats; i++)
        seats[passes->seats[i].node]++;
    for (uint32_t i = 0; i < build->choice->count; i++)
        add_node(&classes, build, passes, build->choice->nodes[i], seats[build->choice->nodes[i]]);
    free(seats);
    add_classes(&out, &classes, passes->plans, &placement->policy,
                infeasible_where(build->request));
    buf_add_text(&out, "; ");
    add_remedies(&out, build, placement, passes->nseats);
    error_set(err, "%s", buf_text(&out));
    buf_free(&out);
    return -1;
}

/* ---- too many for so many nodes ---- */

static int falling(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

/* What the nodes with the most room would take in even shares. */
static uint32_t even_fit(const struct layout_request *request, const uint32_t *room)
{
    uint32_t *sorted = mem_array(request->nnodes, sizeof(*sorted));
    memcpy(sorted, room, request->nnodes * sizeof(*sorted));
    qsort(sorted, request->nnodes, sizeof(*sorted), falling);
    uint32_t share = sorted[request->node_count - 1];
    free(sorted);
    return share * request->node_count;
}

int infeasible_node_count(const struct layout_build *build, const struct passes *passes,
                          const struct placement *placement, const uint32_t *room, uint32_t share,
                          struct error *err)
{
    const struct layout_request *request = build->request;
    struct buf out = BUF_INIT, fits = BUF_INIT;
    struct room_classes classes = {.count = 0};
    uint32_t fit = 0;
    uint64_t total = 0;
    for (uint32_t node = 0; node < request->nnodes; node++) {
        uint32_t most = room[node] < share ? room[node] : share;
        total += room[node];
        fit += most == share;
        add_node(&classes, build, passes, node, most);
    }
    if (fit)
        buf_printf(&fits, "only %u of %u nodes %s", fit, request->nnodes,
                   fit == 1 ? "has" : "have");
    else
        buf_add_text(&fits, "no node has");
    buf_printf(&out, "-N %u: %u task%s make %u on a node, and %s room for so many",
               request->node_count, placement->ntasks, text_plural(placement->ntasks), share,
               buf_text(&fits));
    add_limits(&out, &placement->policy);
    add_classes(&out, &classes, passes->plans, &placement->policy,
                infeasible_where(build->request));
    buf_add_text(&out, "; ");
    if (build->placements->count == 1 && total >= placement->ntasks)
        buf_add_text(&out, "without -N they would fit, ");
    add_remedies(&out, build, placement, even_fit(request, room));
    error_set(err, "%s", buf_text(&out));
    buf_free(&out);
    buf_free(&fits);
    return -1;
}

int infeasible_map_share(const struct layout_build *build, const struct passes *passes,
                         const struct placement *placement, uint32_t node, uint32_t count,
                         uint32_t fit, struct error *err)
{
    const struct layout_node *given = &build->request->nodes[node];
    struct buf out = BUF_INIT;
    buf_printf(&out, "--taskmap: the map has %u task%s on %s", count, text_plural(count),
               given->host);
    add_has(&out, &passes->plans->plans[passes->plan_of[node]], &placement->policy, given->limit,
            infeasible_where(build->request));
    buf_printf(&out, ", where %u fit%s", fit, fit == 1 ? "s" : "");
    add_limits(&out, &placement->policy);
    buf_add_text(&out, "; --oversubscribe runs them all");
    error_set(err, "%s", buf_text(&out));
    buf_free(&out);
    return -1;
}

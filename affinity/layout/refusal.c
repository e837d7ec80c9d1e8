/*
 * Refusals that teach: what was asked, what there is, what would work.
 */
#include <stdlib.h>

#include "affinity/layout/builder.h"
#include "affinity/layout/placing.h"
#include "affinity/resource/hostlist.h"
#include "base/buf.h"
#include "base/mem.h"

#define MAX_CLASSES 4 /* of nodes, spelled out in one sentence */

static const char *const one_of[TOPO_NLEVELS] = {"node",     "board",    "NUMA domain",
                                                 "socket",   "L3 cache", "L2 cache",
                                                 "L1 cache", "core",     "hardware thread"};

static void add_objects(struct buf *out, const struct policy *policy, enum topo_level level,
                        uint32_t count)
{
    if (policy->cores_per_task && level >= TOPO_CORE)
        buf_printf(out, "%u slot%s of %u core%s", count, count == 1 ? "" : "s",
                   policy->cores_per_task, policy->cores_per_task == 1 ? "" : "s");
    else
        buf_printf(out, "%u %s%s", count, one_of[level], count == 1 ? "" : "s");
}

static void add_list_word(struct buf *out, const char *word, bool first)
{
    buf_printf(out, "%s%s", first ? "" : ", ", word);
}

/* ---- a word for what is not there ---- */

static bool level_exists(const struct plans *plans, enum topo_level level)
{
    for (uint32_t i = 0; i < plans->nplans; i++)
        if (plans->plans[i].nunits && (plans->plans[i].exists[level] || level == TOPO_CORE))
            return true;
    return false;
}

static bool hardware_has(const struct plans *plans, enum topo_level level)
{
    for (uint32_t i = 0; i < plans->nplans; i++)
        if (plans->plans[i].kind->nrows && plans->plans[i].kind->topo->count[level])
            return true;
    return false;
}

static int refuse_level(const struct plans *plans, const struct policy *policy, const char *option,
                        enum topo_level word, struct error *err)
{
    struct buf levels = BUF_INIT;
    for (enum topo_level level = TOPO_NODE; level < TOPO_NLEVELS; level++)
        if (level_exists(plans, level))
            add_list_word(&levels, topo_level_name(level), !levels.len);
    if (hardware_has(plans, word))
        error_set(err, "%s %s: that is smaller than a task's slot of -c %u cores; %s would do",
                  option, topo_level_name(word), policy->cores_per_task, buf_text(&levels));
    else
        error_set(err, "%s %s: no allocated node has that level; %s would do", option,
                  topo_level_name(word), buf_text(&levels));
    buf_free(&levels);
    return -1;
}

static bool any_units(const struct plans *plans)
{
    for (uint32_t i = 0; i < plans->nplans; i++)
        if (plans->plans[i].nunits)
            return true;
    return false;
}

int refuse_word(const struct plans *plans, const struct policy *policy, struct error *err)
{
    if (!any_units(plans)) /* nothing would do; refuse_no_place() says why */
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

/* Positions that GPUs were to go with, and did not. */
static bool any_unpaired(const struct plans *plans)
{
    for (uint32_t i = 0; i < plans->nplans; i++)
        if (plans->plans[i].unpaired)
            return true;
    return false;
}

int refuse_no_place(const struct builder *builder, const struct run *run, const struct plans *plans,
                    struct error *err)
{
    const struct policy *policy = &run->policy;
    bool cut = any_units(plans);
    uint32_t best = 0, most = 0;
    if (cut && any_unpaired(plans))
        return refuse_gpus(builder, run, plans, err);
    for (uint32_t i = 0; i < plans->nplans; i++) {
        const struct plan *plan = &plans->plans[i];
        uint32_t count = cut ? plan->count[policy->bind_level] : plan->kind->count[TOPO_CORE];
        if (count > most) {
            most = count;
            best = i;
        }
    }
    const char *host = builder->request->nodes[plans->plans[best].kind->example].host;
    if (most == 0)
        return error_set(err, "no core is allocated on any node");
    if (!cut)
        return error_set(err, "-c %u: no node has so many cores; the largest, %s, has %u allocated",
                         policy->cores_per_task, host, most);
    struct buf have = BUF_INIT;
    add_objects(&have, policy, policy->bind_level, most);
    error_set(err, "--bind-to %u%s: no node has so many; the largest, %s, has %s allocated",
              policy->bind_count, policy_letter(policy->bind_level), host, buf_text(&have));
    buf_free(&have);
    return -1;
}

/* ---- too many tasks ---- */

/* Nodes that took the same number of tasks for the same reason. */
struct node_class {
    uint32_t plan, ntasks, limit;
    struct hostlist *hosts;
};

struct node_classes {
    struct node_class classes[MAX_CLASSES];
    uint32_t count;
    uint32_t others; /* nodes beyond MAX_CLASSES */
};

/* For the reader two nodes are alike when the sentence would say the same about them. */
static bool same_reason(const struct plan *a, const struct plan *b, const struct policy *policy)
{
    if (a->kind->ngpus != b->kind->ngpus)
        return false;
    for (uint32_t i = 0; i < policy->nlimits; i++)
        if (a->count[policy->limits[i].level] != b->count[policy->limits[i].level])
            return false;
    return (a->npositions == 0) == (b->npositions == 0);
}

static void classes_add(struct node_classes *all, const struct placing *placing,
                        struct node_class node, const char *host)
{
    const struct plan *plans = placing->plans->plans;
    uint32_t i = 0;
    while (i < all->count &&
           (all->classes[i].ntasks != node.ntasks || all->classes[i].limit != node.limit ||
            !same_reason(&plans[all->classes[i].plan], &plans[node.plan], placing->policy)))
        i++;
    if (i == MAX_CLASSES) {
        all->others++;
        return;
    }
    if (i == all->count) {
        node.hosts = hostlist_new();
        all->classes[all->count++] = node;
    }
    hostlist_append(all->classes[i].hosts, host);
}

/* "8 GPUs, 2 for each task" */
static const char *add_gpus(struct buf *out, const struct plan *plan, const struct policy *policy)
{
    if (!plan->pairs)
        return "";
    buf_printf(out, "%u GPU%s, ", plan->kind->ngpus, plan->kind->ngpus == 1 ? "" : "s");
    if (policy_is_per_gpu(policy))
        buf_printf(out, "%u task%s each", policy->gpu_tasks, policy->gpu_tasks == 1 ? "" : "s");
    else
        buf_printf(out, "%u for each task", policy->gpus_per_task);
    return "; ";
}

/* "limit 1:c, 4 cores; limit 2:n, 1 node" */
static void add_limits(struct buf *out, const struct plan *plan, const struct policy *policy,
                       uint32_t slots)
{
    const char *between = add_gpus(out, plan, policy);
    for (uint32_t i = 0; i < policy->nlimits; i++) {
        const struct policy_limit *limit = &policy->limits[i];
        buf_printf(out, "%slimit %u:%s", between, limit->count, policy_letter(limit->level));
        between = "; ";
        if (limit->level == TOPO_NODE)
            continue;
        buf_add_text(out, ", ");
        add_objects(out, policy, limit->level, plan->count[limit->level]);
        if (policy_is_narrow(policy) && policy->bind_count > 1 &&
            limit->level == policy->bind_level)
            buf_printf(out, ", %u for each task", policy->bind_count);
    }
    if (slots) {
        buf_printf(out, "%s%u slot%s in the host file", between, slots, slots == 1 ? "" : "s");
        between = "; ";
    }
    if (!plan->npositions && !plan->unpaired)
        buf_printf(out, "%sno room for %u%s", between, policy->bind_count,
                   policy_letter(policy->bind_level));
}

static void add_class(struct buf *out, const struct node_class *class, const struct plans *plans,
                      const struct policy *policy)
{
    char *hosts = hostlist_encode(class->hosts);
    struct buf limits = BUF_INIT;
    add_limits(&limits, &plans->plans[class->plan], policy, class->limit);
    const char *each = hostlist_count(class->hosts) > 1 ? "each of " : "";
    if (class->ntasks)
        buf_printf(out, "%u on %s%s", class->ntasks, each, hosts);
    else
        buf_printf(out, "none on %s%s", each, hosts);
    if (limits.len)
        buf_printf(out, " (%s)", buf_text(&limits));
    buf_free(&limits);
    free(hosts);
}

static void add_classes(struct buf *out, struct node_classes *all, const struct plans *plans,
                        const struct policy *policy)
{
    for (uint32_t i = 0; i < all->count; i++) {
        buf_add_text(out, i ? ", " : "");
        add_class(out, &all->classes[i], plans, policy);
        hostlist_free(all->classes[i].hosts);
    }
    if (all->others)
        buf_printf(out, ", and what %u more node%s took", all->others, all->others == 1 ? "" : "s");
}

static uint64_t count_threads(const struct builder *builder)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < builder->nchosen; i++)
        total += builder_kind(builder, builder->chosen[i])->nrows;
    return total;
}

static bool hosts_have_slots(const struct builder *builder)
{
    for (uint32_t i = 0; i < builder->nchosen; i++)
        if (builder->request->nodes[builder->chosen[i]].limit)
            return true;
    return false;
}

/* Would one task on each hardware thread do, with nothing said that stands against it? */
static bool threads_would_do(const struct builder *builder, const struct run *run)
{
    const struct layout_part *part = &builder->request->parts[run->first_part];
    return !part->mppr && !part->bind && !part->cores_per_task && !part->gpus_per_task &&
           !part->per && builder->nruns == 1 && !builder->request->node_count &&
           !hosts_have_slots(builder) && run->policy.limits[0].level == TOPO_CORE &&
           count_threads(builder) >= run->ntasks;
}

static void add_remedies(struct buf *out, const struct builder *builder, const struct run *run,
                         uint32_t fit)
{
    buf_add_text(out, "; ");
    if (fit && builder->nruns == 1 && builder->request->nparts == 1)
        buf_printf(out, "-n %u would run, ", fit);
    if (threads_would_do(builder, run))
        buf_printf(out, "--map-by hwthread would run one on each of %llu hardware threads, ",
                   (unsigned long long)count_threads(builder));
    if (run->policy.limits_given && !hosts_have_slots(builder))
        buf_add_text(out, "a higher --mppr allows more, ");
    buf_printf(out, "--oversubscribe runs %s%s", run->ntasks == 1 ? "it anyway" : "them all",
               run->policy.gpus_per_task ? ", sharing cores or GPUs" : "");
}

static void add_request(struct buf *out, const struct builder *builder, const struct run *run)
{
    if (builder->nruns > 1 && run->nparts > 1)
        buf_printf(out, "parts %u to %u of the command line: ", run->first_part + 1,
                   run->first_part + run->nparts);
    else if (builder->nruns > 1)
        buf_printf(out, "part %u of the command line: ", run->first_part + 1);
}

/* Tasks that earlier runs put on each node are not this run's. */
static void count_seats(const struct placing *placing, uint32_t *count)
{
    for (uint32_t i = 0; i < placing->nseats; i++)
        count[placing->seats[i].node]++;
}

int refuse_room(const struct builder *builder, const struct placing *placing, const struct run *run,
                struct error *err)
{
    const struct layout_request *request = builder->request;
    struct buf out = BUF_INIT;
    struct node_classes classes = {.count = 0};
    uint32_t *seats = mem_array(request->nnodes, sizeof(*seats));
    count_seats(placing, seats);
    for (uint32_t i = 0; i < builder->nchosen; i++) {
        uint32_t node = builder->chosen[i];
        classes_add(&classes, placing,
                    (struct node_class){placing->plan_of[node], seats[node],
                                        request->nodes[node].limit, NULL},
                    request->nodes[node].host);
    }
    add_request(&out, builder, run);
    buf_printf(&out, "asked for %u task%s, %u fit%s: ", run->ntasks, run->ntasks == 1 ? "" : "s",
               placing->nseats, placing->nseats == 1 ? "s" : "");
    add_classes(&out, &classes, placing->plans, &run->policy);
    if (builder->nruns > 1 && run != builder->runs)
        buf_add_text(&out, ", beside the parts before");
    add_remedies(&out, builder, run, placing->nseats);
    error_set(err, "%s", buf_text(&out));
    buf_free(&out);
    free(seats);
    return -1;
}

int refuse_node_count(const struct builder *builder, const struct placing *placing,
                      const struct run *run, const uint32_t *room, uint32_t share,
                      struct error *err)
{
    const struct layout_request *request = builder->request;
    struct buf out = BUF_INIT;
    struct node_classes classes = {.count = 0};
    uint32_t fit = 0;
    for (uint32_t node = 0; node < request->nnodes; node++) {
        uint32_t most = room[node] < share ? room[node] : share;
        fit += most == share;
        classes_add(
            &classes, placing,
            (struct node_class){placing->plan_of[node], most, request->nodes[node].limit, NULL},
            request->nodes[node].host);
    }
    buf_printf(&out, "-N %u: %u tasks make %u a node, for which %u of %u nodes %s room: ",
               request->node_count, run->ntasks, share, fit, request->nnodes,
               fit == 1 ? "has" : "have");
    add_classes(&out, &classes, placing->plans, &run->policy);
    add_remedies(&out, builder, run, 0);
    error_set(err, "%s", buf_text(&out));
    buf_free(&out);
    return -1;
}

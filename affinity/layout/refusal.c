/*
 * Refusals that teach: words and widths that no node has.
 */
#include <stdlib.h>

#include "affinity/layout/builder.h"
#include "affinity/layout/refusal.h"
#include "base/buf.h"
#include "base/mem.h"

static const char *const one_of[TOPO_NLEVELS] = {"node",     "board",    "NUMA domain",
                                                 "socket",   "L3 cache", "L2 cache",
                                                 "L1 cache", "core",     "hardware thread"};

void refusal_add_object(struct buf *out, const struct policy *policy, enum topo_level level)
{
    if (policy->cores_per_task && level >= TOPO_CORE)
        buf_printf(out, "slot of %u core%s", policy->cores_per_task,
                   policy->cores_per_task == 1 ? "" : "s");
    else
        buf_add_text(out, one_of[level]);
}

void refusal_add_objects(struct buf *out, const struct policy *policy, enum topo_level level,
                         uint32_t count)
{
    const char *plural = count == 1 ? "" : "s";
    if (policy->cores_per_task && level >= TOPO_CORE)
        buf_printf(out, "%u slot%s of %u core%s", count, plural, policy->cores_per_task,
                   policy->cores_per_task == 1 ? "" : "s");
    else
        buf_printf(out, "%u %s%s", count, one_of[level], plural);
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
    refusal_add_objects(&have, policy, policy->bind_level, most);
    error_set(err, "--bind-to %u%s: no node has so many; the largest, %s, has %s allocated",
              policy->bind_count, policy_letter(policy->bind_level), host, buf_text(&have));
    buf_free(&have);
    return -1;
}

const char *refusal_where(const struct layout_request *request)
{
    return request->slots_where ? request->slots_where : "in the host file";
}

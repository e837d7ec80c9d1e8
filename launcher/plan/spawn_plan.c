/* Plans of task groups that are spawned: where there is room for them, pool by pool. */
#include "launcher/plan/spawn_plan.h"

#include <stdlib.h>

#include "affinity/policy/policy.h"
#include "affinity/policy/policy_gpu.h"
#include "affinity/sets/host_index.h"
#include "affinity/topology/topo.h"
#include "base/mem.h"
#include "launcher/ledger/claim.h"
#include "launcher/ledger/claim_queue.h"
#include "launcher/process/localhost.h"
#include "launcher/spec/spec_build.h"

/* ---- what is held, used and free ---- */

static struct rset *both_of(const struct rset *a, const struct rset *b)
{
    return rset_union_hosts((const struct rset *const[]){a, b}, 2);
}

/* Where so many cores of each node were granted, and not which: no more than are left of them. Takes
 * the set. */
static struct rset *within_grant(const struct spawn_request *request, struct rset *all,
                                 const struct rset *held)
{
    const struct host_table *hosts = resources_hosts(request->resources);
    struct rset *left = host_nodes(hosts)->limits_cores ? rset_new() : all;
    for (size_t i = 0; i < all->nnodes && left != all; i++) {
        const struct rset_node *node = &all->nodes[i], *had = rset_find_host(held, node->host);
        size_t taken = had ? idset_count(had->children->cores) : 0;
        uint32_t limit = host_at(hosts, node->rank)->node->limit;
        struct idset *cores = idset_new();
        IDSET_FOREACH(core, node->children->cores)
        {
            if (!limit || taken++ < limit)
                idset_add(cores, core);
        }
        if (!idset_empty(cores))
            rset_append(left, node->rank, node->host, cores, NULL);
        idset_free(cores);
    }
    if (left != all)
        rset_free(all);
    return left;
}

/* Cores that no program holds, or waits for and came before. GPUs are not given out later; what was asked for
 * by name (--on) is all there is. NULL: it cannot be told. */
static struct rset *free_in_instance(const struct spawn_request *request, struct error *err)
{
    const struct host_table *hosts = resources_hosts(request->resources);
    struct rset *all = rset_new();
    for (uint32_t i = 0; i < host_count(hosts) && !resources_on(request->resources); i++) {
        const struct host *host = host_at(hosts, i);
        const struct node *node = host->node;
        if (host->state == HOST_LOST || (!node->cores && !host->topo))
            continue;
        struct idset *cores =
            node->cores ? idset_copy(node->cores) : topo_allowed_cores(host->topo);
        rset_append(all, i, node->host, cores, NULL);
        idset_free(cores);
    }
    if (request->spec->overlap)
        return all;
    struct rset *barred, *held = entry_held(resources_entry(request->resources), &barred, err);
    struct rset *others = barred ? both_of(held, barred) : NULL;
    struct rset *left = others ? rset_subtract_hosts(all, others) : NULL;
    if (left)
        left = within_grant(request, left, held);
    rset_free(others);
    rset_free(barred);
    rset_free(held);
    rset_free(all);
    return left;
}

struct rset *spawn_plan_unused(const struct spawn_request *request)
{
    struct rset *more = free_in_instance(request, NULL);
    if (!more)
        return NULL;
    struct rset *all = both_of(request->held, more);
    struct rset *unused = rset_subtract_hosts(all, request->used);
    rset_free(all);
    rset_free(more);
    return unused;
}

/* ---- candidates ---- */

bool spawn_plan_host_named(const struct node *node, const struct hostlist *hosts)
{
    if (!hosts || hostlist_find(hosts, node->host) >= 0)
        return true;
    for (size_t i = 0; node->here && i < hostlist_count(hosts); i++)
        if (localhost_is_literal(hostlist_nth(hosts, i)))
            return true;
    return false;
}

static void add_candidate(const struct spawn_request *request, struct candidates *candidates,
                          const struct host *host, const struct rset_children *what, bool shared)
{
    const struct node *node = host->node;
    bool limits_cores = host_nodes(resources_hosts(request->resources))->limits_cores;
    uint32_t limit = shared || limits_cores ? 0 : node->limit;
    uint32_t used = limit ? request->tasks[host->number] : 0;
    if (used && used >= limit)
        return;
    candidates_add(candidates, host, what->cores, idset_empty(what->gpus) ? NULL : what->gpus,
                   limit - used);
}

/* Which of the candidates each part may use, once any part says: then every part starts over, and
 * does not go on where the one before stopped. False where a part has none. */
static bool divide_candidates(const struct spawn_request *request, struct candidates *candidates)
{
    const struct host_table *hosts = resources_hosts(request->resources);
    bool each_has = candidates->count, any_says = false;
    for (size_t i = 0; i < request->spec->nparts; i++)
        any_says = any_says || request->hosts[i];
    if (!any_says)
        return each_has;
    candidates->nparts = request->spec->nparts;
    candidates->only = mem_array(candidates->nparts, sizeof(struct idset *));
    for (size_t i = 0; i < candidates->nparts; i++) {
        struct idset *only = candidates->only[i] = idset_new();
        for (uint32_t c = 0; c < candidates->count; c++)
            if (spawn_plan_host_named(host_at(hosts, candidates->hosts[c])->node,
                                      request->hosts[i]))
                idset_add(only, c);
        each_has = each_has && !idset_empty(only);
    }
    return each_has;
}

/* In the order of the program's hosts. Takes the set. */
static void find_spawn_candidates(const struct spawn_request *request, struct rset *from,
                                  bool shared, struct candidates *candidates)
{
    const struct host_table *hosts = resources_hosts(request->resources);
    struct host_index *index = rset_host_index(from);
    *candidates = (struct candidates){.from = from};
    for (uint32_t i = 0; i < host_count(hosts); i++) {
        const struct host *host = host_at(hosts, i);
        size_t at = host_index_find(index, host->node->host);
        bool named = false; /* by some part */
        for (size_t part = 0; part < request->spec->nparts && !named; part++)
            named = spawn_plan_host_named(host->node, request->hosts[part]);
        if (at != HOST_INDEX_NONE && host->state == HOST_UP && named)
            add_candidate(request, candidates, host, from->nodes[at].children, shared);
    }
    host_index_free(index);
}

/* ---- layout ---- */

/* Whether, unless the user says otherwise, such tasks are bound to no more than the cores on which
 * they are placed. */
static bool is_bound_closely(const struct layout_part *part)
{
    struct policy policy;
    if (part->bind || layout_part_uses_gpus(part) || policy_parse(part, &policy, NULL) < 0)
        return false;
    return policy.bind == POLICY_BIND_TOGETHER || policy_is_narrow(&policy);
}

/* Takes the set; NULL: it cannot be told what is in it, as err says. Tasks that share cores may run on all
 * cores there are for them on their node: on the one that each is placed on, another may be busy. */
static struct plan *plan_on(const struct spawn_request *request, struct rset *from, bool shared,
                            struct error *err)
{
    const struct spec *spec = request->spec;
    struct candidates candidates;
    bool widened = false;
    if (!from)
        return NULL;
    find_spawn_candidates(request, from, shared, &candidates);
    error_clear(err);
    if (!divide_candidates(request, &candidates)) {
        candidates_clear(&candidates);
        error_set(err, "the program has no core on such a host");
        return NULL;
    }
    struct layout_part *parts = mem_array(spec->nparts, sizeof(*parts));
    for (size_t i = 0; i < spec->nparts; i++) {
        parts[i] = spec_part_layout(&spec->parts[i]);
        parts[i].oversubscribe |= shared;
        if (shared && is_bound_closely(&parts[i])) {
            parts[i].bind = "none";
            widened = true;
        }
        parts[i].only = candidates.only ? candidates.only[i] : NULL;
    }
    struct layout_request layout = {.parts = parts, .nparts = (uint32_t)spec->nparts};
    struct plan *plan = plan_make(&candidates, &layout, err);
    if (plan && widened)
        plan_widen(plan);
    return plan;
}

struct plan *spawn_plan_make(const struct spawn_request *request, enum spawn_pool *pool,
                             struct error *err)
{
    struct plan *plan = NULL;
    struct rset *unused = NULL; /* read once: where that cannot be told, no pool has it */
    for (int i = SPAWN_ON_IDLE; i <= SPAWN_SHARED && !plan; i++) {
        struct rset *from;
        if (i == SPAWN_ON_IDLE)
            from = rset_subtract_hosts(request->held, request->used);
        else if (i == SPAWN_ON_FREE)
            from = (unused = spawn_plan_unused(request)) ? rset_copy(unused) : NULL;
        else
            from = unused ? both_of(request->held, unused) : rset_copy(request->held);
        plan = plan_on(request, from, i == SPAWN_SHARED, err);
        *pool = (enum spawn_pool)i;
    }
    rset_free(unused);
    if (!plan)
        return NULL;
    plan_set_claim(plan, plan_used(plan));
    if (*pool != SPAWN_SHARED)
        return plan;
    /* Where no core of the plan has tasks of the program, its own share cores. */
    const struct rset *claim = plan_claim(plan);
    bool beside = false;
    for (size_t i = 0; i < claim->nnodes && !beside; i++) {
        const struct rset_node *node = &claim->nodes[i];
        const struct rset_node *there = rset_find_host(request->used, node->host);
        beside = there && idset_count_both(node->children->cores, there->children->cores);
    }
    if (!beside)
        *pool = SPAWN_CROWDED;
    return plan;
}

/* Room for tasks that are added: on cores that the program holds and nobody of it uses; else on what
 * is free in the instance; else on all of these, beside tasks of the program itself, never of another. */
#include "launcher/program/spawn_resources.h"

#include <stdlib.h>

#include "affinity/policy/policy.h"
#include "affinity/sets/host_index.h"
#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "launcher/ledger/claim.h"
#include "launcher/ledger/claim_queue.h"
#include "launcher/process/localhost.h"
#include "launcher/spec/spec_build.h"

struct spawn_resources {
    const struct spawn_base *base;
    const struct spec *spec;
    struct hostlist *const *hosts; /* by part, that may be used; NULL: all */
    struct idset **only;           /* by part, of the candidates; NULL: all */
    struct layout_node *candidates;
    uint32_t *candidate_host;
    uint32_t ncandidates;
    struct rset *cores; /* of the candidates */
    struct layout *layout;
    bool shared;  /* with other tasks of the program */
    bool crowded; /* more of them than cores, on what was free */
};

/* ---- what is held, used and free ---- */

static struct rset *both_of(const struct rset *a, const struct rset *b)
{
    return rset_union_hosts((const struct rset *const[]){a, b}, 2);
}

/* Where so many cores of each node were granted, and not which: no more than are left of them. Takes
 * the set. */
static struct rset *within_grant(const struct spawn_base *base, struct rset *all,
                                 const struct rset *held)
{
    struct rset *left = host_nodes(base->hosts)->limits_cores ? rset_new() : all;
    for (size_t i = 0; i < all->nnodes && left != all; i++) {
        const struct rset_node *node = &all->nodes[i], *had = rset_find_host(held, node->host);
        size_t taken = had ? idset_count(had->children->cores) : 0;
        uint32_t limit = host_at(base->hosts, node->rank)->node->limit;
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

/* Less what others hold, or wait for and came before. Takes the set; NULL: it cannot be told. */
static struct rset *without_others(const struct spawn_base *base, struct rset *all,
                                   struct error *err)
{
    struct rset *held = instance_held(resources_instance(base->resources), err);
    struct rset *barred = held ? entry_barred(resources_entry(base->resources), err) : NULL;
    struct rset *others = barred ? both_of(held, barred) : NULL;
    struct rset *left = others ? rset_subtract_hosts(all, others) : NULL;
    if (left)
        left = within_grant(base, left, held);
    rset_free(others);
    rset_free(barred);
    rset_free(held);
    rset_free(all);
    return left;
}

/* Cores that no program holds. GPUs are not given out later; what was asked for by name (--on) is
 * all there is. */
static struct rset *free_in_instance(const struct spawn_base *base, struct error *err)
{
    struct rset *all = rset_new();
    for (size_t i = 0; i < host_count(base->hosts); i++) {
        const struct node *node = host_at(base->hosts, i)->node;
        const struct topo *topo = host_at(base->hosts, (uint32_t)i)->topo;
        if (host_at(base->hosts, (uint32_t)i)->state == HOST_LOST ||
            resources_on(base->resources) || (!node->cores && !topo))
            continue;
        struct idset *cores = node->cores ? idset_copy(node->cores) : topo_allowed_cores(topo);
        rset_append(all, (uint32_t)i, node->host, cores, NULL);
        idset_free(cores);
    }
    if (base->spec->overlap)
        return all;
    return without_others(base, all, err);
}

struct rset *spawn_resources_unused(const struct spawn_base *base)
{
    struct rset *more = free_in_instance(base, NULL);
    if (!more)
        return NULL;
    struct rset *busy = task_groups_used(base->groups), *held = task_groups_held(base->groups);
    struct rset *all = both_of(held, more), *unused = rset_subtract_hosts(all, busy);
    rset_free(all);
    rset_free(held);
    rset_free(busy);
    rset_free(more);
    return unused;
}

/* ---- candidates ---- */

bool spawn_resources_host_named(const struct node *node, const struct hostlist *hosts)
{
    if (!hosts || hostlist_find(hosts, node->host) >= 0)
        return true;
    for (size_t i = 0; node->here && i < hostlist_count(hosts); i++)
        if (localhost_is_literal(hostlist_nth(hosts, i)))
            return true;
    return false;
}

static bool spawn_resources_is_wanted(const struct spawn_resources *found, const struct node *node)
{
    for (size_t i = 0; i < found->spec->nparts; i++)
        if (spawn_resources_host_named(node, found->hosts[i]))
            return true;
    return false;
}

static bool is_anything_named(const struct spawn_resources *found)
{
    for (size_t i = 0; i < found->spec->nparts; i++)
        if (found->hosts[i])
            return true;
    return false;
}

static void free_only(struct spawn_resources *found)
{
    for (size_t i = 0; found->only && i < found->spec->nparts; i++)
        idset_free(found->only[i]);
    free(found->only);
    found->only = NULL;
}

/* Which of the candidates each part may use, once any part says: then every part starts over, and
 * does not go on where the one before stopped. False where a part has none. */
static bool divide_candidates(struct spawn_resources *found)
{
    const struct spawn_base *base = found->base;
    bool each_has = found->ncandidates;
    free_only(found);
    if (!is_anything_named(found))
        return each_has;
    found->only = mem_array(found->spec->nparts, sizeof(struct idset *));
    for (size_t i = 0; i < found->spec->nparts; i++) {
        struct idset *only = found->only[i] = idset_new();
        for (uint32_t c = 0; c < found->ncandidates; c++)
            if (spawn_resources_host_named(host_at(base->hosts, found->candidate_host[c])->node,
                                           found->hosts[i]))
                idset_add(only, c);
        each_has = each_has && !idset_empty(only);
    }
    return each_has;
}

static void add_candidate(struct spawn_resources *found, uint32_t host,
                          const struct rset_children *what, bool shared)
{
    const struct spawn_base *base = found->base;
    const struct node *node = host_at(base->hosts, host)->node;
    uint32_t limit = shared || host_nodes(base->hosts)->limits_cores ? 0 : node->limit;
    uint32_t used = limit ? task_groups_tasks_on(base->groups, host) : 0;
    if (used && used >= limit)
        return;
    found->candidate_host[found->ncandidates] = host;
    found->candidates[found->ncandidates++] =
        (struct layout_node){.host = node->host,
                             .target = node->target,
                             .topo = host_at(base->hosts, (uint32_t)host)->topo,
                             .cores = what->cores,
                             .gpus = idset_empty(what->gpus) ? NULL : what->gpus,
                             .limit = limit - used};
}

/* In the order of the program's hosts. */
static void spawn_resources_find_candidates(struct spawn_resources *found, const struct rset *from,
                                            bool shared)
{
    const struct spawn_base *base = found->base;
    struct host_index *index = rset_host_index(from);
    found->ncandidates = 0;
    for (size_t i = 0; i < host_count(base->hosts); i++) {
        const struct node *node = host_at(base->hosts, i)->node;
        size_t at = host_index_find(index, node->host);
        if (at != HOST_INDEX_NONE && host_at(base->hosts, (uint32_t)i)->state == HOST_UP &&
            spawn_resources_is_wanted(found, node))
            add_candidate(found, (uint32_t)i, from->nodes[at].children, shared);
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

/* Tasks that share cores may run on all cores there are for them on their node: on the one that
 * each is placed on, another may be busy. So all these are claimed. */
static void widen_claims(struct spawn_resources *found)
{
    for (uint32_t i = 0; i < found->layout->nnodes; i++) {
        struct layout_used_node *node = &found->layout->nodes[i];
        idset_free(node->claim);
        node->claim = idset_copy(found->candidates[node->source].cores);
    }
}

/* Takes the set, from which candidates borrow. */
static int try_layout(struct spawn_resources *found, struct rset *from, bool shared,
                      struct error *err)
{
    const struct spec *spec = found->spec;
    rset_free(found->cores);
    found->cores = from;
    spawn_resources_find_candidates(found, from, shared);
    bool possible = divide_candidates(found);
    struct layout_part *parts = mem_array(spec->nparts, sizeof(*parts));
    bool widened = false;
    for (size_t i = 0; i < spec->nparts; i++) {
        parts[i] = spec_part_layout(&spec->parts[i]);
        parts[i].oversubscribe |= shared;
        if (shared && is_bound_closely(&parts[i])) {
            parts[i].bind = "none";
            widened = true;
        }
        parts[i].only = found->only ? found->only[i] : NULL;
    }
    struct layout_request request = {.nodes = found->candidates,
                                     .nnodes = found->ncandidates,
                                     .parts = parts,
                                     .nparts = (uint32_t)spec->nparts};
    error_clear(err);
    found->layout = possible ? layout_make(&request, err)
                             : (error_set(err, "the program has no core on such a host"), NULL);
    free(parts);
    if (found->layout && widened)
        widen_claims(found);
    return found->layout ? 0 : -1;
}

static int try_idle(struct spawn_resources *found, struct error *err)
{
    struct rset *held = task_groups_held(found->base->groups),
                *busy = task_groups_used(found->base->groups);
    struct rset *idle = rset_subtract_hosts(held, busy);
    rset_free(busy);
    rset_free(held);
    return try_layout(found, idle, false, err);
}

static int try_unused(struct spawn_resources *found, struct error *err)
{
    struct rset *unused = spawn_resources_unused(found->base);
    return unused ? try_layout(found, unused, false, err) : -1;
}

/* Where it cannot be told what is unused, on what the program holds. */
static int try_shared(struct spawn_resources *found, struct error *err)
{
    struct rset *held = task_groups_held(found->base->groups),
                *unused = spawn_resources_unused(found->base);
    struct rset *all = unused ? both_of(held, unused) : NULL;
    rset_free(unused);
    if (!all)
        return try_layout(found, held, true, err);
    rset_free(held);
    return try_layout(found, all, true, err);
}

/* Whether a core of the layout has tasks of the program. */
static bool is_beside_others(const struct spawn_resources *found)
{
    struct rset *busy = task_groups_used(found->base->groups);
    bool beside = false;
    for (uint32_t i = 0; i < found->layout->nnodes && !beside; i++) {
        const struct layout_used_node *node = &found->layout->nodes[i];
        const struct rset_node *there = rset_find_host(busy, found->candidates[node->source].host);
        struct idset *both = there ? idset_intersect(node->claim, there->children->cores) : NULL;
        beside = both && !idset_empty(both);
        idset_free(both);
    }
    rset_free(busy);
    return beside;
}

static int try_all(struct spawn_resources *found, struct error *err)
{
    if (try_idle(found, err) == 0 || try_unused(found, err) == 0)
        return 0;
    if (try_shared(found, err) < 0)
        return -1;
    found->shared = is_beside_others(found);
    found->crowded = !found->shared;
    return 0;
}

struct spawn_resources *spawn_resources_find(const struct spawn_base *base, const struct spec *spec,
                                             struct hostlist *const *hosts, struct error *err)
{
    struct spawn_resources *found = mem_alloc(sizeof(*found));
    found->base = base;
    found->spec = spec;
    found->hosts = hosts;
    found->candidates = mem_array(host_count(base->hosts), sizeof(*found->candidates));
    found->candidate_host = mem_array(host_count(base->hosts), sizeof(*found->candidate_host));
    if (try_all(found, err) == 0)
        return found;
    spawn_resources_free(found);
    return NULL;
}

void spawn_resources_free(struct spawn_resources *found)
{
    if (!found)
        return;
    layout_free(found->layout);
    free_only(found);
    rset_free(found->cores);
    free(found->candidates);
    free(found->candidate_host);
    free(found);
}

void spawn_resources_fill(const struct spawn_resources *found, struct task_group_plan *plan)
{
    plan->layout = found->layout;
    plan->candidates = found->candidates;
    plan->candidate_host = found->candidate_host;
}

bool spawn_resources_is_shared(const struct spawn_resources *found)
{
    return found->shared;
}

bool spawn_resources_is_crowded(const struct spawn_resources *found)
{
    return found->crowded;
}

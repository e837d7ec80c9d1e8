/* Room for tasks that are added: on cores that the program holds and nobody of it uses; else on what
 * is free in the instance; else beside tasks of the program itself, never of another. */
#include <stdlib.h>

#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "launcher/manager/internal.h"
#include "launcher/process/localhost.h"
#include "affinity/sets/host_index.h"
#include "launcher/spec/spec_build.h"

#define GIVE_BACK_AGAIN 0.5 /* s until cores are given back again, after that failed */

/* ---- what is held, used and free ---- */

static struct rset *both_of(const struct rset *a, const struct rset *b)
{
    return rset_union_hosts((const struct rset *const[]){a, b}, 2);
}

/* Where so many cores of each node were granted, and not which: no more than are left of them. Takes
 * the set. */
static struct rset *within_grant(const struct manager *manager, struct rset *all,
                                 const struct rset *held)
{
    struct rset *left = host_nodes(manager->hosts)->limits_cores ? rset_new() : all;
    for (size_t i = 0; i < all->nnodes && left != all; i++) {
        const struct rset_node *node = &all->nodes[i], *had = rset_find_host(held, node->host);
        size_t taken = had ? idset_count(had->children->cores) : 0;
        uint32_t limit = host_at(manager->hosts, node->rank)->node->limit;
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
static struct rset *without_others(const struct manager *manager, struct rset *all,
                                   struct error *err)
{
    struct rset *held = instance_held(resources_instance(manager->resources), err);
    struct rset *barred = held ? entry_barred(resources_entry(manager->resources), err) : NULL;
    struct rset *others = barred ? both_of(held, barred) : NULL;
    struct rset *left = others ? rset_subtract_hosts(all, others) : NULL;
    if (left)
        left = within_grant(manager, left, held);
    rset_free(others);
    rset_free(barred);
    rset_free(held);
    rset_free(all);
    return left;
}

bool spawn_resources_host_up(const struct manager *manager, size_t index)
{
    return host_at(manager->hosts, (uint32_t)index)->state == HOST_UP;
}

/* Cores that no program holds. GPUs are not given out later; what was asked for by name (--on) is
 * all there is. */
static struct rset *free_in_instance(const struct manager *manager, struct error *err)
{
    struct rset *all = rset_new();
    for (size_t i = 0; i < host_count(manager->hosts); i++) {
        const struct node *node = host_at(manager->hosts, i)->node;
        const struct topo *topo = host_at(manager->hosts, (uint32_t)i)->topo;
        if (host_at(manager->hosts, (uint32_t)i)->state == HOST_LOST ||
            resources_on(manager->resources) || (!node->cores && !topo))
            continue;
        struct idset *cores = node->cores ? idset_copy(node->cores) : topo_allowed_cores(topo);
        rset_append(all, (uint32_t)i, node->host, cores, NULL);
        idset_free(cores);
    }
    if (manager->spec->overlap)
        return all;
    return without_others(manager, all, err);
}

struct rset *spawn_resources_unused(const struct manager *manager)
{
    struct rset *more = free_in_instance(manager, NULL);
    if (!more)
        return NULL;
    struct rset *busy = task_groups_used(manager->groups),
                *held = task_groups_held(manager->groups);
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

static bool spawn_resources_is_wanted(const struct spawn_resources *room, const struct node *node)
{
    for (size_t i = 0; i < room->spec->nparts; i++)
        if (spawn_resources_host_named(node, room->hosts[i]))
            return true;
    return false;
}

static bool is_anything_named(const struct spawn_resources *room)
{
    for (size_t i = 0; i < room->spec->nparts; i++)
        if (room->hosts[i])
            return true;
    return false;
}

static void free_only(struct spawn_resources *room)
{
    for (size_t i = 0; room->only && i < room->spec->nparts; i++)
        idset_free(room->only[i]);
    free(room->only);
    room->only = NULL;
}

/* Which of the candidates each part may use, once any part says: then every part starts over, and
 * does not go on where the one before stopped. False where a part has none. */
static bool divide_candidates(struct spawn_resources *room)
{
    const struct manager *manager = room->manager;
    bool each_has = room->ncandidates;
    free_only(room);
    if (!is_anything_named(room))
        return each_has;
    room->only = mem_array(room->spec->nparts, sizeof(struct idset *));
    for (size_t i = 0; i < room->spec->nparts; i++) {
        struct idset *only = room->only[i] = idset_new();
        for (uint32_t c = 0; c < room->ncandidates; c++)
            if (spawn_resources_host_named(host_at(manager->hosts, room->candidate_host[c])->node,
                                           room->hosts[i]))
                idset_add(only, c);
        each_has = each_has && !idset_empty(only);
    }
    return each_has;
}

static void add_candidate(struct spawn_resources *room, uint32_t host,
                          const struct rset_children *what, bool shared)
{
    const struct manager *manager = room->manager;
    const struct node *node = host_at(manager->hosts, host)->node;
    uint32_t limit = shared || host_nodes(manager->hosts)->limits_cores ? 0 : node->limit;
    uint32_t used = limit ? task_groups_tasks_on(manager->groups, host) : 0;
    if (used && used >= limit)
        return;
    room->candidate_host[room->ncandidates] = host;
    room->candidates[room->ncandidates++] =
        (struct layout_node){.host = node->host,
                             .target = node->target,
                             .topo = host_at(manager->hosts, (uint32_t)host)->topo,
                             .cores = what->cores,
                             .gpus = idset_empty(what->gpus) ? NULL : what->gpus,
                             .limit = limit - used};
}

/* In the order of the program's hosts. */
static void spawn_resources_find_candidates(struct spawn_resources *room, const struct rset *from,
                                            bool shared)
{
    struct manager *manager = room->manager;
    struct host_index *index = rset_host_index(from);
    room->ncandidates = 0;
    for (size_t i = 0; i < host_count(manager->hosts); i++) {
        const struct node *node = host_at(manager->hosts, i)->node;
        size_t at = host_index_find(index, node->host);
        if (at != HOST_INDEX_NONE && spawn_resources_host_up(manager, i) &&
            spawn_resources_is_wanted(room, node))
            add_candidate(room, (uint32_t)i, from->nodes[at].children, shared);
    }
    host_index_free(index);
}

/* ---- layout ---- */

/* Takes the set, from which candidates borrow. */
static int try_layout(struct spawn_resources *room, struct rset *from, bool shared,
                      struct error *err)
{
    const struct spec *spec = room->spec;
    rset_free(room->cores);
    room->cores = from;
    spawn_resources_find_candidates(room, from, shared);
    bool possible = divide_candidates(room);
    struct layout_part *parts = mem_array(spec->nparts, sizeof(*parts));
    for (size_t i = 0; i < spec->nparts; i++) {
        parts[i] = spec_part_layout(&spec->parts[i]);
        parts[i].oversubscribe |= shared;
        parts[i].only = room->only ? room->only[i] : NULL;
    }
    struct layout_request request = {.nodes = room->candidates,
                                     .nnodes = room->ncandidates,
                                     .parts = parts,
                                     .nparts = (uint32_t)spec->nparts};
    error_clear(err);
    room->layout = possible ? layout_make(&request, err)
                            : (error_set(err, "the program has no core on such a host"), NULL);
    free(parts);
    return room->layout ? 0 : -1;
}

static int try_idle(struct spawn_resources *room, struct error *err)
{
    struct rset *held = task_groups_held(room->manager->groups),
                *busy = task_groups_used(room->manager->groups);
    struct rset *idle = rset_subtract_hosts(held, busy);
    rset_free(busy);
    rset_free(held);
    return try_layout(room, idle, false, err);
}

static int try_unused(struct spawn_resources *room, struct error *err)
{
    struct rset *unused = spawn_resources_unused(room->manager);
    return unused ? try_layout(room, unused, false, err) : -1;
}

static int try_shared(struct spawn_resources *room, struct error *err)
{
    return try_layout(room, task_groups_held(room->manager->groups), true, err);
}

/* Hosts that were named may have something free, but too little, and nothing of the program. */
static int try_crowded(struct spawn_resources *room, struct error *err)
{
    struct rset *held = task_groups_held(room->manager->groups),
                *unused = spawn_resources_unused(room->manager);
    struct rset *all = unused ? both_of(held, unused) : NULL;
    rset_free(unused);
    rset_free(held);
    return all ? try_layout(room, all, true, err) : -1;
}

static int try_all(struct spawn_resources *room, struct error *err)
{
    if (try_idle(room, err) == 0 || try_unused(room, err) == 0)
        return 0;
    room->shared = try_shared(room, err) == 0;
    if (room->shared)
        return 0;
    room->crowded = try_crowded(room, err) == 0;
    return room->crowded ? 0 : -1;
}

struct spawn_resources *spawn_resources_find(struct manager *manager, const struct spec *spec,
                                             struct hostlist *const *hosts, struct error *err)
{
    struct spawn_resources *room = mem_alloc(sizeof(*room));
    room->manager = manager;
    room->spec = spec;
    room->hosts = hosts;
    room->candidates = mem_array(host_count(manager->hosts), sizeof(*room->candidates));
    room->candidate_host = mem_array(host_count(manager->hosts), sizeof(*room->candidate_host));
    if (try_all(room, err) == 0)
        return room;
    spawn_resources_free(room);
    return NULL;
}

void spawn_resources_free(struct spawn_resources *room)
{
    if (!room)
        return;
    layout_free(room->layout);
    free_only(room);
    rset_free(room->cores);
    free(room->candidates);
    free(room->candidate_host);
    free(room);
}

/* ---- the claim ---- */

static bool is_within(const struct rset *inner, const struct rset *outer)
{
    struct rset *left = rset_subtract_hosts(inner, outer);
    bool within = !left->nnodes;
    rset_free(left);
    return within;
}

int spawn_resources_claim(struct manager *manager, const struct rset *more, struct error *err)
{
    struct rset *held = task_groups_held(manager->groups);
    int lost = 0;
    if (!manager->spec->overlap && !is_within(more, held)) {
        struct rset *all = both_of(held, more);
        lost = entry_claim(resources_entry(manager->resources), all, err);
        rset_free(all);
    }
    rset_free(held);
    return lost;
}

static void on_give_back(struct ev_loop *loop, ev_timer *timer, int events);

/* Where that fails what is over stays claimed, and others wait for it. */
static void give_back(struct manager *manager, const struct rset *held)
{
    if (ev_is_active(&manager->give_back))
        return;
    lock_be_patient(manager->lock);
    if (entry_claim(resources_entry(manager->resources), held, NULL) == 0)
        return;
    ev_timer_init(&manager->give_back, on_give_back, GIVE_BACK_AGAIN, 0);
    manager->give_back.data = manager;
    ev_timer_start(manager->loop, &manager->give_back);
}

static void on_give_back(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager *manager = timer->data;
    (void)loop, (void)events;
    if (manager->phase != PHASE_RUN) /* it goes with the program */
        return;
    struct rset *held = task_groups_held(manager->groups);
    give_back(manager, held);
    rset_free(held);
}

void spawn_resources_give_back(struct manager *manager, const struct rset *less)
{
    struct rset *held = task_groups_held(manager->groups);
    if (!manager->spec->overlap && !is_within(less, held))
        give_back(manager, held);
    rset_free(held);
}

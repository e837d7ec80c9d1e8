#include "tests/unit/pool-brute.h"

#include <stdlib.h>
#include <string.h>

#define MAX_STEPS 256

/* A domain to choose, or (name NULL) what a slot takes directly. */
struct step {
    const char *name;
    int around; /* step; -1: the node */
    int before; /* its domain comes after that step's; -1: any */
    bool exclusive, inclusive /* the one around it is a choice, too */;
    uint32_t cores, gpus;
};

struct brute {
    const struct brute_node *node;
    struct step steps[MAX_STEPS];
    int nsteps;
    int chosen[MAX_STEPS]; /* domain */
};

/* ---- matching: units of demand to single ids ---- */

struct demand {
    uint32_t mask;
    int room; /* step that claimed it; -1: what is free on the node */
};

static bool augment(const struct demand *demands, int i, int *taken, uint32_t *seen)
{
    for (int id = 0; id < 32; id++) {
        if (!(demands[i].mask >> id & 1) || *seen >> id & 1)
            continue;
        *seen |= 1u << id;
        if (taken[id] < 0 || augment(demands, taken[id], taken, seen)) {
            taken[id] = i;
            return true;
        }
    }
    return false;
}

static bool match_room(const struct demand *demands, int n, int room)
{
    int taken[32];
    memset(taken, -1, sizeof(taken));
    for (int i = 0; i < n; i++) {
        uint32_t seen = 0;
        if (demands[i].room == room && !augment(demands, i, taken, &seen))
            return false;
    }
    return true;
}

/* ---- what the first `n` steps ask for ---- */

static uint32_t domain_mask(const struct brute *b, int domain, bool gpus)
{
    const struct brute_domain *d = &b->node->domains[domain];
    uint32_t own = gpus ? b->node->own_gpus : b->node->own_cores;
    return domain == 0 ? own : own & (gpus ? d->gpus : d->cores);
}

/* The nearest claim around a step, without itself. */
static int claim_around(const struct brute *b, int step)
{
    int at = b->steps[step].around;
    while (at >= 0 && !b->steps[at].exclusive)
        at = b->steps[at].around;
    return at;
}

/* What is left for others in the node, or in a claim. */
static uint32_t room_mask(const struct brute *b, int n, int room, bool gpus)
{
    uint32_t mask = room < 0 ? (gpus ? b->node->free_gpus : b->node->free_cores)
                             : domain_mask(b, b->chosen[room], gpus);
    for (int i = 0; i < n; i++)
        if (b->steps[i].exclusive && claim_around(b, i) == room)
            mask &= ~domain_mask(b, b->chosen[i], gpus);
    return mask;
}

static bool claims_hold(const struct brute *b, int n, bool gpus)
{
    uint32_t free = gpus ? b->node->free_gpus : b->node->free_cores;
    for (int i = 0; i < n; i++) {
        if (!b->steps[i].exclusive)
            continue;
        uint32_t mine = domain_mask(b, b->chosen[i], gpus);
        if (mine & ~free || !domain_mask(b, b->chosen[i], false))
            return false;
        for (int j = 0; j < i; j++)
            if (b->steps[j].exclusive && claim_around(b, j) == claim_around(b, i) &&
                (mine & domain_mask(b, b->chosen[j], gpus)))
                return false;
    }
    return true;
}

static bool holds(const struct brute *b, int n, bool gpus)
{
    static struct demand demands[32 * MAX_STEPS];
    int count = 0;
    if (!claims_hold(b, n, gpus))
        return false;
    for (int i = 0; i < n; i++) {
        const struct step *step = &b->steps[i];
        int domain = step->name ? b->chosen[i] : step->around < 0 ? 0 : b->chosen[step->around];
        int room = step->exclusive ? i : claim_around(b, i);
        uint32_t units = gpus ? step->gpus : step->cores;
        if (units > 31)
            return false;
        uint32_t mask = units ? domain_mask(b, domain, gpus) & room_mask(b, n, room, gpus) : 0;
        for (uint32_t j = 0; j < units; j++)
            demands[count++] = (struct demand){mask, room};
    }
    for (int room = -1; room < n; room++)
        if ((room < 0 || b->steps[room].exclusive) && !match_room(demands, count, room))
            return false;
    return true;
}

/* ---- trying ---- */

static bool below(const struct brute_node *node, int domain, int around, bool inclusive)
{
    if (domain == around)
        return inclusive;
    while (domain > around)
        domain = node->domains[domain].up;
    return domain == around;
}

static bool try_step(struct brute *b, int i)
{
    const struct step *step = &b->steps[i];
    if (i > 0 && (!b->steps[i - 1].name || i == b->nsteps) &&
        (!holds(b, i, false) || !holds(b, i, true)))
        return false;
    if (i == b->nsteps)
        return true;
    if (!step->name)
        return try_step(b, i + 1);
    int around = step->around < 0 ? 0 : b->chosen[step->around];
    int first = step->before < 0 ? 1 : b->chosen[step->before] + 1;
    for (int d = first; d < b->node->ndomains; d++) {
        if (strcmp(b->node->domains[d].name, step->name) != 0 ||
            !below(b->node, d, around, step->inclusive))
            continue;
        b->chosen[i] = d;
        if (try_step(b, i + 1))
            return true;
    }
    return false;
}

/* ---- steps ---- */

static uint32_t least(const struct count *count, uint32_t otherwise)
{
    return !count->max ? otherwise : count->set ? idset_first(count->set) : count->min;
}

static int add_step(struct brute *b, struct step step)
{
    if (b->nsteps == MAX_STEPS)
        abort();
    b->steps[b->nsteps] = step;
    return b->nsteps++;
}

static void add_need(struct brute *b, const struct request_need *need, int around, bool inclusive)
{
    int before = -1;
    for (uint32_t i = 0; i < least(&need->count, 1); i++) {
        before =
            add_step(b, (struct step){need->locality, around, before, need->exclusive, inclusive,
                                      least(&need->cores, 0), least(&need->gpus, 0)});
        for (size_t j = 0; j < need->ninner; j++)
            add_need(b, &need->inner[j], before, false);
    }
}

static void add_slots(struct brute *b, const struct request *request, int around, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (size_t j = 0; j < request->slot.ninner; j++)
            add_need(b, &request->slot.inner[j], around, true);
        add_step(b, (struct step){NULL, around, -1, false, false, least(&request->slot.cores, 0),
                                  least(&request->slot.gpus, 0)});
    }
}

static void add_within(struct brute *b, const struct request *request, size_t depth, int around,
                       uint32_t count)
{
    int before = -1;
    if (depth == request->nwithin) {
        add_slots(b, request, around, count);
        return;
    }
    const struct count *inner =
        depth + 1 < request->nwithin ? &request->within[depth + 1].count : &request->slots;
    for (uint32_t i = 0; i < count; i++) {
        before = add_step(b, (struct step){.name = request->within[depth].locality,
                                           .around = around,
                                           .before = before,
                                           .exclusive = request->within[depth].exclusive});
        add_within(b, request, depth + 1, before, least(inner, 1));
    }
}

static bool fits(const struct brute_node *node, const struct request *request, uint32_t count)
{
    static struct brute b;
    bool whole = node->free_cores == node->own_cores && node->free_gpus == node->own_gpus;
    b.node = node;
    b.nsteps = 0;
    if (request->node_exclusive && !whole)
        return false;
    add_within(&b, request, 0, -1, count);
    return try_step(&b, 0);
}

uint32_t brute_capacity(const struct brute_node *node, const struct request *request, uint32_t most)
{
    uint32_t n = 0;
    while (n < most && fits(node, request, n + 1))
        n++;
    return n;
}

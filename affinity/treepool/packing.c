/*
 * Slots onto a node. A slot takes from its home what it needs directly, and goes through the
 * localities it needs, item by item, trying one domain after the other.
 */
#include "affinity/treepool/packing.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/treepool/candidates.h"
#include "affinity/treepool/demand.h"
#include "affinity/treepool/domain_counts.h"
#include "base/array.h"
#include "base/mem.h"

#define SEAT_TRIES 5000u /* for one slot by itself */

struct packing {
    const struct treepool_ask *ask;
    struct domain_counts *counts; /* of the class at hand, and what its slots take */
    const struct scheduling_tree *tree;
    struct treepool_seat *seats;
    size_t nseats, seats_capacity;
    struct treepool_piece *pieces;
    size_t npieces, pieces_capacity;
    uint32_t tries; /* left, of the allocation */
};

/* How far a packing has come. */
struct packing_mark {
    size_t nshares, nseats;
};

static struct packing_mark packing_mark(const struct packing *packing)
{
    return (struct packing_mark){domain_counts_ntaken(packing->counts), packing->nseats};
}

static void packing_undo(struct packing *packing, struct packing_mark mark)
{
    domain_counts_undo(packing->counts, mark.nshares);
    packing->nseats = mark.nseats;
}

enum manner {
    FIRST,   /* the first domains that fit */
    ROOMIEST /* those where most is left, so that slots of several domains come out even */
};

struct seat_list {
    uint32_t *domains;
    uint32_t count;
};

struct seating {
    struct packing *packing;
    uint32_t home, stop;
    enum manner manner;
    uint32_t *tries;
    uint32_t slot, nslots;
    uint32_t *chosen;        /* domain, by slot and item */
    uint32_t *at;            /* its place in the list */
    struct seat_list *lists; /* likewise; all counted for a need have the first one's */
};

static bool seat_slot(struct seating *s);

static uint32_t *seat_chosen(const struct seating *s)
{
    return s->chosen + (size_t)s->slot * s->packing->ask->nitems;
}

/* The domains for a need that have room for it, in the order in which they are tried. */
static struct seat_list seat_list_new(const struct seating *s, const struct treepool_need *need,
                                      uint32_t first, uint32_t end)
{
    const struct scheduling_domain *domains = s->packing->tree->domains;
    struct seat_list list = {mem_array(end - first, sizeof(*list.domains)), 0};
    if (!treepool_ask_spend(s->packing->ask, end - first))
        return list;
    uint32_t *rooms = mem_array(end - first, sizeof(*rooms));
    for (uint32_t i = first; i < end; i++) {
        if (!domains[i].name || strcmp(domains[i].name, need->locality) != 0)
            continue;
        uint32_t room = domain_counts_room(s->packing->counts, need, i), at = list.count;
        if (!room)
            continue;
        for (; s->manner == ROOMIEST && at > 0 && rooms[at - 1] < room; at--) {
            rooms[at] = rooms[at - 1];
            list.domains[at] = list.domains[at - 1];
        }
        treepool_ask_spend(s->packing->ask, list.count - at);
        rooms[at] = room;
        list.domains[at] = i;
        list.count++;
    }
    free(rooms);
    return list;
}

/* What an item takes from its domain: all of it, its own numbers, or both. */
static bool take_item(struct seating *s, uint32_t index)
{
    const struct treepool_item *items = s->packing->ask->items, *item = &items[index];
    const uint32_t *chosen = seat_chosen(s);
    uint32_t outer = item->around == TREEPOOL_NONE ? TREEPOOL_NONE : items[item->around].claim;
    struct treepool_share share = {.domain = chosen[index],
                                   .slot = (uint32_t)s->packing->nseats,
                                   .stop = outer == TREEPOOL_NONE ? s->stop : chosen[outer],
                                   .exclusive = item->need->exclusive,
                                   .inside = outer != TREEPOOL_NONE};
    struct packing_mark mark = packing_mark(s->packing);
    if (share.exclusive && !domain_counts_take(s->packing->counts, share))
        return false;
    if (!item->need->cores && !item->need->gpus)
        return true;
    if (share.exclusive) {
        share.exclusive = false;
        share.inside = true;
        share.stop = share.domain;
    }
    share.cores = item->need->cores;
    share.gpus = item->need->gpus;
    if (domain_counts_take(s->packing->counts, share))
        return true;
    packing_undo(s->packing, mark);
    return false;
}

static bool seat_item(struct seating *s, uint32_t index);

/* The rest of the slot with this item in each of the domains that are left for it. */
static bool seat_item_in(struct seating *s, uint32_t index, const struct seat_list *list)
{
    const struct treepool_item *item = &s->packing->ask->items[index];
    uint32_t *at = s->at + (size_t)s->slot * s->packing->ask->nitems;
    uint32_t first = item->before == TREEPOOL_NONE ? 0 : at[item->before] + 1;
    for (uint32_t i = first; i + item->after < list->count && *s->tries; i++) {
        struct packing_mark mark = packing_mark(s->packing);
        /* Like slots come in order of their first domains, so that no arrangement is tried twice. */
        if (index == 0 && s->slot > 0 &&
            list->domains[i] < (seat_chosen(s) - s->packing->ask->nitems)[0])
            continue;
        at[index] = i;
        seat_chosen(s)[index] = list->domains[i];
        --*s->tries;
        if (!take_item(s, index))
            continue;
        if (seat_item(s, index + 1))
            return true;
        packing_undo(s->packing, mark);
    }
    return false;
}

static bool seat_item(struct seating *s, uint32_t index)
{
    const struct treepool_ask *ask = s->packing->ask;
    if (index == ask->nitems) {
        struct packing *packing = s->packing;
        packing->seats = array_reserve(packing->seats, &packing->seats_capacity,
                                       packing->nseats + 1, sizeof(*packing->seats));
        packing->seats[packing->nseats++] =
            (struct treepool_seat){packing->tree->domains[s->home].height,
                                   (uint32_t)domain_counts_ntaken(packing->counts)};
        s->slot++;
        if (s->slot == s->nslots || seat_slot(s))
            return true;
        s->slot--;
        return false;
    }
    const struct treepool_item *item = &ask->items[index];
    struct seat_list *lists = s->lists + (size_t)s->slot * ask->nitems;
    if (item->before != TREEPOOL_NONE) {
        lists[index] = lists[item->before];
        return seat_item_in(s, index, &lists[index]);
    }
    uint32_t around = item->around == TREEPOOL_NONE ? s->home : seat_chosen(s)[item->around];
    uint32_t first = item->around == TREEPOOL_NONE ? around : around + 1;
    struct seat_list list =
        seat_list_new(s, item->need, first, s->packing->tree->domains[around].end);
    lists[index] = list;
    bool done = seat_item_in(s, index, &list);
    free(list.domains);
    return done;
}

/* The next slot: what it takes from its home, then its items. */
static bool seat_slot(struct seating *s)
{
    const struct treepool_need *need = &s->packing->ask->slot;
    struct packing_mark mark = packing_mark(s->packing);
    struct treepool_share share = {.domain = s->home,
                                   .slot = (uint32_t)mark.nseats,
                                   .cores = need->cores,
                                   .gpus = need->gpus,
                                   .stop = s->stop};
    if ((need->cores || need->gpus) && !domain_counts_take(s->packing->counts, share))
        return false;
    if (seat_item(s, 0))
        return true;
    packing_undo(s->packing, mark);
    return false;
}

static bool seat_all(struct seating *s)
{
    size_t n = (size_t)s->nslots * s->packing->ask->nitems;
    if (n) {
        s->chosen = mem_array(n, sizeof(*s->chosen));
        s->at = mem_array(n, sizeof(*s->at));
        s->lists = mem_array(n, sizeof(*s->lists));
    }
    bool done = seat_slot(s);
    free(s->chosen);
    free(s->at);
    free(s->lists);
    return done;
}

static bool seat_one(struct packing *packing, uint32_t home, uint32_t stop, enum manner manner)
{
    uint32_t tries = SEAT_TRIES;
    struct seating s = {.packing = packing,
                        .home = home,
                        .stop = stop,
                        .manner = manner,
                        .tries = &tries,
                        .nslots = 1};
    return seat_all(&s);
}

static bool seat_exactly(struct packing *packing, uint32_t home, uint32_t stop, uint32_t nslots)
{
    struct seating s = {
        .packing = packing, .home = home, .stop = stop, .tries = &packing->tries, .nslots = nslots};
    return seat_all(&s);
}

/*
 * As many pieces as wanted onto one node: finest domains first, what they leave together in the
 * coarser ones.
 *
 * Slots without localities of their own always come out at as many as the totals allow, since the
 * node combines whatever is left. With such localities the first domains may be the wrong ones;
 * where a bound says that more could fit, other ways are tried.
 */

#define TRIAL_WORK 64u   /* filling a domain costs as much as looking at this many domains */
#define EXACT_ITEMS 256u /* slots times localities that are arranged by trying everything */

/* Where slots go: at and below `scope`; claims around them end at `stop`. */
struct plan_scope {
    struct packing *packing;
    uint32_t scope, stop;
};

static uint32_t plan_in_home(const struct plan_scope *in, uint32_t home, enum manner manner,
                             uint32_t wanted)
{
    uint32_t n = 0;
    if (!domain_counts_room(in->packing->counts, &in->packing->ask->slot, home))
        return 0;
    while (n < wanted && seat_one(in->packing, home, in->stop, manner))
        n++;
    return n;
}

/* Level by level; a domain comes before one around it on the same level. */
static uint32_t plan_by_level(const struct plan_scope *in, enum manner manner, uint32_t wanted)
{
    const struct scheduling_domain *domains = in->packing->tree->domains;
    uint32_t n = 0, scope = in->scope;
    for (uint32_t level = 0; level <= domains[scope].height; level++) {
        for (uint32_t i = scope + 1; i < domains[scope].end && n < wanted; i++)
            if (domains[i].height == level)
                n += plan_in_home(in, i, manner, wanted - n);
        if (domains[scope].height == level && n < wanted)
            n += plan_in_home(in, scope, manner, wanted - n);
    }
    return n;
}

/* The ways to place slots, in the order in which they are tried. */
static const struct plan_way {
    enum manner manner;
    bool by_level;
} plan_ways[] = {{FIRST, true}, {ROOMIEST, true}, {ROOMIEST, false}};
#define PLAN_WAYS (sizeof(plan_ways) / sizeof(plan_ways[0]))

static uint32_t plan_go(const struct plan_scope *in, const struct plan_way *way, uint32_t wanted)
{
    return way->by_level ? plan_by_level(in, way->manner, wanted)
                         : plan_in_home(in, in->scope, way->manner, wanted);
}

static uint32_t plan_slots(const struct plan_scope *in, uint32_t wanted)
{
    struct packing *packing = in->packing;
    uint32_t best = 0, n = 0,
             room = domain_counts_room(packing->counts, &packing->ask->slot, in->scope);
    struct packing_mark mark = packing_mark(packing);
    size_t best_way = 0;
    wanted = room < wanted ? room : wanted;
    for (size_t i = 0; i < PLAN_WAYS; i++) {
        n = plan_go(in, &plan_ways[i], wanted);
        if (n == wanted || !packing->ask->nitems)
            return n;
        packing_undo(packing, mark);
        if (n > best)
            best = n, best_way = i;
    }
    /* More than the best way gave, if they can be arranged at all. */
    for (n = wanted; n > best; n--)
        if ((uint64_t)n * packing->ask->nitems <= EXACT_ITEMS &&
            seat_exactly(packing, in->scope, in->stop, n))
            return n;
    return plan_go(in, &plan_ways[best_way], best);
}

/* ---- localities between node and slot ---- */

static uint32_t plan_within(const struct plan_scope *in, size_t depth, uint32_t wanted);

static uint32_t plan_level(const struct packing *packing, size_t first)
{
    uint32_t level = 0;
    for (size_t i = first; i < packing->nseats; i++)
        if (packing->seats[i].level > level)
            level = packing->seats[i].level;
    return level;
}

/* As many as the count below allows into this domain; false where these are none. */
static bool plan_enter(const struct plan_scope *in, size_t depth, uint32_t domain)
{
    struct packing *packing = in->packing;
    struct plan_scope inner = {packing, domain, in->stop};
    struct packing_mark mark = packing_mark(packing);
    if (packing->ask->request->within[depth].exclusive) {
        struct treepool_share claim = {
            .domain = domain, .slot = TREEPOOL_NONE, .stop = in->stop, .exclusive = true};
        if (!domain_counts_take(packing->counts, claim))
            return false;
        inner.stop = domain;
    }
    const struct request *request = packing->ask->request;
    const struct count *count =
        depth + 1 < request->nwithin ? &request->within[depth + 1].count : packing->ask->slots;
    struct packing_mark claimed = packing_mark(packing);
    uint32_t n = plan_within(&inner, depth + 1, count->max ? count->max : 1);
    uint32_t right = count->max ? count_within(count, n) : n;
    if (right && right < n) {
        packing_undo(packing, claimed);
        plan_within(&inner, depth + 1, right);
    }
    if (!right)
        packing_undo(packing, mark);
    return right > 0;
}

/* Ascending: most slots, then finest, then document order. */
static int plan_compare(const void *a, const void *b)
{
    const struct treepool_trial *x = a, *y = b;
    if (x->nslots != y->nslots)
        return x->nslots > y->nslots ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return (x->domain > y->domain) - (x->domain < y->domain);
}

/* What a domain would hold by itself. Where localities of one name lie within one another, each of
 * them tries all that are below it: what one has found the others need not look for. */
static struct treepool_trial plan_try(const struct plan_scope *in, size_t depth, uint32_t domain)
{
    struct packing *packing = in->packing;
    struct treepool_trial trial = {.domain = domain};
    struct packing_mark mark = packing_mark(packing);
    if (!treepool_ask_spend(packing->ask, 1) ||
        domain_counts_recall(packing->counts, (uint32_t)depth, in->stop, &trial) ||
        !treepool_ask_spend(packing->ask, TRIAL_WORK))
        return trial;
    if (plan_enter(in, depth, domain)) {
        trial.level = plan_level(packing, mark.nseats);
        trial.nslots = (uint32_t)(packing->nseats - mark.nseats);
        packing_undo(packing, mark);
    }
    domain_counts_remember(packing->counts, (uint32_t)depth, in->stop, &trial);
    return trial;
}

/* All domains of the name that hold something by themselves, best first. */
static size_t plan_try_all(const struct plan_scope *in, size_t depth, struct treepool_trial *trials)
{
    struct packing *packing = in->packing;
    const struct scheduling_domain *domains = packing->tree->domains;
    const char *name = packing->ask->request->within[depth].locality;
    size_t n = 0;
    for (uint32_t i = in->scope + 1; i < domains[in->scope].end; i++) {
        if (strcmp(domains[i].name, name) != 0)
            continue;
        struct treepool_trial trial = plan_try(in, depth, i);
        if (trial.nslots)
            trials[n++] = trial;
    }
    qsort(trials, n, sizeof(*trials), plan_compare);
    return n;
}

static void plan_add_piece(struct packing *packing, struct treepool_piece piece)
{
    packing->pieces = array_reserve(packing->pieces, &packing->pieces_capacity,
                                    packing->npieces + 1, sizeof(*packing->pieces));
    packing->pieces[packing->npieces++] = piece;
}

static uint32_t plan_within(const struct plan_scope *in, size_t depth, uint32_t wanted)
{
    struct packing *packing = in->packing;
    const struct scheduling_domain *here = &packing->tree->domains[in->scope];
    if (depth == packing->ask->request->nwithin)
        return plan_slots(in, wanted);
    struct treepool_trial *trials = mem_array(here->end - in->scope, sizeof(*trials));
    size_t ntrials = plan_try_all(in, depth, trials);
    uint32_t n = 0;
    for (size_t i = 0; i < ntrials && n < wanted; i++) {
        size_t first = packing->nseats;
        if (depth &&
            !treepool_ask_spend(packing->ask, TRIAL_WORK)) /* these double level by level */
            break;
        if (!plan_enter(in, depth, trials[i].domain))
            continue;
        if (depth == 0)
            plan_add_piece(packing,
                           (struct treepool_piece){
                               .level = plan_level(packing, first),
                               .nslots = (uint32_t)(packing->nseats - first),
                               .seats_end = (uint32_t)packing->nseats,
                               .shares_end = (uint32_t)domain_counts_ntaken(packing->counts)});
        n++;
    }
    free(trials);
    return n;
}

/* ---- the plan of a node ---- */

static void *plan_copy(const void *from, size_t count, size_t size)
{
    void *to = mem_array(count, size);
    if (count)
        memcpy(to, from, count * size);
    return to;
}

struct packing *packing_new(const struct treepool_ask *ask)
{
    struct packing *packing = mem_alloc(sizeof(*packing));
    packing->ask = ask;
    packing->counts = domain_counts_new(ask);
    packing->tries = TREEPOOL_TRIES;
    return packing;
}

void packing_free(struct packing *packing)
{
    domain_counts_free(packing->counts);
    free(packing->seats);
    free(packing->pieces);
    free(packing);
}

struct treepool_plan *packing_plan(struct packing *packing, const struct treepool_class *class)
{
    const struct treepool_ask *ask = packing->ask;
    struct treepool_plan *plan = mem_alloc(sizeof(*plan));
    if ((ask->exclusive && !class->whole) || class->ncores < ask->slot.all_cores ||
        class->ngpus < ask->slot.all_gpus)
        return plan;
    domain_counts_load(packing->counts, class);
    packing->tree = class->tree;
    packing->nseats = packing->npieces = 0;
    /* A slot that asks for nothing has a node to itself. */
    uint32_t most = ask->whole_slot ? 1 : ask->pieces->max;
    most = most < TREEPOOL_MAX_SLOTS ? most : TREEPOOL_MAX_SLOTS;
    plan_within(&(struct plan_scope){packing, 0, 0}, 0, most);
    for (uint32_t i = 0; !ask->request->nwithin && i < packing->nseats; i++)
        plan_add_piece(packing, (struct treepool_piece){.level = packing->seats[i].level,
                                                        .nslots = 1,
                                                        .seats_end = i + 1,
                                                        .shares_end = packing->seats[i].end});
    plan->npieces = (uint32_t)packing->npieces;
    plan->pieces = plan_copy(packing->pieces, packing->npieces, sizeof(*plan->pieces));
    plan->seats = plan_copy(packing->seats, packing->nseats, sizeof(*plan->seats));
    plan->shares = plan_copy(domain_counts_taken(packing->counts),
                             domain_counts_ntaken(packing->counts), sizeof(*plan->shares));
    return plan;
}

void treepool_plan_free(struct treepool_plan *plan)
{
    if (!plan)
        return;
    free(plan->pieces);
    free(plan->seats);
    free(plan->shares);
    free(plan);
}

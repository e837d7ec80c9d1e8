/*
 * Which GPUs go with which position, on one node class.
 *
 * The rule is TreePool's (RFC 49), by which R was allocated if a TreePool allocator made it, so
 * that a task gets the GPUs that its cores were allocated with: finest level first, in each object
 * of it the lowest free place and the lowest free GPUs below it, as long as there are enough of
 * both; what is left over goes by the next coarser level. There the rule is sharper than TreePool's,
 * which takes any: GPUs that are neighbours go together, and the place is next to the first of
 * them where one is free. A place is a slot, or without -c a core. Tasks that are bound to the
 * whole domain of their GPU share its cores, and where there are too few of them its places. GPUs
 * that are left when all places are taken go round the places once more; whether two tasks may be
 * there is for the limits to say.
 */
#include "affinity/layout/gpu_assign.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/gpu_locality.h"
#include "affinity/layout/positions.h"
#include "base/mem.h"
#include "base/search.h"

struct circle { /* an object with GPUs below it */
    struct rows rows;
    uint32_t begin, end;   /* positions inside */
    uint32_t next;         /* the first that may be free */
    uint32_t share, used;  /* tasks for each place, and how many `next` has; 1 and 0 but where
                              domains are shared */
    uint32_t first, ngpus; /* members, in the order of the hardware */
};

struct pairing {
    struct positions *plan;
    const struct policy *policy;
    bool *taken;            /* [positions] not to be had, or not any more */
    uint32_t *uses;         /* [GPUs] tasks that have it */
    struct circle *circles; /* finest level first */
    uint32_t ncircles;
    uint32_t *members;          /* of the circles: indexes into the class's GPUs */
    uint32_t *home;             /* [GPUs] its finest circle */
    struct position *positions; /* that are paired, */
    struct pair *pairs;         /* and with what */
    uint32_t npairs;
    uint64_t most; /* that there is room for */
    uint32_t lap;  /* how often all places were taken */
};

/* ---- circles ---- */

struct member {
    struct rows rows; /* of the circle that it is to be in */
    uint32_t home;    /* its finest circle so far, or NO_HOME */
    uint32_t gpu;
};

#define NO_HOME UINT32_MAX

/* Circles are numbered finest level first and from left to right, so homes are in the order of the
 * hardware as far as they are of one level. */
static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->rows.first != y->rows.first)
        return x->rows.first < y->rows.first ? -1 : 1;
    if (x->home != y->home)
        return x->home < y->home ? -1 : 1;
    return x->gpu < y->gpu ? -1 : x->gpu > y->gpu;
}

struct circle_search {
    const struct positions *plan;
    uint32_t row;
};

static bool position_before_row(const void *arg, size_t i)
{
    const struct circle_search *search = arg;
    return search->plan->first_row[search->plan->positions[i].unit] < search->row;
}

/* The objects of a level that have GPUs. */
static void add_level(struct pairing *pairing, enum topo_level level, uint32_t *nmembers)
{
    const struct positions *plan = pairing->plan;
    const struct node_class *class = plan->class;
    struct member *found = mem_array(class->ngpus, sizeof(*found));
    uint32_t n = 0;
    for (uint32_t gpu = 0; gpu < class->ngpus; gpu++)
        if (class->gpus[gpu].rows[level].first < class->gpus[gpu].rows[level].end)
            found[n++] = (struct member){class->gpus[gpu].rows[level], pairing->home[gpu], gpu};
    if (n)
        qsort(found, n, sizeof(*found), compare_members);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || found[i].rows.first != found[i - 1].rows.first) {
            const struct rows rows = found[i].rows;
            const struct circle_search search = {plan, rows.first};
            uint32_t end = (uint32_t)search_first(plan->npositions, position_before_row, &search);
            pairing->circles[pairing->ncircles++] = (struct circle){
                .rows = rows, .begin = end, .next = end, .end = end, .first = *nmembers};
            /* Positions whose units lie in these rows. */
            while (end < plan->npositions && plan->end_row[plan->positions[end].unit] <= rows.end)
                end++;
            pairing->circles[pairing->ncircles - 1].end = end;
        }
        pairing->circles[pairing->ncircles - 1].ngpus++;
        pairing->members[(*nmembers)++] = found[i].gpu;
        if (found[i].home == NO_HOME)
            pairing->home[found[i].gpu] = pairing->ncircles - 1;
    }
    free(found);
}

/* ---- places ---- */

/* Each core has one place: its first thread. As long as places are taken for the first time, cores that
 * earlier tasks occupy are left out. */
static void find_places(struct pairing *pairing)
{
    const struct positions *plan = pairing->plan;
    const struct idset *busy = pairing->lap ? NULL : plan->class->busy;
    for (uint32_t i = 0; i < plan->npositions; i++) {
        uint32_t unit = plan->positions[i].unit;
        bool place = pairing->policy->cores_per_task || unit == 0 ||
                     plan->object[TOPO_CORE][unit] != plan->object[TOPO_CORE][unit - 1];
        for (uint32_t row = plan->first_row[unit]; busy && place && row < plan->end_row[unit];
             row++)
            place = !idset_has(busy, node_class_core(plan->class, row));
        pairing->taken[i] = !place;
    }
}

/* How many tasks share a place, so that the places of a shared domain have room for all of its tasks. */
static void share_places(struct pairing *pairing)
{
    for (uint32_t i = 0; i < pairing->ncircles; i++) {
        struct circle *circle = &pairing->circles[i];
        circle->next = circle->begin;
        circle->used = 0;
        uint64_t tasks = (uint64_t)circle->ngpus * pairing->policy->gpu_tasks, places = 0;
        for (uint32_t at = circle->next; at < circle->end; at++)
            places += !pairing->taken[at];
        circle->share = 1;
        if (pairing->policy->bind_domain && places)
            circle->share = (uint32_t)((tasks + places - 1) / places);
    }
}

/* Units that a task at a position would occupy. */
static struct rows gpu_assign_busy_units(const struct pairing *pairing, uint32_t at)
{
    const struct position *position = &pairing->plan->positions[at];
    if (policy_is_narrow(pairing->policy))
        return (struct rows){position->bind_first, position->bind_end};
    return (struct rows){position->unit, position->unit + 1};
}

/* This place is taken, and so are all whose tasks would occupy a part of the same units. */
static void take_place(struct pairing *pairing, uint32_t at)
{
    struct rows own = gpu_assign_busy_units(pairing, at);
    for (uint32_t i = at; i-- > 0 && gpu_assign_busy_units(pairing, i).end > own.first;)
        pairing->taken[i] = true;
    for (uint32_t i = at;
         i < pairing->plan->npositions && gpu_assign_busy_units(pairing, i).first < own.end; i++)
        pairing->taken[i] = true;
}

/* The first free place of a circle; its `end` when there is none. */
static uint32_t free_place(const struct pairing *pairing, struct circle *circle)
{
    while (circle->next < circle->end && pairing->taken[circle->next])
        circle->next++;
    return circle->next;
}

/* Next to the first of these GPUs that has a free place, else anywhere in the circle, which has one. */
static uint32_t choose_place(const struct pairing *pairing, struct circle *circle,
                             const uint32_t *picked)
{
    struct circle *from = circle;
    for (uint32_t i = 0; i < pairing->policy->gpus_per_task; i++) {
        struct circle *home = &pairing->circles[pairing->home[picked[i]]];
        if (free_place(pairing, home) < home->end) {
            from = home;
            break;
        }
    }
    uint32_t place = free_place(pairing, from);
    if (++from->used == from->share) {
        from->next++;
        from->used = 0;
    }
    return place;
}

/* ---- pairs ---- */

/* The first GPUs of a circle that have not had a task in this turn. False: not enough. */
static bool pick_gpus(const struct pairing *pairing, const struct circle *circle, uint32_t turn,
                      uint32_t *picked)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < circle->ngpus && n < pairing->policy->gpus_per_task; i++) {
        uint32_t gpu = pairing->members[circle->first + i];
        if (pairing->uses[gpu] == turn)
            picked[n++] = gpu;
    }
    return n == pairing->policy->gpus_per_task;
}

/* Whether these GPUs are neighbours, and this place is next to them. */
static bool is_local(const struct pairing *pairing, uint32_t place, const uint32_t *picked)
{
    const struct circle *home = &pairing->circles[pairing->home[picked[0]]];
    uint32_t unit = pairing->plan->positions[place].unit;
    for (uint32_t i = 1; i < pairing->policy->gpus_per_task; i++)
        if (pairing->home[picked[i]] != pairing->home[picked[0]])
            return false;
    return pairing->plan->first_row[unit] >= home->rows.first &&
           pairing->plan->end_row[unit] <= home->rows.end;
}

static void add_pair(struct pairing *pairing, struct circle *circle, uint32_t turn,
                     const uint32_t *picked)
{
    const struct policy *policy = pairing->policy;
    uint32_t place = choose_place(pairing, circle, picked), number = pairing->npairs++;
    struct positions *plan = pairing->plan;
    struct position *position = &pairing->positions[number];
    *position = plan->positions[place];

    /* Where tasks go round the nodes, the near pairs of all nodes come before the others of any. */
    bool cyclic = policy_is_cyclic(policy), remote = !is_local(pairing, place, picked);
    turn += pairing->lap * policy->gpu_tasks;
    pairing->pairs[number] =
        (struct pair){number, cyclic ? 2 * turn + remote : turn, !cyclic && remote};

    if (policy->bind_domain) {
        uint32_t first = position->unit, end = position->unit + 1;
        while (first > 0 && plan->first_row[first - 1] >= circle->rows.first)
            first--;
        while (end < plan->nunits && plan->end_row[end] <= circle->rows.end)
            end++;
        position->bind_first = first;
        position->bind_end = end;
    } else {
        take_place(pairing, place);
    }
    uint32_t *ids = plan->gpus + (size_t)number * policy->gpus_per_task;
    for (uint32_t i = 0; i < policy->gpus_per_task; i++) {
        ids[i] = plan->class->gpus[picked[i]].id;
        pairing->uses[picked[i]]++;
    }
}

/* One turn for each task that a GPU may have, from the turn of the least used GPU on. In a turn each circle
 * makes as many pairs as it has places and GPUs for. */
static void pair_turns(struct pairing *pairing)
{
    const struct policy *policy = pairing->policy;
    uint32_t *picked = mem_array(policy->gpus_per_task, sizeof(*picked));
    uint32_t turn = policy->gpu_tasks, before = UINT32_MAX;
    for (uint32_t gpu = 0; gpu < pairing->plan->class->ngpus; gpu++)
        turn = pairing->uses[gpu] < turn ? pairing->uses[gpu] : turn;
    for (; turn < policy->gpu_tasks && pairing->npairs != before; turn++) {
        before = pairing->npairs;
        for (uint32_t i = 0; i < pairing->ncircles; i++) {
            struct circle *circle = &pairing->circles[i];
            while (pairing->npairs < pairing->most && free_place(pairing, circle) < circle->end &&
                   pick_gpus(pairing, circle, turn, picked))
                add_pair(pairing, circle, turn, picked);
        }
    }
    free(picked);
}

static void make_circles(struct pairing *pairing)
{
    const struct node_class *class = pairing->plan->class;
    enum topo_level levels[NODE_CLASS_NEAR_LEVELS];
    uint32_t nmembers = 0;
    pairing->circles =
        mem_array((size_t) class->ngpus * NODE_CLASS_NEAR_LEVELS, sizeof(struct circle));
    pairing->members = mem_array((size_t) class->ngpus * NODE_CLASS_NEAR_LEVELS, sizeof(uint32_t));
    pairing->home = mem_array(class->ngpus, sizeof(*pairing->home));
    memset(pairing->home, 0xff, class->ngpus * sizeof(*pairing->home));
    node_class_near_levels(class->topo, levels);
    for (uint32_t i = 0; i < NODE_CLASS_NEAR_LEVELS; i++)
        add_level(pairing, levels[i], &nmembers);
}

void positions_pair_gpus(struct positions *plan, const struct policy *policy)
{
    const uint32_t ngpus = plan->class->ngpus, each = policy->gpus_per_task;
    struct pairing pairing = {.plan = plan, .policy = policy};
    uint64_t most = (uint64_t)ngpus * policy->gpu_tasks / each; /* as far as GPUs go */
    pairing.most = most = most < TOPO_MAX_PUS ? most : TOPO_MAX_PUS;
    pairing.taken = mem_array(plan->npositions, sizeof(*pairing.taken));
    pairing.uses = mem_array(ngpus, sizeof(*pairing.uses));
    pairing.positions = mem_array(most, sizeof(*pairing.positions));
    pairing.pairs = mem_array(most, sizeof(*pairing.pairs));
    plan->gpus = mem_array(most * each, sizeof(*plan->gpus));
    make_circles(&pairing);
    uint32_t before;
    do {
        before = pairing.npairs;
        find_places(&pairing);
        share_places(&pairing);
        pair_turns(&pairing);
        pairing.lap++;
    } while (pairing.npairs > before || pairing.lap < 2);
    free(plan->positions);
    plan->unpaired = plan->npositions;
    plan->positions = pairing.positions;
    plan->npositions = pairing.npairs;
    plan->pairs = pairing.pairs;
    free(pairing.taken);
    free(pairing.uses);
    free(pairing.circles);
    free(pairing.members);
    free(pairing.home);
}

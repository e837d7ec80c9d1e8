#include "tests/unit/lama-plain.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/plain-machine.h"
#include "tests/unit/plain-rule.h"

struct seat {
    struct plain_task task;
    uint64_t busy; /* what it occupies */
};

struct search {
    struct plain_machine *machines;
    uint32_t nmachines;
    struct plain_rule rule;
    uint32_t digits[TOPO_NLEVELS]; /* by loop */
    struct seat *seats;
    uint32_t nseats, until;
    bool lifted, only_idle;
};

/* ---- what a letter counts ---- */

/* Every thing of this level lies inside one of that. */
static bool level_inside(const struct plain_machine *machine, enum topo_level inner,
                         enum topo_level outer)
{
    const struct plain_level *level = &machine->levels[inner];
    for (uint32_t i = 0; i < level->count; i++)
        if (!plain_inside(level->sets[i],
                          plain_set(&machine->levels[outer], plain_lowest(level->sets[i]))))
            return false;
    return true;
}

static bool coincide(const struct plain_machine *machine, enum topo_level a, enum topo_level b)
{
    if (a == b)
        return true;
    if (a == TOPO_NODE || b == TOPO_NODE || a == TOPO_HWTHREAD || b == TOPO_HWTHREAD)
        return false;
    return level_inside(machine, a, b) && level_inside(machine, b, a);
}

static bool is_idle(const struct plain_machine *machine, const struct plain_rule *rule,
                    uint32_t loop)
{
    for (uint32_t i = 0; i < loop; i++)
        if (coincide(machine, rule->loops[i], rule->loops[loop]))
            return true;
    return false;
}

/* Of two things that are one and the same set, which is the outer? The one whose level encloses
 * the other's on this machine; where that says nothing, as the table of letters has it. */
static bool is_outer(const struct plain_machine *machine, enum topo_level a, enum topo_level b)
{
    bool a_outside = level_inside(machine, b, a), b_outside = level_inside(machine, a, b);
    return a_outside == b_outside ? a < b : a_outside;
}

static bool encloses(const struct plain_machine *machine, enum topo_level a, enum topo_level b,
                     uint64_t bit)
{
    uint64_t outer = plain_set(&machine->levels[a], bit);
    uint64_t own = plain_set(&machine->levels[b], bit);
    return plain_inside(own, outer) && (outer != own || is_outer(machine, a, b));
}

/* The things of a level that come before this one in the same enclosing thing. */
static uint32_t count_before(const struct plain_level *level, uint64_t bit, uint64_t enclosing)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < plain_index(level, bit); i++)
        count += plain_inside(level->sets[i], enclosing);
    return count;
}

static uint32_t digit_short(const struct plain_machine *machine, const struct plain_rule *rule,
                            uint32_t loop, uint64_t bit)
{
    enum topo_level level = rule->loops[loop];
    uint64_t nearest = plain_set(&machine->levels[TOPO_NODE], bit);
    if (is_idle(machine, rule, loop))
        return 0;
    for (uint32_t i = 0; i < rule->nloops; i++) {
        uint64_t set = plain_set(&machine->levels[rule->loops[i]], bit);
        if (i != loop && !is_idle(machine, rule, i) &&
            encloses(machine, rule->loops[i], level, bit) && plain_inside(set, nearest))
            nearest = set;
    }
    return count_before(&machine->levels[level], bit, nearest);
}

static uint32_t digit_full(const struct plain_machine *machine, const struct plain_rule *rule,
                           uint32_t loop, uint64_t bit)
{
    const struct plain_level *level = &machine->levels[rule->loops[loop]];
    uint64_t own = plain_set(level, bit), nearest = plain_set(&machine->levels[TOPO_NODE], bit);
    for (uint32_t i = 0; i < loop; i++) {
        uint64_t set = plain_set(&machine->levels[rule->loops[i]], bit);
        if (rule->loops[i] == TOPO_NODE)
            continue;
        if (plain_inside(set, own))
            return 0;
        if (plain_inside(own, set) && plain_inside(set, nearest))
            nearest = set;
    }
    return count_before(level, bit, nearest);
}

static void find_digits(struct plain_machine *machine, const struct plain_rule *rule)
{
    const struct plain_level *leaves = &machine->levels[TOPO_HWTHREAD];
    for (uint32_t loop = 0; loop < rule->nloops; loop++)
        for (uint32_t i = 0; i < leaves->count && rule->loops[loop] != TOPO_NODE; i++) {
            uint64_t bit = plain_lowest(leaves->sets[i]);
            machine->digits[loop][i] = rule->nloops == TOPO_NLEVELS
                                           ? digit_full(machine, rule, loop, bit)
                                           : digit_short(machine, rule, loop, bit);
        }
}

/* ---- one position ---- */

/* COUNT consecutive things from the one that holds the place; 0 when too few are left. */
static uint64_t binding_of(const struct plain_machine *machine, const struct plain_rule *rule,
                           uint64_t bit)
{
    const struct plain_level *level = &machine->levels[rule->bind_level];
    uint32_t first = plain_index(level, bit);
    uint64_t all = 0;
    if (!rule->bound || rule->together)
        return plain_set(&machine->levels[TOPO_NODE], bit);
    if (rule->bind_count > level->count - first)
        return 0;
    for (uint32_t i = first; i < first + rule->bind_count; i++)
        all |= level->sets[i];
    return all;
}

static bool within_limits(const struct search *search, uint32_t node, uint64_t busy)
{
    const struct plain_rule *rule = &search->rule;
    for (uint32_t i = 0; i < rule->nlimits; i++) {
        const struct plain_level *level = &search->machines[node].levels[rule->limits[i].level];
        for (uint32_t j = 0; j < level->count; j++) {
            uint32_t tasks = (level->sets[j] & busy) != 0;
            for (uint32_t k = 0; k < search->nseats && tasks; k++)
                tasks += search->seats[k].task.node == node &&
                         (search->seats[k].busy & level->sets[j]) != 0;
            if (tasks > rule->limits[i].most)
                return false;
        }
    }
    return true;
}

static bool is_held(const struct search *search, uint32_t node, uint32_t place)
{
    for (uint32_t i = 0; i < search->nseats; i++)
        if (search->seats[i].task.node == node && search->seats[i].task.place == place)
            return true;
    return false;
}

static void try_leaf(struct search *search, uint32_t node, uint64_t leaf)
{
    const struct plain_rule *rule = &search->rule;
    uint64_t place = plain_lowest(leaf), rows = binding_of(&search->machines[node], rule, place);
    uint32_t row = (uint32_t)__builtin_ctzll(place);
    bool narrow = rule->bound && !rule->together && rule->bind_level >= TOPO_CORE;
    uint64_t busy = narrow ? rows : place;
    if (!rows || (!search->lifted && !within_limits(search, node, busy)) ||
        (search->only_idle && is_held(search, node, row)))
        return;
    search->seats[search->nseats++] = (struct seat){{node, row, rows}, busy};
}

/* A loop over what tasks are bound to several of takes as many steps at once. */
static bool is_jumped(const struct search *search, const struct plain_machine *machine)
{
    const struct plain_rule *rule = &search->rule;
    if (!rule->bound || rule->together)
        return false;
    for (uint32_t loop = 0; loop < rule->nloops; loop++)
        if (rule->loops[loop] != TOPO_NODE &&
            coincide(machine, rule->loops[loop], rule->bind_level))
            return search->digits[loop] % rule->bind_count != 0;
    return false;
}

static bool is_chosen(const struct search *search, const struct plain_machine *machine,
                      uint32_t leaf)
{
    const struct plain_rule *rule = &search->rule;
    for (uint32_t loop = 0; loop < rule->nloops; loop++)
        if (rule->loops[loop] != TOPO_NODE && machine->digits[loop][leaf] != search->digits[loop])
            return false;
    return true;
}

static void try_position(struct search *search)
{
    uint32_t loop = 0;
    while (search->rule.loops[loop] != TOPO_NODE)
        loop++;
    uint32_t node = search->digits[loop];
    const struct plain_machine *machine = &search->machines[node];
    const struct plain_level *leaves = &machine->levels[TOPO_HWTHREAD];
    if (is_jumped(search, machine))
        return;
    for (uint32_t i = 0; i < leaves->count && search->nseats < search->until; i++)
        if (is_chosen(search, machine, i))
            try_leaf(search, node, leaves->sets[i]);
}

/* ---- the loops ---- */

/* The widest instance anywhere. */
static uint32_t loop_width(const struct search *search, uint32_t loop)
{
    uint32_t width = 1;
    if (search->rule.loops[loop] == TOPO_NODE)
        return search->nmachines;
    for (uint32_t i = 0; i < search->nmachines; i++) {
        const struct plain_machine *machine = &search->machines[i];
        for (uint32_t j = 0; j < machine->levels[TOPO_HWTHREAD].count; j++)
            if (machine->digits[loop][j] >= width)
                width = machine->digits[loop][j] + 1;
    }
    return width;
}

static void run_loop(struct search *search, const uint32_t *widths, uint32_t loop)
{
    for (uint32_t i = 0; i < widths[loop] && search->nseats < search->until; i++) {
        search->digits[loop] = i;
        if (loop == 0)
            try_position(search);
        else
            run_loop(search, widths, loop - 1);
    }
}

/* Once through all loops; false when that placed nothing. */
static bool pass(struct search *search, const uint32_t *widths)
{
    uint32_t before = search->nseats;
    run_loop(search, widths, search->rule.nloops - 1);
    return search->nseats > before;
}

static void place_all(struct search *search, bool oversubscribe)
{
    uint32_t widths[TOPO_NLEVELS];
    for (uint32_t loop = 0; loop < search->rule.nloops; loop++)
        widths[loop] = loop_width(search, loop);
    while (search->nseats < search->until && pass(search, widths))
        ;
    if (!oversubscribe)
        return;
    search->lifted = search->only_idle = true;
    pass(search, widths);
    search->only_idle = false;
    while (search->nseats < search->until && pass(search, widths))
        ;
}

/* ---- afterwards ---- */

static void bind_together(struct search *search)
{
    for (uint32_t i = 0; i < search->nseats; i++) {
        struct plain_task *task = &search->seats[i].task;
        const struct plain_level *cores = &search->machines[task->node].levels[TOPO_CORE];
        task->rows = 0;
        for (uint32_t j = 0; j < search->nseats; j++)
            if (search->seats[j].task.node == task->node)
                task->rows |= plain_set(cores, 1ull << search->seats[j].task.place);
    }
}

/* Without a binding a task may use all that was allocated, slots or not. */
static void unbind(struct search *search, const struct layout_request *request)
{
    for (uint32_t i = 0; i < search->nseats; i++) {
        struct plain_task *task = &search->seats[i].task;
        struct plain_machine whole;
        plain_machine_read(&whole, &request->nodes[task->node]);
        task->rows = whole.levels[TOPO_NODE].sets[0];
    }
}

/* From left to right along the hardware; equal places in the order of placement. */
static void sort_seats(struct search *search)
{
    for (uint32_t i = 1; i < search->nseats; i++) {
        struct seat seat = search->seats[i];
        uint32_t at = i;
        for (; at > 0; at--) {
            const struct plain_task *left = &search->seats[at - 1].task;
            if (left->node < seat.task.node ||
                (left->node == seat.task.node && left->place <= seat.task.place))
                break;
            search->seats[at] = search->seats[at - 1];
        }
        search->seats[at] = seat;
    }
}

bool plain_place(const struct layout_request *request, struct plain_task *tasks)
{
    const struct layout_part *part = &request->parts[0];
    uint32_t ntasks = part->ntasks ? part->ntasks : 1;
    struct search search = {.nmachines = request->nnodes, .until = ntasks};
    search.machines = mem_array(request->nnodes, sizeof(*search.machines));
    search.seats = mem_array(ntasks, sizeof(*search.seats));
    plain_rule_read(&search.rule, part);
    for (uint32_t i = 0; i < request->nnodes; i++) {
        plain_machine_read(&search.machines[i], &request->nodes[i]);
        if (search.rule.slot)
            plain_machine_cut(&search.machines[i], search.rule.slot);
        find_digits(&search.machines[i], &search.rule);
    }
    place_all(&search, part->oversubscribe);
    if (!search.rule.bound)
        unbind(&search, request);
    else if (search.rule.together)
        bind_together(&search);
    if (part->order && part->order[0] == 's')
        sort_seats(&search);
    for (uint32_t i = 0; i < search.nseats; i++)
        tasks[i] = search.seats[i].task;
    free(search.machines);
    free(search.seats);
    return search.nseats == ntasks;
}

/* The units of a plan: slots of -c cores, or hardware threads, with the objects that they are in. */
#include "affinity/layout/slots.h"

#include <stdlib.h>

#include "affinity/layout/positions.h"
#include "base/mem.h"

static uint32_t most_cores(const struct node_class *class, enum topo_level level)
{
    const uint32_t *object = class->object[level], *core = class->object[TOPO_CORE];
    uint32_t most = 0;
    for (uint32_t row = 0, first = 0; row < class->nrows; row++) {
        if (object[row] != object[first])
            first = row;
        uint32_t cores = core[row] - core[first] + 1;
        most = cores > most ? cores : most;
    }
    return most;
}

/* The smallest of L3, N, s, n that holds so many cores; n when none does. */
static enum topo_level slot_container(const struct node_class *class, uint32_t cores)
{
    static const enum topo_level levels[] = {TOPO_L3, TOPO_NUMA, TOPO_SOCKET};
    enum topo_level best = TOPO_NODE;
    uint32_t best_size = most_cores(class, TOPO_NODE);
    for (size_t i = sizeof(levels) / sizeof(levels[0]); i-- > 0;) {
        uint32_t size = most_cores(class, levels[i]);
        if (size >= cores && size <= best_size) {
            best = levels[i];
            best_size = size;
        }
    }
    return best;
}

static void cut_slots(struct positions *plan, uint32_t cores)
{
    const struct node_class *class = plan->class;
    plan->first_row = mem_array(class->count[TOPO_CORE], sizeof(*plan->first_row));
    plan->end_row = mem_array(class->count[TOPO_CORE], sizeof(*plan->end_row));
    const uint32_t *container = class->object[slot_container(class, cores)];
    /* The first row of each core, and the end. */
    uint32_t *start = mem_array(class->count[TOPO_CORE] + 1ul, sizeof(*start));
    for (uint32_t row = class->nrows; row-- > 0;)
        start[class->object[TOPO_CORE][row]] = row;
    start[class->count[TOPO_CORE]] = class->nrows;
    for (uint32_t core = 0, first = 0; core < class->count[TOPO_CORE]; core++) {
        if (container[start[core]] != container[start[first]])
            first = core;
        if (core - first + 1 < cores)
            continue;
        plan->first_row[plan->nunits] = start[first];
        plan->end_row[plan->nunits++] = start[core + 1];
        first = core + 1;
    }
    free(start);
}

/* A level is there for slots when none of them reaches beyond one of its objects. */
static bool holds_units(const struct positions *plan, enum topo_level level)
{
    const uint32_t *object = plan->class->object[level];
    for (uint32_t unit = 0; unit < plan->nunits; unit++)
        if (object[plan->first_row[unit]] != object[plan->end_row[unit] - 1])
            return false;
    return true;
}

static void slots_number_level(struct positions *plan, enum topo_level level, const uint32_t *below,
                               uint64_t *tag)
{
    bool holds = holds_units(plan, level);
    for (uint32_t unit = 0; unit < plan->nunits; unit++) {
        if (holds)
            tag[unit] = plan->class->object[level][plan->first_row[unit]];
        else
            tag[unit] = below ? below[unit] : 0;
    }
    plan->count[level] = node_class_number(plan->object, level, tag, plan->nunits);
    plan->exists[level] = plan->nunits && holds && plan->class->topo->count[level];
}

/* The letter c means a slot, and so does h, which is smaller: both are units. */
static void number_units(struct positions *plan, enum topo_level level, uint64_t *tag)
{
    for (uint32_t unit = 0; unit < plan->nunits; unit++)
        tag[unit] = unit;
    plan->count[level] = node_class_number(plan->object, level, tag, plan->nunits);
    plan->exists[level] = plan->nunits && (level == TOPO_CORE || holds_units(plan, level));
}

static void take_slots(struct positions *plan, uint32_t cores)
{
    cut_slots(plan, cores);
    uint64_t *tag = mem_array(plan->nunits, sizeof(*tag));
    number_units(plan, TOPO_HWTHREAD, tag);
    number_units(plan, TOPO_CORE, tag);
    slots_number_level(plan, TOPO_L1, plan->object[TOPO_CORE], tag);
    slots_number_level(plan, TOPO_L2, plan->object[TOPO_L1], tag);
    slots_number_level(plan, TOPO_L3, plan->object[TOPO_L2], tag);
    slots_number_level(plan, TOPO_SOCKET, NULL, tag);
    slots_number_level(plan, TOPO_NUMA, NULL, tag);
    slots_number_level(plan, TOPO_BOARD, NULL, tag);
    slots_number_level(plan, TOPO_NODE, NULL, tag);
    free(tag);
}

void positions_cut_units(struct positions *plan, const struct policy *policy, uint32_t *numbers)
{
    const struct node_class *class = plan->class;
    plan->has_slots = policy->cores_per_task > 0;
    if (plan->has_slots) {
        take_slots(plan, policy->cores_per_task);
    } else { /* a unit is a row of the class, whose arrays will do */
        plan->nunits = class->nrows;
        plan->first_row = numbers;
        plan->end_row = numbers + 1;
        for (int level = 0; level < TOPO_NLEVELS; level++) {
            plan->object[level] = class->object[level];
            plan->count[level] = class->count[level];
            plan->exists[level] = plan->nunits && class->topo->count[level];
        }
    }
    for (enum topo_level level = TOPO_NODE; level < TOPO_NLEVELS; level++) {
        for (enum topo_level other = TOPO_NODE; other < level; other++)
            if (plan->object[other] == plan->object[level])
                plan->start[level] = plan->start[other];
        if (plan->start[level])
            continue;
        uint32_t *start = plan->start[level] = mem_array(plan->count[level] + 1ul, sizeof(*start));
        for (uint32_t unit = plan->nunits; unit-- > 0;)
            start[plan->object[level][unit]] = unit;
        start[plan->count[level]] = plan->nunits;
    }
}

void positions_free_units(struct positions *plan)
{
    node_class_free_levels(plan->start);
    if (!plan->has_slots)
        return;
    node_class_free_levels(plan->object);
    free(plan->first_row);
    free(plan->end_row);
}

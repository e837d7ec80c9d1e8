#include "tests/unit/plain-machine.h"

uint64_t plain_set(const struct plain_level *level, uint64_t bit)
{
    for (uint32_t i = 0; i < level->count; i++)
        if (level->sets[i] & bit)
            return level->sets[i];
    return 0;
}

uint32_t plain_index(const struct plain_level *level, uint64_t bit)
{
    uint32_t i = 0;
    while (!(level->sets[i] & bit))
        i++;
    return i;
}

/* Where the machine has no such thing, what stands in for it does: `lacking`, or all there is. */
static void read_level(struct plain_machine *machine, enum topo_level name,
                       const uint64_t *allocated, const struct plain_level *lacking)
{
    const uint32_t *object = machine->topo->object[name];
    struct plain_level *level = &machine->levels[name];
    for (uint32_t row = 0; row < machine->topo->npus; row++) {
        uint64_t bit = 1ull << row, set = 0;
        if (!(*allocated & bit) || plain_set(level, bit))
            continue;
        for (uint32_t other = row; other < machine->topo->npus; other++)
            if (object[other] == object[row])
                set |= 1ull << other;
        if (object[row] == TOPO_ABSENT)
            set = lacking ? plain_set(lacking, bit) : *allocated;
        level->sets[level->count++] = set & *allocated;
    }
}

void plain_machine_read(struct plain_machine *machine, const struct layout_node *node)
{
    uint64_t allocated = 0;
    *machine = (struct plain_machine){.topo = node->topo};
    for (uint32_t row = 0; row < node->topo->npus; row++)
        if (idset_has(node->cores, topo_core(node->topo, row)))
            allocated |= 1ull << row;
    struct plain_level *levels = machine->levels;
    read_level(machine, TOPO_NODE, &allocated, NULL);
    read_level(machine, TOPO_BOARD, &allocated, NULL);
    read_level(machine, TOPO_NUMA, &allocated, NULL);
    read_level(machine, TOPO_SOCKET, &allocated, NULL);
    read_level(machine, TOPO_HWTHREAD, &allocated, NULL);
    read_level(machine, TOPO_CORE, &allocated, &levels[TOPO_HWTHREAD]);
    read_level(machine, TOPO_L1, &allocated, &levels[TOPO_CORE]);
    read_level(machine, TOPO_L2, &allocated, &levels[TOPO_L1]);
    read_level(machine, TOPO_L3, &allocated, &levels[TOPO_L2]);
}

/* ---- slots ---- */

static uint32_t cores_in(const struct plain_machine *machine, uint64_t set)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < machine->levels[TOPO_CORE].count; i++)
        count += plain_inside(machine->levels[TOPO_CORE].sets[i], set);
    return count;
}

static enum topo_level slot_container(const struct plain_machine *machine, uint32_t slot)
{
    static const enum topo_level order[] = {TOPO_L3, TOPO_NUMA, TOPO_SOCKET, TOPO_NODE};
    enum topo_level best = TOPO_NODE;
    uint32_t best_size = UINT32_MAX;
    for (int i = 0; i < 4; i++) {
        uint32_t size = 0;
        for (uint32_t j = 0; j < machine->levels[order[i]].count; j++) {
            uint32_t cores = cores_in(machine, machine->levels[order[i]].sets[j]);
            size = cores > size ? cores : size;
        }
        if (size >= slot && size < best_size) {
            best = order[i];
            best_size = size;
        }
    }
    return best;
}

static void cut_container(const struct plain_machine *machine, uint64_t container, uint32_t slot,
                          struct plain_level *slots)
{
    const struct plain_level *cores = &machine->levels[TOPO_CORE];
    uint32_t have = 0;
    uint64_t set = 0;
    for (uint32_t i = 0; i < cores->count; i++) {
        if (!plain_inside(cores->sets[i], container))
            continue;
        set |= cores->sets[i];
        if (++have == slot) {
            slots->sets[slots->count++] = set;
            have = 0;
            set = 0;
        }
    }
}

/* What slots there are inside each thing; a level of which a slot needs several is smaller than
 * a slot: not there, and `lacking` or the node instead. */
static void keep_slots(struct plain_level *level, const struct plain_level *slots,
                       const struct plain_level *lacking)
{
    struct plain_level kept = {.count = 0};
    bool smaller = false;
    uint64_t all = 0;
    for (uint32_t j = 0; j < slots->count; j++) {
        smaller = smaller ||
                  !plain_inside(slots->sets[j], plain_set(level, plain_lowest(slots->sets[j])));
        all |= slots->sets[j];
    }
    if (smaller && lacking) {
        *level = *lacking;
        return;
    }
    for (uint32_t i = 0; i < level->count && !smaller; i++)
        if (level->sets[i] & all)
            kept.sets[kept.count++] = level->sets[i] & all;
    if (smaller)
        kept.sets[kept.count++] = all;
    *level = kept;
}

void plain_machine_cut(struct plain_machine *machine, uint32_t slot)
{
    struct plain_level slots = {.count = 0}, *levels = machine->levels;
    const struct plain_level *containers = &levels[slot_container(machine, slot)];
    for (uint32_t i = 0; i < containers->count; i++)
        cut_container(machine, containers->sets[i], slot, &slots);
    levels[TOPO_CORE] = levels[TOPO_HWTHREAD] = slots;
    keep_slots(&levels[TOPO_L1], &slots, &levels[TOPO_CORE]);
    keep_slots(&levels[TOPO_L2], &slots, &levels[TOPO_L1]);
    keep_slots(&levels[TOPO_L3], &slots, &levels[TOPO_L2]);
    keep_slots(&levels[TOPO_SOCKET], &slots, NULL);
    keep_slots(&levels[TOPO_NUMA], &slots, NULL);
    keep_slots(&levels[TOPO_BOARD], &slots, NULL);
    keep_slots(&levels[TOPO_NODE], &slots, NULL);
}

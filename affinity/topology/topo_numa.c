/* NUMA nodes of hwloc's: by thread, as domains and as memory. */
#include "affinity/topology/topo_numa.h"

#include <hwloc.h>
#include <strings.h>

static bool is_any(hwloc_obj_t numa)
{
    (void)numa;
    return true;
}

static bool has_memory(hwloc_obj_t numa)
{
    return numa->attr->numanode.local_memory > 0;
}

/* High-bandwidth, persistent and device memory is for whoever asks for it by name. */
static bool is_ordinary(hwloc_obj_t numa)
{
    return (!numa->subtype || strcasecmp(numa->subtype, "DRAM") == 0) &&
           !hwloc_obj_get_info_by_name(numa, "DAXDevice");
}

static bool is_ordinary_with_memory(hwloc_obj_t numa)
{
    return is_ordinary(numa) && has_memory(numa);
}

/* Of the memory hung on one object, what holds this thread. */
static hwloc_obj_t find_child(hwloc_obj_t obj, unsigned cpu, bool (*counts)(hwloc_obj_t numa))
{
    hwloc_obj_t best = NULL;
    for (hwloc_obj_t child = obj->memory_first_child; child; child = child->next_sibling) {
        hwloc_obj_t numa = child;
        while (numa && numa->type != HWLOC_OBJ_NUMANODE)
            numa = numa->memory_first_child;
        if (!numa || !hwloc_bitmap_isset(numa->cpuset, cpu) || !counts(numa))
            continue;
        if (!best || hwloc_bitmap_weight(numa->cpuset) < hwloc_bitmap_weight(best->cpuset))
            best = numa;
    }
    return best;
}

/* The smallest NUMA node around a thread, or NULL. Of nodes with one and the same set of threads
 * the first stands for all: memory of two kinds is one domain. */
static hwloc_obj_t numa_of_thread(hwloc_obj_t pu)
{
    hwloc_obj_t numa = NULL;
    for (hwloc_obj_t obj = pu; obj && !numa; obj = obj->parent)
        numa = find_child(obj, pu->os_index, is_any);
    return numa;
}

hwloc_obj_t numa_domain_of_thread(hwloc_obj_t pu)
{
    hwloc_obj_t obj = numa_of_thread(pu);
    if (obj)
        return obj;
    for (obj = pu; obj->parent; obj = obj->parent)
        if (!hwloc_bitmap_isequal(obj->parent->complete_nodeset, pu->complete_nodeset))
            return obj;
    return NULL;
}

/* Of the memory that hangs where its domain does: nodes without processors hang further up. */
static hwloc_obj_t memory_of_thread(hwloc_obj_t pu, bool sized)
{
    hwloc_obj_t obj = pu;
    while (obj && !find_child(obj, pu->os_index, is_any))
        obj = obj->parent;
    if (!obj)
        return NULL;
    hwloc_obj_t numa = find_child(obj, pu->os_index, sized ? is_ordinary_with_memory : is_ordinary);
    return numa ? numa : find_child(obj, pu->os_index, sized ? has_memory : is_any);
}

void numa_fill_memory(struct topo *topo, hwloc_topology_t machine)
{
    bool sized = false;
    for (uint32_t row = 0; row < topo->npus && !sized; row++) {
        hwloc_obj_t numa = numa_of_thread(hwloc_get_obj_by_type(machine, HWLOC_OBJ_PU, row));
        sized = numa && has_memory(numa);
    }
    for (uint32_t row = 0; row < topo->npus; row++) {
        hwloc_obj_t pu = hwloc_get_obj_by_type(machine, HWLOC_OBJ_PU, row);
        hwloc_obj_t numa = memory_of_thread(pu, sized);
        if (!numa || numa->os_index >= TOPO_MAX_MEMORIES)
            continue;
        uint64_t gib = numa->attr->numanode.local_memory >> 30;
        topo->memory[row] = numa->os_index;
        topo->gib[row] = gib < TOPO_MAX_GIB ? (uint32_t)gib : TOPO_MAX_GIB;
    }
}

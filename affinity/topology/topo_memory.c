#include "affinity/topology/topo.h"
#include "affinity/topology/topo_build.h"

struct idset *topo_memory_of_cpus(const struct topo *topo, const struct idset *cpus)
{
    struct idset *set = idset_new();
    for (uint32_t row = 0; row < topo->npus; row++)
        if (topo->memory[row] != TOPO_ABSENT && idset_has(cpus, topo->os[row]))
            idset_add(set, topo->memory[row]);
    return set;
}

json_t *topo_memory_to_json(const struct topo *topo)
{
    json_t *pairs = json_array();
    bool any = false;
    for (uint32_t row = 0, end; row < topo->npus; row = end) {
        uint32_t memory = topo->memory[row];
        for (end = row + 1; end < topo->npus && topo->memory[end] == memory;)
            end++;
        any |= memory != TOPO_ABSENT;
        json_array_append_new(pairs, json_integer(memory == TOPO_ABSENT ? -1 : (json_int_t)memory));
        json_array_append_new(pairs, json_integer((json_int_t)end - row));
    }
    if (any)
        return pairs;
    json_decref(pairs);
    return NULL;
}

static bool read_pair(const json_t *pairs, size_t at, uint32_t left, json_int_t *memory,
                      json_int_t *rows)
{
    const json_t *first = json_array_get(pairs, at), *second = json_array_get(pairs, at + 1);
    *memory = json_integer_value(first);
    *rows = json_integer_value(second);
    return json_is_integer(first) && *memory >= -1 && *memory < TOPO_MAX_MEMORIES &&
           json_is_integer(second) && *rows >= 1 && *rows <= (json_int_t)left;
}

int topo_memory_from_json(struct topo *topo, const json_t *value, struct error *err)
{
    uint32_t row = 0;
    json_int_t memory, rows;
    if (!value)
        return 0;
    for (size_t at = 0; at < json_array_size(value) || row < topo->npus; at += 2) {
        if (!read_pair(value, at, topo->npus - row, &memory, &rows))
            return error_set(err,
                             "topology: 'memory' has to be pairs of a NUMA node (or -1) and a "
                             "number of threads, %u in all",
                             topo->npus);
        for (uint32_t end = row + (uint32_t)rows; row < end; row++)
            topo->memory[row] = memory < 0 ? TOPO_ABSENT : (uint32_t)memory;
    }
    return 0;
}

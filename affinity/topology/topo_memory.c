#include <string.h>

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

/* A column as pairs of a value and a number of rows, `none` as `none_out`; NULL where there is nothing
 * else. */
static json_t *column_to_json(const uint32_t *column, uint32_t npus, uint32_t none,
                              json_int_t none_out)
{
    json_t *pairs = json_array();
    bool any = false;
    for (uint32_t row = 0, end; row < npus; row = end) {
        uint32_t here = column[row];
        for (end = row + 1; end < npus && column[end] == here;)
            end++;
        any |= here != none;
        json_array_append_new(pairs, json_integer(here == none ? none_out : (json_int_t)here));
        json_array_append_new(pairs, json_integer((json_int_t)end - row));
    }
    if (any)
        return pairs;
    json_decref(pairs);
    return NULL;
}

void topo_memory_to_json(const struct topo *topo, json_t *value)
{
    json_object_set_new(value, "memory", column_to_json(topo->memory, topo->npus, TOPO_ABSENT, -1));
    json_object_set_new(value, "gib", column_to_json(topo->gib, topo->npus, 0, 0));
}

struct column {
    const char *key, *what;
    json_int_t least, most; /* values */
    uint32_t *rows;
};

static bool read_pair(const json_t *pairs, size_t at, const struct column *column, uint32_t left,
                      json_int_t *number, json_int_t *rows)
{
    const json_t *first = json_array_get(pairs, at), *second = json_array_get(pairs, at + 1);
    *number = json_integer_value(first);
    *rows = json_integer_value(second);
    return json_is_integer(first) && *number >= column->least && *number <= column->most &&
           json_is_integer(second) && *rows >= 1 && *rows <= (json_int_t)left;
}

static int column_from_json(const json_t *value, const struct column *column, uint32_t npus,
                            struct error *err)
{
    uint32_t row = 0;
    json_int_t number, rows;
    if (!value)
        return 0;
    for (size_t at = 0; at < json_array_size(value) || row < npus; at += 2) {
        if (!read_pair(value, at, column, npus - row, &number, &rows))
            return error_set(
                err, "topology: '%s' has to be pairs of %s and a number of threads, %u in all",
                column->key, column->what, npus);
        for (uint32_t end = row + (uint32_t)rows; row < end; row++)
            column->rows[row] = number < 0 ? TOPO_ABSENT : (uint32_t)number;
    }
    return 0;
}

/* A NUMA node has one size, which topo_localities() relies on. */
static int check_sizes(const struct topo *topo, struct error *err)
{
    uint32_t sizes[TOPO_MAX_MEMORIES];
    memset(sizes, 0xff, sizeof(sizes));
    for (uint32_t row = 0; row < topo->npus; row++) {
        uint32_t memory = topo->memory[row];
        uint32_t *size = memory == TOPO_ABSENT ? NULL : &sizes[memory];
        if (size ? *size != UINT32_MAX && *size != topo->gib[row] : topo->gib[row] != 0)
            return error_set(err, "topology: 'gib' has two sizes for one NUMA node of 'memory', or "
                                  "one where there is none");
        if (size)
            *size = topo->gib[row];
    }
    return 0;
}

int topo_memory_from_json(struct topo *topo, const json_t *value, struct error *err)
{
    const struct column memory = {"memory", "a NUMA node (or -1)", -1, TOPO_MAX_MEMORIES - 1,
                                  topo->memory};
    const struct column gib = {"gib", "a size in GiB", 0, TOPO_MAX_GIB, topo->gib};
    if (column_from_json(json_object_get(value, "memory"), &memory, topo->npus, err) < 0 ||
        column_from_json(json_object_get(value, "gib"), &gib, topo->npus, err) < 0)
        return -1;
    return check_sizes(topo, err);
}

/* An index of hosts by name, for lists in which each host of another list is looked up. */
#include "affinity/sets/host_index.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash_table.h"
#include "base/mem.h"

struct host_index {
    struct hash_table table;
    struct host_place {
        const char *host;
        size_t value;
    } * places; /* by number in the table */
};

struct host_index *host_index_new(size_t expected)
{
    struct host_index *index = mem_alloc(sizeof(*index));
    hash_table_reserve(&index->table, expected);
    return index;
}

void host_index_free(struct host_index *index)
{
    if (!index)
        return;
    hash_table_free(&index->table);
    free(index->places);
    free(index);
}

static const char *host_index_name(const void *owner, uint32_t number)
{
    return ((const struct host_index *)owner)->places[number].host;
}

size_t host_index_add(struct host_index *index, const char *host, size_t value)
{
    uint32_t count = index->table.count;
    uint32_t number = hash_table_intern_text(&index->table, host, host_index_name, index);
    if (number < count)
        return index->places[number].value;
    index->places = array_grow(index->places, number, sizeof(*index->places));
    index->places[number] = (struct host_place){host, value};
    return HOST_INDEX_NONE;
}

size_t host_index_find(const struct host_index *index, const char *host)
{
    uint32_t number = index && index->table.count
                          ? hash_table_find_text(&index->table, host, host_index_name, index)
                          : HASH_TABLE_NONE;
    return number == HASH_TABLE_NONE ? HOST_INDEX_NONE : index->places[number].value;
}

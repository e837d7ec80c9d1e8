#include "affinity/sets/host_index.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct host_index {
    struct nodes_slot {
        const char *host; /* NULL: free */
        size_t at;
    } * slots;
    size_t mask; /* slots, a power of two, less one; at least half of them stay free */
};

struct host_index *host_index_new(size_t names)
{
    struct host_index *index = mem_alloc(sizeof(*index));
    size_t nslots = 16;
    while (nslots < names * 2)
        nslots *= 2;
    index->slots = mem_array(nslots, sizeof(index->slots[0]));
    index->mask = nslots - 1;
    return index;
}

void host_index_free(struct host_index *index)
{
    if (index)
        free(index->slots);
    free(index);
}

/* FNV-1a [Fowler, Noll, Vo]. */
static uint64_t host_hash(const char *host)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *host; host++)
        hash = (hash ^ (unsigned char)*host) * UINT64_C(0x100000001b3);
    return hash;
}

/* Where the host is, or the free slot where it would be. */
static struct nodes_slot *index_slot(const struct host_index *index, const char *host)
{
    size_t i = (size_t)host_hash(host) & index->mask;
    while (index->slots[i].host && strcmp(index->slots[i].host, host) != 0)
        i = (i + 1) & index->mask;
    return &index->slots[i];
}

size_t host_index_add(struct host_index *index, const char *host, size_t at)
{
    struct nodes_slot *slot = index_slot(index, host);
    if (slot->host)
        return slot->at;
    *slot = (struct nodes_slot){host, at};
    return HOST_INDEX_NONE;
}

size_t host_index_find(const struct host_index *index, const char *host)
{
    const struct nodes_slot *slot = index_slot(index, host);
    return slot->host ? slot->at : HOST_INDEX_NONE;
}

struct host_index *node_index_of(const struct rset *set)
{
    struct host_index *index = host_index_new(set->nnodes);
    for (size_t i = 0; i < set->nnodes; i++)
        host_index_add(index, set->nodes[i].host, i);
    return index;
}

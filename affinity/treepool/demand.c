/* A request in plain numbers: the least of every range in a slot, until something larger fits. */
#include "affinity/treepool/demand.h"

#include <stdlib.h>

#include "affinity/sets/idset.h"
#include "base/mem.h"

#define AMOUNT_MAX ((uint64_t)1 << 40) /* more than any node has; products stay below 2^64 */

static bool count_given(const struct count *count)
{
    return count->max > 0;
}

static uint32_t count_lowest(const struct count *count, uint32_t otherwise)
{
    if (!count_given(count))
        return otherwise;
    return count->set ? idset_first(count->set) : count->min;
}

static void need_copy(struct treepool_need *to, const struct request_need *from, uint32_t *number)
{
    *to = (struct treepool_need){.locality = from->locality,
                                 .count = count_lowest(&from->count, 1),
                                 .exclusive = from->exclusive && from->locality,
                                 .cores = count_lowest(&from->cores, 0),
                                 .gpus = count_lowest(&from->gpus, 0),
                                 .inner = mem_array(from->ninner, sizeof(*to->inner)),
                                 .ninner = from->ninner,
                                 .number = (*number)++};
    for (size_t i = 0; i < from->ninner; i++)
        need_copy(&to->inner[i], &from->inner[i], number);
}

static void need_clear(struct treepool_need *need)
{
    for (size_t i = 0; i < need->ninner; i++)
        need_clear(&need->inner[i]);
    free(need->inner);
}

static uint64_t amount_add(uint64_t sum, uint64_t count, uint64_t each)
{
    if (each && count > AMOUNT_MAX / each)
        return AMOUNT_MAX;
    sum += count * each;
    return sum > AMOUNT_MAX ? AMOUNT_MAX : sum;
}

static void need_sum(struct treepool_need *need)
{
    need->all_cores = need->cores;
    need->all_gpus = need->gpus;
    for (size_t i = 0; i < need->ninner; i++) {
        struct treepool_need *inner = &need->inner[i];
        need_sum(inner);
        need->all_cores = amount_add(need->all_cores, inner->count, inner->all_cores);
        need->all_gpus = amount_add(need->all_gpus, inner->count, inner->all_gpus);
    }
}

static bool need_has_exclusive(const struct treepool_need *need)
{
    bool has = need->exclusive;
    for (size_t i = 0; i < need->ninner && !has; i++)
        has = need_has_exclusive(&need->inner[i]);
    return has;
}

static uint64_t need_count_items(const struct treepool_need *need)
{
    uint64_t each = need->locality ? 1 : 0;
    for (size_t i = 0; i < need->ninner; i++)
        each = amount_add(each, 1, need_count_items(&need->inner[i]));
    return amount_add(0, need->count, each);
}

static void ask_add_items(struct treepool_ask *ask, const struct treepool_need *need,
                          uint32_t around)
{
    uint32_t before = TREEPOOL_NONE;
    for (uint32_t i = 0; i < need->count; i++) {
        uint32_t at = ask->nitems++;
        uint32_t claim = around == TREEPOOL_NONE ? TREEPOOL_NONE : ask->items[around].claim;
        ask->items[at] = (struct treepool_item){.need = need,
                                                .around = around,
                                                .before = before,
                                                .after = need->count - 1 - i,
                                                .claim = need->exclusive ? at : claim};
        before = at;
        for (size_t j = 0; j < need->ninner; j++)
            ask_add_items(ask, &need->inner[j], at);
    }
}

int treepool_ask_update(struct treepool_ask *ask, struct error *err)
{
    need_sum(&ask->slot);
    uint64_t nitems = need_count_items(&ask->slot);
    if (nitems > TREEPOOL_MAX_ITEMS)
        return error_set(err, "a slot counts %llu localities or more: %u are the most",
                         (unsigned long long)nitems, TREEPOOL_MAX_ITEMS);
    free(ask->items);
    ask->items = mem_array(nitems, sizeof(*ask->items));
    ask->nitems = 0;
    for (size_t i = 0; i < ask->slot.ninner; i++)
        ask_add_items(ask, &ask->slot.inner[i], TREEPOOL_NONE);
    return 0;
}

int treepool_ask_make(struct treepool_ask *ask, const struct request *request, uint64_t *work,
                      struct error *err)
{
    static const struct count one = {.min = 1, .max = 1};
    *ask = (struct treepool_ask){.request = request, .work = work};
    need_copy(&ask->slot, &request->slot, &ask->nneeds);
    ask->slot.count = 1;
    ask->exclusive = request->node_exclusive || request->slot.exclusive;
    ask->has_exclusive = need_has_exclusive(&ask->slot);
    for (size_t i = 0; i < request->nwithin; i++)
        ask->has_exclusive |= request->within[i].exclusive;
    ask->slots = count_given(&request->slots) ? &request->slots : &one;
    ask->pieces = request->nwithin ? &request->within[0].count : ask->slots;
    if (!count_given(ask->pieces))
        ask->pieces = &one;
    if (treepool_ask_update(ask, err) < 0)
        return -1;
    ask->whole_slot = ask->exclusive && !ask->slot.all_cores && !ask->slot.all_gpus &&
                      !ask->slot.ninner && !request->nwithin;
    /* What no pool can grant. */
    if (!ask->slot.all_cores && !ask->exclusive && !ask->has_exclusive)
        return error_set(err, "a slot without cores cannot be granted, since every node of a "
                              "resource set has a core (RFC 20): ask for core=1 in the slot");
    if (count_lowest(ask->pieces, 1) > TREEPOOL_MAX_SLOTS)
        return error_set(err, "%u slots are asked for: %u are the most that is granted at a time",
                         count_lowest(ask->pieces, 1), TREEPOOL_MAX_SLOTS);
    return 0;
}

void treepool_ask_clear(struct treepool_ask *ask)
{
    need_clear(&ask->slot);
    free(ask->items);
}

/* ---- ranges ---- */

static void ranges_add(struct treepool_range *ranges, size_t *n, const struct count *count,
                       uint32_t *value)
{
    bool varies = count->max > count->min || (count->set && idset_count(count->set) > 1);
    if (!varies)
        return;
    if (ranges)
        ranges[*n] = (struct treepool_range){count, value};
    (*n)++;
}

static void ranges_walk(struct treepool_range *ranges, size_t *n, const struct request_need *from,
                        struct treepool_need *need)
{
    if (from->locality)
        ranges_add(ranges, n, &from->count, &need->count);
    ranges_add(ranges, n, &from->cores, &need->cores);
    ranges_add(ranges, n, &from->gpus, &need->gpus);
    for (size_t i = 0; i < from->ninner; i++)
        ranges_walk(ranges, n, &from->inner[i], &need->inner[i]);
}

size_t treepool_ask_ranges(struct treepool_ask *ask, struct treepool_range **ranges)
{
    size_t n = 0;
    ranges_walk(NULL, &n, &ask->request->slot, &ask->slot);
    *ranges = mem_array(n, sizeof(**ranges));
    n = 0;
    ranges_walk(*ranges, &n, &ask->request->slot, &ask->slot);
    return n;
}

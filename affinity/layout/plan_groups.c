/*
 * One numbering for the groups of all plans: groups with one key are one turn of the loops outside
 * of n. Plans may be many and have most keys in common, so each key is kept, and sorted, once.
 */
#include <stdlib.h>

#include "affinity/layout/plan.h"
#include "affinity/layout/plan_key.h"
#include "base/mem.h"
#include "base/table.h"

struct entry {
    struct plan_key key;
    uint32_t number; /* in order of appearance */
};

struct entries {
    struct entry *list;
    uint32_t room;
    struct table numbers;
};

struct wanted {
    const struct entries *entries;
    struct plan_key key;
};

static bool is_wanted(uint32_t number, const void *arg)
{
    const struct wanted *wanted = arg;
    return plan_key_equal(wanted->entries->list[number].key, wanted->key);
}

static uint32_t find_key(struct entries *entries, struct plan_key key)
{
    struct wanted wanted = {entries, key};
    uint32_t count = entries->numbers.count;
    uint64_t hash = table_hash(table_hash(key.turn, key.high), key.low);
    uint32_t number = table_number(&entries->numbers, hash, is_wanted, &wanted);
    if (number < count)
        return number;
    if (number == entries->room) {
        entries->room = entries->room * 2 + 16;
        entries->list = mem_resize(entries->list, entries->room, sizeof(*entries->list));
    }
    entries->list[number] = (struct entry){key, number};
    return number;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return plan_key_compare(x->key, y->key);
}

/* By order of appearance: the number in order of size. */
static uint32_t *sort_keys(struct entries *entries)
{
    uint32_t count = entries->numbers.count, *order = mem_array(count, sizeof(*order));
    if (count)
        qsort(entries->list, count, sizeof(*entries->list), compare_entries);
    for (uint32_t i = 0; i < count; i++)
        order[entries->list[i].number] = i;
    return order;
}

void plans_number_groups(struct plans *plans, struct plan_key *const *keys)
{
    struct entries entries = {.list = NULL};
    for (uint32_t i = 0; i < plans->nplans; i++)
        for (uint32_t g = 0; g < plans->plans[i].ngroups; g++)
            plans->plans[i].groups[g].id = find_key(&entries, keys[i][g]);
    uint32_t *order = sort_keys(&entries);
    for (uint32_t i = 0; i < plans->nplans; i++)
        for (uint32_t g = 0; g < plans->plans[i].ngroups; g++)
            plans->plans[i].groups[g].id = order[plans->plans[i].groups[g].id];
    plans->ngroups = entries.numbers.count;
    free(order);
    free(entries.list);
    table_free(&entries.numbers);
}

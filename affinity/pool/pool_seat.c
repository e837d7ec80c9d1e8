/*
 * Slots onto a board. A slot takes from its home what it needs directly, and goes through the
 * localities it needs, item by item, trying one domain after the other.
 */
#include <stdlib.h>
#include <string.h>

#include "affinity/pool/pool_private.h"
#include "base/mem.h"

#define SEAT_TRIES 5000u /* for one slot by itself */

struct seat_list {
    uint32_t *domains;
    uint32_t count;
};

struct seating {
    struct pool_board *board;
    uint32_t home, stop;
    enum pool_manner manner;
    uint32_t *tries;
    uint32_t slot, nslots;
    uint32_t *chosen;        /* domain, by slot and item */
    uint32_t *at;            /* its place in the list */
    struct seat_list *lists; /* likewise; all counted for a need have the first one's */
};

static bool seat_slot(struct seating *s);

static uint32_t *seat_chosen(const struct seating *s)
{
    return s->chosen + (size_t)s->slot * s->board->ask->nitems;
}

/* The domains for a need that have room for it, in the order in which they are tried. */
static struct seat_list seat_list_new(const struct seating *s, const struct pool_need *need,
                                      uint32_t first, uint32_t end)
{
    const struct locality_domain *domains = s->board->tree->domains;
    struct seat_list list = {mem_array(end - first, sizeof(*list.domains)), 0};
    if (!pool_ask_spend(s->board->ask, end - first))
        return list;
    uint32_t *rooms = mem_array(end - first, sizeof(*rooms));
    for (uint32_t i = first; i < end; i++) {
        if (!domains[i].name || strcmp(domains[i].name, need->locality) != 0)
            continue;
        uint32_t room = pool_room(s->board, need, i), at = list.count;
        if (!room)
            continue;
        for (; s->manner == POOL_ROOMIEST && at > 0 && rooms[at - 1] < room; at--) {
            rooms[at] = rooms[at - 1];
            list.domains[at] = list.domains[at - 1];
        }
        pool_ask_spend(s->board->ask, list.count - at);
        rooms[at] = room;
        list.domains[at] = i;
        list.count++;
    }
    free(rooms);
    return list;
}

/* What an item takes from its domain: all of it, its own numbers, or both. */
static bool seat_take(struct seating *s, uint32_t index)
{
    const struct pool_item *items = s->board->ask->items, *item = &items[index];
    const uint32_t *chosen = seat_chosen(s);
    uint32_t outer = item->around == POOL_NONE ? POOL_NONE : items[item->around].claim;
    struct pool_share share = {.domain = chosen[index],
                               .slot = (uint32_t)s->board->nseats,
                               .stop = outer == POOL_NONE ? s->stop : chosen[outer],
                               .exclusive = item->need->exclusive,
                               .inside = outer != POOL_NONE};
    size_t mark = s->board->nshares;
    if (share.exclusive && !pool_board_take(s->board, share))
        return false;
    if (!item->need->cores && !item->need->gpus)
        return true;
    if (share.exclusive) {
        share.exclusive = false;
        share.inside = true;
        share.stop = share.domain;
    }
    share.cores = item->need->cores;
    share.gpus = item->need->gpus;
    if (pool_board_take(s->board, share))
        return true;
    pool_board_undo(s->board, mark, s->board->nseats);
    return false;
}

/* Like slots come in order of their first domains, so that no arrangement is tried twice. */
static bool seat_is_repeated(const struct seating *s, uint32_t index, uint32_t domain)
{
    return index == 0 && s->slot > 0 && domain < (seat_chosen(s) - s->board->ask->nitems)[0];
}

static bool seat_item(struct seating *s, uint32_t index);

/* The rest of the slot with this item in each of the domains that are left for it. */
static bool seat_item_in(struct seating *s, uint32_t index, const struct seat_list *list)
{
    const struct pool_item *item = &s->board->ask->items[index];
    uint32_t *at = s->at + (size_t)s->slot * s->board->ask->nitems;
    uint32_t first = item->before == POOL_NONE ? 0 : at[item->before] + 1;
    for (uint32_t i = first; i + item->after < list->count && *s->tries; i++) {
        size_t nshares = s->board->nshares, nseats = s->board->nseats;
        if (seat_is_repeated(s, index, list->domains[i]))
            continue;
        at[index] = i;
        seat_chosen(s)[index] = list->domains[i];
        --*s->tries;
        if (!seat_take(s, index))
            continue;
        if (seat_item(s, index + 1))
            return true;
        pool_board_undo(s->board, nshares, nseats);
    }
    return false;
}

static bool seat_item(struct seating *s, uint32_t index)
{
    const struct pool_ask *ask = s->board->ask;
    if (index == ask->nitems) {
        pool_board_add_seat(s->board, s->board->tree->domains[s->home].height);
        s->slot++;
        if (s->slot == s->nslots || seat_slot(s))
            return true;
        s->slot--;
        return false;
    }
    const struct pool_item *item = &ask->items[index];
    struct seat_list *lists = s->lists + (size_t)s->slot * ask->nitems;
    if (item->before != POOL_NONE) {
        lists[index] = lists[item->before];
        return seat_item_in(s, index, &lists[index]);
    }
    uint32_t around = item->around == POOL_NONE ? s->home : seat_chosen(s)[item->around];
    uint32_t first = item->around == POOL_NONE ? around : around + 1;
    struct seat_list list =
        seat_list_new(s, item->need, first, s->board->tree->domains[around].end);
    lists[index] = list;
    bool done = seat_item_in(s, index, &list);
    free(list.domains);
    return done;
}

/* The next slot: what it takes from its home, then its items. */
static bool seat_slot(struct seating *s)
{
    const struct pool_need *need = &s->board->ask->slot;
    size_t nshares = s->board->nshares, nseats = s->board->nseats;
    struct pool_share share = {.domain = s->home,
                               .slot = (uint32_t)nseats,
                               .cores = need->cores,
                               .gpus = need->gpus,
                               .stop = s->stop};
    if ((need->cores || need->gpus) && !pool_board_take(s->board, share))
        return false;
    if (seat_item(s, 0))
        return true;
    pool_board_undo(s->board, nshares, nseats);
    return false;
}

static bool seat_all(struct seating *s)
{
    size_t n = (size_t)s->nslots * s->board->ask->nitems;
    if (n) {
        s->chosen = mem_array(n, sizeof(*s->chosen));
        s->at = mem_array(n, sizeof(*s->at));
        s->lists = mem_array(n, sizeof(*s->lists));
    }
    bool done = seat_slot(s);
    free(s->chosen);
    free(s->at);
    free(s->lists);
    return done;
}

bool pool_seat(struct pool_board *board, uint32_t home, uint32_t stop, enum pool_manner manner)
{
    uint32_t tries = SEAT_TRIES;
    struct seating s = {
        .board = board, .home = home, .stop = stop, .manner = manner, .tries = &tries, .nslots = 1};
    return seat_all(&s);
}

bool pool_seat_exactly(struct pool_board *board, uint32_t home, uint32_t stop, uint32_t nslots)
{
    struct seating s = {
        .board = board, .home = home, .stop = stop, .tries = &board->tries, .nslots = nslots};
    return seat_all(&s);
}

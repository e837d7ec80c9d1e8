/* How much a domain can hold at most, by what is left there. */
#include <stdlib.h>
#include <string.h>

#include "affinity/pool/pool_private.h"
#include "base/mem.h"

static uint32_t room_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t room_times(uint32_t left, uint64_t each)
{
    return each ? (uint32_t)(left / each) : UINT32_MAX;
}

/* Whether `times` of something fit that needs so many domains each, no domain twice. */
static bool room_holds(const uint32_t *rooms, size_t n, uint32_t count, uint32_t times)
{
    uint64_t sum = 0, wanted = (uint64_t)count * times;
    for (size_t i = 0; i < n && sum < wanted; i++)
        sum += room_least(rooms[i], times);
    return sum >= wanted;
}

/* How often `need->count` domains from `first` up to `end` are there; at most `most`. */
static uint32_t room_inner(struct pool_board *board, const struct pool_need *need, uint32_t first,
                           uint32_t end, uint32_t most)
{
    const struct locality_domain *domains = board->tree->domains;
    if (!pool_ask_spend(board->ask, end - first))
        return 0;
    uint32_t *rooms = mem_array(end - first, sizeof(*rooms));
    uint32_t low = 0, high = most;
    size_t n = 0;
    for (uint32_t i = first; i < end; i++)
        if (domains[i].name && strcmp(domains[i].name, need->locality) == 0)
            rooms[n++] = pool_room(board, need, i);
    while (low < high && pool_ask_spend(board->ask, n)) {
        uint32_t middle = high - (high - low) / 2;
        if (room_holds(rooms, n, need->count, middle))
            low = middle;
        else
            high = middle - 1;
    }
    free(rooms);
    return low;
}

/* As often as all that a need has inside fits, at most so often as the need itself does. */
static uint32_t room_all_inner(struct pool_board *board, const struct pool_need *need,
                               uint32_t domain, uint32_t most)
{
    uint32_t first = need->locality ? domain + 1 : domain; /* a slot may lie in what it needs */
    for (size_t i = 0; i < need->ninner && most; i++)
        most = room_inner(board, &need->inner[i], first, board->tree->domains[domain].end, most);
    return most;
}

uint32_t pool_room(struct pool_board *board, const struct pool_need *need, uint32_t domain)
{
    if (need->exclusive && !pool_board_can_claim(board, domain))
        return 0;
    uint32_t most = room_least(room_times(board->cores[domain], need->all_cores),
                               room_times(board->gpus[domain], need->all_gpus));
    most = room_least(most, need->exclusive ? 1 : UINT32_MAX);
    if (!need->ninner || !most)
        return most;
    struct pool_known **known = &board->known[need->number];
    if (!*known)
        *known = mem_array(board->room, sizeof(**known));
    struct pool_known *here = &(*known)[domain];
    if (here->when < board->changed[domain])
        *here = (struct pool_known){board->now, room_all_inner(board, need, domain, most)};
    return here->room;
}

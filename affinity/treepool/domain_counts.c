/*
 * What is left on a node, counted in every domain.
 *
 * A share may use anything in its domain that finer shares leave, so shares fit together when in
 * every domain those at and below it are at most what it has: Hall's condition, for sets that lie
 * within one another or apart. Hence counts decide; ids are found afterwards, finest domains first.
 */
#include "affinity/treepool/domain_counts.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/treepool/candidates.h"
#include "affinity/treepool/demand.h"
#include "affinity/treepool/packing.h"
#include "base/array.h"
#include "base/mem.h"

#define BOARD_TRIED (1u << 16) /* trials that are remembered at a time */

/* What is known of each need has as many entries as there is room for. */
static void board_forget(struct treepool_board *board)
{
    for (uint32_t i = 0; board->known && i < board->ask->nneeds; i++) {
        free(board->known[i]);
        board->known[i] = NULL;
    }
}

static void board_grow(struct treepool_board *board, uint32_t ndomains)
{
    if (ndomains <= board->room)
        return;
    uint32_t **counts[] = {&board->cores, &board->gpus, &board->own_cores, &board->own_gpus};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        *counts[i] = mem_resize(*counts[i], ndomains, sizeof(**counts[i]));
    board->claimed = mem_resize(board->claimed, ndomains, sizeof(*board->claimed));
    board->changed = mem_resize(board->changed, ndomains, sizeof(*board->changed));
    board->marks = mem_resize(board->marks, ndomains, sizeof(*board->marks));
    board_forget(board);
    board->room = ndomains;
}

static void board_count(const struct scheduling_tree *tree, const struct idset *cores,
                        const struct idset *gpus, uint32_t *ncores, uint32_t *ngpus)
{
    ncores[0] = (uint32_t)idset_count(cores);
    ngpus[0] = (uint32_t)idset_count(gpus);
    for (uint32_t i = 1; i < tree->ndomains; i++) {
        ncores[i] = (uint32_t)idset_count_both(tree->domains[i].cores, cores);
        ngpus[i] = (uint32_t)idset_count_both(tree->domains[i].gpus, gpus);
    }
}

void treepool_board_set(struct treepool_board *board, const struct treepool_class *class)
{
    board->tree = class->tree;
    board_grow(board, class->tree->ndomains);
    board_count(class->tree, class->cores, class->gpus, board->cores, board->gpus);
    if (board->ask->has_exclusive)
        board_count(class->tree, class->own->cores, class->own->gpus, board->own_cores,
                    board->own_gpus);
    memset(board->claimed, 0, class->tree->ndomains * sizeof(*board->claimed));
    if (!board->known)
        board->known = mem_array(board->ask->nneeds, sizeof(struct treepool_known *));
    board->now++;
    for (uint32_t i = 0; i < class->tree->ndomains; i++) {
        board->changed[i] = board->now;
        board->marks[i] = hash_table_hash(0, board->now); /* no two boards are alike */
    }
    board->nshares = board->nseats = 0;
    hash_table_free(&board->trials);
}

void treepool_board_clear(struct treepool_board *board)
{
    free(board->cores);
    free(board->gpus);
    free(board->own_cores);
    free(board->own_gpus);
    free(board->claimed);
    free(board->changed);
    free(board->marks);
    free(board->tried);
    hash_table_free(&board->trials);
    board_forget(board);
    free(board->known);
    free(board->shares);
    free(board->seats);
    free(board->pieces);
}

bool treepool_board_can_claim(const struct treepool_board *board, uint32_t domain)
{
    return !board->claimed[domain] && board->own_cores[domain] &&
           board->cores[domain] == board->own_cores[domain] &&
           board->gpus[domain] == board->own_gpus[domain];
}

/* The first domain whose count changes; a claimed domain keeps its own count for its slots. */
static uint32_t board_begin(const struct treepool_board *board, const struct treepool_share *share)
{
    return share->exclusive ? board->tree->domains[share->domain].up : share->domain;
}

static bool board_fits(const struct treepool_board *board, const struct treepool_share *share)
{
    for (uint32_t at = board_begin(board, share);; at = board->tree->domains[at].up) {
        if (board->cores[at] < share->cores || board->gpus[at] < share->gpus)
            return false;
        if (at == share->stop)
            return true;
        if (board->claimed[at])
            return false;
    }
}

/* What a claim stands for: all there is, whatever its slots use of it. */
static bool board_claim(struct treepool_board *board, struct treepool_share *share)
{
    if (share->domain == share->stop || !treepool_board_can_claim(board, share->domain))
        return false;
    share->cores = board->own_cores[share->domain];
    share->gpus = board->own_gpus[share->domain];
    return true;
}

/* What a domain has is part of what all around it have. */
static void board_change(struct treepool_board *board, uint32_t domain)
{
    if (!board->ask->nitems) /* nothing is kept */
        return;
    board->now++;
    for (uint32_t at = domain;; at = board->tree->domains[at].up) {
        board->changed[at] = board->now;
        if (at == 0)
            return;
    }
}

static bool board_keeps_trials(const struct treepool_board *board)
{
    return board->ask->request->nwithin > 1;
}

/* A share that was taken (by = 1), or given back (by = -1): a board on which the same shares were
 * taken in any order and way has the same marks. */
static void board_mark(struct treepool_board *board, const struct treepool_share *share,
                       uint64_t by)
{
    if (!board_keeps_trials(board))
        return;
    uint64_t hash = hash_table_hash(share->domain, share->exclusive);
    hash = hash_table_hash(hash_table_hash(hash_table_hash(hash, share->stop), share->cores),
                           share->gpus);
    for (uint32_t at = board_begin(board, share);; at = board->tree->domains[at].up) {
        board->marks[at] += by * hash;
        if (at == 0)
            return;
    }
}

static bool board_is_tried(const void *owner, uint32_t number, const void *thing)
{
    const struct treepool_tried *tried = (const struct treepool_tried *)owner + number;
    const struct treepool_tried *like = thing;
    return tried->mark == like->mark && tried->depth == like->depth && tried->stop == like->stop &&
           tried->trial.domain == like->trial.domain;
}

/* Where the trial is kept, as it was made or new and unknown; until the next one is looked for. */
static struct treepool_trial *board_trial(struct treepool_board *board, uint32_t depth,
                                          uint32_t stop, uint32_t domain)
{
    if (board->trials.count == BOARD_TRIED)
        hash_table_free(&board->trials);
    struct treepool_tried like = {
        depth, stop, board->marks[stop], {.domain = domain, .nslots = TREEPOOL_NONE}};
    uint64_t hash =
        hash_table_hash(hash_table_hash(like.mark, stop), (uint64_t)depth << 32 | domain);
    uint32_t count = board->trials.count;
    uint32_t number = hash_table_intern(&board->trials, hash, board_is_tried, board->tried, &like);
    if (number == count) {
        board->tried = array_grow(board->tried, number, sizeof(*board->tried));
        board->tried[number] = like;
    }
    return &board->tried[number].trial;
}

bool treepool_board_recall(struct treepool_board *board, uint32_t depth, uint32_t stop,
                           struct treepool_trial *trial)
{
    if (!board_keeps_trials(board))
        return false;
    const struct treepool_trial *kept = board_trial(board, depth, stop, trial->domain);
    if (kept->nslots == TREEPOOL_NONE)
        return false;
    *trial = *kept;
    return true;
}

void treepool_board_remember(struct treepool_board *board, uint32_t depth, uint32_t stop,
                             const struct treepool_trial *trial)
{
    if (board_keeps_trials(board))
        *board_trial(board, depth, stop, trial->domain) = *trial;
}

bool treepool_board_take(struct treepool_board *board, struct treepool_share share)
{
    if (share.exclusive && !board_claim(board, &share))
        return false;
    if (!board_fits(board, &share))
        return false;
    for (uint32_t at = board_begin(board, &share);; at = board->tree->domains[at].up) {
        board->cores[at] -= share.cores;
        board->gpus[at] -= share.gpus;
        if (at == share.stop)
            break;
    }
    if (share.exclusive)
        board->claimed[share.domain] = true;
    board_change(board, share.domain);
    board_mark(board, &share, 1);
    board->shares = array_reserve(board->shares, &board->shares_capacity, board->nshares + 1,
                                  sizeof(*board->shares));
    board->shares[board->nshares++] = share;
    return true;
}

static void board_give_back(struct treepool_board *board, const struct treepool_share *share)
{
    if (share->exclusive)
        board->claimed[share->domain] = false;
    board_change(board, share->domain);
    board_mark(board, share, (uint64_t)-1);
    for (uint32_t at = board_begin(board, share);; at = board->tree->domains[at].up) {
        board->cores[at] += share->cores;
        board->gpus[at] += share->gpus;
        if (at == share->stop)
            break;
    }
}

void treepool_board_undo(struct treepool_board *board, size_t nshares, size_t nseats)
{
    while (board->nshares > nshares)
        board_give_back(board, &board->shares[--board->nshares]);
    board->nseats = nseats;
}

void treepool_board_add_seat(struct treepool_board *board, uint32_t level)
{
    board->seats = array_reserve(board->seats, &board->seats_capacity, board->nseats + 1,
                                 sizeof(*board->seats));
    board->seats[board->nseats++] = (struct treepool_seat){level, (uint32_t)board->nshares};
}

/* How much a domain can hold at most, by what is left there. */

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
static uint32_t room_inner(struct treepool_board *board, const struct treepool_need *need,
                           uint32_t first, uint32_t end, uint32_t most)
{
    const struct scheduling_domain *domains = board->tree->domains;
    if (!treepool_ask_spend(board->ask, end - first))
        return 0;
    uint32_t *rooms = mem_array(end - first, sizeof(*rooms));
    uint32_t low = 0, high = most;
    size_t n = 0;
    for (uint32_t i = first; i < end; i++)
        if (domains[i].name && strcmp(domains[i].name, need->locality) == 0)
            rooms[n++] = treepool_room(board, need, i);
    while (low < high && treepool_ask_spend(board->ask, n)) {
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
static uint32_t room_all_inner(struct treepool_board *board, const struct treepool_need *need,
                               uint32_t domain, uint32_t most)
{
    uint32_t first = need->locality ? domain + 1 : domain; /* a slot may lie in what it needs */
    for (size_t i = 0; i < need->ninner && most; i++)
        most = room_inner(board, &need->inner[i], first, board->tree->domains[domain].end, most);
    return most;
}

uint32_t treepool_room(struct treepool_board *board, const struct treepool_need *need,
                       uint32_t domain)
{
    if (need->exclusive && !treepool_board_can_claim(board, domain))
        return 0;
    uint32_t most = room_least(room_times(board->cores[domain], need->all_cores),
                               room_times(board->gpus[domain], need->all_gpus));
    most = room_least(most, need->exclusive ? 1 : UINT32_MAX);
    if (!need->ninner || !most)
        return most;
    struct treepool_known **known = &board->known[need->number];
    if (!*known)
        *known = mem_array(board->room, sizeof(**known));
    struct treepool_known *here = &(*known)[domain];
    if (here->when < board->changed[domain])
        *here = (struct treepool_known){board->now, room_all_inner(board, need, domain, most)};
    return here->room;
}

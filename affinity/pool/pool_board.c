/*
 * What is left on a node, counted in every domain.
 *
 * A share may use anything in its domain that finer shares leave, so shares fit together when in
 * every domain those at and below it are at most what it has: Hall's condition, for sets that lie
 * within one another or apart. Hence counts decide; ids are found afterwards, finest domains first.
 */
#include <stdlib.h>
#include <string.h>

#include "affinity/pool/pool_private.h"
#include "base/mem.h"

/* What is known of each need has as many entries as there is room for. */
static void board_forget(struct pool_board *board)
{
    for (uint32_t i = 0; board->known && i < board->ask->nneeds; i++) {
        free(board->known[i]);
        board->known[i] = NULL;
    }
}

static void board_grow(struct pool_board *board, uint32_t ndomains)
{
    if (ndomains <= board->room)
        return;
    uint32_t **counts[] = {&board->cores, &board->gpus, &board->own_cores, &board->own_gpus};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        *counts[i] = mem_resize(*counts[i], ndomains, sizeof(**counts[i]));
    board->claimed = mem_resize(board->claimed, ndomains, sizeof(*board->claimed));
    board->changed = mem_resize(board->changed, ndomains, sizeof(*board->changed));
    board_forget(board);
    board->room = ndomains;
}

static void board_count(const struct locality_tree *tree, const struct idset *cores,
                        const struct idset *gpus, uint32_t *ncores, uint32_t *ngpus)
{
    ncores[0] = (uint32_t)idset_count(cores);
    ngpus[0] = (uint32_t)idset_count(gpus);
    for (uint32_t i = 1; i < tree->ndomains; i++) {
        ncores[i] = (uint32_t)idset_count_both(tree->domains[i].cores, cores);
        ngpus[i] = (uint32_t)idset_count_both(tree->domains[i].gpus, gpus);
    }
}

void pool_board_set(struct pool_board *board, const struct pool_class *class)
{
    board->tree = class->tree;
    board_grow(board, class->tree->ndomains);
    board_count(class->tree, class->cores, class->gpus, board->cores, board->gpus);
    if (board->ask->has_exclusive)
        board_count(class->tree, class->own->cores, class->own->gpus, board->own_cores,
                    board->own_gpus);
    memset(board->claimed, 0, class->tree->ndomains * sizeof(*board->claimed));
    if (!board->known)
        board->known = mem_array(board->ask->nneeds, sizeof(struct pool_known *));
    board->now++;
    for (uint32_t i = 0; i < class->tree->ndomains; i++)
        board->changed[i] = board->now;
    board->nshares = board->nseats = 0;
}

void pool_board_clear(struct pool_board *board)
{
    free(board->cores);
    free(board->gpus);
    free(board->own_cores);
    free(board->own_gpus);
    free(board->claimed);
    free(board->changed);
    board_forget(board);
    free(board->known);
    free(board->shares);
    free(board->seats);
    free(board->pieces);
}

bool pool_board_can_claim(const struct pool_board *board, uint32_t domain)
{
    return !board->claimed[domain] && board->own_cores[domain] &&
           board->cores[domain] == board->own_cores[domain] &&
           board->gpus[domain] == board->own_gpus[domain];
}

/* The first domain whose count changes; a claimed domain keeps its own count for its slots. */
static uint32_t board_begin(const struct pool_board *board, const struct pool_share *share)
{
    return share->exclusive ? board->tree->domains[share->domain].up : share->domain;
}

static bool board_fits(const struct pool_board *board, const struct pool_share *share)
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
static bool board_claim(struct pool_board *board, struct pool_share *share)
{
    if (share->domain == share->stop || !pool_board_can_claim(board, share->domain))
        return false;
    share->cores = board->own_cores[share->domain];
    share->gpus = board->own_gpus[share->domain];
    return true;
}

/* What a domain has is part of what all around it have. */
static void board_change(struct pool_board *board, uint32_t domain)
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

bool pool_board_take(struct pool_board *board, struct pool_share share)
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
    if (board->nshares == board->shares_room) {
        board->shares_room = board->shares_room ? board->shares_room * 2 : 64;
        board->shares = mem_resize(board->shares, board->shares_room, sizeof(*board->shares));
    }
    board->shares[board->nshares++] = share;
    return true;
}

static void board_give_back(struct pool_board *board, const struct pool_share *share)
{
    if (share->exclusive)
        board->claimed[share->domain] = false;
    board_change(board, share->domain);
    for (uint32_t at = board_begin(board, share);; at = board->tree->domains[at].up) {
        board->cores[at] += share->cores;
        board->gpus[at] += share->gpus;
        if (at == share->stop)
            break;
    }
}

void pool_board_undo(struct pool_board *board, size_t nshares, size_t nseats)
{
    while (board->nshares > nshares)
        board_give_back(board, &board->shares[--board->nshares]);
    board->nseats = nseats;
}

void pool_board_add_seat(struct pool_board *board, uint32_t level)
{
    if (board->nseats == board->seats_room) {
        board->seats_room = board->seats_room ? board->seats_room * 2 : 16;
        board->seats = mem_resize(board->seats, board->seats_room, sizeof(*board->seats));
    }
    board->seats[board->nseats++] = (struct pool_seat){level, (uint32_t)board->nshares};
}

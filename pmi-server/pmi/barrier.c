/* The rounds of one barrier, counted; and the set of ranks that have left. */
#include "pmi-server/pmi/barrier.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void barrier_free(struct barrier *barrier)
{
    free(barrier->entered);
    free(barrier->name);
    *barrier = (struct barrier){0};
}

uint64_t barrier_id(const struct barrier *barrier)
{
    return barrier->name ? barrier->id : barrier->id + barrier->sequence;
}

uint64_t barrier_entered(const struct barrier *barrier, size_t index)
{
    return index < barrier->room ? barrier->entered[index] : 0;
}

uint64_t barrier_enter(struct barrier *barrier, size_t index)
{
    if (index >= barrier->room) {
        size_t room = index + 1 > barrier->nlocal ? index + 1 : barrier->nlocal;
        barrier->entered = mem_resize(barrier->entered, room, sizeof(*barrier->entered));
        memset(barrier->entered + barrier->room, 0,
               (room - barrier->room) * sizeof(*barrier->entered));
        barrier->room = room;
    }
    uint64_t round = barrier->entered[index]++;
    barrier->ready += round == barrier->sequence;
    return round;
}

bool barrier_begin_exchange(struct barrier *barrier)
{
    if (barrier->exchanging || barrier->ready < barrier->nlocal)
        return false;
    barrier->exchanging = true;
    return true;
}

void barrier_next(struct barrier *barrier)
{
    barrier->sequence++;
    barrier->exchanging = false;
    barrier->ready = 0;
    for (size_t i = 0; i < barrier->room; i++)
        barrier->ready += barrier->entered[i] > barrier->sequence;
}

void barrier_leave(struct barrier *barrier, uint32_t rank, uint64_t from)
{
    if (barrier->missing && barrier->missing_from <= from)
        return;
    barrier->missing = true;
    barrier->missing_rank = rank;
    barrier->missing_from = from;
}

bool barrier_is_stuck(const struct barrier *barrier)
{
    return barrier->ready && barrier->missing && barrier->missing_from <= barrier->sequence;
}

void left_ranks_add(struct left_ranks *left, uint32_t rank)
{
    if (rank >= left->size)
        return;
    if (!left->bits)
        left->bits = mem_array(left->size / 8 + 1, 1);
    left->bits[rank / 8] |= (unsigned char)(1u << rank % 8);
    left->last = rank;
}

bool left_ranks_has(const struct left_ranks *left, uint32_t rank)
{
    return left->bits && left->bits[rank / 8] & 1u << rank % 8;
}

void left_ranks_free(struct left_ranks *left)
{
    free(left->bits);
}

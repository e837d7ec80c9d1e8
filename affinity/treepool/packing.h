/*
 * packing - slots onto one node: one by itself, several by trying everything, and as many as fit, finest
 * domains first. Private to treepool/.
 */
#ifndef AFFINITY_TREEPOOL_PACKING_H
#define AFFINITY_TREEPOOL_PACKING_H

#include "affinity/treepool/domain_counts.h"

enum treepool_manner {
    TREEPOOL_FIRST,   /* the first domains that fit */
    TREEPOOL_ROOMIEST /* those where most is left, so that slots of several domains come out even */
};

/* One slot into `home`, or false and nothing is changed. */
bool treepool_seat(struct treepool_board *board, uint32_t home, uint32_t stop,
                   enum treepool_manner manner);
/* So many slots into `home`, whichever way they fit. */
bool treepool_seat_exactly(struct treepool_board *board, uint32_t home, uint32_t stop,
                           uint32_t nslots);

struct treepool_plan {
    struct treepool_piece *pieces;
    struct treepool_seat *seats;
    struct treepool_share *shares;
    uint32_t npieces;
};

struct treepool_plan *treepool_plan_new(struct treepool_board *board,
                                        const struct treepool_class *class);
void treepool_plan_free(struct treepool_plan *plan);

#endif

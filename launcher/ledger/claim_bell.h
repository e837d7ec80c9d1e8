/*
 * claim_bell - of many programs that wait, those are woken whose turn it may be, and the others
 * sleep.
 *
 * Each that waits has a bell in its directory, a FIFO. Programs that wait for just the same form a
 * line. Whoever gives something back rings for the first of each line. Whoever leaves a line rings
 * for the first two: should the first be killed, it is the other's turn.
 *
 * Those that may pass others also watch the instance (instance_watch). Only about a hundred
 * processes of a user can, and to begin and to end a watch takes some kernels 10 to 20 ms each.
 */
#ifndef LAUNCHER_LEDGER_CLAIM_BELL_H
#define LAUNCHER_LEDGER_CLAIM_BELL_H

#include "launcher/ledger/claims_table.h"
#include "launcher/ledger/instance_directory.h"

#define CLAIM_BELL "bell" /* in the directory of a program */
#define CLAIM_BELL_TURNS 2

/* The bell of the program with this directory: a descriptor, readable once it was rung. -1: it can
 * have none here. */
int claim_bell_open(int dir);
/* Rings for the first `turns` of each line by these claims. Whoever rings, with the number `self`,
 * may be one of them, and is not rung for: it knows already. */
void claim_bell_ring(struct instance *instance, const struct claims *claims, unsigned turns,
                     uint64_t self);

#endif

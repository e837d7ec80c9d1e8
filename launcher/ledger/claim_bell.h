/*
 * claim_bell - of many programs that wait, those are woken whose turn it may be, and the others
 * sleep.
 *
 * Each that waits has a bell in its directory, a FIFO. Whoever gives something back rings for the
 * first in each line of programs that wait for just the same; whoever leaves a line for the first
 * two: the one whose turn it is, and the one whose turn it is should that one be killed. Those that
 * may pass others watch the instance as well (instance_watch), of which a user can have a hundred
 * processes and no more; to begin and to end a watch takes some kernels 10 to 20 ms each.
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
/* Rings for the first `turns` of each line by these claims. */
void claim_bell_ring(struct instance *instance, const struct claims *claims, unsigned turns);

#endif

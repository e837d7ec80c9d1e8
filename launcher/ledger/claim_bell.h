/*
 * claim_bell - of many programs that wait, those are woken whose turn it may be, and the others
 * sleep.
 *
 * Each that waits has a bell in its directory, a FIFO. Whoever leaves the line rings: in each line
 * of programs that wait for just the same the first two hear it, the one whose turn it is and the
 * one whose turn it is should that one be killed. These two also watch the instance
 * (instance_watch), of which a user can have a hundred processes and no more.
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
/* Rings for those whose turn it may be by these claims. */
void claim_bell_ring(struct instance *instance, const struct claims *claims);

#endif

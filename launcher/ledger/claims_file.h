/*
 * claims_file - the claims of an instance as they are now: read, changed, made anew; and who is
 * alive. For the files of the ledger.
 */
#ifndef LAUNCHER_LEDGER_CLAIMS_FILE_H
#define LAUNCHER_LEDGER_CLAIMS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/ledger/claims_table.h"
#include "launcher/ledger/instance_lock_private.h"

#define LEDGER_TRIES 10 /* without the lock before it is taken for all of a change */

/* A change of the claims. The claims are read and changed without the lock, which is taken to see
 * that they are as they were, and to write them: those are microseconds. Where others are quicker
 * again and again all is done under the lock. */
struct ledger_change {
    struct instance *instance;
    bool locked; /* from the beginning */
    struct ledger_lock lock;
    uint64_t generation; /* of what was read */
    struct claims *claims;
};
/* The claims as they are now, without a lock; NULL with a sentence. Caller frees. */
struct claims *ledger_read(struct instance *instance, struct error *err);
/* Read the claims in order to change them. `tries`: how often that was in vain so far; from
 * LEDGER_TRIES on all is done under the lock. 0: ledger_end() has to follow; -1 with a sentence. */
int ledger_begin(struct instance *instance, int tries, struct ledger_change *change,
                 struct error *err);
/* 0; 1: others changed them meanwhile, begin anew; -1 with a sentence. */
int ledger_commit(struct ledger_change *change, struct error *err);
void ledger_end(struct ledger_change *change);

bool ledger_is_alive(struct instance *instance, uint64_t number);
/* The program of this row is alive, and has or waits for something; programs that this process is a
 * task of do not count. What is gone is cleared away. */
bool ledger_counts(struct instance *instance, const struct claims_row *row);
/* Remove what a program that is gone left. */
void ledger_bury(struct instance *instance, uint64_t number);
uint64_t ledger_now(void); /* seconds since the epoch */

#endif

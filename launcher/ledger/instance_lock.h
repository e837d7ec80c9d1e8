/*
 * instance_lock - the locks of an instance: how long one waits for them, and those that others may
 * take.
 */
#ifndef LAUNCHER_LEDGER_INSTANCE_LOCK_H
#define LAUNCHER_LEDGER_INSTANCE_LOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "launcher/ledger/instance_directory.h"

/* Wait for a turn, for some time at most. Only a program that has lost a race for cores does so,
 * before it looks, plans and claims again: then losers come one after the other. A descriptor that
 * the caller closes when that is done, or -1: it goes on without a turn. */
int instance_turn(struct instance *instance);

/* Lock these keys of the lock file `name` until the descriptor that is returned is closed, or this
 * process is killed: for a program that reads files of others, and writes what depends on them. It
 * does not wait: INSTANCE_EXCLUDED where another process has one of them; -1 with a sentence. */
enum { INSTANCE_EXCLUDED = -2 };
int instance_exclude(struct instance *instance, const char *name, const char *const *keys,
                     size_t count, struct error *err);

/* How long (s) a call may wait for a lock; 30 s where nothing is set. A lock is held for less than
 * milliseconds, unless the process that has it is stopped. A process whose loop has to go on sets a
 * short time, and tries again later where instance_is_busy() says that another process had the lock
 * all that time. Setting it clears instance_is_busy(). */
void instance_set_patience(struct instance *instance, double seconds);
bool instance_is_busy(const struct instance *instance);

/* How often this handle has locked the instance, and for how long at most (seconds). */
size_t instance_locks(const struct instance *instance, double *longest);

#endif

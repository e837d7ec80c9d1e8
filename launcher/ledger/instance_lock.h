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

/* Wait for a turn. A program that has lost a race for cores does so before it looks, plans and
 * claims again: then losers come one after the other. Others take no turn. A descriptor to close
 * when done, or -1, where it goes on without. */
int instance_turn(struct instance *instance);

/* Until the descriptor is closed no other process has any of these keys for the lock file `name` of
 * the instance: for what depends on others' files that are read and is written then. Who is killed
 * has closed it. It waits for nobody: INSTANCE_EXCLUDED where another has one of them now; -1 with
 * a sentence. */
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

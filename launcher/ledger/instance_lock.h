/*
 * instance_lock - the locks of an instance: how long one waits for them, and those that others may take.
 */
#ifndef LAUNCHER_LEDGER_INSTANCE_LOCK_H
#define LAUNCHER_LEDGER_INSTANCE_LOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "launcher/ledger/instance_directory.h"

/* Who has lost a race looks again, maps and claims when it is its turn, so that many that want the
 * same get on: those that have not lost one do not heed it. A descriptor to close when done, or
 * -1; nothing depends on it. */
int instance_turn(struct instance *instance);

/* Until the descriptor is closed no other process has any of these keys for the lock file `name` of
 * the instance: for what depends on others' files that are read and is written then. Who is killed
 * has closed it. It waits for nobody: INSTANCE_EXCLUDED where another has one of them now; -1 with a
 * sentence. */
enum { INSTANCE_EXCLUDED = -2 };
int instance_exclude(struct instance *instance, const char *name, const char *const *keys,
                     size_t count, struct error *err);

/* How long a call here may wait for a lock, which is held for less than milliseconds unless who has
 * it is stopped; 30 s where nothing is said. A loop that must beat says little, and where a call
 * failed because another process had the lock all that time (is_busy) comes back to it later. To
 * set it also forgets that it was so. */
void instance_set_patience(struct instance *instance, double seconds);
bool instance_is_busy(const struct instance *instance);

/* How often this handle has locked the instance, and for how long at most (seconds). */
size_t instance_locks(const struct instance *instance, double *longest);

#endif

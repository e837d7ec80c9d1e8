/*
 * lock_retry - tries again to get the instance's lock, which another process has, by a timer: the
 * loop goes on meanwhile.
 *
 * The usual order: lock_be_patient(); the call that takes the lock; then lock_had() if it got it,
 * or, if lock_is_busy(), lock_wait() with the function that makes the call again. A NULL lock_retry
 * is never busy.
 */
#ifndef LAUNCHER_INSTANCE_LOCK_RETRY_H
#define LAUNCHER_INSTANCE_LOCK_RETRY_H

#include <ev.h>
#include <stdbool.h>

#include "base/error.h"
#include "launcher/ledger/instance_directory.h"

struct lock_retry_ops {                          /* `owner` is what lock_retry_new() was given */
    void (*note)(void *owner, const char *text); /* the wait has become long */
};

struct lock_retry;

/* All is borrowed. */
struct lock_retry *lock_retry_new(struct ev_loop *loop, struct instance *instance,
                                  const struct lock_retry_ops *ops, void *owner);
void lock_retry_free(struct lock_retry *lock); /* NULL is fine */

/* From now on tasks run, and the loop has to serve them: tries are shorter, and further apart. */
void lock_tasks_run(struct lock_retry *lock);
bool lock_is_busy(const struct lock_retry *lock); /* the last call did not get it */
/* Calls that follow give up after a moment if another process has the lock. */
void lock_be_patient(struct lock_retry *lock);
/* It was busy, as *err says. 1: again() is called in a moment. -1 with a sentence: it was busy for
 * too long. */
int lock_wait(struct lock_retry *lock, void (*again)(void *owner), struct error *err);
void lock_had(struct lock_retry *lock); /* the last call got it */

#endif

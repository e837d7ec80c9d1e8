/*
 * lock_retry - the wait for the instance's lock, which another process has: by a timer, so that the
 * loop goes on.
 *
 * The usual order: lock_be_patient(), what wants the lock, and then either lock_had(), or where
 * lock_is_busy() lock_wait() with what is to be called to try it again. With NULL nothing is ever
 * busy.
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

/* From now on tasks run, for which nothing else goes on during a try: tries are short and rare. */
void lock_tasks_run(struct lock_retry *lock);
bool lock_is_busy(const struct lock_retry *lock); /* the last call wanted it in vain */
/* What is called next wants it for a moment only, for the loop has to go on. */
void lock_be_patient(struct lock_retry *lock);
/* It was busy, as err says: again() is called in a moment. 1, or -1 when that has gone on too
 * long. */
int lock_wait(struct lock_retry *lock, void (*again)(void *owner), struct error *err);
void lock_had(struct lock_retry *lock); /* it was not busy any more */

#endif

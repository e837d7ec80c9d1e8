/*
 * spawn_waiting - spawns that tasks ask for: begun at once, or when the hosts that were started for
 * them are up or have failed, or when the instance's lock can be had. The oldest goes first.
 */
#ifndef LAUNCHER_PROGRAM_SPAWN_WAITING_H
#define LAUNCHER_PROGRAM_SPAWN_WAITING_H

#include "launcher/program/spawn.h"

struct spawn_waiting;

struct spawn_waiting_ops {
    /* The instance's lock is another's: call spawn_waiting_retry() in a moment. As lock_wait(). */
    int (*lock_wait)(void *owner, struct error *err);
};

/* All is borrowed. */
struct spawn_waiting *spawn_waiting_new(struct spawns *spawns, struct host_table *hosts,
                                        struct lock_retry *lock,
                                        const struct spawn_waiting_ops *ops, void *owner);
void spawn_waiting_free(struct spawn_waiting *waiting); /* NULL is fine; nobody is answered */

/* A task asks; the request is copied where it has to wait. */
void spawn_waiting_take(struct spawn_waiting *waiting, const struct task_request *request,
                        const struct requester *requester);
/* Some host is up or has failed, or the lock may be free. */
void spawn_waiting_retry(struct spawn_waiting *waiting);

#endif

/*
 * group_start - one task group from the request to its launch: what is free is read, hosts that
 * need an agent are asked, a plan is made and claimed, the group is launched. The program's first
 * tasks and those that are spawned go the same way; what differs between them is in their struct
 * group_start_ops.
 *
 * A start that has to wait says what for, and is tried again from the loop: for hosts, when they
 * are up or have failed; for the instance's lock, in a moment; for what others hold, when its owner
 * is told that something may be free. The oldest is tried first.
 */
#ifndef LAUNCHER_PROGRAM_GROUP_START_H
#define LAUNCHER_PROGRAM_GROUP_START_H

#include <ev.h>

#include "launcher/instance/lock_retry.h"

enum group_step {
    GROUP_STEP_DONE,   /* on with the next */
    GROUP_STEP_HOSTS,  /* agents were started: on when they are up or have failed */
    GROUP_STEP_QUEUED, /* it stands in line for what others hold */
    GROUP_STEP_LOST,   /* of a claim: another program was first, plan it again */
    GROUP_STEP_FAILED, /* with a sentence; where lock_is_busy() it is only that */
    GROUP_STEP_REFUSED /* with a sentence: stuck() is not asked */
};

struct group_start_ops { /* in order; `owner` is what group_start_new() was given */
    /* Read what is free, and start agents on hosts that are likely to be needed: HOSTS, QUEUED,
     * FAILED or REFUSED. NULL: nothing to do. */
    enum group_step (*begin)(void *owner, struct error *err);
    bool (*awaits_hosts)(void *owner);
    /* Layout and claim as values: DONE, HOSTS, FAILED or REFUSED. */
    enum group_step (*plan)(void *owner, struct error *err);
    enum group_step (*claim)(void *owner, struct error *err); /* DONE, LOST or FAILED */
    /* After LOST, read again what is free; NULL: plan() does. 0, or -1 with a sentence. */
    int (*refresh)(void *owner, struct error *err);
    /* It could not be planned or claimed, as err says: HOSTS, QUEUED, FAILED or REFUSED; NULL:
     * FAILED. */
    enum group_step (*stuck)(void *owner, struct error *err);
    /* The claim holds: DONE or FAILED. Whatever the result the start is over, and is freed
     * afterwards, as after refused(). */
    enum group_step (*launch)(void *owner, struct error *err);
    void (*refused)(void *owner, const struct error *err);
};

struct group_starts; /* of one program: those that are not over */
struct group_start;

/* All is borrowed. note() tells the user when the wait for the lock has become long. */
struct group_starts *group_starts_new(struct ev_loop *loop, struct instance *instance,
                                      const struct lock_retry_ops *ops, void *owner);
void group_starts_free(struct group_starts *starts); /* NULL is fine; nobody is called */
struct lock_retry *group_starts_lock(const struct group_starts *starts);

/* Another one, which is tried at once by group_start_begin(). */
struct group_start *group_start_new(struct group_starts *starts, const struct group_start_ops *ops,
                                    void *owner);
/* From the front; also where it stands in line, and something may be free. */
void group_start_begin(struct group_start *start);
/* Some host is up or has failed: go on with those that waited for it. NULL: nothing is wanted
 * yet. */
void group_starts_settled(struct group_starts *starts);
/* Nothing is to be started any more. */
void group_starts_stop(struct group_starts *starts);

#endif

/* How a task group gets from a request to its launch, for program_start.c (the first group) and spawn.c. */
#include "launcher/program/group_start.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/ledger/instance_lock.h"

#define GROUP_START_TRIES 100 /* races for the same cores that may be lost before it is given up */

enum group_start_state {
    GROUP_START_NEW,
    GROUP_START_TRIED,  /* it is being tried now */
    GROUP_START_HOSTS,  /* it waits for agents that are on their way */
    GROUP_START_LOCK,   /* for the instance's lock */
    GROUP_START_QUEUED, /* for what others hold */
    GROUP_START_OVER    /* launched or refused */
};

struct group_start {
    struct group_start *next; /* younger */
    struct group_starts *starts;
    enum group_start_state state;
    const struct group_start_ops *ops;
    void *owner;
};

struct group_starts {
    struct instance *instance;
    struct lock_retry *lock;
    struct group_start *first; /* the oldest */
    bool trying;  /* one of them is tried; what settles meanwhile is looked at after it */
    bool settled; /* something has settled meanwhile */
    bool stopped;
    const struct lock_retry_ops *ops;
    void *owner;
};

/* ---- one try ---- */

/* A plan that is claimed. Who loses a race takes its turn from then on, so that it is not lost for
 * ever. */
static enum group_step plan_and_claim(struct group_start *start, struct error *err)
{
    const struct group_start_ops *ops = start->ops;
    enum group_step step = GROUP_STEP_LOST;
    int turn = -1;
    for (int tries = 0; tries < GROUP_START_TRIES && step == GROUP_STEP_LOST; tries++) {
        if (tries && turn < 0)
            turn = instance_turn(start->starts->instance);
        lock_be_patient(start->starts->lock);
        if (tries && ops->refresh && ops->refresh(start->owner, err) < 0) {
            step = GROUP_STEP_FAILED;
            break;
        }
        error_clear(err);
        step = ops->plan(start->owner, err);
        if (step == GROUP_STEP_DONE)
            step = ops->claim(start->owner, err);
    }
    if (turn >= 0)
        close(turn);
    if (step != GROUP_STEP_LOST)
        return step;
    error_prefix(err, "lost the race for free cores %d times", GROUP_START_TRIES);
    return GROUP_STEP_FAILED;
}

/* On until it is launched (DONE) or has to wait. */
static enum group_step group_start_steps(struct group_start *start, enum group_step step,
                                         struct error *err)
{
    const struct group_start_ops *ops = start->ops;
    struct group_starts *starts = start->starts;
    while (step == GROUP_STEP_DONE || step == GROUP_STEP_HOSTS) {
        if (starts->stopped || ops->awaits_hosts(start->owner))
            return GROUP_STEP_HOSTS;
        step = plan_and_claim(start, err);
        if (step == GROUP_STEP_DONE)
            return ops->launch(start->owner, err);
        if (step == GROUP_STEP_FAILED && !lock_is_busy(starts->lock) && ops->stuck)
            step = ops->stuck(start->owner, err);
    }
    return step;
}

static void group_starts_on_lock(void *owner);

/* What becomes of it after this step. */
static void group_start_go_on(struct group_start *start, enum group_step step, struct error *err)
{
    struct group_starts *starts = start->starts;
    step = group_start_steps(start, step, err);
    if (step == GROUP_STEP_FAILED && lock_is_busy(starts->lock)) {
        start->state = GROUP_START_LOCK;
        if (lock_wait(starts->lock, group_starts_on_lock, err) > 0)
            return;
    } else {
        lock_had(starts->lock);
    }
    start->state = step == GROUP_STEP_HOSTS    ? GROUP_START_HOSTS
                   : step == GROUP_STEP_QUEUED ? GROUP_START_QUEUED
                                               : GROUP_START_OVER;
    if (step == GROUP_STEP_FAILED || step == GROUP_STEP_REFUSED)
        start->ops->refused(start->owner, err);
}

/* From the front or, where it only waited for hosts, from there. */
static void group_start_try(struct group_start *start)
{
    struct group_starts *starts = start->starts;
    struct error err = ERROR_INIT;
    enum group_step step = GROUP_STEP_DONE;
    bool begins = start->state != GROUP_START_HOSTS && start->ops->begin;
    start->state = GROUP_START_TRIED;
    starts->trying = true;
    if (begins) {
        lock_be_patient(starts->lock);
        step = start->ops->begin(start->owner, &err);
    }
    group_start_go_on(start, step, &err);
    error_clear(&err);
    starts->trying = false;
    if (start->state != GROUP_START_OVER)
        return;
    struct group_start **at = &starts->first;
    while (*at != start)
        at = &(*at)->next;
    *at = start->next;
    free(start);
}

/* ---- when to try ---- */

/* Tries again those that wait for hosts that have settled and, with `lock`, those that wait for the lock.
 * Once one of them does not get the lock, the others would not either. */
static void group_starts_retry(struct group_starts *starts, bool lock)
{
    struct group_start *next;
    do {
        bool busy = false;
        starts->settled = false;
        for (struct group_start *start = starts->first; start && !busy; start = next) {
            next = start->next;
            bool ready = start->state == GROUP_START_HOSTS
                             ? !start->ops->awaits_hosts(start->owner)
                             : lock && start->state == GROUP_START_LOCK;
            if (starts->stopped || !ready)
                continue;
            group_start_try(start);
            busy = lock_is_busy(starts->lock);
        }
        lock = false;
    } while (starts->settled);
}

static void group_starts_on_lock(void *owner)
{
    group_starts_retry(owner, true);
}

void group_starts_settled(struct group_starts *starts)
{
    if (starts && starts->trying)
        starts->settled = true;
    else if (starts)
        group_starts_retry(starts, false);
}

void group_start_begin(struct group_start *start)
{
    struct group_starts *starts = start->starts;
    if (starts->stopped)
        return;
    start->state = GROUP_START_NEW;
    group_start_try(start);
    if (starts->settled)
        group_starts_retry(starts, false);
}

void group_starts_stop(struct group_starts *starts)
{
    if (starts)
        starts->stopped = true;
}

/* ---- life ---- */

static void group_starts_on_note(void *owner, const char *text)
{
    struct group_starts *starts = owner;
    starts->ops->note(starts->owner, text);
}

static const struct lock_retry_ops group_starts_lock_ops = {group_starts_on_note};

struct group_starts *group_starts_new(struct ev_loop *loop, struct instance *instance,
                                      const struct lock_retry_ops *ops, void *owner)
{
    struct group_starts *starts = mem_alloc(sizeof(*starts));
    *starts = (struct group_starts){.instance = instance, .ops = ops, .owner = owner};
    starts->lock = lock_retry_new(loop, instance, &group_starts_lock_ops, starts);
    return starts;
}

void group_starts_free(struct group_starts *starts)
{
    if (!starts)
        return;
    for (struct group_start *start = starts->first, *next; start; start = next) {
        next = start->next;
        free(start);
    }
    lock_retry_free(starts->lock);
    free(starts);
}

struct lock_retry *group_starts_lock(const struct group_starts *starts)
{
    return starts->lock;
}

/* The oldest first. */
struct group_start *group_start_new(struct group_starts *starts, const struct group_start_ops *ops,
                                    void *owner)
{
    struct group_start *start = mem_alloc(sizeof(*start)), **last = &starts->first;
    *start = (struct group_start){.starts = starts, .ops = ops, .owner = owner};
    while (*last)
        last = &(*last)->next;
    *last = start;
    return start;
}

/* The wait for the instance's lock, which another process has: by a timer, so that the loop goes on. */
#include "launcher/instance/lock_retry.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/instance/resources.h"
#include "launcher/ledger/instance_lock.h"

#define LOCK_TELL 5.0  /* s after which the wait is said */
#define LOCK_MOST 30.0 /* s after which it is an error */

struct lock_retry {
    struct ev_loop *loop;
    struct instance *instance;
    const struct lock_retry_ops *ops;
    void *owner;
    bool tasks_run;
    ev_timer timer; /* until it is tried again */
    double since;   /* another process has it, in s of the monotonic clock; 0: it has not */
    bool told;
    void (*again)(void *owner);
};

/* While tasks run, nothing else goes on during a try. */
static const struct {
    double patience, again; /* s for a try, and until the next */
} tries[] = {[false] = {RESOURCES_PATIENCE, 0.05}, [true] = {0.05, 0.25}};

static void lock_retry_on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct lock_retry *lock = timer->data;
    (void)loop, (void)events;
    lock->again(lock->owner);
}

struct lock_retry *lock_retry_new(struct ev_loop *loop, struct instance *instance,
                                  const struct lock_retry_ops *ops, void *owner)
{
    struct lock_retry *lock = mem_alloc(sizeof(*lock));
    lock->loop = loop;
    lock->instance = instance;
    lock->ops = ops;
    lock->owner = owner;
    ev_timer_init(&lock->timer, lock_retry_on_again, 0, 0);
    lock->timer.data = lock;
    return lock;
}

void lock_retry_free(struct lock_retry *lock)
{
    if (lock)
        ev_timer_stop(lock->loop, &lock->timer);
    free(lock);
}

void lock_tasks_run(struct lock_retry *lock)
{
    lock->tasks_run = true;
}

bool lock_is_busy(const struct lock_retry *lock)
{
    return lock && lock->instance && instance_is_busy(lock->instance);
}

void lock_be_patient(struct lock_retry *lock)
{
    if (lock && lock->instance)
        instance_set_patience(lock->instance, tries[lock->tasks_run].patience);
}

int lock_wait(struct lock_retry *lock, void (*again)(void *owner), struct error *err)
{
    double now = clock_monotonic_seconds();
    if (!(lock->since > 0))
        lock->since = now;
    if (now - lock->since > LOCK_MOST) {
        lock_had(lock); /* whoever wants it next has as much time */
        return error_prefix(err, "waited %g s for the instance's lock", LOCK_MOST);
    }
    if (now - lock->since > LOCK_TELL && !lock->told) {
        char *line = mem_format("waiting for the instance's lock: %s", error_text(err));
        lock->ops->note(lock->owner, line);
        lock->told = true;
        free(line);
    }
    lock->again = again;
    if (ev_is_active(&lock->timer))
        return 1;
    ev_timer_set(&lock->timer, tries[lock->tasks_run].again, 0);
    ev_timer_start(lock->loop, &lock->timer);
    return 1;
}

void lock_had(struct lock_retry *lock)
{
    if (!lock)
        return;
    lock->since = 0;
    lock->told = false;
}

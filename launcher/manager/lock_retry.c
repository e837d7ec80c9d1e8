/* The wait for the instance's lock, which another process has: by a timer, so that the loop goes on. */
#include <stdlib.h>

#include "base/mem.h"
#include "launcher/manager/internal.h"

#define LOCK_TELL 5.0  /* s after which the wait is said */
#define LOCK_MOST 30.0 /* s after which it is an error */

/* While tasks run, nothing else goes on during a try. */
static const struct {
    double patience, again; /* s for a try, and until the next */
} tries[] = {[PHASE_GATHER] = {RESOURCES_PATIENCE, 0.05},
             [PHASE_RUN] = {0.05, 0.25},
             [PHASE_END] = {0.05, 0.25}};

bool lock_is_busy(const struct manager *manager)
{
    return manager->instance && instance_is_busy(manager->instance);
}

void lock_be_patient(struct manager *manager)
{
    if (manager->instance)
        instance_set_patience(manager->instance, tries[manager->phase].patience);
}

static void lock_retry_on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager *manager = timer->data;
    (void)loop, (void)events;
    manager->busy_again(manager);
}

int lock_wait(struct manager *manager, void (*again)(struct manager *), struct error *err)
{
    double now = ev_time();
    if (!(manager->busy_since > 0))
        manager->busy_since = now;
    if (now - manager->busy_since > LOCK_MOST) {
        lock_had(manager); /* whoever wants it next has as much time */
        return error_prefix(err, "waited %g s for the instance's lock", LOCK_MOST);
    }
    if (now - manager->busy_since > LOCK_TELL && !manager->busy_told) {
        char *line = mem_format("waiting for the instance's lock: %s", error_text(err));
        viewer_note(manager, line);
        manager->busy_told = true;
        free(line);
    }
    manager->busy_again = again;
    if (ev_is_active(&manager->busy))
        return 1;
    ev_timer_init(&manager->busy, lock_retry_on_again, tries[manager->phase].again, 0);
    manager->busy.data = manager;
    ev_timer_start(manager->loop, &manager->busy);
    return 1;
}

void lock_had(struct manager *manager)
{
    manager->busy_since = 0;
    manager->busy_told = false;
}

/* The guard's last act: the end of all that is below this process, also of what does not want to end. */
#include "launcher/process/descendants.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/process/cgroup.h"
#include "launcher/process/process_set.h"

/* Without children there is nothing to look for. */
static bool reap_all(void)
{
    pid_t gone;
    while ((gone = waitpid(-1, NULL, WNOHANG)) > 0)
        ;
    return gone < 0 && errno == ECHILD;
}

static char *describe_left(const pid_t *except, size_t nexcept, const struct cgroup *cgroup)
{
    struct process_set left = {0};
    process_set_add_below(&left, except, nexcept);
    char *names = process_set_describe_left(&left, cgroup);
    char *text = mem_format("cannot end process %s: still there %g s after SIGKILL", names,
                            DESCENDANTS_PATIENCE);
    process_set_clear(&left);
    free(names);
    return text;
}

char *descendants_end(double grace, const pid_t *except, size_t nexcept, struct cgroup *cgroup)
{
    double start = clock_monotonic_seconds(),
           slept = 0; /* since the first KILL: a frozen process sleeps on */
    char *survivors = NULL;
    for (bool first = true;; first = false) {
        bool childless = reap_all();
        bool due = clock_monotonic_seconds() - start >= grace;
        int number = due ? SIGKILL : first ? SIGTERM : 0;
        if (due)
            cgroup_kill(cgroup);
        size_t left = childless ? 0 : descendants_signal(number, except, nexcept);
        if (!left && !cgroup_populated(cgroup))
            break;
        if (first)
            descendants_signal(SIGCONT, except, nexcept);
        if (slept >= DESCENDANTS_PATIENCE) {
            survivors = describe_left(except, nexcept, cgroup);
            break;
        }
        nanosleep(&(struct timespec){0, 5000000}, NULL);
        slept += due ? 0.005 : 0;
    }
    reap_all();
    cgroup_remove(cgroup);
    return survivors;
}

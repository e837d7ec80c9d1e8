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

bool descendants_end_step(struct descendants_end *end, char **survivors)
{
    bool childless = reap_all(), first = end->begun == 0;
    if (first)
        end->begun = clock_monotonic_seconds();
    bool due = clock_monotonic_seconds() - end->begun >= end->grace;
    int number = due ? SIGKILL : first ? SIGTERM : 0;
    if (due)
        cgroup_kill(end->cgroup);
    size_t left = childless ? 0 : descendants_signal(number, end->except, end->nexcept);
    bool over = !left && !cgroup_populated(end->cgroup);
    if (!over && first)
        descendants_signal(SIGCONT, end->except, end->nexcept);
    bool given_up = !over && end->slept >= DESCENDANTS_PATIENCE;
    *survivors = given_up ? describe_left(end->except, end->nexcept, end->cgroup) : NULL;
    end->slept += due ? DESCENDANTS_STEP : 0;
    if (!over && !given_up)
        return false;
    reap_all();
    cgroup_remove(end->cgroup);
    return true;
}

char *descendants_end(double grace, const pid_t *except, size_t nexcept, struct cgroup *cgroup)
{
    struct descendants_end end = {
        .grace = grace, .except = except, .nexcept = nexcept, .cgroup = cgroup};
    char *survivors;
    while (!descendants_end_step(&end, &survivors))
        nanosleep(&(struct timespec){0, (long)(DESCENDANTS_STEP * 1e9)}, NULL);
    return survivors;
}

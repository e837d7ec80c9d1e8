/*
 * process_set - processes, each by its pid and the time of its birth.
 *
 * A pid may belong to another process by the time it is looked at again; with the birth it does
 * not. So a set can say who was sent a signal, and who is there still. Sets are values: {0} is
 * empty.
 */
#ifndef LAUNCHER_PROCESS_PROCESS_SET_H
#define LAUNCHER_PROCESS_PROCESS_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "launcher/process/process.h"

struct cgroup;

struct process_set {
    struct process *list; /* by pid, rising */
    size_t count;
};

/* Add all processes below this one that have not ended, except the `nexcept` direct children
 * listed and what is below them. */
void process_set_add_below(struct process_set *set, const pid_t *except, size_t nexcept);
/* Add these, numbers between blanks or newlines, whether they have ended or not; 0 is nobody. */
void process_set_add_pids(struct process_set *set, const char *pids);
/* Add those of `more`. */
void process_set_add(struct process_set *set, const struct process_set *more);
/* Keep those of these process groups only. */
void process_set_keep_groups(struct process_set *set, const pid_t *groups, size_t count);
void process_set_clear(struct process_set *set);

bool process_set_has(const struct process_set *set, const struct process *process);

/* Send the signal once to each that `done` (NULL: nobody) does not have. The members of a process
 * group get it in one step where `done` has none of them: what such a process forks meanwhile hears
 * it, too, and what it forks in answer does not. None that is no longer below this process gets
 * it, nor such a group, whatever the set says. A terminal stop (SIGTSTP) is sent as SIGSTOP to
 * those without a handler: the kernel drops it where there is no terminal.
 * Only SIGKILL is sent to a tprun's manager and what is below it: the front end above it passes on
 * all other signals, and its tasks would hear them twice. The same holds for a hook (hook_run.h): an
 * epilog is to be run to its end when all else is ended. */
void process_set_signal(const struct process_set *set, const struct process_set *done, int number);

/* "4711 (sleep, uid 0), 4712 (cp, uid 1000, in an uninterruptible wait)", the first few by name;
 * caller frees. */
char *process_set_describe(const struct process_set *set);
/* The same; where the set is empty, of what the cgroup has. */
char *process_set_describe_left(const struct process_set *set, const struct cgroup *cgroup);

#endif

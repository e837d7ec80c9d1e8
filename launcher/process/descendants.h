/*
 * descendants - the processes below this one.
 *
 * A process that called descendants_adopt() is the parent of every descendant whose own parent died
 * (PR_SET_CHILD_SUBREAPER), so nothing that a task started, however it detached itself, leaves
 * the tree below: it can be listed, signalled, and its absence proven.
 */
#ifndef LAUNCHER_PROCESS_DESCENDANTS_H
#define LAUNCHER_PROCESS_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct cgroup;

void descendants_adopt(void);

/* Send a signal to every descendant except the `nexcept` direct children listed and what is below
 * them; 0 only counts. Returns how many there were (zombies not counted). Only SIGKILL is sent to a
 * tprun's manager, to a hook, and to what is below these, see process_set.h. */
size_t descendants_signal(int number, const pid_t *except, size_t nexcept);

/* Send a signal to this process if it is a descendant still: its pid, once it has ended, may be
 * that of a process that is none of ours. */
void descendants_signal_one(pid_t pid, int number);

/* Send a signal to all of a process group that this process is in, if it is a descendant still.
 * False where nothing is sent: the group's number may be that of a group that is none of ours. */
bool descendants_signal_group(pid_t pid, pid_t group, int number);

/* The direct children there are (caller frees). */
pid_t *descendants_children(size_t *count);

/* The guard's last act: TERM to all descendants but the direct children listed (what this process
 * was born with), KILL after `grace` seconds to them and to what is in the cgroup (NULL: there is
 * none), until none is left and the cgroup is removed. Reaps. What is there DESCENDANTS_PATIENCE
 * seconds after the first KILL (another user's process, one that waits for hardware) is not waited
 * for. */
struct descendants_end {
    double grace;
    const pid_t *except; /* borrowed, as is the next */
    size_t nexcept;
    struct cgroup *cgroup;
    double begun; /* 0: not yet. It and the next are not the caller's */
    double slept; /* since the first KILL: a frozen process sleeps on */
};
#define DESCENDANTS_PATIENCE 3.0
/* To be called each DESCENDANTS_STEP seconds until it is true; then a sentence names what is there
 * still (caller frees). NULL: nothing is. */
#define DESCENDANTS_STEP 0.005
bool descendants_end_step(struct descendants_end *end, char **survivors);
/* All of it: blocks. */
char *descendants_end(double grace, const pid_t *except, size_t nexcept, struct cgroup *cgroup);

#endif

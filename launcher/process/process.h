/*
 * process - a process as the kernel shows it. [proc(5): stat, status, children]
 */
#ifndef LAUNCHER_PROCESS_PROCESS_H
#define LAUNCHER_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The names of the process that manages a run of tprun, of one beside a hook, and of one that forks others. */
#define PROCESS_MANAGER "tprun-manager"
#define PROCESS_HOOK "tprun-hook"
#define PROCESS_NURSERY "tprun-nursery"

struct process {
    pid_t pid;
    pid_t parent;
    pid_t group;   /* process group */
    uint64_t born; /* clock ticks after the boot */
    bool inner;    /* the manager of a tprun, or beside a hook; or below one of these */
    bool nursery;
};

/* Fill in what the kernel says of it. False where it has ended. */
bool process_read(pid_t pid, struct process *process);

/* Whether that process has a handler for the signal, or blocks it, as a process does that reads its
 * signals (signalfd(2), sigwait(3)). One that blocks all of them is about to start another process,
 * as shells and C libraries do it: that says nothing of what it does with a signal. */
bool process_catches(pid_t pid, int number);

/* The children of every thread of that process (caller frees); NULL where there is none. */
pid_t *process_children(pid_t pid, size_t *count);

/* Whether a list has this number, of a process or of a process group. */
bool process_is_listed(pid_t pid, const pid_t *list, size_t count);

#endif

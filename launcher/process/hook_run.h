/*
 * hook_run - an executable of the user's that prepares a node, or clears it up: run with a time
 * limit.
 *
 * It runs in a process group of its own, in no terminal, with /dev/null as stdin. A process between
 * it and the caller adopts what it starts: at the time limit all of that is killed, however it
 * detached itself, and so it is when the caller is gone. What is still there when the executable
 * itself has ended is left to the caller, who becomes its parent where it adopts (descendants.h).
 * Signals for tasks of the program are none of its: as long as it runs it gets SIGKILL alone.
 */
#ifndef LAUNCHER_PROCESS_HOOK_RUN_H
#define LAUNCHER_PROCESS_HOOK_RUN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

#define HOOK_OUTPUT 4096 /* bytes of its stdout and stderr that are kept: the last ones */

struct hook { /* all borrowed */
    const char *path;
    char **environment; /* NULL-terminated */
    const char *directory;
    double timeout; /* s; INFINITY: none */
};

struct hook_end {
    int status; /* as of wait(2), where none of the others says how it ended */
    bool timed_out;
    bool broken_off; /* by hook_run_cancel() */
    double seconds;  /* that it took */
    char *output;    /* what it wrote last */
    char *failure;   /* why it could not be run; NULL: it was */
};

struct hook_run {     /* zeroed: none */
    pid_t pid;        /* the process beside the hook, a child of the caller */
    int result, life; /* private descriptors */
};

/* Start it. 0: the caller waits for run->pid, and then calls hook_run_finish(). -1 with a sentence:
 * nothing was started. */
int hook_run_begin(struct hook_run *run, const struct hook *hook, struct error *err);
/* Kill it and all that it started. The wait and hook_run_finish() still have to follow. */
void hook_run_cancel(struct hook_run *run);
/* After run->pid was waited for. */
void hook_run_finish(struct hook_run *run, struct hook_end *end);
void hook_end_clear(struct hook_end *end); /* frees what it has */
/* All of that in one; for a process that has nothing else to do. 0, or -1 with a sentence: it was
 * not started. */
int hook_run_wait(const struct hook *hook, struct hook_end *end, struct error *err);

/* "it ended with exit status 3", "it was killed by signal 9 (Killed)", "it did not end within 60 s:
 * killed, with all that it started", "it was broken off: ..."; caller frees. NULL: it went well. */
char *hook_end_fault(const struct hook_end *end);

#endif

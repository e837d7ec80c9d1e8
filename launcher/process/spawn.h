/*
 * spawn - start one process exactly as described, or say which step failed.
 *
 * The child shares this process's memory until it executes (vfork), so the cost does not grow
 * with the size of the caller and a failed step is known when the call returns: no half-started
 * process, no error pipe. Everything the child needs is prepared before.
 */
#ifndef LAUNCHER_PROCESS_SPAWN_H
#define LAUNCHER_PROCESS_SPAWN_H

#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

#define SPAWN_NFDS 4

struct spawn_limit {
    bool set; /* it is not as here */
    struct rlimit value;
};

struct spawn {
    const char *path;   /* what is executed; no search */
    char *const *argv;
    char *const *envp;
    int fds[SPAWN_NFDS]; /* become 0, 1, 2, 3; -1: closed. Each > 9 or its own place: see
                            spawn_reserve() */
    const char *directory; /* NULL: as here */
    int umask;             /* -1: as here */
    int death_signal;      /* when this process dies; 0: none */
    bool group;            /* leader of a process group of its own */
    const cpu_set_t *cpus; /* where it may run, read back before exec; NULL: as here */
    size_t cpus_size;
    const struct spawn_limit *limits; /* RLIM_NLIMITS of them; NULL: as here */
};

enum spawn_step {
    SPAWN_OK,
    SPAWN_FORK,
    SPAWN_DESCRIPTORS,
    SPAWN_DIRECTORY,
    SPAWN_LIMITS,
    SPAWN_BIND,
    SPAWN_CHECK, /* the kernel bound it to something else */
    SPAWN_EXEC,
};

struct spawn_failure {
    enum spawn_step step;
    int number; /* errno */
};

/* Fill descriptors 0 to 9 that are closed with /dev/null, so that none that is made later gets in
 * the way of a child's. Once, at the start of a process that spawns. */
void spawn_reserve(void);

/* Fill one limit so that its soft value becomes `soft`, as far as the hard one of this process lets
 * it. */
void spawn_limit(struct spawn_limit *limit, int resource, rlim_t soft);

/* The process id, or -1 with *failure filled. Signals of the child are at their defaults. */
pid_t spawn_start(const struct spawn *spawn, struct spawn_failure *failure);

/* "cannot run PATH: No such file or directory" and so on, as the end of a sentence. */
int spawn_explain(const struct spawn *spawn, const struct spawn_failure *failure,
                  struct error *err);

/* Where `name` is found: itself when it has a slash (relative to directory), else along `search`
 * (a PATH; NULL: the system's). Returns an absolute or directory-relative path (caller frees), or
 * NULL with errno: ENOENT, or EACCES when something was found that may not be run. */
char *spawn_find(const char *name, const char *search, const char *directory);

#endif

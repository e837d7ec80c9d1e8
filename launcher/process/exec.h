/*
 * spawn - start processes exactly as described, or say which step failed.
 *
 * A child shares this process's memory until it executes, so the cost does not grow with the size
 * of the caller, and a failed step is known without an error pipe. Unlike with vfork the caller
 * goes on meanwhile and several children can be under way: spawn_begin() starts one,
 * spawn_finish() waits until it has executed or failed. What the child reads (all that struct
 * spawn points to, and the struct spawning) has to stay as it is until then. The caller has no
 * other thread; a child that fails may change the caller's errno.
 */
#ifndef LAUNCHER_PROCESS_EXEC_H
#define LAUNCHER_PROCESS_EXEC_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

#define SPAWN_NFDS 4
#define SPAWN_MAX_MEMORIES 1024 /* NUMA nodes; Linux can have no more */

struct spawn_limit {
    bool set; /* it is not as here */
    struct rlimit value;
};

struct cgroup;

struct spawn_memory { /* NUMA nodes, as set_mempolicy(2) wants them */
    unsigned long bits[SPAWN_MAX_MEMORIES / (8 * sizeof(unsigned long))];
};

struct spawn {
    const char *path; /* what is executed; no search */
    char *const *argv;
    char *const *envp;
    int fds[SPAWN_NFDS];   /* become 0, 1, 2, 3; -1: closed. Each > 9 or its own place: see
                            spawn_reserve() */
    const char *directory; /* NULL: as here */
    int umask;             /* -1: as here */
    int death_signal;      /* when this process dies; 0: none */
    bool deaf;             /* ignores what a batch system sends to all processes of a job */
    bool group; /* leader of a session, and so of a process group, of its own: the kernel then
                   schedules it as fairly against this process as against others */
    const struct cgroup *cgroup;       /* what it is started in; NULL, or none made: as here */
    const cpu_set_t *cpus;             /* where it may run, read back before exec; NULL: as here */
    size_t cpus_size;                  /* bytes of such sets; 0: nothing is read back */
    const struct spawn_memory *memory; /* where its memory may be, read back too; NULL: as here */
    const struct spawn_limit *limits;  /* RLIM_NLIMITS of them; NULL: as here */
};

enum spawn_step {
    SPAWN_OK,
    SPAWN_FORK,
    SPAWN_CGROUP, /* not in that cgroup: elsewhere it might have started */
    SPAWN_DESCRIPTORS,
    SPAWN_DIRECTORY,
    SPAWN_LIMITS,
    SPAWN_BIND,
    SPAWN_CHECK, /* the kernel bound it to something else */
    SPAWN_MEMORY,
    SPAWN_MEMORY_CHECK, /* the same of memory */
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

void spawn_memory_add(struct spawn_memory *memory, uint32_t node); /* below SPAWN_MAX_MEMORIES */
bool spawn_memory_has(const struct spawn_memory *memory, uint32_t node);
/* The NUMA nodes that this process may have memory on. 0, or -1 with errno where the kernel does
 * not say. */
int spawn_memory_allowed(struct spawn_memory *memory);

/* One child on its way from spawn_begin() to spawn_finish(). Zeroed at first; may be used again
 * and keeps its stack for that, until spawning_free(). */
struct spawning {
    const struct spawn *spawn;
    struct spawn_failure failure;
    pid_t pid;
    pid_t parent;
    int shares; /* not 0 while the child shares our memory; the kernel clears it */
    void *stack;
    cpu_set_t *check; /* the binding as the kernel had it before exec */
    size_t check_size;
    char **script; /* argv as /bin/sh wants it */
};

void spawn_begin(struct spawning *child, const struct spawn *spawn);
/* Whether it has executed or failed within this many seconds. */
bool spawn_wait(struct spawning *child, double seconds);
/* The process id, or -1 with child->failure filled. */
pid_t spawn_finish(struct spawning *child);
void spawning_free(struct spawning *child);

/* Where the kernel lets it run, as read before exec; until the next spawn_begin(). Borrowed; NULL
 * where nothing was to be read back. */
const cpu_set_t *spawn_cpus(const struct spawning *child);

/* Both, for one: the process id, or -1 with *failure filled. */
pid_t spawn_start(const struct spawn *spawn, struct spawn_failure *failure);

/* "cannot run PATH: No such file or directory" and so on, as the end of a sentence. */
int spawn_explain(const struct spawn *spawn, const struct spawn_failure *failure,
                  struct error *err);

/* Where `name` is found: itself when it has a slash (relative to directory), else along `search`
 * (a PATH; NULL: the system's). Returns an absolute or directory-relative path (caller frees), or
 * NULL with errno: ENOENT, or EACCES when something was found that may not be run. */
char *spawn_find(const char *name, const char *search, const char *directory);

#endif

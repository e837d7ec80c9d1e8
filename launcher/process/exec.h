/*
 * exec - start processes exactly as described, or say which step failed.
 *
 * A child shares this process's memory until it executes, so the cost does not grow with the size
 * of the caller, and a failed step is known without an error pipe. Unlike with vfork the caller
 * goes on meanwhile and several children can be under way: exec_begin() starts one,
 * exec_finish() waits until it has executed or failed. What the child reads (all that struct
 * spawn points to, and the struct exec_process) has to stay as it is until then. The caller has no
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

#define EXEC_NFDS 4
#define EXEC_MAX_MEMORIES 1024 /* NUMA nodes; Linux can have no more */

struct exec_limit {
    bool set; /* it is not as here */
    struct rlimit value;
};

struct cgroup;

struct exec_memory { /* NUMA nodes, as set_mempolicy(2) wants them */
    unsigned long bits[EXEC_MAX_MEMORIES / (8 * sizeof(unsigned long))];
};

struct exec {
    const char *path; /* what is executed; no search */
    char *const *argv;
    char *const *envp;
    int fds[EXEC_NFDS];    /* become 0, 1, 2, 3; -1: closed. Each > 9 or its own place: see
                            exec_reserve() */
    const char *directory; /* NULL: as here */
    int umask;             /* -1: as here */
    int death_signal;      /* when this process dies; 0: none */
    bool deaf;             /* ignores what a batch system sends to all processes of a job */
    bool group;            /* leader of a session, and so of a process group, of its own: the kernel
                    schedules each session as one. Where many share one, some of which wait with
                    sched_yield() and some sleep, Linux 6.18 lets nothing else run for seconds. */
    bool terminal;         /* with `group`: descriptor 0 is its controlling terminal */
    const struct cgroup *cgroup;      /* what it is started in; NULL, or none made: as here */
    const cpu_set_t *cpus;            /* where it may run, read back before exec; NULL: as here */
    size_t cpus_size;                 /* bytes of such sets; 0: nothing is read back */
    const struct exec_memory *memory; /* where its memory may be, read back too; NULL: as here */
    const struct exec_limit *limits;  /* RLIM_NLIMITS of them; NULL: as here */
};

enum exec_step {
    EXEC_OK,
    EXEC_FORK,
    EXEC_CGROUP, /* not in that cgroup: elsewhere it might have started */
    EXEC_DESCRIPTORS,
    EXEC_TERMINAL, /* not its controlling terminal */
    EXEC_DIRECTORY,
    EXEC_LIMITS,
    EXEC_BIND,
    EXEC_CHECK, /* the kernel bound it to something else */
    EXEC_MEMORY,
    EXEC_MEMORY_CHECK, /* the same of memory */
    EXEC_EXEC,
};

struct exec_failure {
    enum exec_step step;
    int number; /* errno */
};

/* Fill descriptors 0 to 9 that are closed with /dev/null, so that none that is made later gets in
 * the way of a child's. Once, at the start of a process that spawns. */
void exec_reserve(void);

/* Fill one limit so that its soft value becomes `soft`, as far as the hard one of this process lets
 * it. */
void exec_limit(struct exec_limit *limit, int resource, rlim_t soft);

void exec_memory_add(struct exec_memory *memory, uint32_t node); /* below EXEC_MAX_MEMORIES */
bool exec_memory_has(const struct exec_memory *memory, uint32_t node);
/* The NUMA nodes that this process may have memory on. 0, or -1 with errno where the kernel does
 * not say. */
int exec_memory_allowed(struct exec_memory *memory);

/* One child on its way from exec_begin() to exec_finish(). Zeroed at first; may be used again
 * and keeps its stack for that, until exec_process_free(). */
struct exec_process {
    const struct exec *spawn;
    struct exec_failure failure;
    pid_t pid;
    pid_t parent;
    int shares; /* not 0 while the child shares our memory; the kernel clears it */
    void *stack;
    cpu_set_t *check; /* the binding as the kernel had it before exec */
    size_t check_size;
    char **script; /* argv as /bin/sh wants it */
};

void exec_begin(struct exec_process *child, const struct exec *spawn);
/* Whether it has executed or failed within this many seconds. */
bool exec_wait(struct exec_process *child, double seconds);
/* The process id, or -1 with child->failure filled. */
pid_t exec_finish(struct exec_process *child);
void exec_process_free(struct exec_process *child);

/* Where the kernel lets it run, as read before exec; until the next exec_begin(). Borrowed; NULL
 * where nothing was to be read back. */
const cpu_set_t *exec_cpus(const struct exec_process *child);

/* Both, for one: the process id, or -1 with *failure filled. */
pid_t exec_start(const struct exec *spawn, struct exec_failure *failure);

/* "cannot run PATH: No such file or directory" and so on, as the end of a sentence. */
int exec_explain(const struct exec *spawn, const struct exec_failure *failure, struct error *err);

/* Where `name` is found: itself when it has a slash (relative to directory), else along `search`
 * (a PATH; NULL: the system's). Returns an absolute or directory-relative path (caller frees), or
 * NULL with errno: ENOENT, or EACCES when something was found that may not be run. */
char *exec_find(const char *name, const char *search, const char *directory);

#endif

/*
 * pmix-node - one node of a test: a host in a process of its own, its tasks, and what carries
 * exchanges and posts to the one other node there may be.
 */
#ifndef TESTS_UNIT_PMIX_NODE_H
#define TESTS_UNIT_PMIX_NODE_H

#include <stdbool.h>
#include <stdint.h>

#define TASKS 4

struct pmix_outcome { /* of a node; in shared memory */
    char error[256];  /* why there was no host */
    int exits[TASKS]; /* waitpid()'s, by rank */
    int states[TASKS];
    int aborted; /* status, 0: nobody asked for it */
    uint32_t abort_rank;
    char abort_message[64], out[1024], err[1024];
    unsigned rounds, parts, posts, questions, spawns;
    double host_ms, job_ms, free_ms;
    long host_kib, job_kib;
    bool stuck; /* who was left had to be killed */
    bool told;  /* a rank is missing, and another waits: */
    uint32_t missing, waiting;
    bool made;  /* the job's directory, for its tasks alone */
    bool aside; /* openpmix's messages go to a descriptor that was set aside */
};

enum pmix_jobs {
    PMIX_ONE_JOB,
    PMIX_TWO_APART,  /* each of half of the tasks, and on a node of its own */
    PMIX_TWO_MIXED,  /* each with a task on each node */
    PMIX_TWO_PARTLY, /* the first with a task on each node, the second on the first node alone */
};

/* Servers begin before it is known which node of what program they serve. */
extern bool pmix_nodes_ahead;

/* `nnodes` (1 or 2) nodes run TASKS tasks of a scenario (pmix-client.c); the nodes' outcomes. In
 * those whose name begins with "without" the others go on when a task dies. */
struct pmix_outcome *pmix_nodes_run(uint32_t nnodes, const char *scenario);
/* The same on two nodes. Tasks of the second job come after those of the first. */
struct pmix_outcome *pmix_jobs_run(enum pmix_jobs jobs, const char *scenario);
void pmix_nodes_free(struct pmix_outcome *outcomes, uint32_t nnodes);

#endif

/*
 * namespace - what the service of a program and the PMIx servers of its nodes call things:
 * namespaces (the tasks of one task group), their parts, what became of a task, what one can do to
 * others; and their limits.
 */
#ifndef PMI_SERVER_PROTOCOL_NAMESPACE_H
#define PMI_SERVER_PROTOCOL_NAMESPACE_H

#include <stdint.h>

#include "affinity/taskmap/taskmap.h"

#define SERVICE_NAME_MAX 255         /* bytes of a job's name */
#define SERVICE_ALL (UINT32_MAX - 1) /* every rank of a job; as PMIX_RANK_WILDCARD */

#define SERVICE_WINDOW (4u << 20)     /* bytes of output on their way to one host */
#define SERVICE_PUSH_MAX (256u << 10) /* bytes that are pushed at once */
#define SERVICE_PUSHES 16             /* of one host, that are not done */
#define SERVICE_PULLS 64              /* requests for output that a host may have */
#define SERVICE_PULL_PROCS 4096       /* processes that one of them may name */

enum output_channel {
    CHANNEL_STDOUT = 1,
    CHANNEL_STDERR = 2
}; /* a set, where there may be several */

/* What one host may wait for at a time; what is more is refused. */
#define SERVICE_GATHERS_MAX 1024
#define SERVICE_FETCHES_MAX 65536
#define SERVICE_QUERIES_MAX 256
#define SERVICE_BYTES_MAX (48u << 20) /* of one question, or of all that are answered together */

struct program_facts { /* of the program */
    uint32_t slots;    /* cores that it holds */
    double left;       /* seconds that it may still take; INFINITY: nobody says */
    char *hosts;       /* that it holds something of, with commas; malloc()ed, or NULL */
};

enum task_end {                 /* how a task ended */
                ENDED_SIGNALED, /* killed by a signal */
                ENDED_EXITED,   /* with a status that is not 0, before it had finalized */
                ENDED_LEFT,     /* with the status 0, before it had finalized */
                ENDED_FAILED,   /* with a status that is not 0, after that */
                ENDED_LOST,     /* with its node */
                ENDED_NENDS
};

enum control_action {                    /* what tasks can do to others of their program */
                      CONTROL_SIGNAL,    /* a number */
                      CONTROL_KILL,      /* at once */
                      CONTROL_TERMINATE, /* asked to, and killed if they do not in time */
                      CONTROL_PAUSE,
                      CONTROL_RESUME,
                      CONTROL_ABORT, /* as terminated, but that is a failure: with an exit status */
                      CONTROL_NACTIONS
};

struct namespace_app {           /* a part of a job */
    uint32_t first_rank, ntasks; /* ranks of one part follow each other */
    char *const *argv;           /* NULL-terminated, or NULL */
    const char *directory;
    const char *pset; /* the process set that its tasks are in, or NULL */
};

struct namespace_facts { /* the tasks of one group; all borrowed during the call */
    const char *name;
    const struct taskmap *map;
    const uint32_t *node; /* [map->nnodes] what tell() calls its nodes */

    /* What hosts are told when they ask; without hosts, nothing. */
    const char *const *hosts; /* [map->nnodes] */
    const char *spawner;      /* the job of who spawned it, or NULL */
    uint32_t spawner_rank;
    uint32_t session;
    int universe_size; /* -1: as many as tasks */
    const struct namespace_app *apps;
    uint32_t napps;
    const char *map_by, *rank_by, *bind_to; /* or NULL */
};

#endif

/*
 * namespace - what the service of a program and the PMIx servers of its nodes call things: namespaces (the
 * tasks of one task group), their parts, what became of a task, what one can do to others; and their limits.
 */
#ifndef PMI_SERVER_PROTOCOL_NAMESPACE_H
#define PMI_SERVER_PROTOCOL_NAMESPACE_H

#include <stdint.h>

#include "affinity/taskmap/taskmap.h"

#define HUB_NAME_MAX 255         /* bytes of a job's name */
#define HUB_ALL (UINT32_MAX - 1) /* every rank of a job; as PMIX_RANK_WILDCARD */

#define HUB_WINDOW (4u << 20)     /* bytes of output on their way to one host */
#define HUB_PUSH_MAX (256u << 10) /* bytes that are pushed at once */
#define HUB_PUSHES 16             /* of one host, that are not done */
#define HUB_PULLS 64              /* requests for output that a host may have */
#define HUB_PULL_PROCS 4096       /* processes that one of them may name */

enum hub_channel { HUB_STDOUT = 1, HUB_STDERR = 2 }; /* a set, where there may be several */

/* What one host may wait for at a time; what is more is refused. */
#define HUB_GATHERS_MAX 1024
#define HUB_FETCHES_MAX 65536
#define HUB_QUERIES_MAX 256
#define HUB_BYTES_MAX (48u << 20) /* of one question, or of all that are answered together */

struct hub_facts {  /* of the program */
    uint32_t slots; /* cores that it holds */
    double left;    /* seconds that it may still take; INFINITY: nobody says */
    char *hosts;    /* that it holds something of, with commas; malloc()ed, or NULL */
};

enum hub_end {               /* how a task ended */
               HUB_SIGNALED, /* killed by a signal */
               HUB_EXITED,   /* with a status that is not 0, before it had finalized */
               HUB_LEFT,     /* with the status 0, before it had finalized */
               HUB_FAILED,   /* with a status that is not 0, after that */
               HUB_LOST,     /* with its node */
               HUB_NENDS
};

enum hub_action {                /* what tasks can do to others of their program */
                  HUB_SIGNAL,    /* a number */
                  HUB_KILL,      /* at once */
                  HUB_TERMINATE, /* asked to, and killed if they do not in time */
                  HUB_PAUSE,
                  HUB_RESUME,
                  HUB_ABORT, /* as terminated, but that is a failure: with an exit status */
                  HUB_NACTIONS
};

struct hub_app {                 /* a part of a job */
    uint32_t first_rank, ntasks; /* ranks of one part follow each other */
    char *const *argv;           /* NULL-terminated, or NULL */
    const char *directory;
    const char *pset; /* the process set that its tasks are in, or NULL */
};

struct hub_job { /* the tasks of one group; all borrowed during the call */
    const char *name;
    const struct taskmap *map;
    const uint32_t *node; /* [map->nnodes] what tell() calls its nodes */

    /* What hosts are told when they ask; without hosts, nothing. */
    const char *const *hosts; /* [map->nnodes] */
    const char *spawner;      /* the job of who spawned it, or NULL */
    uint32_t spawner_rank;
    uint32_t session;
    int universe_size; /* -1: as many as tasks */
    const struct hub_app *apps;
    uint32_t napps;
    const char *map_by, *rank_by, *bind_to; /* or NULL */
};

#endif

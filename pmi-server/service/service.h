/*
 * hub - what a program as a whole does for its PMIx hosts: what concerns tasks of several nodes, or of
 * several jobs.
 *
 * There is one for a program, where the messages of all its hosts come together. A host (pmix/host.h)
 * asks, by a message of its own, and is answered, at once or when others have asked too; the hub may
 * also order something of a host. It knows nothing of openpmix, and nothing of links: whoever owns
 * it carries its messages. Messages come from other machines: what is malformed is refused.
 */
#ifndef PMI_SERVER_SERVICE_SERVICE_H
#define PMI_SERVER_SERVICE_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/taskmap/taskmap.h"
#include "base/error.h"

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

struct hub;

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

struct hub_ops {
    /* To the host of this node; pmix_host_told() there. A node without a host hears nothing. */
    void (*tell)(void *arg, uint32_t node, const void *bytes, size_t len);
    void (*facts)(void *arg, struct hub_facts *facts); /* or NULL: nothing is known */
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

struct hub *hub_new(const struct hub_ops *ops, void *arg); /* ops and arg are borrowed */
void hub_free(struct hub *hub);

void hub_add(struct hub *hub, const struct hub_job *job); /* its name is no other's */
void hub_remove(struct hub *hub, const char *name);       /* all its tasks are over */
/* A task is over before its job is; who waits for it is told. */
void hub_ended(struct hub *hub, const char *name, uint32_t rank);
/* These nodes, and with them their tasks, and so the program; the others' hosts hear of it. */
void hub_lost(struct hub *hub, const struct idset *nodes);

/* A task of that job wrote something: hosts whose tools want it are told. One that is behind by
 * HUB_WINDOW bytes loses what comes, and is told how much. */
void hub_output(struct hub *hub, const char *job, uint32_t rank, enum hub_channel channel,
                const void *bytes, size_t len);
bool hub_is_pulled(const struct hub *hub); /* else nothing comes of it */

/* A host's message, of this node. -1 with a sentence: it is malformed, and its sender is broken. */
int hub_take(struct hub *hub, uint32_t node, const void *bytes, size_t len, struct error *err);

#endif

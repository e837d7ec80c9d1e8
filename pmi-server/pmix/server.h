/*
 * server - the host side of openpmix for the tasks of one node (PMIx Standard 4, chapter "Server-
 * Specific Interfaces").
 *
 * openpmix is opened at run time, and only by who calls pmix_server_new(): a program without PMIx
 * pays nothing. It has a thread of its own, whose upcalls are copied and queued here; `wake` is
 * called from that thread (and from no other place), and the owner then calls pmix_server_run()
 * from its loop: every other op is called from there, or from inside the function that caused it.
 *
 * Hosts of a program's nodes know each other by node number. What they say to each other is bytes:
 * the owner carries them, as an exchange (everybody's bytes to everybody) or as a post (to one
 * node).
 *
 * What else an owner calls is declared by subject: namespace.h, task_exit.h, task_death.h, fence.h,
 * spawn.h, direct_modex_request.h, tools.h and iof.h. None of these needs openpmix's headers; what
 * the files of the server know of each other is in headers called _private.
 */
#ifndef PMI_SERVER_PMIX_SERVER_H
#define PMI_SERVER_PMIX_SERVER_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "affinity/taskmap/taskmap.h"
#include "base/error.h"
#include "pmi-server/protocol/namespace.h"
#include "pmi-server/protocol/spawn_request.h"
#include "pmi-server/protocol/task_states.h"

#define PMIX_SERVER_ROUND (1ull << 61) /* in the id of every round that a host exchanges */

/* Bytes of an event's infos, what is larger stays on its node; and tasks that one of them names to
 * do something to. */
#define PMIX_SERVER_EVENT_MAX (1u << 20)
#define PMIX_SERVER_EVENTS_MAX (32u << 20) /* bytes of all that are on their way to the service */
#define PMIX_SERVER_TARGETS_MAX 65536u

struct pmix_host;
struct pmix_job; /* a namespace: the tasks of one group */

struct pmix_control { /* what a task wants done to tasks of this node; borrowed */
    enum control_action action;
    uint32_t number;           /* CONTROL_SIGNAL: which; CONTROL_ABORT: the exit status */
    const struct idset *ranks; /* of the job */
    const char *job;           /* whose task wants it */
    uint32_t rank;
};

struct pmix_server_config {
    const char
        *program; /* a name that no other program on this host has; the server's own namespace */
    const char *hostname;      /* of this node, as in the jobs' hosts */
    uint32_t node;             /* the server's rank */
    const char *tmpdir;        /* private to this host; the owner makes and removes it */
    hwloc_topology_t topology; /* borrowed for good, as openpmix is; never discovered again */
    bool quiet;                /* what openpmix says about itself on stderr goes nowhere */
};

struct pmix_server_ops {
    void (*wake)(void *arg); /* from another thread: pmix_server_run() has something to do */
    /* This node enters a round of `nnodes` nodes of the job, 0: of all; pmix_namespace_exchanged()
     * gives the concatenation of what all said. `id` has PMIX_SERVER_ROUND; the same on all
     * nodes. */
    void (*exchange)(void *arg, struct pmix_job *job, uint64_t id, uint32_t nnodes,
                     const void *bytes, size_t len);
    /* To the host of this node of the job (a node id of its map); pmix_namespace_posted() there. */
    void (*post)(void *arg, struct pmix_job *job, uint32_t node, const void *bytes, size_t len);
    /* To the program's service (service/service.h): pmi_service_take() there, which says something
     * to pmix_server_told(). */
    void (*ask)(void *arg, const void *bytes, size_t len);
    /* The host's directory is needed: a first task has connected. 0, or -1 with errno. In
     * openpmix's thread. */
    int (*make_directory)(void *arg);
    /* A task asked for the end of the program. */
    void (*abort)(void *arg, struct pmix_job *job, uint32_t rank, int status, const char *message);
    /* There is no doubt any more of the state of a task that pmix_namespace_ended() was told of. */
    void (*settled)(void *arg, struct pmix_job *job, uint32_t local_rank);
    /* Text for people, whole lines, of a task. */
    void (*log)(void *arg, struct pmix_job *job, uint32_t rank, bool error, const char *text);
    /* The job hangs: `waiting`, of this node, waits in a fence for `missing`, which has ended. Once
     * in a job's life. */
    void (*stuck)(void *arg, struct pmix_job *job, uint32_t missing, uint32_t waiting);
    /* A task of this node wants tasks started, as one new job; `spawn` is borrowed. Its infos are
     * the owner's words (host, wdir ...), and openpmix's for what has none.
     * pmix_namespace_spawned() once that is done, or is not. */
    void (*spawn)(void *arg, struct pmix_job *job, uint32_t rank, uint64_t token,
                  const struct spawn_request *spawn);
    /* Bytes that a tool pushes to a local task's stdin, perhaps the last. false: it does not read
     * what tools push. */
    bool (*input)(void *arg, struct pmix_job *job, uint32_t rank, const void *bytes, size_t len,
                  bool end);
    bool (*input_lags)(void *arg); /* some task is behind: pmix_server_settle_input() follows */
    /* The tool that was expected has come, and has a namespace. */
    void (*tool_came)(void *arg, uint32_t number);
    /* A task wants this done to tasks of the job. */
    void (*control)(void *arg, struct pmix_job *job, const struct pmix_control *control);
};

/* Opens openpmix and starts the server, which takes some ms, in a thread of its own. It reads the
 * environment, which is changed for it, and stays so: nobody changes that from here on.
 * pmix_server_finish() is called in any case. The config is borrowed until then, ops and arg as
 * long as the host. */
struct pmix_host_start *pmix_server_begin(const struct pmix_server_config *config,
                                          const struct pmix_server_ops *ops, void *arg);
/* Waits for it. NULL with a sentence: there is no openpmix here, or it fails. */
struct pmix_host *pmix_server_finish(struct pmix_host_start *start, struct error *err);
/* Both. */
struct pmix_host *pmix_server_new(const struct pmix_server_config *config,
                                  const struct pmix_server_ops *ops, void *arg, struct error *err);
/* One that is begun before there is a program, quiet; the config's node is its rank alone. It has no
 * owner, and asks for nothing, until it is given to one, once. */
struct pmix_host *pmix_server_new_ahead(const struct pmix_server_config *config, struct error *err);
void pmix_server_give(struct pmix_host *host, uint32_t node, const struct pmix_server_ops *ops,
                      void *arg);
/* Its jobs are freed before. Gives up, and leaves everything as it is, after `patience` seconds. */
void pmix_server_free(struct pmix_host *host, double patience);
void pmix_server_run(struct pmix_host *host);
/* Seconds until pmix_server_run() has something to do even without a wake: a request of another
 * node that is to be given up. -1: nothing. Ask after each function here. */
double pmix_server_deadline(const struct pmix_host *host);
/* Open openpmix, if it is there: what begins in this process, or in those forked later, takes
 * less. */
void pmix_server_warm(void);
/* A process that forks others, which have its environment, and no threads: the first before it
 * forks, the second between forks. Once a server has begun in some process below, the second does
 * more than pmix_server_warm(), so that the next ones begin sooner, and returns true. Before that
 * nothing is done, which makes all processes larger. */
void pmix_server_watch_forks(void);
bool pmix_server_warm_for_forks(void);
/* "4.2.2" of the library that is there. Static. NULL with a sentence: there is none that this host
 * knows. */
const char *pmix_server_version(struct error *err);

/* The program's service said something to this node. -1 with a sentence: it is malformed. */
int pmix_server_told(struct pmix_host *host, const void *bytes, size_t len, struct error *err);

#endif

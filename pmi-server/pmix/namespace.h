/*
 * namespace - a namespace (the tasks of one group) that has tasks on this node: for owners of a
 * server.
 */
#ifndef PMI_SERVER_PMIX_NAMESPACE_H
#define PMI_SERVER_PMIX_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "affinity/taskmap/taskmap.h"
#include "base/error.h"
#include "pmi-server/protocol/namespace.h"
#include "pmi-server/protocol/task_states.h"

struct pmix_host;
struct pmix_job;

struct pmix_local { /* a task of this node */
    uint32_t rank, app;
    const struct idset *cpus; /* OS indexes that it is bound to; NULL: it is not bound */
};

struct pmix_namespace_config { /* all borrowed during the call */
    const char *name;          /* the namespace; at most 255 bytes */
    const char *spawner;       /* the namespace of who spawned it, or NULL */
    uint32_t spawner_rank;
    uint32_t session;
    int universe_size;               /* -1: as many as tasks */
    const struct taskmap *map;       /* ranks on nodes; every node has a task */
    const char *const *hosts;        /* [nnodes of the map] */
    uint32_t node;                   /* this one's id in the map */
    const struct pmix_local *locals; /* by local rank */
    uint32_t nlocals;
    const struct namespace_app *apps;
    uint32_t napps;
    const char *map_by, *rank_by, *bind_to; /* or NULL */
    const char *tmpdir;   /* of the job on this node, in the host's: made when a task connects */
    const char *topology; /* of this node, as an hwloc XML export; NULL: tasks discover it */
    bool oversubscribed;  /* this node */
    bool goes_on;         /* the program does when tasks fail */
};

/* Registered here, with its local tasks. NULL with a sentence. */
struct pmix_job *pmix_namespace_new(struct pmix_host *host,
                                    const struct pmix_namespace_config *config, void *owner_data,
                                    struct error *err);
void pmix_namespace_free(struct pmix_job *job); /* deregistered; requests that wait are dropped */
void *pmix_namespace_data(const struct pmix_job *job);
/* What a local task's environment needs, NAME=VALUE, NULL-terminated; the job's, until it is
 * freed. */
char *const *pmix_namespace_environment(struct pmix_job *job, uint32_t local_rank);
/* PMI_SILENT: never connected. */
enum pmi_state pmix_namespace_state(const struct pmix_job *job, uint32_t local_rank);

#endif

/*
 * namespace_private - a namespace with tasks on this node, and these tasks: owners see namespace.h.
 */
#ifndef PMI_SERVER_PMIX_NAMESPACE_PRIVATE_H
#define PMI_SERVER_PMIX_NAMESPACE_PRIVATE_H

#include <stdatomic.h>

#include "pmi-server/pmix/context.h"

struct client { /* a task of this node */
    uint32_t rank;
    struct pmix_job *job;
    _Atomic int state; /* enum pmi_state; openpmix's thread sets it */
    bool watched;      /* fence.c: openpmix will tell when it commits */
    bool watched_again;
    bool committed;
    bool gone;               /* its process */
    atomic_bool dead;        /* it ended badly, and the program goes on: task_death.c */
    atomic_uint connections; /* whose end openpmix has not read; client_connections.c counts up */
    double held;             /* openpmix's thread: since when it does not; 0: it need not yet */
    char **environment;
};

struct pmix_job {
    struct pmix_job *next;
    struct pmix_host *host;
    void *data;
    pmix_nspace_t name;
    uint32_t session;
    struct taskmap *map;
    uint32_t node;
    char *tmpdir;
    bool goes_on;           /* the program does when tasks fail */
    atomic_bool connected;  /* some task is, or was; openpmix's thread sets it */
    struct client *clients; /* by local rank */
    uint32_t nclients;
    char **psets; /* that were defined, NULL-terminated */
    /* Each feature's own. */
    struct fences *fences; /* fence.c */
    struct wanted *wanted; /* direct_modex_serve.c: by other nodes, of tasks of this one */
};

struct pmix_job *namespace_find(const struct pmix_host *host, const char *name); /* or NULL */
struct client *namespace_client(const struct pmix_job *job, uint32_t rank); /* NULL: elsewhere */
pmix_proc_t namespace_proc(const struct pmix_job *job, uint32_t rank);

#endif

/*
 * context - what the features of one openpmix server share. What is a feature's own is opaque here.
 */
#ifndef PMI_SERVER_PMIX_CONTEXT_H
#define PMI_SERVER_PMIX_CONTEXT_H

#include "pmi-server/pmix/library.h"
#include "pmi-server/pmix/server.h"
#include "pmi-server/protocol/pending_requests.h"

/* What a feature has to do with the server's turns and with its namespaces; server.c has them all.
 * NULL: nothing. */
struct pmix_feature {
    const char *name;
    void (*run)(struct pmix_host *host); /* each turn: what is due */
    double (*deadline)(
        const struct pmix_host *host); /* by pending_requests_clock(); 0: nothing will be due */
    void (*namespace_comes)(struct pmix_job *job);  /* before openpmix is told of it */
    void (*namespace_leaves)(struct pmix_job *job); /* its owner frees it */
    void (*namespace_left)(struct pmix_job *job);   /* openpmix has let go of it */
    void (*tools_changed)(struct pmix_host *host, unsigned count); /* so many are connected now */
};

struct pmix_host {
    const struct pmix_library *library;
    const struct pmix_server_ops *ops;
    void *arg;
    pthread_mutex_t owner_lock;          /* openpmix's thread holds it while it calls an op */
    bool owner_left;                     /* no op may be called (pmix_server_free()), or not yet */
    const struct pmix_feature *features; /* the last has no name */
    uint32_t node;
    uint32_t rank; /* its own */
    char *hostname;
    char *tmpdir;
    char *program;
    pmix_topology_t topology;          /* openpmix keeps a pointer to it */
    struct pending_requests *requests; /* of the service, of other nodes, and of the owner */
    /* Each feature's own. */
    struct pmix_job *jobs;            /* namespace.h */
    struct pmix_job *leaving;         /* openpmix has yet to say that it let go of them */
    struct exit_check *exit_checks;   /* task_exit.c */
    struct task_death *deaths;        /* task_death.c: that the service has yet to hear of */
    struct remote_namespace *remotes; /* remote_namespace.c */
    struct collective *groups;        /* group_connect.c: that are being constructed */
    struct tools *tools;              /* tools.c; NULL: none may connect */
    struct iof *iof;                  /* iof.c */
};

#endif

/*
 * inside - what the parts of a host know of each other; owners see host.h.
 */
#ifndef PMI_SERVER_PMIX_INSIDE_H
#define PMI_SERVER_PMIX_INSIDE_H

#include <stdatomic.h>

#include "pmi-server/pmix/host.h"
#include "pmi-server/pmix/library.h"
#include "pmi-server/pmix/queue.h"

struct pmix_host {
    const struct pmix_library *library;
    const struct pmix_host_ops *ops;
    void *arg;
    uint32_t node;
    char *hostname;
    pmix_topology_t topology; /* openpmix keeps a pointer to it */
    struct pmix_job *jobs;
    struct pmix_job *leaving; /* openpmix has yet to say that it let go of them */
    uint64_t tokens;          /* that requests of other nodes were given */
};

struct client {
    _Atomic int state; /* enum pmi_state; openpmix's thread sets it */
    char **environment;
};

struct pmix_job {
    struct pmix_job *next;
    struct pmix_host *host;
    void *data;
    pmix_nspace_t name;
    struct taskmap *map;
    uint32_t node;
    struct client *clients; /* by local rank */
    uint32_t nclients;
    struct fence *fences;          /* entered, not complete */
    struct fence_group *groups;    /* whose fences are not of all */
    uint64_t fenced;               /* fences of all that were entered */
    struct modex_request *modexes; /* that other nodes were asked for */
};

struct pmix_job *host_job(const struct pmix_host *host, const char *name);

/* All in the owner's thread; openpmix's calls, which upcalls.c queued. */
void fence_entered(struct pmix_host *host, struct event *event);
void fences_free(struct pmix_job *job);
void modex_asked(struct pmix_host *host, struct event *event);
void modexes_free(struct pmix_job *job);
void modexes_expire(struct pmix_host *host);
double modexes_deadline(const struct pmix_host *host); /* seconds from now, or -1 */

/* The table that openpmix calls. */
extern pmix_server_module_t pmix_upcalls;

#endif

/*
 * context - what the features of the program's service share. What is a feature's own is opaque
 * here.
 */
#ifndef PMI_SERVER_SERVICE_CONTEXT_H
#define PMI_SERVER_SERVICE_CONTEXT_H

#include "pmi-server/service/service.h"

struct job;
struct requester;

/* What a feature has to do when something happens to the program; service.c has them all, in the
 * order in which they are told. NULL: nothing. */
struct service_feature {
    const char *name;
    void (*open)(struct pmi_service *service);
    void (*close)(struct pmi_service *service);
    /* Nobody waits any more for what was asked there. */
    void (*forget)(struct pmi_service *service, const struct requester *asked);
    void (*task_ended)(struct pmi_service *service, const struct job *job, uint32_t rank);
    void (*nodes_lost)(struct pmi_service *service, const struct idset *nodes);
    void (*job_removed)(struct pmi_service *service,
                        const struct job *job); /* it is not found any more */
};

struct pmi_service {
    const struct pmi_service_ops *ops;
    void *arg;
    const struct service_feature *features; /* the last has no name */
    struct job *jobs;                       /* namespaces.h */
    struct bond *bonds;
    struct name_store *name_store;
    struct lookups *lookups; /* publish_lookup.c */
    struct collectives *collectives;
    struct direct_modexes *direct_modexes;
    struct queries *queries;
    struct iof *iof;
};

#endif

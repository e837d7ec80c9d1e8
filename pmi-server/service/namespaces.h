/*
 * namespaces - the namespaces (jobs) of the program: where their tasks are, who has ended, who is
 * connected, and which nodes were told of them.
 */
#ifndef PMI_SERVER_SERVICE_NAMESPACES_H
#define PMI_SERVER_SERVICE_NAMESPACES_H

#include "affinity/taskmap/taskmap.h"
#include "pmi-server/service/context.h"
#include "pmi-server/service/outbox.h"

struct job { /* a struct namespace_facts that is kept */
    struct job *next;
    char *name;
    struct taskmap *map;
    uint32_t *node;         /* [map->nnodes] */
    struct buf description; /* as nodes are told; empty: none */
    struct idset *told;     /* nodes that were */
    struct idset *ended;    /* ranks */
};

void namespaces_add(struct pmi_service *service, const struct namespace_facts *from);
struct job *namespaces_find(const struct pmi_service *service, const char *name); /* or NULL */
/* Out of the list, and the caller's. NULL: there is none. */
struct job *namespaces_take(struct pmi_service *service, const char *name);
void namespaces_free_job(struct job *job);
/* A task is over before its job is: who waits for it is told. */
void namespaces_task_ended(struct pmi_service *service, struct job *job, uint32_t rank);

/* The program's node where a rank is; UINT32_MAX: there is no such rank. */
uint32_t namespaces_node(const struct job *job, uint32_t rank);
/* Nodes of a job are added to a set. */
void namespaces_add_nodes(struct idset *nodes, const struct job *job);

/* Who is connected, and hears of the other's deaths: a job and who spawned it, and those that say
 * so. Counted: one untie for each tie. */
void namespaces_tie(struct pmi_service *service, const struct job *one, const struct job *other);
void namespaces_untie(struct pmi_service *service, const struct job *one, const struct job *other);
bool namespaces_tied(const struct pmi_service *service, const struct job *one,
                     const struct job *other);
void namespaces_untie_all(struct pmi_service *service, const struct job *job);

/* A node asks about some; -1: malformed. */
int namespaces_take_describe(struct pmi_service *service, const struct requester *asked,
                             struct message_up *talk);

/* struct service_feature: nodes that were told of it are. */
void namespaces_tell_removed(struct pmi_service *service, const struct job *job);

#endif

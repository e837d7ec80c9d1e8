/*
 * resources_private - what resources are made of. Private to resources.c, resources_free.c and
 * resources_ahead.c.
 */
#ifndef LAUNCHER_INSTANCE_RESOURCES_PRIVATE_H
#define LAUNCHER_INSTANCE_RESOURCES_PRIVATE_H

#include "affinity/sets/host_index.h"
#include "launcher/instance/enclosing_resources.h"
#include "launcher/instance/resources.h"

struct resources {
    const struct spec *spec;
    struct host_table *hosts;
    bool keeps_hosts;    /* they are of resources_take_ahead(), and not freed */
    char **descriptions; /* by host: its --topology; NULL: none has one */
    struct instance *instance;
    struct ledger_entry *entry;
    struct enclosing_resources outer;
    struct rset *held;             /* what others hold, or keep in line: not for this run */
    struct host_index *held_index; /* of its nodes */
    size_t held_cores, held_gpus;  /* of these, what running programs hold */
    bool is_trial;                 /* the next two stand for `held` and its index */
    const struct rset *trial_held; /* NULL: nothing is */
    struct host_index *trial_index;
    /* By host: what R gives less what others hold. NULL: they hold nothing there, or R says nothing of
     * it. The list is NULL where others have never held anything. */
    struct idset **free;
    bool any_less; /* some of these are not NULL */
    struct rset *on;
    char *limits_source;
    bool wants_gpus;
    bool gpus_hidden;
    double claimed; /* s of the monotonic clock, when resources_claim() last succeeded */
};

/* resources_ahead.c: all nodes of the enclosing program as they were read ahead, once in a process.
 * Their host table becomes the run's; both belong to the process. NULL: they were not read, or the
 * run is to use others, or a part of them. */
struct node_list *resources_take_ahead(struct resources *resources);

#endif

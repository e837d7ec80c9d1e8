/*
 * spawn_plan - where tasks that are spawned may run: on cores that the program holds and none of
 * its tasks uses; else also on what is free in the instance; else on all of these and beside tasks
 * of the program itself, never of another. Tasks that share cores are bound to all cores that the
 * program has on their node then, unless the user says to what.
 */
#ifndef LAUNCHER_PLAN_SPAWN_PLAN_H
#define LAUNCHER_PLAN_SPAWN_PLAN_H

#include "affinity/sets/hostlist.h"
#include "launcher/instance/resources.h"
#include "launcher/plan/plan.h"

struct spawn_request {             /* all is borrowed */
    const struct spec *spec;       /* of the tasks */
    struct hostlist *const *hosts; /* by part, those that may be used; NULL: all */
    struct resources *resources;
    /* What the program has at this time: */
    const struct rset *held; /* what was claimed for it, and what its tasks use */
    const struct rset *used; /* what its tasks use */
    const uint32_t *tasks;   /* [hosts] how many there are on each */
};

enum spawn_pool {                /* where they were placed, the best first */
                  SPAWN_ON_IDLE, /* on what the program holds and does not use */
                  SPAWN_ON_FREE, /* on what nobody holds, too */
                  SPAWN_SHARED,  /* on cores with other tasks of the program */
                  SPAWN_CROWDED  /* more tasks than cores, on cores without others */
};

/* Nothing is claimed. Caller frees; NULL with a sentence. */
struct plan *spawn_plan_make(const struct spawn_request *request, enum spawn_pool *pool,
                             struct error *err);

/* Cores that no task uses, and no other program: of hosts that have no agent as far as that is
 * known. Caller frees; NULL: it cannot be told. */
struct rset *spawn_plan_unused(const struct spawn_request *request);
bool spawn_plan_host_named(const struct node *node,
                           const struct hostlist *hosts); /* NULL names all */

#endif

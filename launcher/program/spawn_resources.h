/*
 * spawn_resources - where tasks that are spawned may run: on cores that the program holds and none of
 * its tasks uses; else also on what is free in the instance; else on all of these and beside tasks of
 * the program itself, never of another. Tasks that share cores are bound to all cores that the program
 * has on their node then, unless the user says to what.
 */
#ifndef LAUNCHER_PROGRAM_SPAWN_RESOURCES_H
#define LAUNCHER_PROGRAM_SPAWN_RESOURCES_H

#include "affinity/sets/hostlist.h"
#include "launcher/instance/agents.h"
#include "launcher/instance/resources.h"
#include "launcher/program/task_group.h"

struct spawn_base {          /* what a spawn draws from; all borrowed */
    const struct spec *spec; /* the program's */
    struct resources *resources;
    struct host_table *hosts;
    struct agents *agents;
    struct task_groups *groups;
};

struct spawn_resources;

/* For tasks of this spec; `hosts` by part, that may be used (NULL: all). All is borrowed. Nothing is
 * claimed. NULL with a sentence. */
struct spawn_resources *spawn_resources_find(const struct spawn_base *base, const struct spec *spec,
                                             struct hostlist *const *hosts, struct error *err);
void spawn_resources_free(struct spawn_resources *found); /* NULL is fine */

/* Layout and candidates of such a plan, borrowed. */
void spawn_resources_fill(const struct spawn_resources *found, struct task_group_plan *plan);
/* With other tasks of the program. */
bool spawn_resources_is_shared(const struct spawn_resources *found);
/* More tasks than cores, on what was free. */
bool spawn_resources_is_crowded(const struct spawn_resources *found);

/* Cores that no task uses, and no other program: of hosts that have no agent as far as that is
 * known. Caller frees; NULL: it cannot be told. */
struct rset *spawn_resources_unused(const struct spawn_base *base);
bool spawn_resources_host_named(const struct node *node,
                                const struct hostlist *hosts); /* NULL names all */

#endif

/*
 * spawn - groups that a task asks for: started (group_start.h), and answered for when every task of
 * them has been executed, or one has not.
 *
 * Until then ends of tasks are kept. Where a task cannot be started the whole group is given up,
 * and how its other tasks end is of no interest.
 */
#ifndef LAUNCHER_PROGRAM_SPAWN_H
#define LAUNCHER_PROGRAM_SPAWN_H

#include "launcher/instance/agents.h"
#include "launcher/program/group_start.h"
#include "launcher/program/program_claim.h"
#include "launcher/program/stage_sender.h"
#include "launcher/program/task_group.h"
#include "launcher/program/task_requests.h"

struct spawns; /* of one program: those that were not answered, or have failed and are not over */

struct spawns_ops {
    bool (*is_ending)(void *owner); /* then nothing is spawned any more */
    struct task_group *(*launch)(void *owner, const struct task_group_source *from);
    /* All tasks of the group were started; one of them ended like this meanwhile. */
    void (*ended)(void *owner, const struct task_group *group, uint64_t time, uint32_t node,
                  const json_t *value);
    void (*note)(void *owner, const char *text);
    void (*say)(void *owner, const char *text); /* with -v */
};

struct spawn_base {          /* what a spawn draws from; all borrowed */
    const struct spec *spec; /* the program's */
    struct resources *resources;
    struct agents *agents;
    struct task_groups *groups;
    struct group_starts *starts;
    struct program_claim *claim;
    struct tree *tree;
    struct stage_sender *stage;
};

/* The base is copied; all else is borrowed. */
struct spawns *spawns_new(const struct spawn_base *base, const struct spawns_ops *ops, void *owner);
void spawns_free(struct spawns *spawns); /* NULL is fine; nobody is answered */

/* A task asks for tasks. What the request points to is taken. */
void spawn_take(struct spawns *spawns, struct task_request *request,
                const struct requester *requester);

/* Groups may be NULL, and of a spawn or not; `spawns` may be NULL: there are none yet. */
bool spawn_is_of(const struct spawns *spawns, const struct task_group *group);
bool spawn_has_failed(const struct spawns *spawns, const struct task_group *group);
/* How a task ended, by the agent's JSON: true where that is kept, or of no interest. */
bool spawn_holds_end(struct spawns *spawns, const struct task_group *group, uint64_t time,
                     uint32_t node, const json_t *value);
/* These of the program's ranks cannot be started. */
void spawn_refuse(struct spawns *spawns, struct task_group *group, int status, const char *text,
                  const struct idset *ranks);
/* No task of it is started, as was said by spawn_refuse(). */
void spawn_give_up(struct spawns *spawns, struct task_group *group);
/* FRAME_STARTED of a node. */
void spawn_node_started(struct spawns *spawns, struct task_group *group, uint32_t node,
                        const json_t *value);
void spawn_forget(struct spawns *spawns, const struct task_group *group); /* it is over */

#endif

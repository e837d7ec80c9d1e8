/* The end of a program's tasks, and of the patience with agents that do not report it. */
#include "launcher/program/program_termination.h"

#include <stdlib.h>

#include "base/mem.h"

#define END_PATIENCE                                                                               \
    6.0 /* s that an agent may need beyond the grace to say that it is done: 3 of them it waits for  \
           what SIGKILL does not end */

struct program_termination {
    struct ev_loop *loop;
    struct tree *tree;
    struct task_groups *groups;
    const struct program_termination_ops *ops;
    void *owner;
    ev_timer patience; /* after TERMINATE: who does not answer is given up */
};

static void program_termination_give_up(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct program_termination *termination = timer->data;
    struct idset *pending = task_groups_pending(termination->groups);
    (void)loop;
    (void)events;
    termination->ops->silent(termination->owner, pending);
    idset_free(pending);
}

void program_termination_start(struct program_termination *termination, double grace)
{
    struct frame frame = {.type = FRAME_TERMINATE, .rank = frame_grace(grace), .group = FRAME_ALL};
    tree_send(termination->tree, &frame);
    ev_timer_stop(termination->loop, &termination->patience);
    if (frame.rank == FRAME_ALL)
        return;
    ev_timer_set(&termination->patience, grace + END_PATIENCE, 0);
    ev_timer_start(termination->loop, &termination->patience);
}

void program_termination_stop(struct program_termination *termination)
{
    ev_timer_stop(termination->loop, &termination->patience);
}

struct program_termination *program_termination_new(struct ev_loop *loop, struct tree *tree,
                                                    struct task_groups *groups,
                                                    const struct program_termination_ops *ops,
                                                    void *owner)
{
    struct program_termination *termination = mem_alloc(sizeof(*termination));
    *termination = (struct program_termination){
        .loop = loop, .tree = tree, .groups = groups, .ops = ops, .owner = owner};
    ev_timer_init(&termination->patience, program_termination_give_up, 0, 0);
    termination->patience.data = termination;
    return termination;
}

void program_termination_free(struct program_termination *termination)
{
    if (!termination)
        return;
    program_termination_stop(termination);
    free(termination);
}

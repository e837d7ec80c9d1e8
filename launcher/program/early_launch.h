/*
 * early_launch - the launch of a program on one host, sent before the host's agent has answered.
 *
 * What the instance remembers of a host is nearly always what its agent finds. So plan and claim are
 * made while the agent is on its way, and the launch goes behind its welcome. The agent takes it
 * where its hello says nothing new (hello_is_as_known()), and else drops it. From the hello both
 * sides know whether the launch counts; where it does not, its claim is given back, and the program
 * is planned again.
 *
 * Only where one host has ever been asked, so that nothing but the hello of that one decides. Only
 * for an agent that is forked by this process, or by an agent of its instance or one that is kept: it
 * is of this version, and soon there. Not where something is to be shown first, nor while the program
 * stands in line.
 *
 * Such an agent may end its link behind FRAME_DONE: the program has to end its tree in the turn in
 * which it reads that.
 *
 * An agent that finds its link ended drops the launch as well. One whose node was cut off behind the
 * launch cannot know: it runs its tasks until it finds its parent silent, as any agent does that is
 * cut off.
 */
#ifndef LAUNCHER_PROGRAM_EARLY_LAUNCH_H
#define LAUNCHER_PROGRAM_EARLY_LAUNCH_H

#include "launcher/instance/agents.h"
#include "launcher/instance/resources.h"
#include "launcher/plan/first_plan.h"
#include "launcher/tree/tree.h"

struct early_launch; /* of a program's first tasks */

struct early_launch_ops {
    /* The launch by this plan, which is claimed, to its only node, by tree_send_early(). The plan is
     * there until forget(), or else as long as the program. */
    void (*send)(void *owner, const struct plan *plan);
    void (*forget)(void *owner); /* it does not count */
};

/* All is borrowed. */
struct early_launch *early_launch_new(struct tree *tree, struct resources *resources,
                                      struct agents *agents, struct first_plan *first_plan,
                                      const struct early_launch_ops *ops, void *owner);
void early_launch_free(struct early_launch *early); /* NULL is fine */

/* The agents have been started. Sends the launch if it can; if not, nothing changes, and the reason
 * shows when the program is planned later. NULL: it cannot. */
void early_launch_try(struct early_launch *early);
/* The agents have answered. The plan of the launch that counts, already claimed; caller frees. NULL:
 * no launch was sent, or it does not count. */
struct plan *early_launch_take(struct early_launch *early);

#endif

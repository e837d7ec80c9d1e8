/*
 * local_descendants - processes on a manager's machine that no agent of its program ends.
 *
 * They are the managers of programs in its program, which is an instance, and the agents of these
 * here: they have their own time to end, also where an agent was lost. And what that agent left
 * behind, and what an agent could not end: the manager adopted both, and they have no time.
 */
#ifndef LAUNCHER_MANAGER_LOCAL_DESCENDANTS_H
#define LAUNCHER_MANAGER_LOCAL_DESCENDANTS_H

#include <ev.h>
#include <stdbool.h>

#include "launcher/process/cgroup.h"
#include "launcher/process/scratch_directory.h"
#include "launcher/tree/tree.h"

struct local_descendants;

struct local_descendants_config { /* all is borrowed */
    struct ev_loop *loop;
    struct tree *tree;       /* its agents are not meant */
    struct scratch *scratch; /* of the agent here; as is the next */
    struct cgroup *cgroup;
    /* Once after local_descendants_wait(), perhaps from inside it. */
    void (*ended)(void *owner);
    /* Once after local_descendants_end(), likewise. The sentence names what stays (taken over).
     * NULL: nothing stays, or the user was told already. */
    void (*gone)(void *owner, char *survivors);
    void *owner;
};

/* In a process that called descendants_adopt(). */
struct local_descendants *local_descendants_new(const struct local_descendants_config *config);
void local_descendants_free(struct local_descendants *descendants); /* NULL is fine */

/* An agent ended before it was told to; `here`: that of this machine. True: it is the first. */
bool local_descendants_agent_lost(struct local_descendants *descendants, bool here);
/* SIGKILL of an agent did not end all: the user was told so, and nobody waits for them. */
void local_descendants_unkillable(struct local_descendants *descendants);

/* The front ends of programs in this one are gone: wait for the end of these programs, and of
 * their epilogs, but not for ever. */
void local_descendants_wait(struct local_descendants *descendants);
/* All agents are gone: end whoever is left, and remove what agents made on this machine. */
void local_descendants_end(struct local_descendants *descendants);

#endif

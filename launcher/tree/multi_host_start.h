/*
 * multi_host_start - one command that starts the agents of several children of this process: in a
 * Slurm job one srun for all of them. Private to the tree.
 *
 * The agents connect back (connect_back.h). What the command says on its output and stderr explains
 * those that do not come, and is passed on as notes once there is nobody left to explain. When it
 * ends while agents are up, they are lost: what started them takes them along, or has ended because
 * they have.
 *
 * The command ignores SIGTERM, which a batch system sends to all processes of a job. It is asked to
 * end (SIGHUP) when none of its agents is left, and killed where that is no use. It is killed when
 * this process dies: Slurm's srun ends the agents without any grace on SIGTERM, but leaves them
 * alone when it is killed, and they see their links close.
 */
#ifndef LAUNCHER_TREE_MULTI_HOST_START_H
#define LAUNCHER_TREE_MULTI_HOST_START_H

#include <sys/types.h>

#include "launcher/tree/child.h"

struct multi_host_start;

struct multi_host_start_owner {
    struct ev_loop *loop;
    const struct bootstrap *boot;
    void *arg;
    void (*note)(void *arg, const char *text);
    void (*gone)(void *arg); /* its process; once */
};

struct multi_host_start *multi_host_start_new(const struct multi_host_start_owner *owner);
void multi_host_start_free(struct multi_host_start *start); /* NULL is fine; kills */

/* Before the run. The child is borrowed, and stays until the end. */
void multi_host_start_add(struct multi_host_start *start, struct child *child);
/* Start the command; what goes wrong is told from the loop. */
void multi_host_start_run(struct multi_host_start *start);
/* A child came up, or is gone. */
void multi_host_start_check(struct multi_host_start *start);
/* The command has so many seconds to end by itself. */
void multi_host_start_end(struct multi_host_start *start, double patience);

pid_t multi_host_start_pid(const struct multi_host_start *start); /* 0: there is none */
/* In a forked child: closes this copy of the descriptors. */
void multi_host_start_disown(struct multi_host_start *start);

#endif

/*
 * local_hooks - the prolog and the epilog of a program on this node: when they are run, and what is
 * told of it.
 *
 * The prolog is run when the manager says so, before any task. From then on the epilog is owed: it
 * is run when the manager says so, or once the program's tasks have ended without it; and where the
 * agent itself is killed, by who cleans up after it (local_hooks_run_owed()). It is begun once.
 */
#ifndef LAUNCHER_AGENT_LOCAL_HOOKS_H
#define LAUNCHER_AGENT_LOCAL_HOOKS_H

#include <ev.h>
#include <stdbool.h>
#include <sys/types.h>

#include "launcher/agent/downlink.h"
#include "launcher/agent/local_stage.h"
#include "launcher/agent/uplink.h"
#include "launcher/process/scratch_directory.h"

struct local_hooks;

struct local_hooks_config { /* all borrowed */
    struct ev_loop *loop;
    struct uplink *uplink;
    struct downlink *downlink;
    struct local_stage *stage;
    struct scratch *scratch;
    bool is_instance; /* programs in it end before its epilog; */
    pid_t manager;    /* some may be below this one, which is on this machine; 0: it is elsewhere */
};

struct local_hooks *local_hooks_new(const struct local_hooks_config *config);
void local_hooks_free(struct local_hooks *hooks); /* NULL is fine */
/* A FRAME_HOOK, for this node. */
void local_hooks_take(struct local_hooks *hooks, const struct frame *frame);
/* This process has ended: true where it was one of these. */
bool local_hooks_reaped(struct local_hooks *hooks, pid_t pid);
/* The parent is gone, and no task is left: what is owed is run. False until all of it has ended. */
bool local_hooks_end(struct local_hooks *hooks);

/* In a process that outlives an agent, once nothing of its program is left here: the epilog that it
 * still owes. Takes as long as that. */
void local_hooks_run_owed(struct scratch *scratch);

/* How long an agent on this machine may go on in which its program's parent is gone: `grace` s, and
 * the time that its epilog and those of programs in it may take where there are any. */
double hooks_grace(const struct scratch *scratch, double grace);

#endif

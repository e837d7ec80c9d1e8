/*
 * internal - the process of a program: who watches it, and who hands it frames. Private to the manager.
 *
 *   manager.c       the process
 *   agent_frames.c  what the tree of agents hands on, and the end of the process
 *   viewer.c        the front end, as the manager sees it: what it is shown
 *   viewer_orders.c what it orders
 */
#ifndef LAUNCHER_MANAGER_INTERNAL_H
#define LAUNCHER_MANAGER_INTERNAL_H

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

#include "launcher/instance/host_lines.h"
#include "launcher/manager/manager.h"
#include "launcher/program/program.h"
#include "launcher/tree/link.h"
#include "launcher/tree/tree.h"

struct viewer {        /* one that watches the program */
    struct link *link; /* NULL once it is gone */
    size_t input_owed; /* bulk bytes of stdin from it that have not gone down */
    struct host_lines
        *notes; /* of hosts, that are held back for a moment: others may say the same */
    ev_timer notes_due;
};

struct manager {
    struct ev_loop *loop;
    struct spec *spec;
    struct viewer viewer;
    struct program *program;
    struct tree *tree;
    struct local_topology *local;
    struct host_bootstrap *bootstrap;
    struct cgroup *cgroup; /* of the agent of this machine, as is the next */
    struct scratch *scratch;
    bool survivors;  /* SIGKILL did not end all: it is said, and nobody waits for them */
    bool agent_lost; /* one ended before it was told to: what it left may be on this machine */
    bool finished;
};

/* viewer.c: without a viewer nothing is sent. */
extern const struct program_ops viewer_program_ops; /* what the program shows */
void viewer_note(struct manager *manager, const char *text);
/* A line that begins with a host's name: hosts that say the same within a moment share one. */
void viewer_host_note(struct manager *manager, const char *text);
void viewer_tell_end(struct manager *manager);
/* It may send more stdin once every link that stdin goes down has room. */
void viewer_settle_input(struct manager *manager);
void viewer_close(struct manager *manager);

/* agent_frames.c and viewer_orders.c: what comes from the agents, and from the front end */
extern const struct tree_ops agent_frames_ops;
extern const struct link_ops viewer_orders_ops;

#endif

/*
 * internal - what a manager knows, and its rooms. Private to the manager.
 *
 *   manager.c  its process
 *   viewer_orders.c   what the front end orders
 *   agent_frames.c  what agents report
 *   frame_check.c whether it can be (frame_check.h)
 *   program_start.c   from hosts that are there to a program that runs
 *   program_termination.c   the end
 *   viewer.c   the front end, as the manager sees it
 *
 * Each calls those below it and none above.
 */
#ifndef LAUNCHER_MANAGER_INTERNAL_H
#define LAUNCHER_MANAGER_INTERNAL_H

#include <ev.h>
#include <stdarg.h>
#include <stdbool.h>

#include "affinity/layout/layout.h"
#include "affinity/resource/rset.h"
#include "launcher/instance/agents.h"
#include "launcher/instance/allocation_queue.h"
#include "launcher/instance/host_lines.h"
#include "launcher/instance/lock_retry.h"
#include "launcher/instance/resources.h"
#include "launcher/ledger/ledger.h"
#include "launcher/manager/manager.h"
#include "launcher/plan/display.h"
#include "launcher/plan/plan.h"
#include "launcher/program/fence.h"
#include "launcher/program/graceful_stop.h"
#include "launcher/program/no_pmi.h"
#include "launcher/program/outcome.h"
#include "launcher/program/program_service.h"
#include "launcher/program/spawn_waiting.h"
#include "launcher/program/task_group.h"
#include "launcher/program/task_requests.h"
#include "launcher/program/time_limit.h"
#include "launcher/source/node_list.h"
#include "launcher/tree/link.h"
#include "launcher/tree/tree.h"

enum phase { PHASE_GATHER, PHASE_RUN, PHASE_END };

struct manager {
    struct ev_loop *loop;
    struct spec *spec;
    struct link *front; /* NULL once it is gone */
    enum phase phase;

    struct resources *resources;
    struct host_table *hosts; /* of the resources; number of a host = node of the tree */
    struct agents *agents;
    struct local_topology *local;
    struct host_bootstrap *bootstrap;
    struct lock_retry *lock;
    struct allocation_queue *queue;
    struct host_choice *choice;
    struct shape_allocation *shapes; /* NULL: no part has a shape */
    struct plan *plan;
    struct display *display;
    struct host_lines
        *notes; /* of hosts, that are held back for a moment: others may say the same */
    ev_timer notes_due;

    struct tree *tree;
    struct cgroup *cgroup; /* of the agent of this machine, as is the next */
    struct scratch *scratch;

    struct task_groups *groups;  /* that are not over */
    struct program_claim *claim; /* NULL, as the next two: there are no resources yet */
    struct spawns *spawns;
    struct spawn_waiting *spawn_waiting;
    struct task_requests *requests;
    struct program_service *service;
    struct outcome *outcome;
    struct no_pmi *no_pmi;
    struct idset *input_nodes; /* of the tree: where stdin is read */
    size_t input_owed;         /* bulk bytes of stdin that have not gone down */
    bool survivors;            /* SIGKILL did not end all: it is said, and nobody waits for them */
    bool agent_lost; /* one ended before it was told to: what it left may be on this machine */
    bool terminating;
    bool finished;
    struct time_limit *limit;   /* NULL: it does not run yet */
    struct graceful_stop *stop; /* NULL: it does not run yet */
    ev_timer patience;          /* after TERMINATE: who does not answer is given up */
};

/* viewer.c: the front end, as the manager sees it. Without one nothing is sent. */
void viewer_show(struct manager *manager, const char *text, bool error);
/* With -v: what is being done, as a line on stderr. */
void viewer_say(struct manager *manager, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void viewer_say_args(struct manager *manager, const char *fmt, va_list args);
void viewer_note(struct manager *manager, const char *text); /* in any case */
/* A line that begins with a host's name: hosts that say the same within a moment share one. */
void viewer_host_note(struct manager *manager, const char *text);
void viewer_host_note_now(struct manager *manager); /* what is held back */
void viewer_tell_end(struct manager *manager);
/* It may send more stdin once every link that stdin goes down has room. */
void viewer_settle_input(struct manager *manager);

/* program_termination.c */
void termination_open(struct manager *manager);
void termination_start_limit(struct manager *manager);
void termination_terminate(struct manager *manager, double grace);
/* Some node is done with a group, or lost: what is over, and is it the end? */
void termination_check(struct manager *manager);
void termination_end(struct manager *manager);
/* Nothing can run: say why, and end. */
void termination_refuse(struct manager *manager, const struct error *err);

/* program_start.c */
extern const struct task_groups_ops program_groups_ops;
extern const struct program_service_ops program_pmi_ops;
extern const struct task_requests_ops program_requests_ops;
struct task_group *program_start_group(struct manager *manager, const struct task_group_plan *plan);
void program_start_begin(struct manager *manager);
void program_start_settled(struct manager *manager); /* some host is up, or has failed */

/* agent_frames.c */
/* Ranks of a group (NULL: it is over) ended badly, by an agent's JSON. */
void agent_frames_ended(struct manager *manager, const struct task_group *group, uint64_t time,
                        uint32_t node, const json_t *value);

/* agent_frames.c and viewer_orders.c: what comes from the agents, and from the front end */
extern const struct tree_ops agent_frames_ops;
extern const struct agents_ops agent_frames_agents_ops;
extern const struct link_ops viewer_orders_ops;

#endif

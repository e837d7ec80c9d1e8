/*
 * internal - what a manager knows, and its rooms. Private to the manager.
 *
 *   manager.c  its process
 *   viewer_orders.c   what the front end orders
 *   agent_frames.c  what agents report
 *   frame_check.c whether it can be (frame_check.h)
 *   program_start.c   from hosts that are there to a program that runs
 *   task_requests.c    what tasks ask, and the answers
 *   spawn_waiting.c   what they ask for, until the hosts for it are up
 *   spawn.c   groups that tasks ask for
 *   spawn_hosts.c  hosts that have no agent yet, and may be needed for these
 *   spawn_resources.c     where their tasks may run
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
#include "launcher/program/task_group.h"
#include "launcher/program/time_limit.h"
#include "launcher/protocol/task_request.h"
#include "launcher/source/node_list.h"
#include "launcher/tree/link.h"
#include "launcher/tree/tree.h"

enum phase { PHASE_GATHER, PHASE_RUN, PHASE_END };

struct requester { /* the task that waits for an answer */
    uint32_t node, group;
    uint32_t number; /* of its question */
    uint32_t rank;   /* in its group */
    bool aloud;      /* a refusal is shown in any case */
};

struct spawn_resources { /* for tasks that are added */
    struct manager *manager;
    const struct spec *spec;
    struct hostlist *const
        *hosts;          /* by part, that may be used; NULL: all. Borrowed, like the spec */
    struct idset **only; /* by part, of the candidates; NULL: all */
    struct layout_node *candidates;
    uint32_t *candidate_host;
    uint32_t ncandidates;
    struct rset *cores; /* of the candidates */
    struct layout *layout;
    bool shared;  /* with other tasks of the program */
    bool crowded; /* more of them than cores, on what was free */
};

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
    ev_timer give_back; /* until that is tried again */

    struct tree *tree;
    struct cgroup *cgroup; /* of the agent of this machine, as is the next */
    struct scratch *scratch;

    struct task_groups *groups; /* that are not over */
    struct spawn *spawns;       /* whose tasks have not all been started, or never will be */
    struct parked *parked;      /* questions that wait for hosts */
    struct program_service *service;
    bool names_full; /* which was told */
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

/* task_requests.c */
/* With what was read of them, as the next two (frame_check.h). */
void task_requests_take(struct manager *manager, const struct frame *frame, const json_t *value);
void task_requests_refused(struct manager *manager, const struct requester *asker,
                           const char *why); /* shown */
void task_requests_answer(struct manager *manager, const struct requester *asker,
                          const struct task_answer *answer);

/* spawn_waiting.c */
void spawn_waiting_take(struct manager *manager, const struct task_request *ask,
                        const struct requester *asker);
void spawn_waiting_settled(struct manager *manager); /* some host is up, or has failed */
void spawn_waiting_close(struct manager *manager);

/* spawn.c */
/* Begin to add a group; its answer follows: 0. 1: it has to wait for hosts, which are in *woken
 * now, and is tried again with them; or with a sentence for the instance's lock (lock_is_busy). -1
 * with a sentence: that is the answer. */
int spawn_begin(struct manager *manager, const struct task_request *ask,
                const struct requester *asker, struct idset *woken, struct error *err);
/* Not all tasks of the group have been started, or some never will be. */
bool spawn_is_of(const struct manager *manager, const struct task_group *group);
/* Tasks of it were not started, and it was given up: how the others end is of no interest. */
bool spawn_has_failed(const struct manager *manager, const struct task_group *group);
/* How tasks of a group (or NULL) ended, by the agent's JSON: true where that is kept until all are started. */
bool spawn_holds(struct manager *manager, const struct task_group *group, uint64_t time,
                 uint32_t node, const json_t *value);
/* These of the program's ranks cannot be started, and so none of the group: it is given up once all
 * its nodes have said so. */
void spawn_refuse(struct manager *manager, struct task_group *group, int status, const char *text,
                  const struct idset *ranks);
void spawn_give_up(struct manager *manager, struct task_group *group);
void spawn_started(struct manager *manager, struct task_group *group, uint32_t node,
                   const json_t *value);
void spawn_forget(struct manager *manager, const struct task_group *group); /* it is over */
void spawn_close(struct manager *manager);

/* spawn_hosts.c: hosts that are the run's and have no agent yet */
/* Start agents on those that tasks like these are likely to need, and add them to *woken, which has
 * those that were tried for them already. False where there are none. */
bool spawn_hosts_wake(struct manager *manager, const struct spec *spec,
                      struct hostlist *const *hosts, struct idset *woken);
/* Where some of these failed, that is why there is no room. */
void spawn_hosts_explain(const struct manager *manager, const struct idset *woken,
                         struct error *err);

/* spawn_resources.c */
bool spawn_resources_host_up(const struct manager *manager,
                             size_t index); /* tasks may be added to it */
bool spawn_resources_host_named(const struct node *node,
                                const struct hostlist *hosts); /* NULL names all */
/* Cores that no task uses, and no other program: of hosts that have no agent as far as that is
 * known. Caller frees; NULL: it cannot be told. */
struct rset *spawn_resources_unused(const struct manager *manager);
/* NULL with a sentence. Nothing is claimed yet. */
struct spawn_resources *spawn_resources_find(struct manager *manager, const struct spec *spec,
                                             struct hostlist *const *hosts, struct error *err);
void spawn_resources_free(struct spawn_resources *room);
/* Hold this as well. As entry_claim(). */
int spawn_resources_claim(struct manager *manager, const struct rset *more, struct error *err);
/* A group that used this is over. Where the instance's lock is another's, it is tried again. */
void spawn_resources_give_back(struct manager *manager, const struct rset *less);

/* program_start.c */
extern const struct task_groups_ops program_groups_ops;
extern const struct program_service_ops program_pmi_ops;
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

/*
 * internal - what a manager knows, and its rooms. Private to the manager.
 *
 *   manager.c  its process
 *   viewer_orders.c   what the front end orders
 *   agent_frames.c  what agents report
 *   frame_check.c whether it can be (frame_check.h)
 *   program_start.c   from hosts that are there to a program that runs
 *   display_binding.c  what runs, as the kernel has it
 *   plan.c    layout, claim, what is shown, the launch
 *   shape_allocation.c    what is allocated by shape, and who runs in which slot
 *   resources_free.c    what hosts have for this run
 *   allocation_queue.c    the wait for what others hold
 *   lock_retry.c     the instance's lock, while another process has it
 *   resources.c   nodes, instance, what is free there
 *   enclosing_resources.c the program that this run is a task of
 *   placement_hosts.c    hosts that rank files and task maps name
 *   task_requests.c    what tasks ask, and the answers
 *   spawn_waiting.c   what they ask for, until the hosts for it are up
 *   spawn.c   groups that tasks ask for
 *   spawn_hosts.c  hosts that have no agent yet, and may be needed for these
 *   spawn_resources.c     where their tasks may run
 *   program_termination.c   the end
 *   start_progress.c how a slow start goes on
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
#include "affinity/layout/readback.h"
#include "affinity/resource/rset.h"
#include "launcher/instance/agents.h"
#include "launcher/instance/host_lines.h"
#include "launcher/ledger/ledger.h"
#include "launcher/manager/manager.h"
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

    struct node_list *nodes;
    struct host_table *hosts;
    struct agents *agents;
    struct local_topology *local;
    struct host_bootstrap *way;
    struct idset *
        *free_cores; /* by host: what R gives less what others hold; NULL: R does not say */
    bool *wanted;    /* by host: has something free, and is likely to be needed */
    bool *spare;     /* has something free: started if those wanted do not suffice */
    struct host_lines
        *notes; /* of hosts, that are held back for a moment: others may say the same */
    ev_timer notes_due;
    ev_timer progress;
    size_t waiting_told; /* hosts that were awaited when the front end last heard of it */
    char **descriptions; /* of --topology, beside the nodes */

    struct instance *instance;
    const char *enclosing;      /* programs that this run is a task of (idset), or NULL */
    struct rset *enclosing_set; /* what the innermost of them holds: the most that there is */
    char *enclosing_name;       /* for messages */
    char *family; /* id of this instance and, after a colon, of the outermost; NULL: they are one */
    struct ledger_entry *entry;
    struct rset *held;            /* what others hold, or stand in line for: not for this run */
    size_t held_cores, held_gpus; /* of these, what running programs hold */
    struct rset *on;              /* --on: all of it is claimed; NULL: not given */
    struct queue *queue;          /* NULL: it does not wait */
    ev_timer busy;                /* until the instance's lock is tried again */
    double busy_since;            /* another process has it, in s of the epoch; 0: it has not */
    bool busy_told;
    void (*busy_again)(struct manager *);
    ev_timer give_back; /* until that is tried again */
    bool wishing;       /* placing as if nothing were held */

    struct tree *tree;
    struct cgroup *cgroup; /* of the agent of this machine, as is the next */
    struct scratch *scratch;

    struct rankfile **rankfiles; /* by part; NULL where it has none */
    char *slots_where;           /* what set the nodes' limits; NULL: a host file */
    bool named;                  /* every part says which hosts it uses */

    struct grant *grant; /* NULL: no part has a shape */

    struct layout_node *candidates;
    uint32_t *candidate_host; /* [ncandidates] index into nodes->list */
    uint32_t ncandidates;
    struct layout_part *parts;
    struct layout_request request;
    struct layout *layout;
    struct found *found; /* what --display bind shows of a run; NULL: nobody asked */
    struct rset *claim;
    bool gpus_hidden; /* this machine has GPUs that our own environment hides */

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

/* start_progress.c */
void progress_begin(struct manager *manager); /* hosts are being waited for */

/* program_termination.c */
void termination_open(struct manager *manager);
void termination_start_limit(struct manager *manager);
void termination_terminate(struct manager *manager, double grace);
/* Some node is done with a group, or lost: what is over, and is it the end? */
void termination_check(struct manager *manager);
void termination_end(struct manager *manager);
/* Nothing can run: say why, and end. */
void termination_refuse(struct manager *manager, const struct error *err);

/* resources.c */
#define RESOURCES_PATIENCE 0.2 /* s for the instance's lock */
int resources_open(struct manager *manager, struct error *err);
/* The program in the ledger, unless there is one: resources_open() leaves it out where another process
 * has the lock. */
int resources_enter(struct manager *manager, struct error *err);
/* What others hold may have changed: read it again, and what each node has left. */
int resources_read_unheld(struct manager *manager, struct error *err);
void resources_share(struct manager *manager); /* what each node has left of what is not held */
bool resources_fills(const struct spec *spec); /* a node, before tasks go to the next one */
void resources_want(struct manager *manager);  /* the hosts that are likely to be needed */
/* Want the spare hosts too. False when there are none. */
bool resources_want_spare(struct manager *manager);
/* Of those that failed none is needed if the others suffice: no option says which hosts tasks are
 * on, and their agents were not reached. */
bool resources_can_spare(const struct manager *manager);
void resources_close(struct manager *manager);

/* lock_retry.c */
bool lock_is_busy(const struct manager *manager); /* the last call wanted it in vain */
/* What is called next wants it for a moment only, for the loop has to go on. */
void lock_be_patient(struct manager *manager);
/* It was busy, as err says: again() is called in a moment. 1, or -1 when that has gone on too long. */
int lock_wait(struct manager *manager, void (*again)(struct manager *), struct error *err);
void lock_had(struct manager *manager); /* it was not busy any more */

/* enclosing_resources.c */
int enclosing_open(struct manager *manager, struct error *err); /* its instance, if there is one */
void enclosing_close(struct manager *manager);

/* allocation_queue.c: what cannot be placed now, for the reason in err, waits; retry() is called when there
 * may be more, and calls this again where that was not so. -1 with a sentence: it does not wait,
 * being told so, or because it could never be placed. */
int allocation_queue_wait(struct manager *manager, void (*retry)(struct manager *),
                          struct error *err);
void allocation_queue_leave(struct manager *manager); /* also where it is not in it */
char *
allocation_queue_describe(const struct manager *manager); /* what it waits for; caller frees */

/* placement_hosts.c */
int placement_hosts_open(struct manager *manager, struct error *err); /* once the nodes are known */
/* Where every part says which hosts it uses, want those and no others; false where not. */
bool placement_hosts_want(struct manager *manager);
void placement_hosts_close(struct manager *manager);

/* resources_free.c: what a host has; sets that the caller frees. Of GPUs those that tprun may give out, NULL
 * where there are none. */
struct idset *resources_cores(const struct manager *manager, size_t index);
int resources_gpus(struct manager *manager, size_t index, struct idset **gpus, struct error *err);
const struct rset_node *resources_held(const struct manager *manager, size_t index); /* by others */
/* All that the hosts whose topology is known have, free or not, as an R that says where it is. */
struct rset *resources_R(struct manager *manager, struct error *err);
struct ranked { /* nodes in order of their rank in R */
    uint32_t rank;
    size_t index; /* of what is ranked */
};
int ranked_compare(const void *a, const void *b); /* of two struct ranked */

/* resources_free.c: the same sets, of what the run may use now. */
struct idset *resources_free_cores(const struct manager *manager, size_t index);
int resources_free_gpus(struct manager *manager, size_t index, struct idset **gpus,
                        struct error *err);

/* shape_allocation.c: nothing to do, and nothing there, where no part has a shape. */
int shape_allocation_open(struct manager *manager, struct error *err);
/* What R tells enough for is taken now, and only its hosts are wanted; else all are. */
int shape_allocation_early(struct manager *manager, struct error *err);
/* What the shapes ask for is allocated and claimed, if it was not before. */
int shape_allocation_take(struct manager *manager, struct error *err);
struct rset *shape_allocation_wish(struct manager *manager, bool *known,
                                   struct error *err);                /* plan_wish() */
const struct rset *shape_allocation_R(const struct manager *manager); /* or NULL */
const struct rset_node *shape_allocation_node(const struct manager *manager,
                                              size_t index); /* of a host */
int shape_allocation_fill_parts(struct manager *manager,
                                struct error *err); /* once there are candidates */
void shape_allocation_close(struct manager *manager);

/* plan.c */
int plan_map(struct manager *manager, struct error *err); /* layout made, and claimed if it runs */
/* What it would claim were nothing held; caller frees. NULL with the reason why not; *known is
 * false where that cannot be told, some host's hardware not being known. */
struct rset *plan_wish(struct manager *manager, bool *known, struct error *err);
int plan_show(struct manager *manager, struct error *err); /* what is planned; and --draw */
void plan_show_found(struct manager *manager);             /* what runs */
void plan_launch(struct manager *manager);
void plan_close(struct manager *manager);

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

/* display_binding.c */
void display_binding_open(struct manager *manager);
void display_binding_take(struct manager *manager, const struct frame *frame, const json_t *value);

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

/*
 * internal - what an agent knows, and its rooms. Private to the agent.
 *
 *   agent.c       life: frames from above and below
 *   task_termination.c      exits, TERM and KILL, the proof that nothing is left
 *   task_start.c       a group's start, in turns
 *   task_launch.c       a task on its way: descriptors, variables, exec
 *   start_failures.c    tasks that did not start
 *   spawn_and_names.c      what tasks ask of their program
 *   task_cgroup.c     the cgroup that tasks are started in
 *   cpu_quota.c       whether tasks have more cores than a cgroup grants processor time
 *   host_register.c    which processors of this host are bound to, for runs of other instances
 *   task_streams.c     what tasks write and read
 *   pmi_socket.c  PMI and the exchange
 *   pmix*.c       PMIx: the host of openpmix, and its jobs (pmix_host_private.h)
 *   retained_job.c       where these belong
 *   local_group.c       what PMIx is told of this node's tasks
 *   pmix_tool_proxy.c       PMIx tools that connect; pmix_tool_proxy.c is one of them (pmix_tool_proxy.h)
 *   task_signals.c     what tasks are sent
 *   local_group.c       groups: added, found, freed
 *
 * Each calls those below it and none above. Whatever happens in a turn of the loop, at its end
 * agent.c looks whether that was the end.
 */
#ifndef LAUNCHER_AGENT_INTERNAL_H
#define LAUNCHER_AGENT_INTERNAL_H

#include <ev.h>
#include <stdbool.h>
#include <sys/types.h>

#include "affinity/topology/topo.h"
#include "launcher/agent/agent.h"
#include "launcher/agent/downlink.h"
#include "launcher/agent/exit_report.h"
#include "launcher/agent/uplink.h"
#include "launcher/process/exec.h"
#include "launcher/process/process_set.h"
#include "launcher/protocol/launch.h"
#include "launcher/stdio/line_buffer.h"
#include "pmi-server/exchange/exchange.h"
#include "pmi-server/pmi/kvs.h"
#include "pmi-server/pmi/server.h"
#include "pmi-server/pmix/server.h"

struct agent;
struct group;
struct task;
struct task_start;
struct pmix_room;
struct pmix_post;
struct tools;
struct topology_file;

struct stream { /* a task's stdout or stderr */
    struct task *task;
    int fd;         /* -1: closed */
    uint16_t flag;  /* 0 or FRAME_STDERR */
    bool open_line; /* what was sent last ended inside a line */
    bool inside;    /* what was read last did */
    ev_io io;
    struct line_buffer lines;
    double patience; /* s that an unfinished line waits for its end */
    double heard;    /* when some of it came last */
    ev_timer idle;   /* runs while one waits, unless that is for ever */
};

struct task {
    struct group *group;
    const struct launch_task *what;
    pid_t pid;         /* 0: not started, or reaped */
    int status;        /* as of waitpid, once it has ended */
    uint64_t ended_at; /* as clock_monotonic_ns() counts */
    bool started;
    bool ended;
    bool drained;  /* all that it wrote has been read */
    bool victim;   /* ended after it was told to */
    bool doubtful; /* ended, but openpmix may not have seen all that it said */
    bool unwanted; /* a task of the program wants it to end, which is no failure */
    bool mourned;  /* it ended badly, and the program goes on */
    char *aborter; /* who wants it to end, which is one; NULL: nobody */
    int aborted;   /* with this exit status */
    ev_timer killer;
    struct stream streams[2];
    bool reads; /* stdin, and has not closed it */
    int input;  /* the pipe for it; -1: not started yet, or nothing more to come */
    bool input_ended;
    struct buf input_bytes;
    ev_io input_io;
    int pmi;      /* our end of its PMI socket, -1: none */
    bool strange; /* another user has written to it, for whom nothing is started */
    struct pmi_client *client;
    ev_io pmi_reader, pmi_writer;
};

enum group_phase {
    GROUP_WAITING,  /* another one is being started */
    GROUP_PREPARED, /* it could be started here: it is when all its nodes have said so */
    GROUP_STARTING,
    GROUP_RUNNING, /* what could be started was */
    GROUP_OVER     /* its tasks here are; those below need not be */
};

/* Tasks that are started together: the launch, or what some task spawned. */
struct group {
    struct agent *agent;
    struct group *next; /* younger */
    uint32_t number;
    enum group_phase phase;
    struct launch *launch;    /* NULL if it was malformed */
    struct task_start *start; /* while it starts */
    struct task *tasks;
    uint32_t ntasks;
    uint32_t older; /* tasks of groups that were added before, also of those that are gone */
    uint32_t live, undrained;
    struct idset *nodes; /* below this one, that take part */
    struct idset *below; /* those of them that have not reported their end */

    struct kvs *kvs;
    char *spawner; /* name of the key-value space of who spawned it; NULL: nobody */
    struct pmi_server *pmi;
    struct exchange *exchange;
    uint32_t ndoubtful;
    struct pmix_job *pmix;   /* NULL: no PMIx is offered to it here */
    struct pmix_post *posts; /* that wait for it to be started */
    bool pmix_missing_told;  /* some rank enters no PMIx fence from this number on */
    uint32_t pmix_missing;
    uint64_t pmix_missing_from;
    bool missing_told; /* that some rank here will enter no barrier from number `missing` on */
    uint64_t missing;

    struct asking *asking; /* questions that are not answered yet */
    uint32_t asked;        /* how many there ever were */

    bool wanted;      /* all its nodes can start it */
    bool unbound;     /* as mapped; a cgroup may keep its tasks all the same */
    bool terminating; /* it alone: it could not be started as a whole */
    int owed;         /* a signal that came while it was being started, for who is started later */
    double heard;     /* when a task last wrote or ended */
    struct exit_report *report;
};

struct agent {
    struct ev_loop *loop;
    const struct agent_config *config;
    struct uplink *uplink;
    struct downlink *downlink;
    ev_io guard_io;
    ev_child reaper;
    ev_prepare settle; /* the end of a turn */
    char *host;
    struct topo *topo;
    struct hwloc_topology *machine; /* NULL: not kept */
    struct bootstrap boot;
    bool called;          /* it was told to connect to its parent */
    struct error failure; /* why it could not */
    struct group *groups; /* that have not reported their end, the oldest first */
    uint32_t next_group;  /* the next one has this number or a higher one */
    uint32_t ntasks;      /* that all groups ever had here */
    struct idset
        *confined;      /* OS processors that the cgroup keeps tasks to; NULL: nothing is kept */
    bool caged;         /* there was an attempt at making the cgroup */
    uint64_t oom_kills; /* of the kernel there, for lack of memory, that are accounted for */
    bool quota_told;    /* that tasks have more cores than processor time */
    struct instance *register_instance; /* NULL: nothing is written down */
    struct ledger_entry *register_entry;
    struct idset *registered;            /* what is written down */
    struct neighbours *neighbours;       /* who cannot read the register; NULL: they are not told */
    struct pmix_room *pmix;              /* NULL: nobody was offered PMIx yet */
    struct topology_file *topology_file; /* NULL: nobody has asked for one yet */
    bool stalled;                        /* output waits for credit */
    size_t input_owed;
    struct idset *input_nodes; /* of the tree: where stdin is read */

    bool terminating;
    bool sweeping; /* only because of what tasks left behind */
    ev_timer linger;
    ev_timer killer;
    double kill_at;
    uint32_t kills; /* rounds of SIGKILL */
    bool given_up;  /* what outlives SIGKILL is not waited for any more */
    struct process_set heard_term;
    bool counting;    /* tasks were told to end: the manager hears how many are left */
    uint32_t counted; /* what it heard last */
    ev_timer recount;
};

/* Of the program; what->rank is the group's. */
static inline uint32_t task_rank(const struct task *task)
{
    return task->group->launch->first_rank + task->what->rank;
}

/* local_group.c */
struct group *group_add(struct agent *agent, const struct frame *frame, struct error *err);
struct group *group_find(const struct agent *agent, uint32_t number); /* NULL: there is none */
/* To the agents below that take part in it. */
void group_send(struct group *group, const struct frame *frame);
/* These nodes below have ended, or are lost. */
void group_without(struct group *group, const struct idset *nodes);
void group_free(struct group *group); /* and take it out of the agent's */

/* task_start.c: goes on from the loop until the group's phase is GROUP_RUNNING. */
/* Start the oldest group that waits, unless one is being started or what others left is swept. */
void start_next(struct agent *agent);
void start_take_go(struct agent *agent, const struct frame *frame); /* all nodes can */
void start_abandon(struct agent *agent); /* what is prepared and not wanted any more */
void start_refuse(struct group *group, const struct error *err); /* it cannot be started at all */
/* This process has ended: if it was on its way, it counts as started now, or as failed. */
void start_settle(struct agent *agent, pid_t pid);
void start_free(struct group *group);
/* Processes that have not executed their program yet, into pids[START_WAY_MAX]; how many. */
#define START_WAY_MAX 8
size_t start_on_way(const struct agent *agent, pid_t *pids);

/* host_register.c */
void host_register_open(struct group *group);   /* its tasks run */
void host_register_close(struct group *group);  /* they have ended */
void host_register_remove(struct agent *agent); /* nothing is bound any more */

/* cpu_quota.c */
void quota_tell(struct group *group); /* its tasks run; said once */

/* task_cgroup.c: where no cgroup can be made all goes on without */
void task_cgroup_open(struct group *group);   /* before its first task */
void task_cgroup_close(struct group *group);  /* its tasks have ended */
void task_cgroup_remove(struct agent *agent); /* nothing lives in it any more */
/* How the kernel killed a task, or what it waited for, for lack of memory; NULL: it did not. Once
 * for each that was killed. Caller frees. */
char *task_cgroup_killed(const struct task *task);
/* exec_begin(), in the cgroup if there is one. */
void task_cgroup_begin(struct task *task, struct exec_process *child, struct exec *spawn);

/* task_streams.c */
void task_streams_open(struct task *task, int output, int error, int input);
bool task_streams_drain(struct task *task); /* true when nothing is left to read for now */
void task_streams_resume(struct agent *agent);
void task_streams_close(struct task *task);
/* Whole lines, as if the task had written them. */
void task_streams_say(struct task *task, bool error, const char *text);
void task_streams_input(struct agent *agent, const struct frame *frame);
void task_streams_input_settle(struct agent *agent);
/* Bytes of a tool, for a task that reads what tools push; false: it does not. */
bool task_streams_push(struct task *task, const void *bytes, size_t len, bool end);
bool task_streams_lag(const struct agent *agent); /* some task has yet to read much */

/* pmi_socket.c */
void pmi_socket_start(struct group *group, unsigned offered); /* a set of enum spec_pmi */
void pmi_socket_open(struct task *task, int fd);
void pmi_socket_drain(struct task *task); /* read what the task said before it ended */
void pmi_socket_gone(struct task *task);
void pmi_socket_missing(struct agent *agent, const struct frame *frame);
void pmi_socket_up(struct agent *agent, const struct frame *frame);
void pmi_socket_down(struct agent *agent, const struct frame *frame);
void pmi_socket_free(struct group *group);

/* A group's part of the exchange, from when it is known. */
void pmi_socket_join(struct group *group);
/* This node enters a round of its group; of `nnodes` nodes, 0: of all. */
void pmi_socket_exchange(struct group *group, uint64_t id, uint32_t nnodes, const void *bytes,
                         size_t len);
/* `missing` has ended, and will enter no `what` that `waiting` waits in; ranks of the group. */
void pmi_socket_stuck(struct group *group, const char *what, uint32_t missing, uint32_t waiting);
/* Other nodes have to know that the rank enters none from this number on. */
void pmi_socket_tell_missing(struct group *group, uint32_t rank, uint64_t from, uint16_t flags);
/* What a task has said of any PMI that it was offered. */
enum pmi_state pmi_socket_state(const struct task *task);

/* task_signals.c: to tasks and all that they forked, once each */
void task_signals_forward(struct agent *agent,
                          int number);            /* as it is; later to tasks on their way */
void task_signals_terminate(struct agent *agent); /* SIGTERM to who has not heard it yet */
void task_signals_kill(struct agent *agent);
char *task_signals_survivors(const struct agent *agent); /* who is there; caller frees */
void task_signals_started(struct task *task); /* it runs: what the others heard while it started */
void task_signals_kill_group(const struct group *group);
void task_signals_control(struct group *group, const struct pmix_control *control);
void task_signals_end(struct task *task); /* there is nobody to send anything to */

/* pmix_host.c: nothing is done, and nothing there, where no PMIx is offered */
/* It is likely to be, once the launch comes: the host starts meanwhile. */
void pmix_ahead(struct agent *agent);
int pmix_open(struct group *group, unsigned offered, struct error *err);
void pmix_free(struct group *group);
const char *pmix_memory(struct group *group); /* a directory for what its tasks share, or NULL */
/* No group is left, and nothing more comes for tools. False while tools have to be waited for, which
 * takes at most so many seconds. */
bool pmix_end(struct agent *agent);
double pmix_patience(const struct agent *agent);
void pmix_close(struct agent *agent);
void pmix_take(struct agent *agent, const struct frame *frame); /* a post; or pass it on */
void pmix_told(struct agent *agent, const struct frame *frame); /* by the service; or pass it on */
/* pmix_tools.c; with the first task, whose environment says where the server is. NULL with a
 * sentence. */
struct tools *pmix_tools(struct agent *agent, struct pmix_host *host,
                         const struct pmix_server_config *server, const struct launch *launch,
                         struct error *err);
void pmix_settle_input(struct agent *agent); /* tasks may have read something */
/* NAME=VALUE, borrowed; of a task that is offered this set of enum spec_pmi. */
char *const *pmix_variables(const struct task *task, unsigned offered);
enum pmi_state pmix_state(const struct task *task);
void pmix_gone(struct task *task); /* it has ended well */
void pmix_missing(struct group *group, uint32_t rank, uint64_t from);
void pmix_drain(struct group *group); /* what its tasks said before they ended */
bool pmix_ended(
    const struct task *task); /* true: what its state is task_termination_settled() is told */
void pmix_died(const struct task *task, bool goes_on); /* not as it should; the program goes on */
int pmix_exchanged(struct group *group, uint64_t id, const void *bytes, size_t len,
                   struct error *err);
char *pmix_name(const struct launch *launch, uint32_t group); /* of a job; caller frees */

/* local_group.c */
bool tasks_told(struct agent *agent, const struct frame *frame); /* was it for this? */

/* spawn_and_names.c */
void spawn_and_names_on_name(void *arg, struct pmi_request *request, enum pmi_name name,
                             const char *service, const char *port);
void spawn_and_names_on_spawn(void *arg, struct pmi_request *request,
                              const struct spawn_request *spawn);
void spawn_and_names_on_value(void *arg, struct pmi_request *request, const char *key);
void spawn_and_names_spawn_pmix(
    struct group *group, uint32_t rank, uint64_t token,
    const struct spawn_request *spawn); /* pmix_namespace_spawned() with this token */
void spawn_and_names_on_answer(struct agent *agent, const struct frame *frame); /* or pass it on */
void spawn_and_names_free(struct group *group);
char *spawn_and_names_kvsname(const struct launch *launch,
                              uint32_t group); /* of a group; caller frees */

/* task_termination.c */
void task_termination_open(struct agent *agent);
void task_termination_reaped(struct agent *agent, pid_t pid, int status);
void task_termination_settled(struct task *task); /* that ended in doubt */
void task_termination_terminate(struct agent *agent, double grace);
/* At once, and without what its tasks left behind: that belongs to the program. */
void task_termination_terminate_group(struct group *group);
/* Tasks were told to end: say how many run, and from now on how many are left. How they end is not a
 * failure that others have to end for. */
void task_termination_count_down(struct agent *agent);
void task_termination_close(struct agent *agent);
void task_termination_check(struct agent *agent); /* is everything of this subtree over? */

#endif

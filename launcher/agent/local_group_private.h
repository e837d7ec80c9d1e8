/*
 * local_group_private - a group and its tasks. Private to local_group.c, task_exit.c, task_control.c and
 * group_services.c.
 */
#ifndef LAUNCHER_AGENT_LOCAL_GROUP_PRIVATE_H
#define LAUNCHER_AGENT_LOCAL_GROUP_PRIVATE_H

#include "launcher/agent/exit_report.h"
#include "launcher/agent/group_fence.h"
#include "launcher/agent/local_group.h"
#include "launcher/agent/pmi_socket.h"
#include "launcher/agent/spawn_and_names.h"
#include "launcher/agent/task_stdin.h"
#include "launcher/task/task_start.h"
#include "pmi-server/protocol/task_states.h"

struct task {
    struct local_group *group;
    const struct launch_task *what;
    pid_t pid;         /* 0: not started, or reaped */
    int status;        /* as of waitpid, once it has ended */
    uint64_t ended_at; /* as clock_monotonic_ns() counts */
    bool started;
    bool ended;
    bool drained;              /* all that it wrote has been read */
    bool killed_by_tprun;      /* ended after it was told to */
    bool exit_unsettled;       /* ended, but openpmix may not have seen all that it said */
    bool kill_requested;       /* a task of the program wants it to end, which is no failure */
    bool failed_but_continues; /* it ended badly, and the program goes on */
    char *aborted_by;          /* who wants it to end, which is a failure; NULL: nobody */
    int abort_status;          /* with this exit status */
    ev_timer killer;
    struct task_output *output;
    struct task_stdin *input; /* NULL: it does not read stdin */
    struct pmi_socket *pmi;   /* NULL: none */
};

struct local_group {
    const struct local_services *services;
    const struct local_group_ops *ops;
    void *owner;
    uint32_t number;
    enum group_phase phase;
    struct launch *launch;    /* NULL if it was malformed */
    struct task_start *start; /* while it starts */
    struct task *tasks;
    uint32_t ntasks;
    uint32_t older; /* tasks of groups that were added before, also of those that are gone */
    uint32_t live, undrained, unsettled;
    struct idset *nodes; /* below this one, that take part */
    struct idset *below; /* those of them that have not reported their end */
    struct group_fence *fence;
    struct pmi_sockets *pmi; /* NULL: neither PMI-1 nor PMI-2 is offered here */
    struct group_pmix_job *pmix;
    struct spawn_and_names *requests;
    struct exit_report *report;
    bool wanted;          /* all its nodes can start it */
    bool unbound;         /* as mapped; a cgroup may keep its tasks all the same */
    bool terminating;     /* it alone: it could not be started as a whole */
    int owed_signal;      /* it came before they were started, for who is started later */
    double last_activity; /* when a task last wrote or ended */
};

/* Of the program; what->rank is the group's. */
static inline uint32_t task_rank(const struct task *task)
{
    return task->group->launch->first_rank + task->what->rank;
}

static inline bool group_is_ending(const struct local_group *group)
{
    return group->terminating || task_termination_is_on(group->services->termination);
}

/* group_services.c: the PMI servers, openpmix and the fence call the group */
extern const struct group_fence_ops group_fence_ops;
extern const struct pmi_sockets_ops group_pmi_ops;
extern const struct group_pmix_job_ops group_pmix_ops;

/* task_exit.c */
void task_reaped(struct task *task, int status);
void task_settled(struct task *task); /* whose exit was unsettled */
void task_give_up(struct task *task); /* it outlives SIGKILL */

struct task_info task_info_of(const struct task *task); /* for PMIx */

/* task_control.c */
/* It runs: what the others heard while it started. */
void task_started_signals(struct task *task);
/* What a task of the program wants done to tasks of the group. */
void group_control(struct local_group *group, const struct pmix_control *control);
void task_control_end(struct task *task); /* there is nobody to send anything to */

#endif

/*
 * local_task - one task on this node, from its start to its end: what it is sent, its last words,
 * whether its end was a bad one, and who hears of it.
 *
 * group_tasks owns it, and counts those that run; a task knows its group only by what they share.
 */
#ifndef LAUNCHER_AGENT_LOCAL_TASK_H
#define LAUNCHER_AGENT_LOCAL_TASK_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/agent/exit_report.h"
#include "launcher/agent/local_services.h"
#include "launcher/agent/pmi_socket.h"
#include "launcher/agent/task_stdin.h"
#include "launcher/agent/task_terminal.h"
#include "launcher/task/task_start.h"
#include "pmi-server/protocol/task_states.h"

struct local_tasks { /* what the tasks of a group share, which owns it */
    const struct local_services *services;
    struct launch *launch;
    struct exit_report *report;
    struct group_pmix_job *pmix;
    bool terminating; /* their group alone is: it could not be started as a whole */
    int owed_signal;  /* it came before they were started, for who is started later */
};

struct local_task {
    const struct local_tasks *shared;
    const struct launch_task *what;
    pid_t pid;           /* 0: not started, or reaped */
    pid_t started_pid;   /* the same, and stays */
    uint64_t started_at; /* as clock_monotonic_ns() counts */
    int status;          /* as of waitpid, once it has ended */
    uint64_t ended_at;   /* as clock_monotonic_ns() counts */
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
    struct task_stdin *input;       /* NULL: it does not read stdin */
    struct task_terminal *terminal; /* its own; NULL: none */
    struct pmi_socket *pmi;         /* NULL: none */
};

/* Of the program; what->rank is the group's. */
uint32_t local_task_rank(const struct local_task *task);
/* The tasks are to end: their group, or all of the program here. */
bool local_tasks_are_ending(const struct local_tasks *shared);

/* It runs with this process and these descriptors, which are taken; its socket is one of `pmi`.
 * What the others heard while it started it hears now. */
void local_task_started(struct local_task *task, pid_t pid, const struct task_pipes *pipes,
                        struct pmi_sockets *pmi);
/* What a task of the program wants done to it, if it runs and is meant. */
void local_task_control(struct local_task *task, const struct pmix_control *control);
/* It loses its terminal, as if somebody had closed the window: its session hears SIGHUP. */
void local_task_hang_up(const struct local_task *task);
/* It has ended with this status. */
void local_task_reaped(struct local_task *task, int status);
/* openpmix has seen all that it said. */
void local_task_settled(struct local_task *task);
void local_task_give_up(struct local_task *task);     /* it outlives SIGKILL */
void local_task_end_control(struct local_task *task); /* there is nobody to send anything to */

struct task_info local_task_info(const struct local_task *task); /* for PMIx */

#endif

/*
 * task_signals - signals for the tasks of this node and all that they forked, once for each
 * process.
 *
 * Agents below and the commands that lead to them get none. Nobody hears SIGTERM twice because
 * tprun wants an end for two reasons.
 */
#ifndef LAUNCHER_AGENT_TASK_SIGNALS_H
#define LAUNCHER_AGENT_TASK_SIGNALS_H

#include <stddef.h>
#include <sys/types.h>

#include "launcher/agent/downlink.h"
#include "launcher/process/cgroup.h"
#include "launcher/process/process_set.h"

#define TASK_SIGNALS_STARTING_MAX 8

struct task_signals;

/* starting() lists the processes of tasks that have not executed their program yet, into
 * pids[TASK_SIGNALS_STARTING_MAX], and returns how many. All are borrowed. */
struct task_signals *task_signals_new(struct downlink *downlink, struct cgroup *cgroup,
                                      size_t (*starting)(void *owner, pid_t *pids), void *owner);
void task_signals_free(struct task_signals *signals);

/* To all but those that are starting, which get it from their owner later. */
void task_signals_forward(struct task_signals *signals, int number);
void task_signals_terminate(
    struct task_signals *signals); /* SIGTERM, and SIGCONT so that it is heard */
void task_signals_kill(struct task_signals *signals);
/* To one task, with what it forked into its process group; pid 0: it has none. */
void task_signals_send(struct task_signals *signals, pid_t task, int number);
/* To these tasks, each with its process group, as their user wants it: also to who heard it
 * before. */
void task_signals_send_tasks(struct task_signals *signals, const pid_t *tasks, size_t count,
                             int number);
/* All that they would be sent to, added to the set. */
void task_signals_list(const struct task_signals *signals, struct process_set *set);
/* The same: its terminal is gone, which it hears by SIGHUP. It is not told to end by SIGTERM as
 * well. */
void task_signals_hang_up(struct task_signals *signals, pid_t task);
void task_signals_kill_groups(struct task_signals *signals, const pid_t *tasks, size_t count);
/* Who is there, by pid and name; caller frees. */
char *task_signals_survivors(const struct task_signals *signals);

#endif

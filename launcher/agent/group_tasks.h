/*
 * group_tasks - the tasks of a group on this node, as one: who of them runs, what they write and
 * read, and what openpmix wants of them.
 *
 *   group_tasks_new                          the group is known: none is started
 *   group_tasks_started                      for each that is
 *   group_tasks_reaped, group_tasks_give_up  until group_tasks_have_ended()
 *   group_tasks_close, group_tasks_free
 *
 * Each task is a local_task. Sets of ranks hold ranks of the program; NULL is all of them.
 */
#ifndef LAUNCHER_AGENT_GROUP_TASKS_H
#define LAUNCHER_AGENT_GROUP_TASKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/agent/local_task.h"
#include "launcher/protocol/inquiry.h"

struct group_tasks;

/* Those of the launch, none where that is NULL. `shared` is borrowed. `stdin_written` is called
 * when a task has taken some of what waits for it, or reads no more. */
struct group_tasks *group_tasks_new(const struct local_tasks *shared,
                                    void (*stdin_written)(void *owner), void *owner);
/* What is left of their output is sent, and they are sent nothing more: once they have ended, or
 * nobody wants to know. */
void group_tasks_close(struct group_tasks *tasks);
/* After group_tasks_close() and after the server of their PMI sockets. */
void group_tasks_free(struct group_tasks *tasks);

/* ---- processes ---- */

uint32_t group_tasks_count(const struct group_tasks *tasks);
uint32_t group_tasks_running(const struct group_tasks *tasks);
uint32_t group_tasks_not_ended(const struct group_tasks *tasks); /* they run, or are not started */
/* Processes of those that were started, by task, for started_report; caller frees. NULL: no task is
 * here. */
char *group_tasks_pids(const struct group_tasks *tasks);

/* Task `number` of launch->tasks runs: as local_task_started(). */
void group_tasks_started(struct group_tasks *tasks, uint32_t number, pid_t pid,
                         const struct task_pipes *pipes, struct pmi_sockets *pmi);
/* This process has ended with this status. True: it was one of these tasks. */
bool group_tasks_reaped(struct group_tasks *tasks, pid_t pid, int status);
void group_tasks_kill(const struct group_tasks *tasks); /* SIGKILL, but not to what they left */
/* Those that run outlive SIGKILL: they count as ended. */
void group_tasks_give_up(struct group_tasks *tasks);

/* Add those of these ranks that run, and, while the group starts, those that wait for that. */
void group_tasks_add(const struct group_tasks *tasks, const struct idset *ranks, bool starting,
                     struct inquiry_answer *answer);
struct task_info *group_tasks_states(const struct group_tasks *tasks); /* of each; caller frees */

/* ---- their end, in this order ---- */

/* Read what tasks wrote that have ended. True: none runs, and all that was read, or nobody wants
 * it. */
bool group_tasks_have_ended(struct group_tasks *tasks);
/* openpmix has seen all that they said. */
bool group_tasks_are_settled(const struct group_tasks *tasks);
/* Who they left behind may still write to their output. */
bool group_tasks_output_is_open(const struct group_tasks *tasks);
/* Read what there is. True: nothing is left for now, or nobody wants it; false: there is no room
 * for the rest at present. */
bool group_tasks_drain(struct group_tasks *tasks);

/* When one of them last wrote or ended, as of clock_monotonic_seconds(). */
double group_tasks_last_activity(const struct group_tasks *tasks);
/* Until now nobody could write: that was no silence. */
void group_tasks_output_resumed(struct group_tasks *tasks);

/* ---- stdin and terminals ---- */

bool group_tasks_reads(const struct group_tasks *tasks,
                       uint32_t number); /* as task_stdin_reads() */
/* FRAME_STDIN or FRAME_STDIN_END, for these ranks. */
void group_tasks_on_stdin(struct group_tasks *tasks, const struct frame *frame,
                          const struct idset *ranks);
/* FRAME_TERMINAL: the user's has another size, or is gone. */
void group_tasks_on_terminal(struct group_tasks *tasks, const struct frame *frame);
bool group_tasks_lag(const struct group_tasks *tasks, const struct idset *ranks);
/* Add those of these ranks whose stdin is open, and those that lag. */
void group_tasks_add_reading(struct group_tasks *tasks, const struct idset *ranks,
                             struct idset *reading, struct idset *lagging);

/* For group_services_config: what openpmix wants of them. The owner is the group_tasks. */
extern const struct group_pmix_task_ops group_tasks_pmix_ops;

#endif

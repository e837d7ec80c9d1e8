/*
 * task_stdin - bytes for a task that reads stdin. They wait here until the task takes them; the
 * owner asks how much waits before it takes more from above.
 */
#ifndef LAUNCHER_AGENT_TASK_STDIN_H
#define LAUNCHER_AGENT_TASK_STDIN_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

struct task_stdin;

/* `written` is called from the loop when the task has taken some, or wants no more. */
struct task_stdin *task_stdin_new(struct ev_loop *loop, void (*written)(void *owner), void *owner);
void task_stdin_free(struct task_stdin *input); /* NULL is fine */
/* It runs and reads from this pipe, which is closed here: write what came before. */
void task_stdin_open(struct task_stdin *input, int fd);
/* More bytes, perhaps the last. Nothing happens where the task does not read any more. */
void task_stdin_write(struct task_stdin *input, const void *bytes, size_t len, bool end);
bool task_stdin_reads(const struct task_stdin *input);   /* it has not closed it; NULL: false */
bool task_stdin_is_open(const struct task_stdin *input); /* it reads, and the end was not written */
bool task_stdin_waits(const struct task_stdin *input);   /* some is not written yet; NULL: false */
bool task_stdin_lags(const struct task_stdin *input);    /* much waits; NULL: false */
/* Whether the task has closed it is looked at now, not when more is written. NULL is fine. */
void task_stdin_look(struct task_stdin *input);
void task_stdin_close(struct task_stdin *input); /* what waits is dropped; NULL is fine */

#endif

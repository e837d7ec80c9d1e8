/*
 * task_terminal - the terminal of a task, from the side of who sits before it: its size, and the
 * end of what is typed. The bytes are those of task_stdin and task_output.
 *
 * Who has nothing more to type types the end of file (Ctrl-D, whatever key that is there): once all
 * that was typed before is read, and again each time that is read, as a file or a pipe has no end
 * after its end.
 */
#ifndef LAUNCHER_AGENT_TASK_TERMINAL_H
#define LAUNCHER_AGENT_TASK_TERMINAL_H

#include <ev.h>
#include <stdint.h>

#include "launcher/agent/task_stdin.h"

struct task_terminal;

/* Of a task that has not been started; `input` is typed on it, and borrowed. */
struct task_terminal *task_terminal_new(struct ev_loop *loop, const struct task_stdin *input);
void task_terminal_free(struct task_terminal *terminal); /* closes it; NULL is fine */
/* The task runs with it; the master is taken. */
void task_terminal_open(struct task_terminal *terminal, int master);
/* As terminal_size() has it. */
void task_terminal_resize(struct task_terminal *terminal, uint64_t size);
void task_terminal_end_input(struct task_terminal *terminal);
/* NULL is fine. */
void task_terminal_close(struct task_terminal *terminal);

#endif

/* The size of a task's terminal, and its end of file. */
#include "launcher/agent/task_terminal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/process/pseudo_terminal.h"

#define END_PERIOD 0.05 /* s between looks whether the end of file is to be typed */

struct task_terminal {
    struct ev_loop *loop;
    const struct task_stdin *input;
    int master;    /* -1: not open */
    uint64_t size; /* it has got before it was open; 0: none */
    ev_timer end;  /* runs once nothing more is typed */
};

static void task_terminal_on_end(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct task_terminal *terminal = timer->data;
    (void)loop;
    (void)events;
    if (terminal->master >= 0 && !task_stdin_waits(terminal->input) &&
        !pseudo_terminal_is_unread(terminal->master))
        pseudo_terminal_type_end(terminal->master);
}

struct task_terminal *task_terminal_new(struct ev_loop *loop, const struct task_stdin *input)
{
    struct task_terminal *terminal = mem_alloc(sizeof(*terminal));
    *terminal = (struct task_terminal){.loop = loop, .input = input, .master = -1};
    ev_timer_init(&terminal->end, task_terminal_on_end, END_PERIOD, END_PERIOD);
    terminal->end.data = terminal;
    return terminal;
}

void task_terminal_open(struct task_terminal *terminal, int master)
{
    terminal->master = master;
    if (terminal->size)
        terminal_set_size(master, terminal->size);
}

void task_terminal_resize(struct task_terminal *terminal, uint64_t size)
{
    terminal->size = size;
    if (terminal->master >= 0)
        terminal_set_size(terminal->master, size);
}

void task_terminal_end_input(struct task_terminal *terminal)
{
    ev_timer_start(terminal->loop, &terminal->end);
}

void task_terminal_close(struct task_terminal *terminal)
{
    if (!terminal)
        return;
    ev_timer_stop(terminal->loop, &terminal->end);
    if (terminal->master >= 0)
        close(terminal->master);
    terminal->master = -1;
}

void task_terminal_free(struct task_terminal *terminal)
{
    task_terminal_close(terminal);
    free(terminal);
}

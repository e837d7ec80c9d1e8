/* Keys, signals and the size of the user's terminal, for the terminal of rank 0. */
#include "launcher/frontend/user_terminal.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "launcher/process/pseudo_terminal.h"
#include "launcher/stdio/raw_terminal.h"

void user_terminal_init(struct user_terminal *terminal, const struct spec *spec,
                        const struct user_terminal_ops *ops, void *owner, struct link **manager,
                        struct output *output)
{
    *terminal = (struct user_terminal){
        .on = spec->pty, .ops = ops, .owner = owner, .manager = manager, .output = output};
    terminal->reads = terminal->on && spec->input != SPEC_INPUT_FILE && isatty(STDIN_FILENO);
}

/* ---- raw mode ---- */

static void user_terminal_enter(struct user_terminal *terminal)
{
    terminal->raw = terminal->reads && raw_terminal_enter(STDIN_FILENO);
    output_set_raw_terminal(terminal->output, terminal->raw);
}

void user_terminal_leave(struct user_terminal *terminal)
{
    if (!terminal->on)
        return;
    raw_terminal_leave();
    terminal->raw = false;
    output_set_raw_terminal(terminal->output, false);
}

/* ---- what is sent ---- */

static void send_size(const struct user_terminal *terminal)
{
    unsigned char bytes[8];
    struct frame frame = {.type = FRAME_TERMINAL, .bytes = bytes, .len = sizeof(bytes)};
    uint64_t size = 0;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && !size; fd++)
        size = terminal_size(fd);
    frame_put_u64(bytes, size);
    if (*terminal->manager && size)
        link_send(*terminal->manager, &frame);
}

void user_terminal_hang_up(struct user_terminal *terminal)
{
    if (terminal->on && !terminal->hung_up && *terminal->manager)
        link_send(*terminal->manager, &(struct frame){.type = FRAME_TERMINAL});
    terminal->hung_up = true;
}

/* ---- what happens ---- */

void user_terminal_start(struct user_terminal *terminal)
{
    if (!terminal->on)
        return;
    user_terminal_enter(terminal);
    send_size(terminal); /* it may have changed since the spec was made */
}

/* As Ctrl-Z does it, but tasks go on. The group that leads a session is not stopped: nobody could continue it. */
static void suspend(struct user_terminal *terminal)
{
    if (getsid(0) == getpgrp())
        return;
    user_terminal_leave(terminal);
    kill(0, SIGSTOP);
}

static void user_terminal_act(struct user_terminal *terminal, enum terminal_escape_action action)
{
    if (action == TERMINAL_ESCAPE_SUSPEND)
        suspend(terminal);
    else if (action == TERMINAL_ESCAPE_HELP)
        output_say(terminal->output, OUTPUT_STDERR, terminal_escape_help,
                   strlen(terminal_escape_help));
    else if (action == TERMINAL_ESCAPE_END)
        terminal->ops->end(terminal->owner);
}

bool user_terminal_read(struct user_terminal *terminal, const void *bytes, size_t len)
{
    if (!terminal->reads)
        return false;
    enum terminal_escape_action action = TERMINAL_ESCAPE_NONE;
    for (size_t at = 0, used; at < len && action != TERMINAL_ESCAPE_END; at += used) {
        struct buf out = BUF_INIT;
        action = terminal_escape_read(&terminal->escape, (const char *)bytes + at, len - at, &used,
                                      &out);
        if (out.len)
            terminal->ops->typed(terminal->owner, buf_bytes(&out), out.len);
        buf_free(&out);
        user_terminal_act(terminal, action);
    }
    return true;
}

bool user_terminal_ended(struct user_terminal *terminal)
{
    if (terminal->reads)
        user_terminal_hang_up(terminal);
    return terminal->reads;
}

bool user_terminal_signal(struct user_terminal *terminal, int number)
{
    if (!terminal->on)
        return false;
    if (number == SIGWINCH) {
        send_size(terminal);
        return true;
    }
    if (number == SIGTSTP) {
        terminal->tasks_stopped = true;
        user_terminal_leave(terminal);
    }
    if (number != SIGCONT)
        return false;
    /* A shell sends SIGCONT whenever this process comes to the foreground. So it is for the tasks only after SIGTSTP
     * has stopped them; jobs that the user has stopped inside stay stopped. */
    bool theirs = terminal->tasks_stopped;
    terminal->tasks_stopped = false;
    user_terminal_enter(terminal);
    send_size(terminal);
    return !theirs;
}

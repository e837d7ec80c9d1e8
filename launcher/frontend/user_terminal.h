/*
 * user_terminal - the user's terminal while rank 0 has one of its own (--pty): raw mode, keys for
 * tprun, size.
 *
 * Its functions do nothing in a run without --pty. Raw mode is left alone unless stdin, which is
 * typed on the task's terminal, is a terminal.
 */
#ifndef LAUNCHER_FRONTEND_USER_TERMINAL_H
#define LAUNCHER_FRONTEND_USER_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "launcher/spec/spec.h"
#include "launcher/stdio/output.h"
#include "launcher/stdio/terminal_escape.h"
#include "launcher/tree/link.h"

struct user_terminal_ops {
    void (*typed)(void *owner, const void *bytes, size_t len); /* for the program */
    void (*end)(void *owner);                                  /* "~." */
};

struct user_terminal {
    bool on; /* --pty */
    bool raw;
    bool reads;         /* stdin is a terminal, and is what is typed */
    bool hung_up;       /* the task's terminal is closed */
    bool tasks_stopped; /* they heard SIGTSTP */
    struct terminal_escape escape;
    const struct user_terminal_ops *ops;
    void *owner;
    struct link **manager; /* borrowed; NULL in it once that is gone */
    struct output *output;
};

/* All are borrowed. */
void user_terminal_init(struct user_terminal *terminal, const struct spec *spec,
                        const struct user_terminal_ops *ops, void *owner, struct link **manager,
                        struct output *output);
/* There are tasks now. */
void user_terminal_start(struct user_terminal *terminal);
/* What was read from stdin. False: it is not this one's. Last in its caller: it may end the
 * program. */
bool user_terminal_read(struct user_terminal *terminal, const void *bytes, size_t len);
/* stdin has ended. True: the terminal is gone, and the program was told. */
bool user_terminal_ended(struct user_terminal *terminal);
/* True: the tasks have nothing to do with this signal. */
bool user_terminal_signal(struct user_terminal *terminal, int number);
/* Before this process stops. */
void user_terminal_leave(struct user_terminal *terminal);
/* The task's terminal is closed. */
void user_terminal_hang_up(struct user_terminal *terminal);

#endif

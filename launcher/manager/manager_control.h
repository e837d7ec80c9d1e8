/*
 * manager_control - what commands order a manager over its program's control socket: a method of
 * control_request.h each, done to the program.
 *
 * The socket is made some time after the first tasks are launched, so that it costs a short program
 * nothing; or where a program waits long for its resources. Without it, because a disk is full for
 * instance, the program goes on.
 */
#ifndef LAUNCHER_MANAGER_MANAGER_CONTROL_H
#define LAUNCHER_MANAGER_MANAGER_CONTROL_H

#include <ev.h>

#include "launcher/manager/input_sender.h"
#include "launcher/program/program.h"
#include "launcher/protocol/control_answer.h"

struct manager_control;

struct manager_control_config { /* all is borrowed */
    struct ev_loop *loop;
    struct program *program;
    struct input_sender *input;
    void (*note)(void *owner, const char *text); /* once where there can be no socket */
    /* Save output from now on, if it is not saved; the answer is zeroed. */
    void (*save)(void *owner, struct control_answer *answer);
    void *owner;
};

struct manager_control *manager_control_new(const struct manager_control_config *config);
void manager_control_launched(struct manager_control *control); /* the program has tasks */
/* The program gives up its directory: nobody may connect any more. */
void manager_control_shut(struct manager_control *control);
void manager_control_free(struct manager_control *control);   /* after the program is freed */
void manager_control_disown(struct manager_control *control); /* in a forked child */

#endif

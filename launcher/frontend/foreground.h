/*
 * foreground - the process at the terminal, as the front end in the background sees it: it is told
 * of the start and the end, gives orders, and may go at any time.
 */
#ifndef LAUNCHER_FRONTEND_FOREGROUND_H
#define LAUNCHER_FRONTEND_FOREGROUND_H

#include <ev.h>
#include <stdbool.h>

#include "launcher/tree/frame.h"

struct foreground;

struct foreground_ops {
    /* A signal, the end, or stdin for the tasks: a frame for the manager. */
    void (*order)(void *owner, const struct frame *frame);
    bool (*takes_input)(void *owner); /* more stdin can be passed on */
    void (*room)(void *owner);        /* foreground_has_room() */
    void (*gone)(void *owner);        /* the foreground may be freed here */
};

/* Behind this descriptor, which is taken. */
struct foreground *foreground_new(struct ev_loop *loop, int fd, const struct foreground_ops *ops,
                                  void *owner);
/* The same without a loop: there will be no program, for this reason. */
void foreground_refuse(int fd, const char *why);
/* What was sent is written first, for at most a moment. NULL is fine. */
void foreground_free(struct foreground *foreground);
void foreground_send(struct foreground *foreground, const struct frame *frame); /* NULL is fine */
void foreground_settle_input(struct foreground *foreground);                    /* NULL is fine */
bool foreground_has_room(
    const struct foreground *foreground); /* for output; true where it is NULL */

#endif

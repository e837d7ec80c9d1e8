/*
 * viewer - one that watches a program and orders what is to happen to it: its front end, as the
 * manager sees it. Once it is gone nothing is sent, and nobody is told so.
 */
#ifndef LAUNCHER_MANAGER_VIEWER_H
#define LAUNCHER_MANAGER_VIEWER_H

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "launcher/tree/frame.h"
#include "launcher/tree/link.h"

struct viewer;
struct saver;

struct viewer_ops { /* `owner` is what viewer_new() was given */
    void (*signal)(void *owner, int number, const char *sender);
    void (*terminate)(void *owner, double grace, int number);
    void (*input)(void *owner, const struct frame *frame);
    void (*terminal)(void *owner, const struct frame *frame);
    void (*save)(void *owner);        /* output from now on; with FRAME_SENT it leaves */
    bool (*takes_input)(void *owner); /* more of it can be passed on */
    void (*room)(void *owner);        /* more can be sent to it */
    /* Its last word, after viewer_end(): what is to be saved of the end. */
    void (*end)(void *owner, int status, const char *messages);
    void (*gone)(void *owner);
};

/* Behind this descriptor, which is taken. With `verbose` lines keep their order in time. */
struct viewer *viewer_new(struct ev_loop *loop, int fd, bool verbose, const struct viewer_ops *ops,
                          void *owner);
void viewer_free(struct viewer *viewer);   /* NULL is fine */
void viewer_disown(struct viewer *viewer); /* in a forked child: close this copy of the link */

/* What it is shown is saved, too. Borrowed. */
void viewer_save(struct viewer *viewer, struct saver *saver);

/* To be relayed to; NULL once it is gone. */
struct link *viewer_link(const struct viewer *viewer);

void viewer_note(struct viewer *viewer, const char *text);
/* A line that begins with a host's name: hosts that say the same within a moment share one. */
void viewer_host_note(struct viewer *viewer, const char *text);
void viewer_show(struct viewer *viewer, const char *text, bool error);
void viewer_send(struct viewer *viewer, enum frame_type type, const json_t *value);
void viewer_send_text(struct viewer *viewer, enum frame_type type, const char *text);
/* A file that it writes. -1 with a sentence: it is gone. */
int viewer_result(struct viewer *viewer, enum frame_result which, const char *text,
                  struct error *err);
/* Send those that wait for others now. */
void viewer_settle_notes(struct viewer *viewer);
/* The last word, behind all notes; lines each with a newline. */
void viewer_end(struct viewer *viewer, int status, const char *lines);
/* It may send more stdin once every link that stdin goes down has room. */
void viewer_settle_input(struct viewer *viewer);

#endif

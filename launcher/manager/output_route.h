/*
 * output_route - where that goes which is shown of a program: to its front end, or into its
 * directory (saver.h), where its front end and others read it; or both ways.
 *
 * It is sent until the directory is there, and of most programs always. What is saved is not sent,
 * but to a front end that does not read it: one on another host, or one that was there before
 * somebody else wanted to see the output. Each change is told to the front end with FRAME_SAVE.
 */
#ifndef LAUNCHER_MANAGER_OUTPUT_ROUTE_H
#define LAUNCHER_MANAGER_OUTPUT_ROUTE_H

#include <ev.h>
#include <stdbool.h>

#include "base/error.h"
#include "launcher/manager/viewer.h"
#include "launcher/spec/spec.h"
#include "launcher/tree/frame.h"

struct output_route;

/* All is borrowed. */
struct output_route *output_route_new(struct ev_loop *loop, const struct spec *spec,
                                      struct viewer *viewer);
void output_route_free(struct output_route *route);   /* NULL is fine; before the viewer is freed */
void output_route_disown(struct output_route *route); /* in a forked child: close its copies */

/* The program's directory is there. Where the spec says so, all is saved, from the beginning. */
void output_route_open(struct output_route *route, const char *path);
/* Somebody attaches: what comes from now on is saved, and sent besides. Nothing is done where it is
 * saved already. 0, or -1 with a sentence. */
int output_route_copy(struct output_route *route, const char *path, struct error *err);

/* FRAME_OUTPUT of tasks. True: it is saved, and its readers find it there. False: send it. */
bool output_route_take(struct output_route *route, const struct frame *frame);
/* What is shown is read in the directory, which has to stay for that. */
bool output_route_saves(const struct output_route *route);
/* It is saved, and the front end is sent it nevertheless (output_route_copy()). */
bool output_route_copies(const struct output_route *route);

/* FRAME_SAVE: the front end wants to leave. What comes from now on is saved, behind FRAME_SENT. */
void output_route_leave(struct output_route *route, const char *path);
/* The front end is gone, and the program goes on: what it was to write into files is saved. */
void output_route_go_alone(struct output_route *route);

/* The program is complete: the front end does not leave any more, and what cannot be saved is
 * sent. */
void output_route_finish(struct output_route *route);
/* The last word is saved, if anything is. A second call does nothing. */
void output_route_end(struct output_route *route, int status, const char *messages);

#endif

/*
 * predecessors - programs that have to be complete before this one takes anything (--after).
 *
 * Nothing is held meanwhile. One that lost its manager is complete, and did not end well.
 */
#ifndef LAUNCHER_PROGRAM_PREDECESSORS_H
#define LAUNCHER_PROGRAM_PREDECESSORS_H

#include <ev.h>

#include "base/error.h"

struct predecessors;

struct
    predecessors_ops { /* from the loop or from predecessors_wait(); the first two once, and nothing
                          after */
    void (*over)(void *owner); /* all of them are */
    void (*refused)(void *owner,
                    const struct error *err);    /* there is none, or one did not end well */
    void (*note)(void *owner, const char *text); /* after some seconds: what is waited for */
};

/* Each text is an id with ":ok" or ":any" behind it, or nothing, which is ":any"
 * (spec_after_check()); borrowed, as `instance` is, whose programs are meant where several
 * instances have the id. */
struct predecessors *predecessors_new(struct ev_loop *loop, char *const *texts,
                                      const char *instance, const struct predecessors_ops *ops,
                                      void *owner);
void predecessors_free(
    struct predecessors *predecessors); /* NULL is fine; not from inside of ops */
void predecessors_wait(struct predecessors *predecessors);
void predecessors_stop(
    struct predecessors *predecessors); /* NULL is fine: nothing is called any more */
/* "program 17": the one that is waited for; NULL: none is. Caller frees. */
char *predecessors_describe(const struct predecessors *predecessors);

#endif

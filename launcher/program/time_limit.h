/*
 * time_limit - how long a program may run: --time-limit or the expiration of its R, whichever comes
 * first, and --signal some time before it.
 */
#ifndef LAUNCHER_PROGRAM_TIME_LIMIT_H
#define LAUNCHER_PROGRAM_TIME_LIMIT_H

#include <ev.h>

#include "base/error.h"
#include "launcher/spec/spec.h"

struct time_limit;

struct time_limit_ops {
    /* It is over: the line that says so, and what stands before a line about those that are waited
     * for ("time limit reached: "; static). */
    void (*reached)(void *owner, const char *line, const char *reason);
    /* Tasks are to be sent spec->warn_signal; `before` stands before the line that says so
     * ("time limit in 1m: "), and is the owner's. */
    void (*warn)(void *owner, char *before);
};

/* Whether --signal has a limit to warn of: 0, or -1 with a sentence. `expiration` is R's, in s of
 * the epoch; 0: it has none. */
int time_limit_check(const struct spec *spec, double expiration, struct error *err);

/* All is borrowed. The limit counts from now. */
struct time_limit *time_limit_new(struct ev_loop *loop, const struct spec *spec, double expiration,
                                  const struct time_limit_ops *ops, void *owner);
void time_limit_free(struct time_limit *limit); /* NULL is fine */

/* NULL is fine for each of these. */
double time_limit_left(struct time_limit *limit);       /* s; INFINITY: there is no limit */
void time_limit_stop_warning(struct time_limit *limit); /* it is ended already */
void time_limit_stop(struct time_limit *limit);         /* neither comes any more */

#endif

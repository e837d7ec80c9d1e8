/*
 * progress - how a slow start goes on, as one line on the terminal that is rewritten in place.
 *
 * Nothing is shown where stderr is no terminal, or one that cannot clear a line (TERM unset or
 * dumb). The hosts that are missing are yellow, unless NO_COLOR is set [no-color.org].
 */
#ifndef LAUNCHER_FRONTEND_PROGRESS_H
#define LAUNCHER_FRONTEND_PROGRESS_H

#include <stdbool.h>

#include "launcher/tree/frame.h"

struct progress {
    bool shown; /* the line stands there */
};

/* Show what a FRAME_PROGRESS says. */
void progress_take(struct progress *progress, const struct frame *frame);
/* Something else is to be written. */
void progress_clear(struct progress *progress);

#endif

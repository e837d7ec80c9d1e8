/*
 * frontend - tprun as the user sees it: output, input, signals, and the exit status of one run.
 */
#ifndef LAUNCHER_FRONTEND_FRONTEND_H
#define LAUNCHER_FRONTEND_FRONTEND_H

#include <stdbool.h>

#include "launcher/spec/spec.h"

struct frontend_result {
    int status; /* what tprun exits with */
    bool quiet; /* the reader of our output left: end as SIGPIPE would */
};

/* View the run whose manager is behind `fd` until it ends, and say what there is to say of it, to
 * the last word: nothing here waits for a reader but the loop, which hears signals. The spec is
 * borrowed. `lost` is called when the manager was lost: it ends what is left, and says in
 * lines what it could not end (NULL: nothing; freed here). */
struct frontend_result frontend_run(const struct spec *spec, int fd, char *(*lost)(void *arg),
                                    void *arg);

#endif

/*
 * frontend - tprun as the user sees it: output, input, signals, and the exit status of one run.
 */
#ifndef LAUNCHER_CLI_FRONTEND_H
#define LAUNCHER_CLI_FRONTEND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "launcher/program/spec.h"

struct frontend_result {
    int status;          /* what tprun exits with */
    bool quiet;          /* the reader of our output left: end as SIGPIPE would */
    bool inside_line;    /* what tasks wrote to stderr last did not end its line */
    struct buf messages; /* lines for stderr, each without "tprun: " */
};

/* View the run whose manager is behind `fd` until it ends. The spec is borrowed. 0, or -1 with a
 * sentence when the manager was lost (what it left behind has been ended then). */
int frontend_run(const struct spec *spec, int fd, struct frontend_result *result,
                 struct error *err);

#endif

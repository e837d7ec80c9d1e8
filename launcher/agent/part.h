/*
 * part - what all tasks of one part of the program have in common on this node. Private to the
 * agent.
 */
#ifndef LAUNCHER_AGENT_PART_H
#define LAUNCHER_AGENT_PART_H

#include "launcher/process/spawn.h"
#include "launcher/program/spec.h"

struct part {
    char **environment; /* without the tasks' own variables */
    size_t count;
    char *path;            /* of the program */
    int missing;           /* errno when it was not found */
    const char *directory; /* the spec's */
    struct spawn_limit limits[RLIM_NLIMITS];
    int umask;
};

/* The spec is borrowed. */
void part_open(struct part *part, const struct spec *spec, const struct spec_part *what);
void part_close(struct part *part);

#endif

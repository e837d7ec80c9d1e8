/*
 * spawn_environment - changes of the environment that a spawn asks for, put into a part as JSON.
 *
 * What is said is NAME=VALUE, or a NAME; where a value is joined to the one that is there, its
 * first byte is what stands between the two. The value that is there is the part's, or the
 * caller's.
 */
#ifndef LAUNCHER_PLAN_SPAWN_ENVIRONMENT_H
#define LAUNCHER_PLAN_SPAWN_ENVIRONMENT_H

#include <jansson.h>

#include "base/error.h"
#include "launcher/spec/spec.h"

enum spawn_environment {
    SPAWN_ENVIRONMENT_SET,
    SPAWN_ENVIRONMENT_DEFAULT, /* unless there is one */
    SPAWN_ENVIRONMENT_UNSET,   /* NAME */
    SPAWN_ENVIRONMENT_PREPEND, /* NAME=:VALUE */
    SPAWN_ENVIRONMENT_APPEND,
};

/* -1 with a sentence. */
int spawn_environment_change(json_t *part, const struct spec *base, enum spawn_environment change,
                             const char *text, struct error *err);

#endif

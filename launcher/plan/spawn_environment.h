/*
 * blocks_env - changes of the environment that a spawn asks for, put into a part as JSON.
 *
 * What is said is NAME=VALUE, or a NAME; where a value is joined to the one that is there, its first
 * byte is what stands between the two. The value that is there is the part's, or the caller's.
 */
#ifndef LAUNCHER_PLAN_SPAWN_ENVIRONMENT_H
#define LAUNCHER_PLAN_SPAWN_ENVIRONMENT_H

#include <jansson.h>

#include "base/error.h"
#include "launcher/spec/spec.h"

enum blocks_env {
    BLOCKS_ENV_SET,
    BLOCKS_ENV_DEFAULT, /* unless there is one */
    BLOCKS_ENV_UNSET,   /* NAME */
    BLOCKS_ENV_PREPEND, /* NAME=:VALUE */
    BLOCKS_ENV_APPEND,
};

/* -1 with a sentence. */
int blocks_env_change(json_t *part, const struct spec *base, enum blocks_env change,
                      const char *text, struct error *err);

#endif

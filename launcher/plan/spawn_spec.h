/*
 * spawn_spec - the spec of tasks that are added to a running program.
 *
 * It is the program's own, with new parts: what a task inherits (environment, directory, umask,
 * limits, --map-by, --bind-to, -c, -g) is that of the part whose task asks. Task maps, rank files,
 * --per, --mppr and shapes say where certain ranks go, and are not inherited; nor is --pset.
 */
#ifndef LAUNCHER_PLAN_SPAWN_SPEC_H
#define LAUNCHER_PLAN_SPAWN_SPEC_H

#include "base/buf.h"
#include "launcher/protocol/task_request.h"
#include "launcher/spec/spec.h"

struct block_place { /* where the tasks of a part may be */
    char *hosts;     /* hostlist text; NULL: not said */
    char *hostfile;  /* a path, likewise */
};

struct spawn_spec {
    struct spec *spec;
    struct block_place *places; /* by part of the spec */
    size_t nplaces;
    struct buf unknown; /* keys of info that mean nothing here, "soft, file" */
};

/* Keys of info: path (of the program, if its name is no absolute path), wdir, host, hosts,
 * hostfile, map_by, rank_by, bind_to, per, cores (a task), pset, env (NAME=VALUE lines), and for
 * one variable each env_set, env_default, env_unset, env_prepend, env_append (spawn_environment.h).
 * -1 with a sentence. */
int spawn_spec_make(struct spawn_spec *blocks, const struct spec *base,
                    const struct task_request *ask, struct error *err);
void spawn_spec_clear(struct spawn_spec *blocks);

#endif

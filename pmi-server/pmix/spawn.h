/*
 * spawn - what became of what a task wanted started: for owners of a server.
 */
#ifndef PMI_SERVER_PMIX_SPAWN_H
#define PMI_SERVER_PMIX_SPAWN_H

#include <stdint.h>

struct pmix_job;

enum spawn_fate {
    SPAWN_STARTED,
    SPAWN_BAD,         /* what was asked for cannot be */
    SPAWN_NO_ROOM,     /* nor can it be placed */
    SPAWN_NO_PROGRAM,  /* there is no such file */
    SPAWN_NOT_PROGRAM, /* it cannot be executed */
    SPAWN_FAILED,      /* for another reason, and none of its tasks runs */
};

/* What became of a spawn that ops->spawn() was told of; `name` is the new job's, if it was
 * started. */
void pmix_namespace_spawned(struct pmix_job *job, uint64_t token, enum spawn_fate fate,
                            const char *name);

#endif

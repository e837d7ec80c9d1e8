/*
 * task_request - what a task asks of its program, and the answer: on its way between agent and
 * manager.
 *
 * All text is owned by the struct. Text may be any bytes without a zero.
 */
#ifndef LAUNCHER_PROTOCOL_TASK_REQUEST_H
#define LAUNCHER_PROTOCOL_TASK_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "base/error.h"
#include "launcher/protocol/pair.h"

#define TASK_REQUEST_MAX_BLOCKS 4096
#define TASK_REQUEST_MAX_CODE 255

enum task_request_kind {
    TASK_REQUEST_SPAWN,   /* start these blocks as one group */
    TASK_REQUEST_PUBLISH, /* name, port */
    TASK_REQUEST_LOOKUP,  /* name; the answer has the port */
    TASK_REQUEST_UNPUBLISH,
    TASK_REQUEST_DEAD, /* the answer has the ranks of the group that ended badly */
    TASK_REQUEST_NKINDS
};

struct task_request_block { /* some tasks that run one program */
    char **argv;            /* NULL-terminated, argv[0] is the program; arguments may be empty */
    uint32_t ntasks;
    struct pair *info; /* path, wdir, host, hosts, hostfile, map_by, bind_to, env; others */
    size_t ninfo;
};

struct task_request {
    enum task_request_kind kind;
    uint32_t app; /* the asking task's part of its group */
    struct task_request_block *blocks;
    size_t nblocks;
    struct pair *preput; /* what the new group's key-value space holds at its start */
    size_t npreput;
    char *name, *port;
    uint32_t rank; /* the asking task's in its group */
    bool aloud;    /* who asks cannot be given a refusal's reason: it is shown in any case */
};

struct task_answer_failure { /* tasks that could not be started */
    uint32_t code;           /* as of a task that exits with it: 127, 126, 1 */
    struct idset *ranks;     /* of their group */
};

struct task_answer {
    char *refusal; /* why not; NULL: it was done */
    char *port;
    uint32_t group; /* of TASK_REQUEST_SPAWN: the new one */
    struct task_answer_failure
        *failed; /* because of which TASK_REQUEST_SPAWN was refused, one for a code */
    size_t nfailed;
    struct idset *dead; /* of TASK_REQUEST_DEAD; NULL: it is not known */
    bool bad;           /* the refusal is of what was asked, whatever there is room for */
    bool full;          /* the refusal is that of a limit */
};

json_t *task_request_to_json(const struct task_request *ask); /* new reference */
int task_request_from_json(struct task_request *ask, const json_t *value, struct error *err);
void task_request_clear(struct task_request *ask);

json_t *task_answer_to_json(const struct task_answer *answer); /* new reference */
int task_answer_from_json(struct task_answer *answer, const json_t *value, struct error *err);
/* These ranks, which are borrowed, failed with this code as well. */
void task_answer_fail(struct task_answer *answer, uint32_t code, const struct idset *ranks);
void task_answer_clear(struct task_answer *answer);

#endif

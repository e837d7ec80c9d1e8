/*
 * inquiry - what the manager asks agents about tasks of theirs, or a signal that it wants sent to
 * them; and what an agent answers. Both ends of FRAME_INQUIRY and FRAME_INQUIRY_ANSWER are here.
 *
 * Ranks are ranks of the program, nodes those of the tree. Readers take any JSON. What was read is
 * freed by the function that ends in clear, also where it was refused.
 */
#ifndef LAUNCHER_PROTOCOL_INQUIRY_H
#define LAUNCHER_PROTOCOL_INQUIRY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "base/error.h"

#define INQUIRY_MAX_RANKS (4u << 20) /* that an answer may have */

struct inquiry {
    struct idset *nodes; /* that are asked */
    struct idset *ranks; /* NULL: all tasks there */
    int signal;          /* sent to these; 0: none, and what they use is asked */
    bool asks_for_end;   /* the signal does, of all tasks: as FRAME_SIGNAL_END */
    bool about_stdin;    /* who of them reads it is asked, and nothing else */
};

json_t *inquiry_to_json(const struct inquiry *inquiry); /* new reference */
int inquiry_from_json(struct inquiry *inquiry, const json_t *value, struct error *err);
void inquiry_clear(struct inquiry *inquiry);

struct task_sample { /* a task that runs, with the processes of its process group */
    uint32_t rank, pid;
    char state;          /* of the task's own process, as proc(5) has it: R, S, D, T, ... */
    uint64_t cpu_ms;     /* processor time, with that of children that were waited for */
    uint64_t memory_kib; /* resident now */
};

struct inquiry_answer {
    struct idset *waiting; /* ranks that are not started yet */
    struct idset
        *reading; /* about stdin: of all these ranks those whose stdin is open; else NULL */
    struct idset *lagging; /* and of those, that have much to read that came before; else NULL */
    struct task_sample
        *tasks; /* that run, by rank; only the rank is said but where it is asked what they use */
    size_t ntasks;
};

/* Grown by array_grow(). */
void inquiry_answer_add(struct inquiry_answer *answer, const struct task_sample *task);
void inquiry_answer_sort(struct inquiry_answer *answer); /* by rank */

/* With `whole` all of each task is said, else the ranks. */
json_t *inquiry_answer_to_json(const struct inquiry_answer *answer, bool whole);
int inquiry_answer_from_json(struct inquiry_answer *answer, const json_t *value, struct error *err);
void inquiry_answer_clear(struct inquiry_answer *answer);

#endif

/*
 * task_report - what an agent says of a task group, in the order in which it is said: that its node
 * can start the tasks (prepared), that they are started (started), that some ended badly (ended),
 * that all have ended (done). Each message is written and read here.
 *
 * Readers take JSON that frame_check.h has passed; what is malformed all the same is left out, or
 * refused where a function returns -1. A report that was read owns what it points to, but for
 * borrowed texts; clear it. A zeroed report is an empty one. Ranks are ranks of the program.
 */
#ifndef LAUNCHER_PROTOCOL_TASK_REPORT_H
#define LAUNCHER_PROTOCOL_TASK_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "base/buf.h"
#include "base/error.h"
#include "launcher/tree/frame.h"

/* ---- tasks that were not started ---- */

struct start_failure {
    char *text; /* the reason; a reader's may be NULL */
    int status; /* as of waitpid() */
    struct idset *ranks;
};

struct start_failures { /* one for each reason */
    struct start_failure *list;
    size_t count;
};

/* This rank, too, for this reason; takes the text. */
void start_failures_add(struct start_failures *failures, uint32_t rank, int status, char *text);
void start_failures_clear(struct start_failures *failures);

/* ---- prepared ---- */

struct part_mpi {      /* a part's tasks on this node, and the MPI that they use */
    json_int_t family; /* enum mpi_family; of any value where it was read */
    json_int_t part;
};

struct prepared_report {
    struct start_failures failed;
    struct part_mpi *mpis; /* NULL: the launch is of one part and one node */
    size_t nmpis;
    char *host; /* where that is, or NULL */
};

json_t *prepared_report_to_json(const struct prepared_report *report); /* new reference */
void prepared_report_from_json(struct prepared_report *report, const json_t *value);
void prepared_report_clear(struct prepared_report *report);

/* ---- started ---- */

struct found_binding { /* ranks that the kernel lets run on the same processors */
    struct idset *cpus, *ranks;
};

struct started_report {
    struct found_binding *bindings; /* where that is to be shown, or is not as the launch says */
    size_t nbindings;
    struct start_failures failed; /* of a group that a task spawned */
    char *pids; /* of the tasks by local rank, as pid_list.h has them; NULL: none was started */
};

json_t *started_report_to_json(const struct started_report *report); /* new reference */
/* -1 with a sentence for a binding that is malformed; those before it are there. NULL is an empty
 * report. */
int started_report_from_json(struct started_report *report, const json_t *value, struct error *err);
void started_report_clear(struct started_report *report);

/* ---- ended: a time, then JSON ---- */

struct ended_report {
    const char *why;  /* "exit", "signal", "unfinalized", "start", "abort", "aborted", "pmi" */
    int status;       /* as of waitpid() */
    const char *text; /* what else there is to say, or NULL */
    struct idset *ranks;
};

/* The payload: when it was, as clock_monotonic_ns() counts, and the rest. */
void ended_report_pack(struct buf *out, uint64_t at, const struct ended_report *report);
uint64_t ended_report_time(const struct frame *frame); /* the payload has 8 bytes or more */
/* The same payload with another time. */
void ended_report_pack_at(struct buf *out, uint64_t at, const struct frame *frame);
/* The texts are borrowed from the value. -1: it is malformed. Clear it in any case: frees the
 * ranks. */
int ended_report_from_json(struct ended_report *report, const json_t *value);
void ended_report_clear(struct ended_report *report);

/* ---- done ---- */

/* What a task has used. Times are in microseconds, of the tasks and what they had reaped. */
enum { USAGE_ENDED, USAGE_RAN, USAGE_USER, USAGE_SYSTEM, USAGE_MEMORY, USAGE_COLUMNS };
struct task_usage {
    uint32_t rank;
    uint64_t
        columns[USAGE_COLUMNS]; /* when it ended as clock_monotonic_ns() / 1000 counts, how long it
                                        ran, processor time, KiB of its largest resident set */
};

#define TASK_USAGES_MAX 1024 /* tasks of one end that are told one by one */

/* Of ranks that ended in the same way: of each, or, where they are too many, from least to most. */
struct task_usages {
    struct task_usage *list; /* by rank; NULL: too many, or none */
    size_t count;            /* that were added */
    uint64_t least[USAGE_COLUMNS], most[USAGE_COLUMNS];
};

/* Takes nothing. Ranks may come in any order, each once. */
void task_usages_add(struct task_usages *usages, const struct task_usage *one);
void task_usages_merge(struct task_usages *usages, const struct task_usages *more);
void task_usages_clear(struct task_usages *usages);

struct task_exit { /* ranks that ended in the same way */
    int status;    /* as of waitpid() */
    bool killed_by_tprun;
    struct idset *ranks;
    struct task_usages usages; /* of those of them that were started */
};

struct done_report {
    struct task_exit *exits;
    size_t nexits;
    struct idset *nodes; /* of the tree, that have ended; a reader's may be NULL */
    struct idset
        *silent; /* ranks that ended well and never spoke the PMI they were offered; NULL: none */
};

void done_report_add(struct done_report *report, int status, bool killed_by_tprun,
                     const struct idset *ranks);
void done_report_add_rank(struct done_report *report, int status, bool killed_by_tprun,
                          uint32_t rank);
/* What one of the ranks that were added so had used. */
void done_report_add_usage(struct done_report *report, int status, bool killed_by_tprun,
                           const struct task_usages *usages);
void done_report_add_silent(struct done_report *report, const struct idset *ranks);
json_t *done_report_to_json(const struct done_report *report); /* new reference */
void done_report_from_json(struct done_report *report, const json_t *value);
void done_report_clear(struct done_report *report);

#endif

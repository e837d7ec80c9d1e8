/*
 * program_record - what the log of a program says: its state in RFC 8's words, its task groups, and
 * of each task where it ran and how it ended. tprun-events(7) has the events.
 *
 * A fold: the same events give the same record, and nothing else is looked at. Events that are
 * unknown, or do not fit what was before, are passed over and counted. Source: RFC 8, RFC 18.
 */
#ifndef LAUNCHER_LEDGER_PROGRAM_RECORD_H
#define LAUNCHER_LEDGER_PROGRAM_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/sets/hostlist.h"
#include "affinity/taskmap/taskmap.h"
#include "launcher/ledger/event_log.h"

#define RECORD_MAX_TASKS (4u << 20)
#define RECORD_MAX_TIME 1e11 /* s since the epoch: a clock can say it */

enum record_state {
    RECORD_EMPTY,
    RECORD_PENDING,
    RECORD_STARTING,
    RECORD_RUNNING, /* also while its tasks are told to end */
    RECORD_COMPLETE
};
const char *record_state_name(enum record_state state);

enum task_state { RECORD_TASK_WAITS, RECORD_TASK_RUNS, RECORD_TASK_ENDED, RECORD_TASK_LOST };
const char *record_task_state_name(enum task_state state);

struct task_record {
    uint32_t node;       /* of its group */
    uint32_t local_rank; /* among the ranks of that node */
    uint32_t app;        /* part of the spec */
    uint32_t pid;        /* 0: it was not started */
    enum task_state state;
    int status; /* as of waitpid(), once it has ended */
    bool by_tprun;
    bool is_exact; /* the numbers below are this task's; else the most of those it is told with */
    const char *cpus, *gpus; /* where it may run, as text (RFC 22); "": not known; borrowed */
    double t_start, t_end;   /* 0: not known */
    double utime, stime;
    uint64_t maxrss_kib;
};

struct record_group {
    uint32_t number, first_rank, ntasks, nnodes;
    struct taskmap *map;
    struct hostlist *hosts; /* [nnodes] */
};

struct program_record {
    enum record_state state;
    bool is_lost;                 /* its manager was gone before it was complete */
    bool is_left;                 /* something of it may be left: it could not all be ended */
    double t_new, t_start, t_end; /* 0: not yet */
    int status;                   /* exit status; -1: none is known */
    char *id;                     /* or NULL, as the next two */
    char *reason;                 /* why it ended so; lines */
    char *waits_for;              /* "4 cores on node0", which others held; or NULL */
    json_t *command;
    uint32_t ntasks, nnodes; /* of all groups; of the first */
    char *agents; /* of one that only keeps agents: their hosts (RFC 29); NULL: it runs tasks */
    double idle_until; /* until when they are kept if nobody comes; 0: they are in use */
    struct record_group *groups;
    size_t ngroups;
    json_t *hooks;             /* contexts of prologs and epilogs, each with "hook": which it was */
    struct task_record *tasks; /* [ntasks]; NULL: nobody asked for them */
    size_t passed_over;        /* events and lines */
    char *problem;             /* the first of them, with its line; NULL: none */
    bool with_tasks;
    json_t *kept; /* contexts that texts are borrowed from */
    size_t line;
};

struct program_record *program_record_new(bool with_tasks);
void program_record_free(struct program_record *record); /* NULL is fine */
void program_record_add(struct program_record *record, const struct event *event);
/* All of a log: any bytes. */
struct program_record *program_record_read(const char *bytes, size_t len, bool with_tasks);

/* The group of a rank, or NULL; the name of its host, or NULL; borrowed. */
const struct record_group *program_record_group(const struct program_record *record, uint32_t rank);
const char *program_record_host(const struct program_record *record, uint32_t rank);

#endif

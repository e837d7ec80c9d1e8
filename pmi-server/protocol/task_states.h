/*
 * task_states - what a node knows of the tasks of a job that it runs: ORDER_TASKS, REQUEST_TASKS,
 * and the tables in answers to REQUEST_QUERY (message.h).
 */
#ifndef PMI_SERVER_PROTOCOL_TASK_STATES_H
#define PMI_SERVER_PROTOCOL_TASK_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct pack;

enum task_state {
    TASK_WAITS, /* for its start */
    TASK_RUNS,
    TASK_SPEAKS, /* PMI, and runs */
    TASK_ENDED,
    TASK_NSTATES
};

/* What a task has said to its PMI or PMIx server: nothing, that it begins, that it ends. */
enum pmi_state { PMI_SILENT, PMI_RUNNING, PMI_FINALIZED };

struct task_info {
    uint32_t rank;
    uint32_t pid; /* 0: none (any more) */
    enum task_state state;
    int status; /* waitpid()'s, once it has ended */
};

#define SERVICE_TASK_BYTES 13 /* on the wire */

/* A message of the service: is it ORDER_TASKS? Then its number, and the job, which the caller
 * frees. */
bool task_states_wanted(const void *bytes, size_t len, uint64_t *number, char **job);
/* The answer to it. */
void task_states_put_answer(struct buf *out, uint64_t number, const char *job,
                            const struct task_info *tasks, uint32_t count);

void task_states_put(struct buf *out, const struct task_info *tasks, uint32_t count);
/* NULL where there is none, or what was read is bad; caller frees. */
struct task_info *task_states_read(struct pack *in, uint32_t *count);

#endif

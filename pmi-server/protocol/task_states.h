/*
 * tasks - what a node knows of the tasks of a job that it runs: ORDER_TASKS, HUB_TASKS, and the
 * tables in answers to HUB_QUERY (talk.h).
 */
#ifndef PMI_SERVER_PROTOCOL_TASK_STATES_H
#define PMI_SERVER_PROTOCOL_TASK_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct packet;

enum hub_task_state {
    HUB_TASK_WAITS, /* for its start */
    HUB_TASK_RUNS,
    HUB_TASK_SPEAKS, /* PMI, and runs */
    HUB_TASK_ENDED,
    HUB_TASK_NSTATES
};

struct hub_task {
    uint32_t rank;
    uint32_t pid; /* 0: none (any more) */
    enum hub_task_state state;
    int status; /* waitpid()'s, once it has ended */
};

#define HUB_TASK_BYTES 13 /* on the wire */

/* A message of the hub: is it ORDER_TASKS? Then its number, and the job, which the caller frees. */
bool tasks_wanted(const void *bytes, size_t len, uint64_t *number, char **job);
/* The answer to it. */
void tasks_put_answer(struct buf *out, uint64_t number, const char *job,
                      const struct hub_task *tasks, uint32_t count);

void tasks_put(struct buf *out, const struct hub_task *tasks, uint32_t count);
/* NULL where there is none, or what was read is bad; caller frees. */
struct hub_task *tasks_read(struct packet *in, uint32_t *count);

#endif

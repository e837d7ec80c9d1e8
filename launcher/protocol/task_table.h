/*
 * task_table - which host each rank of a program is on, as its manager says it: group by group,
 * since tasks may be added to a running program. Both ends of FRAME_MAPPED are here.
 */
#ifndef LAUNCHER_PROTOCOL_TASK_TABLE_H
#define LAUNCHER_PROTOCOL_TASK_TABLE_H

#include <jansson.h>
#include <stdint.h>

#include "affinity/taskmap/taskmap.h"
#include "base/error.h"

struct mapped;

struct task_table_group { /* tasks that are added together; all borrowed */
    const char *program;  /* id */
    uint32_t first_rank, ntasks;
    const char *const *host_names; /* by node of the tree */
    const uint32_t *tree_node;     /* [nnodes] where each node of the map is in the tree */
    uint32_t nnodes;
    const struct taskmap *map;
};

/* The payload of a FRAME_MAPPED; new reference. */
json_t *task_table_to_json(const struct task_table_group *group);

struct mapped *task_table_new(void);
void task_table_free(struct mapped *mapped); /* NULL is fine */

/* The payload of a FRAME_MAPPED (a new reference, taken over). With `where` the hosts of its ranks
 * are kept; without, only how many ranks there are. -1 with a sentence. */
int task_table_add(struct mapped *mapped, json_t *value, int where, struct error *err);

uint32_t task_table_ntasks(const struct mapped *mapped);
const char *task_table_program(const struct mapped *mapped);             /* id; borrowed */
uint32_t task_table_node(const struct mapped *mapped, uint32_t rank);    /* in its group */
const char *task_table_host(const struct mapped *mapped, uint32_t rank); /* borrowed */

#endif

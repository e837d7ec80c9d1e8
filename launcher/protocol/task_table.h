/*
 * task_table - which host each rank of a program is on, as its manager says it: group by group, since
 * tasks may be added to a running program.
 */
#ifndef LAUNCHER_PROTOCOL_TASK_TABLE_H
#define LAUNCHER_PROTOCOL_TASK_TABLE_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"

struct mapped;

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

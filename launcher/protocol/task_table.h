/*
 * mapped - which host each rank of a program is on, as its manager says it: group by group, since
 * tasks may be added to a running program.
 */
#ifndef LAUNCHER_PROTOCOL_TASK_TABLE_H
#define LAUNCHER_PROTOCOL_TASK_TABLE_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"

struct mapped;

struct mapped *mapped_new(void);
void mapped_free(struct mapped *mapped); /* NULL is fine */

/* The payload of a FRAME_MAPPED (a new reference, taken over). With `where` the hosts of its ranks
 * are kept; without, only how many ranks there are. -1 with a sentence. */
int mapped_add(struct mapped *mapped, json_t *value, int where, struct error *err);

uint32_t mapped_ntasks(const struct mapped *mapped);
const char *mapped_program(const struct mapped *mapped);             /* id; borrowed */
uint32_t mapped_node(const struct mapped *mapped, uint32_t rank);    /* in its group */
const char *mapped_host(const struct mapped *mapped, uint32_t rank); /* borrowed */

#endif

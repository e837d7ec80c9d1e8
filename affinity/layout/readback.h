/*
 * readback - a layout as the kernel has it: the plan, with the processors each task was found to be
 * allowed on.
 *
 * Filled from what agents read back; equal sets of equal nodes are kept once.
 */
#ifndef AFFINITY_LAYOUT_READBACK_H
#define AFFINITY_LAYOUT_READBACK_H

#include "affinity/layout/layout.h"

struct found;

struct found *readback_new(const struct layout *plan, const struct layout_request *request);
void readback_free(struct found *found); /* NULL is fine */

/* These ranks may run on these processors (OS indexes). 0, or -1 with a sentence for ranks that the
 * plan lacks. */
int readback_add(struct found *found, const struct idset *ranks, const struct idset *cpus,
                 struct error *err);
bool readback_complete(const struct found *found); /* every rank was */

/* 0 when all that was added is as planned, or what is not bound is within that; else -1 with a
 * sentence that names the first rank that differs, and both sets. */
int readback_check(const struct found *found, struct error *err);

/* The plan with the bindings that were found, for drawing; of what was not added, the plan's own.
 * Borrowed. */
const struct layout *readback_layout(const struct found *found);

#endif

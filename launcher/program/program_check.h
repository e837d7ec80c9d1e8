/*
 * program_check - all or none: tasks of a group of several nodes are started once each of these
 * nodes has said that it can start its own.
 *
 * A node's refusal is passed on at once; what becomes of the group is decided when all nodes have
 * answered. Where no node refuses, programs that are linked with different MPIs are refused as
 * well, and so is one whose MPI is another on another node.
 */
#ifndef LAUNCHER_PROGRAM_PROGRAM_CHECK_H
#define LAUNCHER_PROGRAM_PROGRAM_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "launcher/spec/spec.h"

struct program_check;

struct program_check_ops {
    /* These ranks of the program cannot be started; `time` (ns) is that of the first refusal. */
    void (*refused)(void *owner, uint64_t time, int status, const char *text,
                    const struct idset *ranks);
    /* All nodes have answered, and whether some ranks were refused. The check is freed by the
     * owner, here or later. */
    void (*done)(void *owner, bool refused);
};

/* Of ranks first_rank to first_rank + ntasks - 1 of the program, on these nodes of the tree, which
 * are copied; the rest is borrowed. */
struct program_check *program_check_new(const struct idset *nodes, const struct spec *spec,
                                        uint32_t first_rank, uint32_t ntasks,
                                        const struct program_check_ops *ops, void *owner);
void program_check_free(struct program_check *check); /* NULL is fine */

/* A prepared report of this node (launcher/protocol/task_report.h). */
void program_check_answer(struct program_check *check, uint32_t node, const json_t *value);

#endif

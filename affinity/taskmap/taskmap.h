/*
 * taskmap - which rank is on which node (RFC 34), and its PMI form (RFC 13).
 *
 * A list of blocks [nodeid, nnodes, ppn, repeat]: `repeat` times, hand `ppn` consecutive ranks to
 * each of `nnodes` consecutive nodes. No blocks: an unknown map.
 *
 * Four forms are read: the JSON array, the wrapped object {"version":1,"map":[...]}, the PMI
 * string "(vector,(n,c,p),...)" and the raw list of each node's ranks, "0-3;4-7".
 *
 * Maps are kept canonical, whatever they were made from: walk the ranks in order, take consecutive
 * ranks on one node as a run, and join runs into blocks as early as possible. So two maps mean
 * the same when their blocks are equal. Work and memory grow with the blocks, not the tasks.
 */
#ifndef AFFINITY_TASKMAP_TASKMAP_H
#define AFFINITY_TASKMAP_TASKMAP_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "base/error.h"

#define PROGRAM_MAX_TASKS (4u << 20) /* of a program: a layout takes some 32 bytes for each */

#define TASKMAP_MAX_TASKS (1ull << 31) /* ranks are idset ids */
#define TASKMAP_MAX_NODES (1u << 24)
#define TASKMAP_MAX_TEXT (32u << 20) /* bytes that are read or written */

struct taskmap_block {
    uint32_t node, nnodes, ppn, repeat;
};

struct taskmap {
    struct taskmap_block *blocks;
    size_t nblocks;
    uint64_t ntasks; /* sum over the blocks */
    uint32_t nnodes; /* highest node id + 1 */
};

struct taskmap *taskmap_new(void);
struct taskmap *taskmap_copy(const struct taskmap *map);
void taskmap_free(struct taskmap *map); /* NULL is fine */

/* Canonical encoding is by construction: append the next `count` ranks, all on `node`. The caller
 * keeps to TASKMAP_MAX_TASKS and TASKMAP_MAX_NODES; what is beyond them is left out. */
void taskmap_append(struct taskmap *map, uint32_t node, uint32_t count);
/* The same for a whole block; -1 with a sentence where it has a zero or passes a limit. */
int taskmap_append_block(struct taskmap *map, struct taskmap_block block, struct error *err);

/* Any of the four forms. NULL with a sentence. */
struct taskmap *taskmap_decode(const char *text, struct error *err);
struct taskmap *taskmap_from_json(const json_t *value, struct error *err); /* array or wrapped */

json_t *taskmap_to_json(const struct taskmap *map); /* wrapped; new reference */
/* 3-tuples, repeats written out, "" for an unknown map; caller frees. NULL where the text would be
 * longer than TASKMAP_MAX_TEXT. */
char *taskmap_encode_pmi(const struct taskmap *map);
/* "0-3;4-7", "" for an unknown map; caller frees. NULL where a node in the middle has no task, or
 * the text could be longer than TASKMAP_MAX_TEXT. */
char *taskmap_encode_raw(const struct taskmap *map);

/* The ranks of one node, ascending; empty when it has none. Caller frees. */
struct idset *taskmap_ranks(const struct taskmap *map, uint32_t node);
/* The node of one rank; UINT32_MAX past the end. */
uint32_t taskmap_node(const struct taskmap *map, uint64_t rank);

#endif

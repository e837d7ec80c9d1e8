/* Task maps in memory: blocks, grown run by run, and who is where. */
#include "affinity/taskmap/taskmap.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/array.h"
#include "base/mem.h"

/* A run is a number of consecutive ranks on one node. The last run of a map is always the last
 * node of its last block with that block's ppn, so that the map needs no memory of it. */

struct taskmap *taskmap_new(void)
{
    return mem_alloc(sizeof(struct taskmap));
}

void taskmap_free(struct taskmap *map)
{
    if (!map)
        return;
    free(map->blocks);
    free(map);
}

struct taskmap *taskmap_copy(const struct taskmap *map)
{
    struct taskmap *copy = taskmap_new();
    for (size_t i = 0; i < map->nblocks; i++)
        taskmap_append_block(copy, map->blocks[i], NULL);
    return copy;
}

static struct taskmap_block *taskmap_last(const struct taskmap *map)
{
    return map->nblocks ? &map->blocks[map->nblocks - 1] : NULL;
}

static void taskmap_push(struct taskmap *map, struct taskmap_block block)
{
    size_t n = map->nblocks;
    map->blocks = array_grow(map->blocks, n, sizeof(*map->blocks));
    map->blocks[map->nblocks++] = block;
}

/* Grow the last block by up to `count` nodes; stop where it equals the block before it, which
 * then repeats. Returns how many were taken. */
static uint32_t taskmap_extend(struct taskmap *map, uint32_t count)
{
    struct taskmap_block *last = taskmap_last(map);
    struct taskmap_block *before = map->nblocks > 1 ? last - 1 : NULL;
    if (before && before->node == last->node && before->ppn == last->ppn &&
        before->nnodes >= last->nnodes && before->nnodes - last->nnodes <= count) {
        count = before->nnodes - last->nnodes;
        before->repeat++;
        map->nblocks--;
        return count;
    }
    last->nnodes += count;
    return count;
}

/* Runs of ppn ranks on each of `count` nodes from `node` on; the run before is not on `node`. */
static void taskmap_push_runs(struct taskmap *map, uint32_t node, uint32_t count, uint32_t ppn)
{
    while (count) {
        uint32_t taken = 0;
        const struct taskmap_block *last = taskmap_last(map);
        if (!last || last->repeat > 1 || last->ppn != ppn || last->node + last->nnodes != node) {
            taskmap_push(map, (struct taskmap_block){node, 1, ppn, 1});
            taken = 1;
        }
        taken += taskmap_extend(map, count - taken);
        node += taken;
        count -= taken;
    }
}

/* Take the last run off, and return its length. */
static uint32_t taskmap_pop_run(struct taskmap *map)
{
    struct taskmap_block *last = taskmap_last(map), rest = *last;
    uint32_t count = last->ppn;
    map->nblocks--;
    if (rest.repeat > 1) {
        rest.repeat--;
        map->nblocks++;
        *last = rest;
        rest.repeat = 1;
    }
    if (--rest.nnodes)
        taskmap_push(map, rest);
    return count;
}

void taskmap_append(struct taskmap *map, uint32_t node, uint32_t count)
{
    if (!count || map->ntasks + count > TASKMAP_MAX_TASKS || node >= TASKMAP_MAX_NODES)
        return;
    map->ntasks += count;
    if (node >= map->nnodes)
        map->nnodes = node + 1;
    const struct taskmap_block *last = taskmap_last(map);
    if (last && last->node + last->nnodes - 1 == node)
        count += taskmap_pop_run(map);
    taskmap_push_runs(map, node, 1, count);
}

static int taskmap_check_block(const struct taskmap *map, const struct taskmap_block *block,
                               struct error *err)
{
    uint64_t tasks;
    if (!block->nnodes || !block->ppn || !block->repeat)
        return error_set(err,
                         "task map: the block [%u,%u,%u,%u] has a zero: all of nnodes, ppn and "
                         "repeat are above 0",
                         block->node, block->nnodes, block->ppn, block->repeat);
    if ((uint64_t)block->node + block->nnodes > TASKMAP_MAX_NODES)
        return error_set(err, "task map: the block [%u,%u,%u,%u] goes past the last node id, %u",
                         block->node, block->nnodes, block->ppn, block->repeat,
                         TASKMAP_MAX_NODES - 1);
    if (__builtin_mul_overflow((uint64_t)block->nnodes * block->ppn, block->repeat, &tasks) ||
        tasks > TASKMAP_MAX_TASKS - map->ntasks)
        return error_set(err, "task map: the block [%u,%u,%u,%u] makes more than %llu tasks",
                         block->node, block->nnodes, block->ppn, block->repeat, TASKMAP_MAX_TASKS);
    return 0;
}

int taskmap_append_block(struct taskmap *map, struct taskmap_block block, struct error *err)
{
    if (taskmap_check_block(map, &block, err) < 0)
        return -1;
    if (block.nnodes == 1) {
        taskmap_append(map, block.node, block.ppn * block.repeat);
        return 0;
    }
    /* One round may melt into what is there already; after two at most, the last block is this
     * one, and each round more would add one to its repeat. */
    while (block.repeat) {
        taskmap_append(map, block.node, block.ppn);
        taskmap_push_runs(map, block.node + 1, block.nnodes - 1, block.ppn);
        map->ntasks += (uint64_t)(block.nnodes - 1) * block.ppn;
        block.repeat--;
        struct taskmap_block *last = taskmap_last(map);
        if (last->node == block.node && last->nnodes == block.nnodes && last->ppn == block.ppn) {
            last->repeat += block.repeat;
            map->ntasks += (uint64_t)block.nnodes * block.ppn * block.repeat;
            block.repeat = 0;
        }
    }
    if (block.node + block.nnodes > map->nnodes)
        map->nnodes = block.node + block.nnodes;
    return 0;
}

static uint64_t taskmap_block_tasks(const struct taskmap_block *block)
{
    return (uint64_t)block->nnodes * block->ppn * block->repeat;
}

struct idset *taskmap_ranks(const struct taskmap *map, uint32_t node)
{
    struct idset *ranks = idset_new();
    uint64_t base = 0;
    for (size_t i = 0; i < map->nblocks; i++) {
        const struct taskmap_block *block = &map->blocks[i];
        if (node >= block->node && node - block->node < block->nnodes) {
            uint64_t rank = base + (uint64_t)(node - block->node) * block->ppn;
            for (uint32_t j = 0; j < block->repeat; j++) {
                idset_add_range(ranks, (uint32_t)rank, (uint32_t)(rank + block->ppn - 1));
                rank += (uint64_t)block->nnodes * block->ppn;
            }
        }
        base += taskmap_block_tasks(block);
    }
    return ranks;
}

uint32_t taskmap_node(const struct taskmap *map, uint64_t rank)
{
    for (size_t i = 0; i < map->nblocks; i++) {
        const struct taskmap_block *block = &map->blocks[i];
        uint64_t tasks = taskmap_block_tasks(block);
        if (rank < tasks)
            return block->node + (uint32_t)(rank / block->ppn % block->nnodes);
        rank -= tasks;
    }
    return UINT32_MAX;
}

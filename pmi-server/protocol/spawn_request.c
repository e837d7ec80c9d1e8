/* A spawn request, built piece by piece by the dialects of PMI and by PMIx's host. */
#include "pmi-server/protocol/spawn_request.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct spawn_request *spawn_request_new(void)
{
    return mem_alloc(sizeof(struct spawn_request));
}

static void pairs_free(struct pmi_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        free(pairs->list[i].key);
        free(pairs->list[i].value);
    }
    free(pairs->list);
}

void spawn_request_free(struct spawn_request *spawn)
{
    if (!spawn)
        return;
    for (size_t i = 0; i < spawn->nblocks; i++) {
        struct spawn_request_block *block = &spawn->blocks[i];
        for (size_t k = 0; k < block->argc; k++)
            free(block->argv[k]);
        free(block->argv);
        pairs_free(&block->infos);
    }
    free(spawn->blocks);
    pairs_free(&spawn->preputs);
    free(spawn);
}

uint64_t spawn_request_procs(const struct spawn_request *spawn)
{
    uint64_t procs = 0;
    for (size_t i = 0; i < spawn->nblocks; i++)
        procs += spawn->blocks[i].maxprocs;
    return procs;
}

struct spawn_request_block *spawn_request_add(struct spawn_request *spawn, const char *program)
{
    spawn->blocks = mem_resize(spawn->blocks, spawn->nblocks + 1, sizeof(*spawn->blocks));
    struct spawn_request_block *block = &spawn->blocks[spawn->nblocks++];
    *block = (struct spawn_request_block){.maxprocs = 1};
    spawn_request_arg(spawn, program);
    return block;
}

/* Room doubles with each power of two. */
static bool is_full(size_t count)
{
    return (count & (count - 1)) == 0;
}

void spawn_request_arg(struct spawn_request *spawn, const char *text)
{
    struct spawn_request_block *block = &spawn->blocks[spawn->nblocks - 1];
    if (is_full(block->argc + 1)) /* with the NULL */
        block->argv = mem_resize(block->argv, 2 * (block->argc + 1), sizeof(char *));
    block->argv[block->argc++] = mem_copy_text(text);
    block->argv[block->argc] = NULL;
}

void pmi_pairs_add(struct pmi_pairs *pairs, const char *key, const char *value)
{
    if (is_full(pairs->count))
        pairs->list =
            mem_resize(pairs->list, pairs->count ? 2 * pairs->count : 1, sizeof(*pairs->list));
    pairs->list[pairs->count++] =
        (struct pmi_pair){.key = mem_copy_text(key), .value = mem_copy_text(value)};
}

const char *pmi_pairs_value(const struct pmi_pairs *pairs, const char *key)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (!strcmp(pairs->list[i].key, key))
            return pairs->list[i].value;
    return NULL;
}

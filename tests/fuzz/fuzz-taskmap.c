/* Any text is refused with a sentence, or is a map that each of its forms gives again. */
#include <stdlib.h>
#include <string.h>

#include "affinity/taskmap/taskmap.h"
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

#define SMALL 4096 /* ranks that are worth writing out */

static void expect_same(const struct taskmap *map, struct taskmap *again)
{
    if (!again || again->nblocks != map->nblocks || again->ntasks != map->ntasks ||
        again->nnodes != map->nnodes)
        abort();
    if (map->nblocks &&
        memcmp(map->blocks, again->blocks, map->nblocks * sizeof(*map->blocks)) != 0)
        abort();
    taskmap_free(again);
}

static void check_ranks(const struct taskmap *map)
{
    struct taskmap *plain = taskmap_new();
    for (uint64_t rank = 0; rank < map->ntasks; rank++)
        taskmap_append(plain, taskmap_node(map, rank), 1);
    expect_same(map, plain);
    char *pmi = taskmap_encode_pmi(map), *raw = taskmap_encode_raw(map);
    expect_same(map, taskmap_decode(pmi, NULL));
    if (raw)
        expect_same(map, taskmap_decode(raw, NULL));
    free(pmi);
    free(raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_copy_text_n((const char *)data, size);
    struct error err = ERROR_INIT;
    struct taskmap *map = taskmap_decode(text, &err);
    if (map) {
        json_t *value = taskmap_to_json(map);
        expect_same(map, taskmap_from_json(value, NULL));
        json_decref(value);
        if (map->ntasks <= SMALL)
            check_ranks(map);
    } else if (!err.text) {
        abort();
    }
    taskmap_free(map);
    error_clear(&err);
    free(text);
    return 0;
}

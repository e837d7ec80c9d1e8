/* The text forms of task maps: JSON (RFC 34), PMI (RFC 13), raw. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/taskmap/taskmap.h"
#include "base/buf.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"

static int taskmap_read_block(struct taskmap *map, const json_t *value, size_t at,
                              struct error *err)
{
    static const char *const names[] = {"nodeid", "nnodes", "ppn", "repeat"};
    uint32_t number[4];
    if (!json_is_array(value) || json_array_size(value) != 4)
        return error_set(err, "task map: block %zu is not [nodeid,nnodes,ppn,repeat]", at);
    for (size_t i = 0; i < 4; i++) { /* what does not fit in 32 bits is refused, not cut */
        const json_t *item = json_array_get(value, i);
        json_int_t lowest = i == 0 ? 0 : 1;
        if (!json_is_integer(item) || json_integer_value(item) < lowest ||
            json_integer_value(item) > UINT32_MAX)
            return error_set(err,
                             "task map: %s of block %zu is not an integer from %d to 4294967295",
                             names[i], at, (int)lowest);
        number[i] = (uint32_t)json_integer_value(item);
    }
    struct taskmap_block block = {number[0], number[1], number[2], number[3]};
    return taskmap_append_block(map, block, err);
}

/* The array in `value`, which may be wrapped; NULL with a sentence. */
static const json_t *taskmap_unwrap(const json_t *value, struct error *err)
{
    if (json_is_object(value)) {
        const json_t *version = json_object_get(value, "version");
        if (!json_is_integer(version) || json_integer_value(version) != 1) {
            error_set(err, "task map: version is missing or not 1, the only one there is (RFC 34)");
            return NULL;
        }
        value = json_object_get(value, "map");
    }
    if (json_is_array(value))
        return value;
    error_set(err, "task map: neither an array of blocks nor {\"version\":1,\"map\":[...]} "
                   "(RFC 34)");
    return NULL;
}

struct taskmap *taskmap_from_json(const json_t *value, struct error *err)
{
    const json_t *blocks = taskmap_unwrap(value, err);
    if (!blocks)
        return NULL;
    struct taskmap *map = taskmap_new();
    for (size_t i = 0; i < json_array_size(blocks); i++) {
        if (taskmap_read_block(map, json_array_get(blocks, i), i, err) < 0) {
            taskmap_free(map);
            return NULL;
        }
    }
    return map;
}

static int taskmap_read_json(struct taskmap **map, const char *text, struct error *err)
{
    json_error_t bad;
    json_t *value = json_loads(text, JSON_REJECT_DUPLICATES, &bad);
    if (!value)
        return error_set(err, "task map %s is not JSON: %s", excerpt(text, strlen(text)).text,
                         excerpt(bad.text, strlen(bad.text)).text);
    *map = taskmap_from_json(value, err);
    json_decref(value);
    return *map ? 0 : -1;
}

static void taskmap_skip_blanks(const char **at)
{
    *at += strspn(*at, " \t");
}

/* The word, with blanks around it; false where something else stands there. */
static bool taskmap_skip(const char **at, const char *word)
{
    taskmap_skip_blanks(at);
    size_t len = strlen(word);
    if (strncmp(*at, word, len) != 0)
        return false;
    *at += len;
    taskmap_skip_blanks(at);
    return true;
}

static bool taskmap_read_uint(const char **at, uint32_t *number)
{
    uint64_t value;
    size_t digits = number_read(*at, NULL, UINT32_MAX, &value);
    if (!digits || value > UINT32_MAX) /* what is wrong begins here */
        return false;
    *at += digits;
    *number = (uint32_t)value;
    return true;
}

/* "(n,c,p)" */
static bool taskmap_read_tuple(const char **at, struct taskmap_block *block)
{
    block->repeat = 1;
    return taskmap_skip(at, "(") && taskmap_read_uint(at, &block->node) && taskmap_skip(at, ",") &&
           taskmap_read_uint(at, &block->nnodes) && taskmap_skip(at, ",") &&
           taskmap_read_uint(at, &block->ppn) && taskmap_skip(at, ")");
}

static int taskmap_bad_pmi(const char *text, const char *at, struct error *err)
{
    return error_set(err,
                     "task map %s is wrong at byte %zu; (vector,(nodeid,nnodes,ppn),...) is "
                     "right (RFC 13)",
                     excerpt(text, strlen(text)).text, (size_t)(at - text));
}

/* RFC 13, and as lenient as other readers: blanks around words, a comma behind the last tuple. */
static int taskmap_read_pmi(struct taskmap **out, const char *text, struct error *err)
{
    const char *at = text;
    if (!taskmap_skip(&at, "(") || !taskmap_skip(&at, "vector"))
        return taskmap_bad_pmi(text, at, err);
    while (taskmap_skip(&at, ",") && *at != ')') {
        struct taskmap_block block;
        if (!taskmap_read_tuple(&at, &block))
            return taskmap_bad_pmi(text, at, err);
        if (taskmap_append_block(*out, block, err) < 0)
            return -1;
    }
    if (!(*out)->nblocks || !taskmap_skip(&at, ")") || *at)
        return taskmap_bad_pmi(text, at, err);
    return 0;
}

struct taskmap_run {
    uint32_t node, first, last;
};

struct taskmap_runs {
    struct taskmap_run *list;
    size_t count;
};

static void taskmap_runs_add(struct taskmap_runs *runs, struct taskmap_run run)
{
    runs->list = array_grow(runs->list, runs->count, sizeof(*runs->list));
    runs->list[runs->count++] = run;
}

static int taskmap_by_rank(const void *a, const void *b)
{
    const struct taskmap_run *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static int taskmap_by_node(const void *a, const void *b)
{
    const struct taskmap_run *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return taskmap_by_rank(a, b);
}

static int taskmap_read_raw_node(struct taskmap_runs *runs, uint32_t node, const char *text,
                                 size_t len, struct error *err)
{
    struct taskmap_run run = {.node = node};
    char *copy = mem_copy_text_n(text, len);
    struct idset *ranks = idset_decode(copy, err);
    free(copy);
    if (!ranks)
        return error_prefix(err, "task map, node %u", node);
    if (idset_empty(ranks)) {
        idset_free(ranks);
        return error_set(err,
                         "task map: node %u has no rank: expected one idset for each node, "
                         "as in 0-3;4-7",
                         node);
    }
    for (size_t at = 0; idset_range(ranks, &at, &run.first, &run.last);)
        taskmap_runs_add(runs, run);
    idset_free(ranks);
    return 0;
}

static int taskmap_join_runs(struct taskmap *map, struct taskmap_runs *runs, struct error *err)
{
    qsort(runs->list, runs->count, sizeof(*runs->list), taskmap_by_rank);
    for (size_t i = 0; i < runs->count; i++) {
        const struct taskmap_run *run = &runs->list[i];
        if (run->first < map->ntasks)
            return error_set(err, "task map: rank %u is on node %u and on node %u", run->first,
                             runs->list[i - 1].node, run->node);
        if (run->first > map->ntasks)
            return error_set(err, "task map: rank %llu is on no node",
                             (unsigned long long)map->ntasks);
        taskmap_append(map, run->node, run->last - run->first + 1);
    }
    return 0;
}

static int taskmap_read_raw(struct taskmap **out, const char *text, struct error *err)
{
    struct taskmap_runs runs = {0};
    int rc = 0;
    for (uint32_t node = 0; rc == 0; node++) {
        size_t len = strcspn(text, ";");
        if (node >= TASKMAP_MAX_NODES)
            rc = error_set(err, "task map: more than %u nodes", TASKMAP_MAX_NODES);
        else
            rc = taskmap_read_raw_node(&runs, node, text, len, err);
        if (!text[len])
            break;
        text += len + 1;
    }
    if (rc == 0)
        rc = taskmap_join_runs(*out, &runs, err);
    free(runs.list);
    return rc;
}

/* JSON starts with a bracket or brace; "vector" is in no other form than PMI's. */
static int taskmap_read(struct taskmap **map, const char *text, struct error *err)
{
    const char *start = text + strspn(text, " \t\r\n");
    if (!*start)
        return 0;
    if (*start == '[' || *start == '{') {
        taskmap_free(*map);
        *map = NULL;
        return taskmap_read_json(map, start, err);
    }
    if (*start == '(' || strstr(start, "vector"))
        return taskmap_read_pmi(map, text, err);
    return taskmap_read_raw(map, text, err);
}

struct taskmap *taskmap_decode(const char *text, struct error *err)
{
    size_t len = strnlen(text, (size_t)TASKMAP_MAX_TEXT + 1);
    if (len > TASKMAP_MAX_TEXT) {
        error_set(err, "task map: more than %u bytes", TASKMAP_MAX_TEXT);
        return NULL;
    }
    struct taskmap *map = taskmap_new();
    if (taskmap_read(&map, text, err) == 0)
        return map;
    taskmap_free(map);
    return NULL;
}

json_t *taskmap_to_json(const struct taskmap *map)
{
    json_t *blocks = json_array();
    for (size_t i = 0; i < map->nblocks; i++) {
        const struct taskmap_block *block = &map->blocks[i];
        json_array_append_new(blocks, json_pack("[I,I,I,I]", (json_int_t)block->node,
                                                (json_int_t)block->nnodes, (json_int_t)block->ppn,
                                                (json_int_t)block->repeat));
    }
    return json_pack("{s:i,s:o}", "version", 1, "map", blocks);
}

char *taskmap_encode_pmi(const struct taskmap *map)
{
    struct buf out = BUF_INIT;
    if (!map->nblocks)
        return mem_copy_text("");
    buf_add_text(&out, "(vector");
    for (size_t i = 0; i < map->nblocks; i++) {
        const struct taskmap_block *block = &map->blocks[i];
        for (uint32_t j = 0; j < block->repeat; j++) {
            buf_printf(&out, ",(%u,%u,%u)", block->node, block->nnodes, block->ppn);
            if (out.len >= TASKMAP_MAX_TEXT) {
                buf_free(&out);
                return NULL;
            }
        }
    }
    buf_add_char(&out, ')');
    return buf_take_text(&out);
}

static char *taskmap_write_runs(const struct taskmap_runs *runs)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < runs->count; i++) {
        const struct taskmap_run *run = &runs->list[i];
        uint32_t here = i ? runs->list[i - 1].node : 0;
        if (run->node > here + (i > 0) || (!i && run->node)) {
            buf_free(&out);
            return NULL;
        }
        if (i)
            buf_add_char(&out, run->node == here ? ',' : ';');
        if (run->first == run->last)
            buf_printf(&out, "%u", run->first);
        else
            buf_printf(&out, "%u-%u", run->first, run->last);
    }
    return buf_take_text(&out);
}

/* A run takes at most 22 bytes of text. */
#define TASKMAP_MAX_RUNS (TASKMAP_MAX_TEXT / 22)

char *taskmap_encode_raw(const struct taskmap *map)
{
    struct taskmap_runs runs = {0};
    uint32_t rank = 0;
    uint64_t count = 0;
    if (!map->nblocks)
        return mem_copy_text("");
    for (size_t i = 0; i < map->nblocks; i++) {
        count += (uint64_t)map->blocks[i].nnodes * map->blocks[i].repeat;
        if (count > TASKMAP_MAX_RUNS)
            return NULL;
    }
    for (size_t i = 0; i < map->nblocks; i++) {
        const struct taskmap_block *block = &map->blocks[i];
        for (uint32_t j = 0; j < block->repeat; j++)
            for (uint32_t node = 0; node < block->nnodes; node++, rank += block->ppn)
                taskmap_runs_add(
                    &runs, (struct taskmap_run){block->node + node, rank, rank + (block->ppn - 1)});
    }
    qsort(runs.list, runs.count, sizeof(*runs.list), taskmap_by_node);
    char *text = taskmap_write_runs(&runs);
    free(runs.list);
    return text;
}

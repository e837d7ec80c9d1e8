/* The schemes of --taskmap: parsed, and ranks dealt out by them. */
#include "affinity/taskmap/taskmap_scheme.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/edit_distance.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"

static const char *const schemes[] = {"block", "cyclic", "manual", NULL};

#define RIGHT                                                                                      \
    "expected block, cyclic, cyclic:N, manual:MAP, or a task map: [[nodeid,nnodes,ppn,repeat],"    \
    "...], \"(vector,(nodeid,nnodes,ppn),...)\" or each node's ranks, 0-3;4-7"

static int taskmap_scheme_refuse(const char *text, size_t at, const char *why, struct error *err)
{
    size_t len = strlen(text);
    return error_usage(err, "--taskmap %s: %s%s", excerpt(text, len).text, why,
                       pointer(text, len, at).text);
}

static int parse_map(const char *map, struct taskmap_scheme *deal, struct error *err)
{
    struct error why = ERROR_INIT;
    deal->map = taskmap_decode(map, &why);
    int rc = 0;
    if (!deal->map)
        rc = error_usage(err, "--taskmap: %s", error_text(&why));
    else if (deal->map->ntasks == 0)
        rc = error_usage(err, "--taskmap: the map is empty, and places no rank; " RIGHT);
    else if (deal->map->ntasks > PROGRAM_MAX_TASKS)
        rc = error_usage(err,
                         "--taskmap: the map places %llu ranks, more than the %u that a program "
                         "may have",
                         (unsigned long long)deal->map->ntasks, PROGRAM_MAX_TASKS);
    error_clear(&why);
    if (rc == 0)
        deal->scheme = TASKMAP_SCHEME_MAP;
    else
        taskmap_scheme_free(deal);
    return rc;
}

int taskmap_scheme_parse(const char *text, struct taskmap_scheme *deal, struct error *err)
{
    static const char cyclic[] = "cyclic:", manual[] = "manual:";
    *deal = (struct taskmap_scheme){.scheme = TASKMAP_SCHEME_NONE, .chunk = 1};
    if (!text)
        return 0;
    if (strncmp(text, manual, strlen(manual)) == 0)
        return parse_map(text + strlen(manual), deal, err);
    if (strncmp(text, cyclic, strlen(cyclic)) == 0) {
        uint64_t chunk;
        if (!number_parse(text + strlen(cyclic), PROGRAM_MAX_TASKS, &chunk) || chunk == 0)
            return taskmap_scheme_refuse(
                text, strlen(cyclic),
                "behind cyclic: stands how many ranks a node gets at a time, from 1 on", err);
        *deal = (struct taskmap_scheme){.scheme = TASKMAP_SCHEME_CYCLIC, .chunk = (uint32_t)chunk};
        return 0;
    }
    if (strcmp(text, "block") == 0 || strcmp(text, "cyclic") == 0) {
        deal->scheme = text[0] == 'b' ? TASKMAP_SCHEME_BLOCK : TASKMAP_SCHEME_CYCLIC;
        return 0;
    }
    const char *start = text + strspn(text, " \t\r\n");
    if (*start && strchr("[{(0123456789", *start)) /* no word begins as a map does */
        return parse_map(text, deal, err);
    const char *nearest = edit_distance_word(schemes, text, strcspn(text, ":"));
    char *why = nearest ? mem_format("no such scheme, the nearest is %s; " RIGHT, nearest)
                        : mem_copy_text("neither a scheme nor a task map; " RIGHT);
    taskmap_scheme_refuse(text, 0, why, err);
    free(why);
    return -1;
}

void taskmap_scheme_free(struct taskmap_scheme *deal)
{
    taskmap_free(deal->map);
    deal->map = NULL;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t deal_to(uint32_t node, uint32_t count, uint32_t *order, uint32_t dealt)
{
    for (uint32_t i = 0; i < count; i++)
        order[dealt++] = node;
    return dealt;
}

/* Who is full leaves the round, so that work grows with what is dealt. */
static uint32_t taskmap_scheme_deal_cyclic(const uint32_t *count, uint32_t n, uint32_t chunk,
                                           uint32_t ntasks, uint32_t *order)
{
    uint32_t *node = mem_array(n, sizeof(*node)), *left = mem_array(n, sizeof(*left));
    uint32_t nleft = 0, dealt = 0;
    for (uint32_t i = 0; i < n; i++)
        if ((left[nleft] = count[i]))
            node[nleft++] = i;
    while (nleft && dealt < ntasks) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < nleft; i++) {
            uint32_t take = least(least(chunk, left[i]), ntasks - dealt);
            dealt = deal_to(node[i], take, order, dealt);
            node[kept] = node[i];
            left[kept] = left[i] - take;
            kept += left[kept] > 0;
        }
        nleft = kept;
    }
    free(node);
    free(left);
    return dealt;
}

uint32_t taskmap_scheme_deal(const struct taskmap_scheme *deal, const uint32_t *count, uint32_t n,
                             uint32_t ntasks, uint32_t *order)
{
    if (deal->scheme != TASKMAP_SCHEME_BLOCK)
        return taskmap_scheme_deal_cyclic(count, n, deal->chunk, ntasks, order);
    uint32_t dealt = 0;
    for (uint32_t i = 0; i < n && dealt < ntasks; i++)
        dealt = deal_to(i, least(count[i], ntasks - dealt), order, dealt);
    return dealt;
}

void taskmap_deal(const struct taskmap *map, uint32_t ntasks, uint32_t *order)
{
    uint32_t dealt = 0;
    for (size_t i = 0; i < map->nblocks; i++) {
        const struct taskmap_block *block = &map->blocks[i];
        for (uint32_t r = 0; r < block->repeat; r++)
            for (uint32_t j = 0; j < block->nnodes && dealt < ntasks; j++)
                dealt = deal_to(block->node + j, least(block->ppn, ntasks - dealt), order, dealt);
    }
}

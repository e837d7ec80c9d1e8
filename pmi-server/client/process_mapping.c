/* The ranks of a node, out of PMI_process_mapping: passes over the text, which nothing is kept of. */
#include "pmi-server/client/process_mapping.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct block {
    uint64_t node, nnodes, ppn; /* each below 2^31 */
};

static bool parse_text(const char **at, const char *text)
{
    size_t len = strlen(text);
    if (strncmp(*at, text, len) != 0)
        return false;
    *at += len;
    return true;
}

static bool parse_number(const char **at, uint64_t *number)
{
    *number = 0;
    if (!isdigit((unsigned char)**at))
        return false;
    for (; isdigit((unsigned char)**at); ++*at) {
        *number = *number * 10 + (uint64_t)(**at - '0');
        if (*number > INT32_MAX)
            return false;
    }
    return true;
}

/* Step through the blocks: false at the end and at what is no block. */
static bool next_block(const char **at, struct block *block, bool *malformed)
{
    if (!strcmp(*at, ")"))
        return false;
    bool good = parse_text(at, ",(") && parse_number(at, &block->node) && parse_text(at, ",") &&
                parse_number(at, &block->nnodes) && parse_text(at, ",") &&
                parse_number(at, &block->ppn) && parse_text(at, ")");
    *malformed = !good;
    return good;
}

#define HEAD "(vector"

/* The ranks of one pass over the vector; 0 when it is malformed. */
static uint64_t mapping_ranks(const char *mapping)
{
    const char *at = mapping;
    struct block block;
    bool malformed = false;
    uint64_t ranks = 0;
    if (!parse_text(&at, HEAD))
        return 0;
    while (next_block(&at, &block, &malformed)) {
        ranks += block.nnodes * block.ppn; /* below 2^62 */
        malformed = ranks >> 62;
        if (malformed)
            break;
    }
    return malformed ? 0 : ranks;
}

static uint64_t mapping_node(const char *mapping, uint64_t rank)
{
    const char *at = mapping + strlen(HEAD);
    struct block block;
    bool malformed = false;
    while (next_block(&at, &block, &malformed)) {
        if (rank < block.nnodes * block.ppn)
            return block.node + rank / block.ppn;
        rank -= block.nnodes * block.ppn;
    }
    return UINT64_MAX;
}

struct found {
    int *ranks;
    int room, count;
};

/* One pass over the vector, its first rank being `rank`. */
static void clique_pass(const char *mapping, uint64_t node, uint64_t rank, uint64_t size,
                        struct found *found)
{
    const char *at = mapping + strlen(HEAD);
    struct block block;
    bool malformed = false;
    while (rank < size && next_block(&at, &block, &malformed)) {
        if (node >= block.node && node - block.node < block.nnodes) {
            uint64_t first = rank + (node - block.node) * block.ppn;
            for (uint64_t r = first; r < first + block.ppn && r < size; r++, found->count++)
                if (found->count < found->room)
                    found->ranks[found->count] = (int)r;
        }
        rank += block.nnodes * block.ppn;
    }
}

int process_mapping_clique_find(const char *mapping, int rank, int size, int ranks[], int room)
{
    uint64_t pass = mapping_ranks(mapping);
    if (!pass || rank < 0 || rank >= size)
        return -1;
    struct found found = {.ranks = ranks, .room = room};
    uint64_t node = mapping_node(mapping, (uint64_t)rank % pass);
    for (uint64_t first = 0; first < (uint64_t)size; first += pass)
        clique_pass(mapping, node, first, (uint64_t)size, &found);
    return found.count;
}

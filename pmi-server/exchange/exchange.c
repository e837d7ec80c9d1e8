/* Rounds of one vertex: open ones in a table by id, each gathered until it is whole. */
#include "pmi-server/exchange/exchange.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"

/* How many finished rounds are remembered, to tell a late entry from a new round. */
#define MEMORY 64

struct round {
    struct round *next; /* in its bucket */
    uint64_t id;
    uint32_t weight;  /* gathered so far */
    uint32_t nnodes;  /* of a round of some nodes: how many */
    bool sent;        /* gathered whole and sent up: waits for the whole to come down */
    struct buf bytes; /* gathered so far */
};

struct exchange {
    const struct exchange_ops *ops;
    void *arg;
    uint32_t total, subtree;
    struct round **buckets; /* the open ones, by id */
    size_t count, nbuckets; /* a power of two, or 0 */
    uint64_t over[MEMORY];  /* a ring of the finished ones */
    size_t nover;           /* ever finished */
};

struct exchange *exchange_new(const struct exchange_ops *ops, void *arg, uint32_t total,
                              uint32_t subtree)
{
    struct exchange *exchange = mem_alloc(sizeof(*exchange));
    exchange->ops = ops;
    exchange->arg = arg;
    exchange->total = total;
    exchange->subtree = subtree;
    return exchange;
}

void exchange_free(struct exchange *exchange)
{
    if (!exchange)
        return;
    for (size_t i = 0; i < exchange->nbuckets; i++)
        for (struct round *round = exchange->buckets[i], *next; round; round = next) {
            next = round->next;
            buf_free(&round->bytes);
            free(round);
        }
    free(exchange->buckets);
    free(exchange);
}

/* ---- open rounds ---- */

static struct round **exchange_bucket_of(const struct exchange *exchange, uint64_t id)
{
    return &exchange->buckets[id & (exchange->nbuckets - 1)];
}

static struct round *exchange_find(const struct exchange *exchange, uint64_t id)
{
    struct round *round = exchange->count ? *exchange_bucket_of(exchange, id) : NULL;
    while (round && round->id != id)
        round = round->next;
    return round;
}

static void link_round(struct exchange *exchange, struct round *round)
{
    struct round **bucket = exchange_bucket_of(exchange, round->id);
    round->next = *bucket;
    *bucket = round;
}

static struct round *exchange_open(struct exchange *exchange, uint64_t id)
{
    struct round *round = mem_alloc(sizeof(*round));
    *round = (struct round){.id = id};
    if (++exchange->count > exchange->nbuckets) {
        struct round **old = exchange->buckets;
        size_t nold = exchange->nbuckets;
        exchange->nbuckets = nold ? nold * 2 : 4;
        exchange->buckets = mem_array(exchange->nbuckets, sizeof(*exchange->buckets));
        for (size_t i = 0; i < nold; i++)
            for (struct round *one = old[i], *next; one; one = next) {
                next = one->next;
                link_round(exchange, one);
            }
        free(old);
    }
    link_round(exchange, round);
    return round;
}

/* Of an id that comes again nothing is remembered. */
static bool exchange_is_over(const struct exchange *exchange, uint64_t id)
{
    size_t known = exchange->nover < MEMORY ? exchange->nover : MEMORY;
    for (size_t i = 0; i < known; i++)
        if (exchange->over[i] == id)
            return true;
    return false;
}

static void exchange_remember(struct exchange *exchange, uint64_t id)
{
    if (!(id & EXCHANGE_AGAIN))
        exchange->over[exchange->nover++ % MEMORY] = id;
}

static void exchange_close(struct exchange *exchange, struct round *round)
{
    struct round **at = exchange_bucket_of(exchange, round->id);
    exchange_remember(exchange, round->id);
    while (*at != round)
        at = &(*at)->next;
    *at = round->next;
    exchange->count--;
    buf_free(&round->bytes);
    free(round);
}

/* The callbacks below may come back into this exchange, and done may free it: the table is in
 * order before the first of them is called, and nothing is touched after the last. */
static void exchange_finish(struct exchange *exchange, uint64_t id, const void *bytes, size_t len)
{
    exchange->ops->down(exchange->arg, id, bytes, len);
    exchange->ops->done(exchange->arg, id, bytes, len);
}

/* Everything of the subtree is here. */
static void exchange_gathered(struct exchange *exchange, struct round *round, const void *bytes,
                              size_t len)
{
    uint64_t id = round->id;
    if (exchange->subtree < exchange->total) {
        round->sent = true;
        exchange->ops->up(exchange->arg, id, exchange->subtree, bytes, len);
        return;
    }
    exchange_close(exchange, round);
    exchange_finish(exchange, id, bytes, len);
}

/* So much weight may still enter a round of so many nodes, and so many bytes. */
static int exchange_check_weight(const struct exchange *exchange, const struct round *round,
                                 uint64_t id, uint32_t weight, uint32_t nnodes, size_t len,
                                 struct error *err)
{
    uint32_t have = round ? round->weight : 0;
    size_t all = len + (round ? round->bytes.len : 0);
    if (!weight || weight > nnodes - have)
        return error_set(err,
                         "exchange round 0x%" PRIx64 ": weight %" PRIu32 " entered, but %" PRIu32
                         " of %" PRIu32 " nodes are missing",
                         id, weight, nnodes - have, nnodes);
    if (exchange->total == 1 || all <= EXCHANGE_MAX)
        return 0;
    return error_set(err,
                     "tasks exchange %zu bytes at once, and at most %u are carried between hosts: "
                     "what is fetched when it is wanted need not be exchanged",
                     all, EXCHANGE_MAX);
}

/* ---- rounds of some nodes ---- */

#define PART_HEAD 4

static uint32_t part_nnodes(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static int part_check(const struct exchange *exchange, const struct round *round, uint64_t id,
                      uint32_t weight, const void *bytes, size_t len, struct error *err)
{
    if (!round && exchange_is_over(exchange, id))
        return error_set(err, "exchange round 0x%" PRIx64 ": entered after it was over", id);
    if (len < PART_HEAD || !exchange->subtree)
        return error_set(err, "exchange round 0x%" PRIx64 ": a malformed part of it came", id);
    uint32_t nnodes = part_nnodes(bytes);
    if (nnodes > exchange->total || (round && round->nnodes != nnodes))
        return error_set(err,
                         "exchange round 0x%" PRIx64 ": one node says that %" PRIu32
                         " take part, others something else",
                         id, nnodes);
    return exchange_check_weight(exchange, round, id, weight, nnodes, len, err);
}

/* At the root alone is anything gathered. */
static int part_enter(struct exchange *exchange, uint64_t id, uint32_t weight, const void *bytes,
                      size_t len, struct error *err)
{
    struct round *round = exchange_find(exchange, id);
    if (part_check(exchange, round, id, weight, bytes, len, err) < 0)
        return -1;
    if (exchange->subtree < exchange->total) {
        exchange->ops->up(exchange->arg, id, weight, bytes, len);
        return 0;
    }
    if (!round)
        round = exchange_open(exchange, id);
    round->nnodes = part_nnodes(bytes);
    round->weight += weight;
    buf_add(&round->bytes, (const char *)bytes + PART_HEAD, len - PART_HEAD);
    if (round->weight < round->nnodes)
        return 0;
    struct buf gathered = round->bytes;
    round->bytes = (struct buf)BUF_INIT;
    exchange_close(exchange, round);
    exchange_finish(exchange, id, buf_bytes(&gathered), gathered.len);
    buf_free(&gathered);
    return 0;
}

int exchange_enter_part(struct exchange *exchange, uint64_t id, uint32_t nnodes, const void *bytes,
                        size_t len, struct error *err)
{
    struct buf part = BUF_INIT;
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_add_char(&part, (char)(nnodes >> shift));
    buf_add(&part, bytes, len);
    int rc = part_enter(exchange, id, 1, buf_bytes(&part), part.len, err);
    buf_free(&part);
    return rc;
}

int exchange_enter(struct exchange *exchange, uint64_t id, uint32_t weight, const void *bytes,
                   size_t len, struct error *err)
{
    if (id & EXCHANGE_PART)
        return part_enter(exchange, id, weight, bytes, len, err);
    struct round *round = exchange_find(exchange, id);
    if ((round && round->sent) || (!round && exchange_is_over(exchange, id)))
        return error_set(err, "exchange round 0x%" PRIx64 ": entered after it was over", id);
    if (exchange_check_weight(exchange, round, id, weight, exchange->subtree, len, err) < 0)
        return -1;
    if (!round)
        round = exchange_open(exchange, id);
    round->weight += weight;
    bool whole = round->weight == exchange->subtree;
    if (whole && !round->bytes.len) { /* a leaf: nothing to gather, nothing to copy */
        exchange_gathered(exchange, round, bytes, len);
        return 0;
    }
    buf_add(&round->bytes, bytes, len);
    if (!whole)
        return 0;
    struct buf gathered = round->bytes;
    round->bytes = (struct buf)BUF_INIT;
    exchange_gathered(exchange, round, buf_bytes(&gathered), gathered.len);
    buf_free(&gathered);
    return 0;
}

int exchange_complete(struct exchange *exchange, uint64_t id, const void *bytes, size_t len,
                      struct error *err)
{
    struct round *round = exchange_find(exchange, id);
    if (!round && exchange_is_over(exchange, id))
        return error_set(err, "exchange round 0x%" PRIx64 ": came down after it was over", id);
    if (id & EXCHANGE_PART && exchange->subtree < exchange->total) {
        exchange_remember(exchange, id);
        exchange_finish(exchange, id, bytes, len);
        return 0;
    }
    if (exchange->subtree ? !round || !round->sent : exchange->total == 0)
        return error_set(
            err, "exchange round 0x%" PRIx64 ": came down, but was never sent up from here", id);
    if (!round)
        round = exchange_open(exchange, id);
    exchange_close(exchange, round);
    exchange_finish(exchange, id, bytes, len);
    return 0;
}

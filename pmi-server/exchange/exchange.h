/*
 * exchange - gather up, broadcast down: the one collective of the house.
 *
 * A vertex of the tree (an agent, or the manager) has some children and at most one parent. A
 * round is named by an id (64 bits: group and sequence number, all nodes count alike). Each node
 * that takes part enters a round once with some bytes; when a vertex has gathered everything of
 * its subtree it sends the concatenation up, and the vertex whose subtree is everything sends it
 * down to all: so a program on one node never leaves its agent. Bytes arrive as entered, in any
 * order of nodes, and everybody receives all of them, its own included.
 *
 * A round may be one of some nodes only: its id has EXCHANGE_PART, and whoever enters says how many
 * take part, all the same number. Nobody but the members knows of it beforehand, so nothing is
 * gathered on the way: each part goes up to the root by itself, with that number in its first four
 * bytes, and the whole goes down to everybody, to nodes that do not take part as well.
 *
 * An id with EXCHANGE_AGAIN may come again, for another round: a node enters that when it has got
 * the whole of the one before. Other ids are used once.
 *
 * Several rounds may be open at once. PMI-1 barriers, PMI-2 and PMIx fences all go through here.
 * The vertex knows nothing about links; whoever owns it carries its messages.
 */
#ifndef PMI_SERVER_EXCHANGE_EXCHANGE_H
#define PMI_SERVER_EXCHANGE_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define EXCHANGE_PART (1ull << 63)
#define EXCHANGE_AGAIN (1ull << 62)
#define EXCHANGE_MAX ((64u << 20) - 64) /* bytes that nodes carry to each other at once */

struct exchange_ops {
    /* To the parent: `weight` nodes are in these bytes. */
    void (*up)(void *arg, uint64_t id, uint32_t weight, const void *bytes, size_t len);
    /* To every child. */
    void (*down)(void *arg, uint64_t id, const void *bytes, size_t len);
    /* The round is complete here, at a relay too. Called last: a new round may be entered from
     * inside, and the exchange may be freed. */
    void (*done)(void *arg, uint64_t id, const void *bytes, size_t len);
};

struct exchange;

/* `total` nodes take part in all, `subtree` of them at or below this vertex (itself included if
 * it takes part). subtree == total makes this vertex the root, and vertices
 * above it, if any, never see a round. A vertex that does not take part
 * gathers what its children send like any other; one with subtree 0 only hands the whole down.
 * ops is borrowed. The callbacks may be called from inside exchange_enter and exchange_complete,
 * and may call these in turn. */
struct exchange *exchange_new(const struct exchange_ops *ops, void *arg, uint32_t total,
                              uint32_t subtree);
void exchange_free(struct exchange *exchange);

/* This node enters (weight 1), or bytes with a weight came up from a child. -1 with a sentence
 * when more weight arrives than the subtree has, or the round is over already, or more than
 * EXCHANGE_MAX bytes would go to other nodes. */
int exchange_enter(struct exchange *exchange, uint64_t id, uint32_t weight, const void *bytes,
                   size_t len, struct error *err);
/* This node enters a round of `nnodes` nodes, itself included. -1 with a sentence when the others
 * say another number, or more enter than that. */
int exchange_enter_part(struct exchange *exchange, uint64_t id, uint32_t nnodes, const void *bytes,
                        size_t len, struct error *err);
/* The whole came down from the parent. -1 when this round was not sent up from here, and this is
 * not a vertex with subtree 0 (which relays any round) nor a round of some nodes, or when it is
 * over already. The last 64 finished rounds are remembered for that. */
int exchange_complete(struct exchange *exchange, uint64_t id, const void *bytes, size_t len,
                      struct error *err);

#endif

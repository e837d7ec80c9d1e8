/*
 * ring - each task of the group learns what its two neighbours in a ring have brought.
 *
 * The tasks of a node are neighbours; nodes follow one another by the lowest rank they have. What
 * the exchange carries for each node, and is untrusted when it comes back: the lowest rank and the
 * number of tasks, 32 bits each, then two texts with their NUL: what the first task has for its
 * left neighbour, and the last for its right.
 *
 * Not for owners of a server: these see server.h.
 */
#ifndef PMI_SERVER_PMI_RING_H
#define PMI_SERVER_PMI_RING_H

#include "pmi-server/pmi/context.h"

#define RING_ROUNDS (1ull << 56) /* ids of its rounds in the exchange, from here on */

/* The open round: everybody of this node is in it. */
void ring_pack(const struct pmi_server *server, struct buf *out);
/* Answer everybody of this node with ring_out. -1 with a sentence, and nobody has an answer. */
int ring_take(struct pmi_server *server, const void *bytes, size_t len, struct error *err);

#endif

/*
 * node_count - the nodes that tasks may go to, and with -N: which nodes these are, and how many
 * tasks each gets. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_NODE_COUNT_H
#define AFFINITY_LAYOUT_NODE_COUNT_H

#include <stdint.h>

struct error;
struct idset;
struct layout_build;
struct passes;
struct placement;

/* The nodes that the letter n goes over. With -N those of the first placement are those of all. */
struct node_choice {
    uint32_t *nodes; /* [nodes of the request] of the request, ascending */
    uint32_t count;
    uint32_t rotation; /* with -N: the node whose turn it is to get one task more than the rest */
};

/* All of nnodes nodes that are in `only`; NULL: all. */
void node_choice_all(struct node_choice *choice, uint32_t nnodes, const struct idset *only);

/* -N with a number of tasks: choose the first -N nodes that have room for an even share of them. 0,
 * or -1 with a sentence. */
int node_count_choose(struct layout_build *build, struct passes *passes,
                      const struct placement *placement, struct error *err);
/* -N where as many tasks as fit are to come: choose the first -N nodes with room for one task. */
int node_count_choose_any(struct layout_build *build, struct passes *passes,
                          struct placement *placement, struct error *err);
/* The tasks that each node gets, by node of the request; they differ by one at most where there is
 * room. Caller frees. */
uint32_t *node_count_shares(struct layout_build *build, struct passes *passes,
                            const struct placement *placement);

#endif

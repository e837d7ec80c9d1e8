/*
 * lama-plain - LAMA written down as plainly as it can be said, to hold the engine against.
 *
 * It shares nothing with the engine but the request: levels are sets of hardware threads, a map
 * is nine nested loops of which every position is tried, and a limit counts over all tasks placed
 * so far. Slow, and only for what LAMA itself defines: one part, no -N, no host file's limits,
 * machines of up to 64 hardware threads.
 */
#ifndef TESTS_UNIT_LAMA_PLAIN_H
#define TESTS_UNIT_LAMA_PLAIN_H

#include "affinity/layout/layout.h"

struct plain_task {
    uint32_t node;  /* of the request */
    uint32_t place; /* row of the node's topo table */
    uint64_t rows;  /* what the task may use: a bit for each row */
};

/* The policy strings have to be right. True when all ntasks of the request's only part were placed,
 * which are then in tasks[], by rank. */
bool plain_place(const struct layout_request *request, struct plain_task *tasks);

#endif

/*
 * node_failures - what nodes said of something that failed there, made into one sentence.
 */
#ifndef LAUNCHER_PROGRAM_NODE_FAILURES_H
#define LAUNCHER_PROGRAM_NODE_FAILURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct node_failures { /* zeroed: none */
    struct node_failure *list;
    size_t count;
};

void node_failures_add(struct node_failures *failures, uint32_t node, const char *text);
/* Set *err to "node[1-2]: TEXT", with the text of the lowest node that failed and all nodes that
 * gave the same text, and empty the list. host() names a node. False, and no error: none failed. */
bool node_failures_take(struct node_failures *failures,
                        const char *(*host)(void *owner, uint32_t node), void *owner,
                        struct error *err);
void node_failures_clear(struct node_failures *failures);

#endif

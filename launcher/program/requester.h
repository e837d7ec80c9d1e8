/*
 * requester - a task that has asked its program for something, and waits for the answer.
 */
#ifndef LAUNCHER_PROGRAM_REQUESTER_H
#define LAUNCHER_PROGRAM_REQUESTER_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/protocol/task_request.h"
#include "launcher/tree/tree.h"

struct requester {
    uint32_t node, group;
    uint32_t number; /* of its request, on its node */
    uint32_t rank;   /* in its group */
    bool aloud;      /* a refusal is shown in any case */
};

/* Send the answer to its node. */
void requester_answer(const struct requester *requester, struct tree *tree,
                      const struct task_answer *answer);

#endif

/*
 * frame_check - what agents say, before anything is done with it.
 *
 * Agents run on other machines. Every number in what they say that is used as an index or a count
 * is checked here: nodes, ranks of the program and of a group, sets of these. What tasks make of it
 * is not looked at: bytes of the exchange and of the service, questions, topologies, output have
 * readers of their own, which check them.
 */
#ifndef LAUNCHER_PROTOCOL_FRAME_CHECK_H
#define LAUNCHER_PROTOCOL_FRAME_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/tree/frame.h"

struct frame_check_limits {
    uint32_t nnodes; /* of the tree */
    uint32_t nranks; /* of the program, so far */
    bool has_group;  /* the frame's is known; else nothing is done with what concerns it */
    uint32_t group_nranks, group_nnodes;
};

/* *value is the JSON of a frame that has some that is checked here (new reference), else NULL. -1
 * with a sentence: the frame is not to be used, and its agent is broken. */
int frame_check_read(const struct frame *frame, const struct frame_check_limits *limits,
                     json_t **value, struct error *err);

#endif

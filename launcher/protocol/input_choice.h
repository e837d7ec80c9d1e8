/*
 * input_choice - whom stdin is for from now on: FRAME_STDIN_CHOOSE, written by the manager and read
 * by agents.
 *
 *     {"ranks":"0-3","nodes":"0,2"}  ranks of the program, and the nodes of the tree that have them
 */
#ifndef LAUNCHER_PROTOCOL_INPUT_CHOICE_H
#define LAUNCHER_PROTOCOL_INPUT_CHOICE_H

#include <jansson.h>

#include "affinity/sets/idset.h"
#include "base/error.h"

struct input_choice {
    struct idset *ranks;
    struct idset *nodes;
};

json_t *input_choice_to_json(const struct input_choice *choice); /* new reference */
/* Any JSON: 0, or -1 with a sentence. input_choice_clear() either way. */
int input_choice_from_json(struct input_choice *choice, const json_t *value, struct error *err);
void input_choice_clear(struct input_choice *choice);

#endif

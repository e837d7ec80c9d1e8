/*
 * pair - two texts of which one is a key: what a spawn request and a launch carry.
 */
#ifndef LAUNCHER_PROTOCOL_PAIR_H
#define LAUNCHER_PROTOCOL_PAIR_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

#define PAIRS_MAX 4096 /* in one list */

struct pair {
    char *key, *value;
};

/* [[KEY, VALUE], ...]; text is bytes. New reference. */
json_t *pairs_to_json(const struct pair *pairs, size_t count);
/* The caller frees with pairs_free(), also where it was refused: -1 with a sentence that begins
 * with `what`. NULL is an empty list. */
int pairs_from_json(struct pair **pairs, size_t *count, const json_t *list, const char *what,
                    struct error *err);
void pairs_free(struct pair *pairs, size_t count);

#endif

/*
 * constraint - which nodes may be used (RFC 31), as JSON or as one line of text.
 *
 *     {"and": [{"properties": ["ssd", "^slow"]}, {"not": [{"hostlist": ["node[0-3]"]}]}]}
 *     ssd and not slow and not host:node[0-3]     the syntax of RFC 35, for --requires
 */
#ifndef AFFINITY_RESOURCE_CONSTRAINT_H
#define AFFINITY_RESOURCE_CONSTRAINT_H

#include <jansson.h>
#include <stdbool.h>

#include "affinity/resource/rset.h"
#include "base/error.h"

struct constraint;

/* Text that starts with '{' is JSON. NULL with a sentence and a caret. */
struct constraint *constraint_decode(const char *text, struct error *err);
struct constraint *constraint_from_json(const json_t *value, struct error *err);
json_t *constraint_to_json(const struct constraint *constraint); /* RFC 31; new reference */
void constraint_free(struct constraint *constraint);             /* NULL is fine */

/* The ranks of R that match; caller frees. A property `name@suffix` counts as `name`, too. */
struct idset *constraint_match(const struct constraint *constraint, const struct rset *R);

#endif

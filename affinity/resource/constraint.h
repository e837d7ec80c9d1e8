/*
 * constraint - which nodes may be used (RFC 31), as JSON or as one line of text.
 *
 *     {"and": [{"properties": ["ssd", "^slow"]}, {"not": [{"hostlist": ["node[0-3]"]}]}]}
 *     ssd and not slow and not host:node[0-3]     the syntax of RFC 35, for --requires
 *
 * Terms of the text: host:LIST (hostlist:), rank:IDS (ranks:), property:NAME or the name alone;
 * ^NAME is a property that is not there. Joined by blanks, and, &, &&; or, |, ||; negated by not,
 * or by - in front of a term; parentheses; quotes around what has special characters.
 *
 * Limits: CONSTRAINT_MAX_TEXT bytes of text, CONSTRAINT_MAX_DEPTH levels, CONSTRAINT_MAX_HOSTS
 * hosts in all.
 */
#ifndef AFFINITY_RESOURCE_CONSTRAINT_H
#define AFFINITY_RESOURCE_CONSTRAINT_H

#include <jansson.h>
#include <stdbool.h>

#include "affinity/resource/rset.h"
#include "base/error.h"

#define CONSTRAINT_MAX_TEXT (1u << 20)
#define CONSTRAINT_MAX_DEPTH 64
#define CONSTRAINT_MAX_HOSTS (1u << 20)

struct constraint;

/* Text that starts with '{' is JSON. NULL with a sentence and a caret. */
struct constraint *constraint_decode(const char *text, struct error *err);
struct constraint *constraint_from_json(const json_t *value, struct error *err);
json_t *constraint_to_json(const struct constraint *constraint); /* RFC 31; new reference */
void constraint_free(struct constraint *constraint);             /* NULL is fine */

/* The ranks of R that match; caller frees. A property `name@suffix` counts as `name`, too. */
struct idset *constraint_match(const struct constraint *constraint, const struct rset *R);

/* The first property that has to be there and that no node of R has; borrowed from the constraint,
 * NULL where there is none. It is no error: nothing matches it. */
const char *constraint_unknown_property(const struct constraint *constraint, const struct rset *R);

#endif

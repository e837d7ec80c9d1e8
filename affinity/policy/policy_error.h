/*
 * policy_error - what is wrong in a policy string, where, and what would be right.
 *
 * All return -1 with a sentence of kind ERROR_USAGE, behind it the string with a caret under byte
 * `at`. Words that are nearly right are named.
 */
#ifndef AFFINITY_POLICY_POLICY_ERROR_H
#define AFFINITY_POLICY_POLICY_ERROR_H

#include <stddef.h>

#include "base/error.h"

/* Neither a word nor a map string: a character of it is no letter. */
int policy_error_map(const char *map, size_t at, struct error *err);
/* Letters, but not a map: `why` it is none. */
int policy_error_map_string(const char *map, size_t at, const char *why, struct error *err);
int policy_error_bind(const char *bind, size_t at, const char *why, struct error *err);
int policy_error_limits(const char *mppr, size_t at, const char *why, struct error *err);
int policy_error_order(const char *order, struct error *err);

#endif

/*
 * option_hints - what to write in place of options that tprun does not have.
 */
#ifndef LAUNCHER_CLI_OPTION_HINTS_H
#define LAUNCHER_CLI_OPTION_HINTS_H

#include <stddef.h>

#include "launcher/options/option.h"

/* The offered option that is most like a wrong name, or NULL when none is. */
const struct option *option_nearest(const char *name, size_t len);

/* What to do here about another launcher's option, such as "write --per 2:node"; NULL for a name
 * that is not known. values[]: the words that may be its values, each may be NULL. Caller frees. */
char *option_elsewhere(const char *name, size_t len, const char *const values[2]);

/* The same of a value that this option has elsewhere, where it would silently mean something else
 * here; NULL for all others. Caller frees. */
char *option_misread(const struct option *option, const char *value);

#endif

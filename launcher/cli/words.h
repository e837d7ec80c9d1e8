/*
 * words - text cut into words as a shell would, without any of its expansions.
 *
 * Blanks and newlines separate; '...' keeps everything, "..." everything but \" and \\, a
 * backslash outside quotes the next character. NULL with a sentence for a quote that is not
 * closed. Caller frees with spec_free_words().
 */
#ifndef LAUNCHER_CLI_WORDS_H
#define LAUNCHER_CLI_WORDS_H

#include "base/error.h"

char **words_split(const char *text, struct error *err);

#endif

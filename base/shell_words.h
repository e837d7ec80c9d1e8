/*
 * shell_words - text cut into words as a shell would, without any of its expansions.
 *
 * Blanks and newlines separate; '...' keeps everything, "..." everything but \" and \\, a
 * backslash outside quotes the next character. NULL with a sentence for a quote that is not
 * closed. Caller frees with string_list_free().
 */
#ifndef BASE_SHELL_WORDS_H
#define BASE_SHELL_WORDS_H

#include "base/error.h"

char **shell_words_split(const char *text, struct error *err);

#endif

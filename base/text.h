/*
 * text - untrusted text as it may stand in a sentence: quoted, short, on one line.
 *
 * By value, so that it can be written in place: error_set(err, "%s is no id", excerpt(s, n).text).
 * Where the place in a text matters, pointer() has the text once more, behind the sentence:
 *
 *     --map-by "csxnh": 'x' is no level letter
 *       csxnh
 *         ^
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/printable.h"

#define EXCERPT_MAX 64 /* bytes of the original that are shown */

struct excerpt {
    char text[PRINTABLE_GROWTH * EXCERPT_MAX + 8];
};

/* "text" in double quotes, made printable; what is cut off becomes "...". */
struct excerpt excerpt(const char *text, size_t len);

#define POINTER_WIDTH 60 /* bytes of the original that are shown, so that a line fits a terminal */

struct pointer {
    char text[2 * POINTER_WIDTH + 24];
};

/* Two lines, each behind a newline: the surroundings of byte `at` (at <= len), and a caret under
 * it. A byte a column: what is not printable ASCII becomes '?'. */
struct pointer pointer(const char *text, size_t len, size_t at);

/* "100 MiB"; caller frees. */
char *text_size(uint64_t bytes);

const char *text_plural(uint64_t n); /* "s" where n is not 1 */

#endif

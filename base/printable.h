/*
 * printable - foreign text as it may be written to a terminal.
 *
 * A host name, a path, a line of ssh or a key of a file may hold what a terminal obeys. Here it is
 * replaced with what can be read: a control character below 0x20 and a byte that belongs to no
 * UTF-8 sequence by \xNN; DEL, the controls U+0080 to U+009F, the line separators U+2028 and
 * U+2029, and what changes the direction of writing by \uNNNN. All other text stays as it is, a
 * backslash too, so that what is printable already does not change. JSON means the same afterwards.
 */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include <stddef.h>

#include "base/buf.h"

enum printable_kind {
    PRINTABLE_WORD,  /* part of a line: newline and tab are replaced, too */
    PRINTABLE_LINES, /* newline and tab stay */
};

#define PRINTABLE_GROWTH 6 /* at most so many bytes for one: DEL */

/* Append text[0..len), made printable. */
void printable_add(struct buf *out, const char *text, size_t len, enum printable_kind kind);

#endif

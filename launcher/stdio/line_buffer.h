/*
 * lines - a task's output stream, cut at line ends.
 *
 * Whole lines are passed on as they complete, many at once; what follows the last newline waits
 * until its line ends, or until lines_idle() says that nothing came for a while: a prompt. A
 * carriage return counts as a line's end: progress is shown again and again in one line so.
 * A line longer than LINES_MAX is passed on in pieces, each but the last marked unfinished, so
 * that a receiver can keep other tasks out until it ends. Unbuffered: everything at once. No piece
 * is empty or longer than LINES_MAX. What is passed on is the caller's memory or the rest's: it
 * is gone when emit returns.
 */
#ifndef LAUNCHER_STDIO_LINE_BUFFER_H
#define LAUNCHER_STDIO_LINE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define LINES_MAX 65536

struct lines {
    struct buf rest; /* the beginning of a line */
    bool raw;        /* pass everything on at once */
    bool inside;     /* pieces of the current line were passed on already */
};

/* `unfinished`: the last byte is inside a line that will go on. */
typedef void (*lines_emit)(void *arg, const char *bytes, size_t len, bool unfinished);

void lines_init(struct lines *lines, bool raw);
void lines_feed(struct lines *lines, const char *bytes, size_t len, lines_emit emit, void *arg);
/* Nothing has come for a while: pass on what waits. It is not marked unfinished: a receiver lets
 * others go before it goes on. */
void lines_idle(struct lines *lines, lines_emit emit, void *arg);
/* The stream ended: pass on a last line without newline. */
void lines_end(struct lines *lines, lines_emit emit, void *arg);
void lines_free(struct lines *lines);

#endif

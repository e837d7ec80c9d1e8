/*
 * line_buffer - a task's output stream, cut at line ends.
 *
 * Whole lines are passed on as they complete, many at once; what follows the last newline waits
 * until its line ends, or until line_buffer_idle() says that nothing came for a while: a prompt. A
 * carriage return counts as a line's end: progress is shown again and again in one line so. A line
 * longer than LINE_BUFFER_MAX is passed on in pieces, each but the last marked unfinished, so that
 * a receiver can keep other tasks out until it ends. Unbuffered: everything at once. No piece is
 * empty or longer than LINE_BUFFER_MAX. What is passed on is the caller's memory or the rest's: it
 * is gone when emit returns.
 */
#ifndef LAUNCHER_STDIO_LINE_BUFFER_H
#define LAUNCHER_STDIO_LINE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define LINE_BUFFER_MAX 65536

struct line_buffer {
    struct buf rest; /* the beginning of a line */
    bool raw;        /* pass everything on at once */
    bool inside;     /* pieces of the current line were passed on already */
};

/* `unfinished`: the last byte is inside a line that will go on. */
typedef void (*line_buffer_emit)(void *arg, const char *bytes, size_t len, bool unfinished);

void line_buffer_init(struct line_buffer *lines, bool raw);
void line_buffer_feed(struct line_buffer *lines, const char *bytes, size_t len,
                      line_buffer_emit emit, void *arg);
/* Nothing has come for a while: pass on what waits. It is not marked unfinished: a receiver lets
 * others go before it goes on. */
void line_buffer_idle(struct line_buffer *lines, line_buffer_emit emit, void *arg);
/* The stream ended: pass on a last line without newline. */
void line_buffer_end(struct line_buffer *lines, line_buffer_emit emit, void *arg);
void line_buffer_free(struct line_buffer *lines);

#endif

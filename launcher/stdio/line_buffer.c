/* Cuts what a task writes into pieces that end at line ends, for the agent. */
#include "launcher/stdio/line_buffer.h"

#include <string.h>

/* A rest that grew beyond this is given back when it is empty: there may be many streams. */
#define LINES_KEEP 16384

void line_buffer_init(struct line_buffer *lines, bool raw)
{
    *lines = (struct line_buffer){.rest = BUF_INIT, .raw = raw};
}

static size_t lines_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void lines_pass(struct line_buffer *lines, const char *bytes, size_t len, bool unfinished,
                       line_buffer_emit emit, void *arg)
{
    lines->inside = unfinished;
    emit(arg, bytes, len, unfinished);
}

static void lines_pass_rest(struct line_buffer *lines, bool unfinished, line_buffer_emit emit,
                            void *arg)
{
    lines_pass(lines, buf_bytes(&lines->rest), lines->rest.len, unfinished, emit, arg);
    if (lines->rest.room > LINES_KEEP)
        buf_free(&lines->rest);
    else
        buf_clear(&lines->rest);
}

/* Behind the last line's end in these bytes; NULL: there is none. */
static const char *lines_last_end(const char *bytes, size_t len)
{
    const char *newline = memrchr(bytes, '\n', len);
    const char *rest = newline ? newline + 1 : bytes;
    const char *back = memrchr(rest, '\r', len - (size_t)(rest - bytes));
    return back ? back + 1 : newline ? rest : NULL;
}

/* Nothing is kept: pass on straight from the caller's bytes, as many whole lines as one piece
 * may hold. */
static size_t lines_fresh(struct line_buffer *lines, const char *bytes, size_t len,
                          line_buffer_emit emit, void *arg)
{
    size_t window = lines_min(len, LINE_BUFFER_MAX);
    const char *end = lines_last_end(bytes, window);
    if (!end && len <= LINE_BUFFER_MAX) {
        buf_add(&lines->rest, bytes, len);
        return len;
    }
    size_t count = end ? (size_t)(end - bytes) : window;
    lines_pass(lines, bytes, count, !end, emit, arg);
    return count;
}

/* The beginning of a line is kept: end that line first. The rest is passed on as unfinished only
 * when more follows it, so that the last piece of a line is never empty. */
static size_t lines_go_on(struct line_buffer *lines, const char *bytes, size_t len,
                          line_buffer_emit emit, void *arg)
{
    size_t window = lines_min(len, LINE_BUFFER_MAX - lines->rest.len);
    const char *newline = memchr(bytes, '\n', window);
    const char *end = newline ? newline + 1 : lines_last_end(bytes, window);
    size_t count = end ? (size_t)(end - bytes) : window;
    buf_add(&lines->rest, bytes, count);
    if (end || count < len)
        lines_pass_rest(lines, !end, emit, arg);
    return count;
}

void line_buffer_feed(struct line_buffer *lines, const char *bytes, size_t len,
                      line_buffer_emit emit, void *arg)
{
    while (len) {
        size_t count;
        if (lines->raw) {
            count = lines_min(len, LINE_BUFFER_MAX);
            lines_pass(lines, bytes, count, bytes[count - 1] != '\n', emit, arg);
        } else if (lines->rest.len) {
            count = lines_go_on(lines, bytes, len, emit, arg);
        } else {
            count = lines_fresh(lines, bytes, len, emit, arg);
        }
        bytes += count;
        len -= count;
    }
}

void line_buffer_idle(struct line_buffer *lines, line_buffer_emit emit, void *arg)
{
    if (lines->rest.len)
        lines_pass_rest(lines, false, emit, arg);
}

void line_buffer_end(struct line_buffer *lines, line_buffer_emit emit, void *arg)
{
    if (lines->rest.len)
        lines_pass_rest(lines, false, emit, arg);
    lines->inside = false;
}

void line_buffer_free(struct line_buffer *lines)
{
    buf_free(&lines->rest);
    lines->inside = false;
}

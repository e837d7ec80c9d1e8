/* Writes this program's own words to a descriptor, made printable. */
#include "launcher/stdio/terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/printable.h"

#define PIECE 65536 /* bytes of a long text that are made printable at a time */

static int terminal_write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
            continue;
        }
        if (n < 0)
            return errno;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Bytes at the end of the text that may be the beginning of a UTF-8 sequence. */
static size_t unfinished(const char *text, size_t len)
{
    for (size_t tail = 1; tail <= 3 && tail <= len; tail++) {
        unsigned char c = (unsigned char)text[len - tail];
        if (c >= 0xc0)
            return tail < (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u) ? tail : 0;
        if (c < 0x80)
            break;
    }
    return 0;
}

int terminal_print(int fd, const char *text, size_t len)
{
    struct buf shown = BUF_INIT;
    int failed = 0;
    while (len && !failed) {
        size_t piece = len < PIECE ? len : PIECE - unfinished(text, PIECE);
        printable_add(&shown, text, piece, PRINTABLE_LINES);
        failed = terminal_write_all(fd, buf_bytes(&shown), shown.len);
        buf_clear(&shown);
        text += piece;
        len -= piece;
    }
    buf_free(&shown);
    return failed;
}

struct stream {
    int fd;
    struct buf held; /* the beginning of a UTF-8 sequence whose end has not come */
};

static ssize_t stream_write(void *cookie, const char *bytes, size_t len)
{
    struct stream *stream = cookie;
    buf_add(&stream->held, bytes, len);
    size_t whole = stream->held.len - unfinished(buf_bytes(&stream->held), stream->held.len);
    int failed = terminal_print(stream->fd, buf_bytes(&stream->held), whole);
    buf_consume(&stream->held, whole);
    errno = failed;
    return failed ? 0 : (ssize_t)len;
}

static int terminal_stream_close(void *cookie)
{
    struct stream *stream = cookie;
    int failed = terminal_print(stream->fd, buf_bytes(&stream->held), stream->held.len);
    buf_free(&stream->held);
    free(stream);
    errno = failed;
    return failed ? -1 : 0;
}

FILE *terminal_stream(int fd)
{
    struct stream *stream = mem_array(1, sizeof(*stream));
    stream->fd = fd;
    FILE *file =
        fopencookie(stream, "w",
                    (cookie_io_functions_t){.write = stream_write, .close = terminal_stream_close});
    if (!file)
        free(stream);
    return file;
}

void terminal_lines(struct buf *lines, const char *program, const char *text, size_t len)
{
    for (const char *line = text, *end = text + len; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t size = (size_t)((newline ? newline : end) - line);
        buf_printf(lines, "%s: ", program);
        buf_add(lines, line, size);
        buf_add_char(lines, '\n');
        line += size + (newline != NULL);
    }
}

void terminal_complain(const char *program, const char *text, size_t len)
{
    struct buf lines = BUF_INIT;
    terminal_lines(&lines, program, text, len);
    terminal_print(STDERR_FILENO, buf_bytes(&lines), lines.len);
    buf_free(&lines);
}

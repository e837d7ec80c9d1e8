/* Any stream in any chunking: what comes out is what went in, in pieces of whole lines unless
 * they say that they are not. The first byte chooses the mode, each chunk begins with its length
 * (times 257 when odd, so that long lines are reached). */
#include <stdint.h>
#include <string.h>

#include "launcher/stdio/line_buffer.h"
#include "tests/fuzz/fuzz.h"

struct seen {
    struct buf all;
    bool raw, over;
    bool broken; /* a finished piece did not end its line: only the last may */
};

static void see(void *arg, const char *bytes, size_t len, bool unfinished)
{
    struct seen *seen = arg;
    char last = bytes[len - 1];
    bool whole = last == '\n' || (last == '\r' && !seen->raw); /* a line's end as well */
    check(len > 0 && len <= LINE_BUFFER_MAX && !seen->broken);
    check(whole ? !unfinished : unfinished || seen->over);
    if (unfinished && !seen->raw)
        check(len == LINE_BUFFER_MAX && !memchr(bytes, '\n', len) && !memchr(bytes, '\r', len));
    seen->broken = !whole && !unfinished;
    buf_add(&seen->all, bytes, len);
}

static void feed(struct line_buffer *lines, struct seen *seen, struct buf *fed,
                 const uint8_t *bytes, size_t len, size_t times)
{
    size_t total = len * times;
    char *chunk = buf_reserve(fed, total);
    for (size_t i = 0; i < times; i++)
        memcpy(chunk + i * len, bytes, len);
    buf_added(fed, total);
    line_buffer_feed(lines, chunk, total, see, seen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct line_buffer lines;
    struct buf fed = BUF_INIT;
    if (!size)
        return 0;
    struct seen seen = {BUF_INIT, .raw = data[0] & 1};
    line_buffer_init(&lines, seen.raw);
    for (size_t at = 1; at < size;) {
        size_t times = data[at] & 1 ? 257 : 1;
        size_t len = data[at] < size - at - 1 ? data[at] : size - at - 1;
        feed(&lines, &seen, &fed, data + at + 1, len, times);
        at += len + 1;
    }
    seen.over = true;
    line_buffer_end(&lines, see, &seen);
    check(seen.all.len == fed.len);
    check(!fed.len || memcmp(buf_bytes(&seen.all), buf_bytes(&fed), fed.len) == 0);
    line_buffer_free(&lines);
    buf_free(&seen.all);
    buf_free(&fed);
    return 0;
}

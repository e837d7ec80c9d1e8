/* Puts a label before each line, and hands lines to a writer many at once. */
#include "launcher/stdio/line_label.h"

#include <ev.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Labelled lines are gathered here, so that a short line does not cost a system call. */
struct batch {
    struct nonblocking_writer *sink;
    size_t len;
    size_t taken;
    char bytes[65536];
};

static void batch_put(struct batch *batch)
{
    if (batch->len)
        nonblocking_writer_put(batch->sink, batch->bytes, batch->len, batch->taken);
    batch->len = batch->taken = 0;
}

static void batch_add(struct batch *batch, const char *bytes, size_t len, size_t taken)
{
    if (len > sizeof(batch->bytes) - batch->len)
        batch_put(batch);
    if (len > sizeof(batch->bytes)) {
        nonblocking_writer_put(batch->sink, bytes, len, taken);
        return;
    }
    memcpy(batch->bytes + batch->len, bytes, len);
    batch->len += len;
    batch->taken += taken;
}

/* How many bytes the first of these lines has; `returns`: there are carriage returns. */
static size_t line_length(const char *bytes, size_t len, bool returns)
{
    if (!returns) {
        const char *newline = memchr(bytes, '\n', len);
        return newline ? (size_t)(newline - bytes) + 1 : len;
    }
    for (size_t i = 0; i < len; i++)
        if (bytes[i] == '\n' || (bytes[i] == '\r' && i + 1 < len && bytes[i + 1] != '\n'))
            return i + 1;
    return len;
}

void line_label_put(struct nonblocking_writer *sink, unsigned labels, uint32_t rank,
                    const char *bytes, size_t len, bool inside)
{
    char label[64] = "";
    size_t width = 0;
    if (labels & LINE_LABEL_TIME) {
        double now = ev_now(sink->loop);
        time_t seconds = (time_t)now;
        struct tm local;
        width = strftime(label, sizeof(label), "%Y-%m-%dT%H:%M:%S", localtime_r(&seconds, &local));
        width += (size_t)snprintf(label + width, sizeof(label) - width, ".%03d ",
                                  (int)((now - (double)seconds) * 1000));
    }
    if (labels & LINE_LABEL_RANK)
        width += (size_t)snprintf(label + width, sizeof(label) - width, "%u: ", rank);
    struct batch batch;
    batch.sink = sink;
    batch.len = batch.taken = 0;
    bool returns = memchr(bytes, '\r', len) != NULL;
    while (len) {
        size_t count = line_length(bytes, len, returns);
        if (!inside)
            batch_add(&batch, label, width, 0);
        batch_add(&batch, bytes, count, count);
        inside = false;
        bytes += count;
        len -= count;
    }
    batch_put(&batch);
}

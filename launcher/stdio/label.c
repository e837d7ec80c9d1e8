#include "launcher/stdio/label.h"

#include <stdio.h>
#include <string.h>

/* Labelled lines are gathered here, so that a short line does not cost a system call. */
struct batch {
    struct sink *sink;
    size_t len;
    size_t taken;
    char bytes[65536];
};

static void batch_put(struct batch *batch)
{
    if (batch->len)
        sink_put(batch->sink, batch->bytes, batch->len, batch->taken);
    batch->len = batch->taken = 0;
}

static void batch_add(struct batch *batch, const char *bytes, size_t len, size_t taken)
{
    if (len > sizeof(batch->bytes) - batch->len)
        batch_put(batch);
    if (len > sizeof(batch->bytes)) {
        sink_put(batch->sink, bytes, len, taken);
        return;
    }
    memcpy(batch->bytes + batch->len, bytes, len);
    batch->len += len;
    batch->taken += taken;
}

void label_put(struct sink *sink, uint32_t rank, const char *bytes, size_t len, bool inside)
{
    char label[16];
    size_t width = (size_t)snprintf(label, sizeof(label), "%u: ", rank);
    struct batch batch;
    batch.sink = sink;
    batch.len = batch.taken = 0;
    while (len) {
        const char *newline = memchr(bytes, '\n', len);
        size_t count = newline ? (size_t)(newline - bytes) + 1 : len;
        if (!inside)
            batch_add(&batch, label, width, 0);
        batch_add(&batch, bytes, count, count);
        inside = false;
        bytes += count;
        len -= count;
    }
    batch_put(&batch);
}

/* Bytes from another machine: every frame that is taken lies inside what was read and is written
 * again as the same bytes; what is refused has a sentence; the input may come in any pieces. */
#include <stdlib.h>
#include <string.h>

#include "launcher/tree/frame.h"
#include "launcher/tree/tree.h"
#include "tests/fuzz/fuzz.h"

static void check_frame(const struct buf *in, const struct frame *frame)
{
    unsigned char header[FRAME_HEADER];
    frame_encode_header(frame, header);
    if (FRAME_HEADER + frame->len > in->len || memcmp(header, buf_bytes(in), FRAME_HEADER) != 0)
        abort();
    struct error err = ERROR_INIT;
    json_t *value = frame_json(frame, &err);
    if (!value && !err.text)
        abort();
    error_clear(&err);
    json_decref(value);
}

static void check_targets(const struct frame *frame)
{
    struct error err = ERROR_INIT;
    size_t count;
    json_t *value = frame_json(frame, NULL);
    struct tree_target *targets = tree_targets_from_json(value, &count, &err);
    struct bootstrap boot = {0};
    if (!targets && !err.text)
        abort();
    tree_targets_free(targets, count);
    error_clear(&err);
    if (bootstrap_from_json(&boot, value, &err) < 0 && !err.text)
        abort();
    bootstrap_clear(&boot);
    error_clear(&err);
    json_decref(value);
}

/* As a link does. Returns how many frames there were, or -1. */
static int read_all(const uint8_t *data, size_t size, size_t piece)
{
    struct buf in = BUF_INIT;
    struct frame frame;
    int count = 0, more = 0;
    for (size_t at = 0; at < size && more >= 0; at += piece) {
        struct error err = ERROR_INIT;
        buf_add(&in, data + at, size - at < piece ? size - at : piece);
        while ((more = frame_decode(&in, &frame, &err)) == 1) {
            check_frame(&in, &frame);
            if (frame.type == FRAME_WELCOME)
                check_targets(&frame);
            buf_consume(&in, FRAME_HEADER + frame.len);
            count++;
        }
        if (more < 0 && !err.text)
            abort();
        error_clear(&err);
    }
    buf_free(&in);
    return more < 0 ? -1 : count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int whole = read_all(data, size, size ? size : 1);
    if (read_all(data, size, 7) != whole)
        abort();
    return 0;
}

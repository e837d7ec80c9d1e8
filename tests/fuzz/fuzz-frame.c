/* What arrives on a link: frames, and their payload as JSON. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "launcher/tree/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_check(const struct buf *in, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    unsigned char header[FRAME_HEADER];
    if (frame->len > FRAME_MAX || FRAME_HEADER + frame->len > in->len)
        abort();
    frame_encode_header(frame, header);
    if (memcmp(header, buf_bytes(in), FRAME_HEADER) != 0)
        abort();
    json_t *value = frame_json(frame, &err);
    if (!value && !err.text)
        abort();
    json_decref(value);
    error_clear(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    struct buf in = BUF_INIT;
    struct frame frame;
    int more;
    buf_add(&in, data, size);
    while ((more = frame_decode(&in, &frame, &err)) == 1) {
        fuzz_check(&in, &frame);
        buf_consume(&in, FRAME_HEADER + frame.len);
    }
    if ((more < 0) != (err.text != NULL))
        abort();
    error_clear(&err);
    buf_free(&in);
    return 0;
}

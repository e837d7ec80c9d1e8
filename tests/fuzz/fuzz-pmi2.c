/* Clients that speak PMI-2: the bytes as they are, or (second bit of the first byte) as bodies with
 * newlines between, which get their lengths here. And the codec by itself. */
#include <stdio.h>

#include "pmi-server/wire/pmi2_frame.h"
#include "tests/fuzz/pmi-turns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *turns_greeting(uint8_t first)
{
    (void)first;
    return "cmd=init pmi_version=2 pmi_subversion=0\n    13cmd=fullinit;";
}

/* The greeting's reply is a line, and all that follows are frames. */
static bool turns_are_whole(const struct buf *output)
{
    const char *at = buf_bytes(output), *end = at + output->len;
    at = memchr(at, '\n', output->len) ? (const char *)memchr(at, '\n', output->len) + 1 : at;
    while (end - at > PMI2_HEAD) {
        long len = pmi2_length(at);
        check(len > 0 && len <= end - at - PMI2_HEAD && at[PMI2_HEAD + len - 1] == ';');
        at += PMI2_HEAD + len;
    }
    return at == end;
}

static void fuzz_codec(const uint8_t *data, size_t size)
{
    struct pmi2_frame frame;
    const char *name, *value;
    char *body = malloc(size + 1);
    check(body);
    memcpy(body, data, size);
    if (pmi2_frame_parse(&frame, body, size)) {
        const char *at = frame.fields;
        for (size_t i = 0; i < frame.count; i++) {
            pmi2_field_next(&at, &name, &value);
            check(*name && pmi2_value(&frame, name));
        }
        check(at <= body + size);
    }
    free(body);
}

/* Each line a frame. */
static void fuzz_bodies(uint8_t first, const uint8_t *data, size_t size)
{
    struct buf bytes = BUF_INIT;
    buf_add_char(&bytes, (char)(first & ~1));
    while (size) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t len = end ? (size_t)(end - data) : size;
        if (len)
            buf_printf(&bytes, "%6zu", len);
        buf_add(&bytes, data, len);
        data += len + (end != NULL);
        size -= len + (end != NULL);
    }
    fuzz_server((const uint8_t *)buf_bytes(&bytes), bytes.len);
    buf_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_codec(data, size);
    if (size && data[0] & 2)
        fuzz_bodies(data[0], data + 1, size - 1);
    else
        fuzz_server(data, size);
    return 0;
}

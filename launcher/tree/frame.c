/* Headers of frames, written and read; payloads as JSON. */
#include "launcher/tree/frame.h"

#include <endian.h>
#include <string.h>

#include "base/printable.h"

int frame_is_bulk(enum frame_type type)
{
    switch (type) {
    case FRAME_STDIN:
    case FRAME_STDIN_END:
    case FRAME_STDIN_CHOOSE:
    case FRAME_OUTPUT:
    case FRAME_DONE:
    case FRAME_END:
    case FRAME_SENT:
    case FRAME_STAGE:
    case FRAME_STAGE_DATA:
    case FRAME_STAGE_END:
        return 1;
    default:
        return 0;
    }
}

static void put_u32(unsigned char *bytes, uint32_t value)
{
    value = htole32(value);
    memcpy(bytes, &value, 4);
}

static uint32_t get_u32(const unsigned char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, 4);
    return le32toh(value);
}

uint32_t frame_grace(double seconds)
{
    return seconds * 1000 < FRAME_ALL ? (uint32_t)(seconds * 1000) : FRAME_ALL;
}

void frame_put_u64(unsigned char *bytes, uint64_t value)
{
    value = htole64(value);
    memcpy(bytes, &value, 8);
}

uint64_t frame_get_u64(const unsigned char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, 8);
    return le64toh(value);
}

bool frame_may_wait(const struct frame *frame)
{
    return frame->type == FRAME_CHANNEL_CREDIT && frame->flags & FRAME_CHANNEL_CLOSED;
}

void frame_encode_header(const struct frame *frame, unsigned char header[FRAME_HEADER])
{
    put_u32(header, (uint32_t)frame->len);
    put_u32(header + 4, (uint32_t)frame->type | (uint32_t)frame->flags << 16);
    put_u32(header + 8, frame->node);
    put_u32(header + 12, frame->rank);
    put_u32(header + 16, frame->group);
}

size_t frame_length(const struct buf *in)
{
    return get_u32((const unsigned char *)buf_bytes(in));
}

int frame_decode(const struct buf *in, struct frame *frame, struct error *err)
{
    const unsigned char *header = (const unsigned char *)buf_bytes(in);
    if (in->len < FRAME_HEADER)
        return 0;
    uint32_t len = get_u32(header), type = get_u32(header + 4) & 0xffff;
    if (type == 0 || type >= FRAME_NTYPES)
        return error_set(err, "frame of unknown type %u: the peer is not a tprun of this version",
                         type);
    if (len > FRAME_MAX)
        return error_set(err, "frame of %u bytes: at most %u are allowed", len, FRAME_MAX);
    if (in->len < FRAME_HEADER + (size_t)len)
        return 0;
    frame->type = (enum frame_type)type;
    frame->flags = (uint16_t)(get_u32(header + 4) >> 16);
    frame->node = get_u32(header + 8);
    frame->rank = get_u32(header + 12);
    frame->group = get_u32(header + 16);
    frame->bytes = header + FRAME_HEADER;
    frame->len = len;
    return 1;
}

json_t *frame_text(const char *text)
{
    json_t *value = text ? json_string(text) : json_null();
    if (value)
        return value;
    struct buf out = BUF_INIT;
    printable_add(&out, text, strlen(text), PRINTABLE_LINES);
    value = json_stringn(buf_bytes(&out), out.len);
    buf_free(&out);
    return value;
}

json_t *frame_json(const struct frame *frame, struct error *err)
{
    json_error_t where;
    json_t *value = json_loadb(frame->bytes, frame->len, JSON_ALLOW_NUL, &where);
    if (!value)
        error_set(err, "frame of type %d: %s", frame->type, where.text);
    return value;
}

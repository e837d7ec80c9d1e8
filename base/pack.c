/* Numbers and texts of a message, in a fixed order of bytes. */
#include "base/pack.h"

#include <string.h>

#include "base/mem.h"

static void put_number(struct buf *out, uint64_t value, int nbytes)
{
    for (int i = 0; i < nbytes; i++)
        buf_add_char(out, (char)(value >> 8 * i));
}

void pack_put_u8(struct buf *out, uint8_t value)
{
    put_number(out, value, 1);
}

void pack_put_u32(struct buf *out, uint32_t value)
{
    put_number(out, value, 4);
}

void pack_put_u64(struct buf *out, uint64_t value)
{
    put_number(out, value, 8);
}

void pack_put_bytes(struct buf *out, const void *bytes, size_t len)
{
    pack_put_u32(out, (uint32_t)len);
    buf_add(out, bytes, len);
}

void pack_put_text(struct buf *out, const char *text)
{
    pack_put_bytes(out, text ? text : "", text ? strlen(text) : 0);
}

struct pack pack_of(const void *bytes, size_t len)
{
    return (struct pack){bytes, len, false};
}

static const unsigned char *take(struct pack *in, size_t len)
{
    const unsigned char *at = in->at;
    if (in->bad || len > in->left) {
        in->bad = true;
        return NULL;
    }
    in->at += len;
    in->left -= len;
    return at;
}

static uint64_t number(struct pack *in, int nbytes)
{
    const unsigned char *bytes = take(in, (size_t)nbytes);
    uint64_t value = 0;
    for (int i = 0; bytes && i < nbytes; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

uint8_t pack_u8(struct pack *in)
{
    return (uint8_t)number(in, 1);
}

uint32_t pack_u32(struct pack *in)
{
    return (uint32_t)number(in, 4);
}

uint64_t pack_u64(struct pack *in)
{
    return number(in, 8);
}

const void *pack_bytes(struct pack *in, size_t *len)
{
    size_t said = pack_u32(in);
    const void *bytes = take(in, said);
    *len = bytes ? said : 0;
    return bytes ? bytes : "";
}

char *pack_get_text(struct pack *in)
{
    size_t len;
    const char *bytes = pack_bytes(in, &len);
    if (memchr(bytes, 0, len)) {
        in->bad = true;
        len = 0;
    }
    return mem_copy_text_n(bytes, len);
}

uint32_t pack_count(struct pack *in, size_t size)
{
    uint32_t count = pack_u32(in);
    if (count > in->left / size) {
        in->bad = true;
        count = 0;
    }
    return count;
}

bool pack_ends(const struct pack *in)
{
    return !in->bad && in->left == 0;
}

/*
 * pack - fields of a message, one after the other.
 *
 * Numbers are little endian; bytes and text have their length (u32) before them. A reader that
 * meets what cannot be is bad from then on, and gives zeros and empty texts: it is asked once, at
 * the end.
 */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

void pack_put_u8(struct buf *out, uint8_t value);
void pack_put_u32(struct buf *out, uint32_t value);
void pack_put_u64(struct buf *out, uint64_t value);
void pack_put_bytes(struct buf *out, const void *bytes, size_t len); /* less than 4 GiB */
void pack_put_text(struct buf *out, const char *text);               /* NULL is "" */

struct pack {
    const unsigned char *at;
    size_t left;
    bool bad;
};

struct pack pack_of(const void *bytes, size_t len); /* borrowed, as what is got from it */
uint8_t pack_u8(struct pack *in);
uint32_t pack_u32(struct pack *in);
uint64_t pack_u64(struct pack *in);
const void *pack_bytes(struct pack *in, size_t *len);
/* Bad where there is a zero byte in it; caller frees, never NULL. */
char *pack_get_text(struct pack *in);
/* How many of something follow, each of at least `size` bytes (> 0). */
uint32_t pack_count(struct pack *in, size_t size);
/* Nothing is left, and nothing was bad. */
bool pack_ends(const struct pack *in);

#endif

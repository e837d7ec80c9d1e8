/*
 * packet - fields of a message, one after the other.
 *
 * Numbers are little endian; bytes and text have their length (u32) before them. A reader that meets
 * what cannot be is bad from then on, and gives zeros and empty texts: it is asked once, at the end.
 */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

void packet_put_u8(struct buf *out, uint8_t value);
void packet_put_u32(struct buf *out, uint32_t value);
void packet_put_u64(struct buf *out, uint64_t value);
void packet_put_bytes(struct buf *out, const void *bytes, size_t len); /* less than 4 GiB */
void packet_put_text(struct buf *out, const char *text);               /* NULL is "" */

struct packet {
    const unsigned char *at;
    size_t left;
    bool bad;
};

struct packet packet_of(const void *bytes, size_t len); /* borrowed, as what is got from it */
uint8_t packet_u8(struct packet *in);
uint32_t packet_u32(struct packet *in);
uint64_t packet_u64(struct packet *in);
const void *packet_bytes(struct packet *in, size_t *len);
/* Bad where there is a zero byte in it; caller frees, never NULL. */
char *packet_text(struct packet *in);
/* How many of something follow, each of at least `size` bytes (> 0). */
uint32_t packet_count(struct packet *in, size_t size);
/* Nothing is left, and nothing was bad. */
bool packet_ends(const struct packet *in);

#endif

/*
 * xxhash64 - a checksum of 64 bits that is quicker than memory, of bytes that come in pieces.
 * [XXH64 of github.com/Cyan4973/xxHash, doc/xxhash_spec.md, with seed 0]
 *
 * It finds what was damaged on its way. It is no defence against somebody who damages on purpose.
 */
#ifndef BASE_XXHASH64_H
#define BASE_XXHASH64_H

#include <stddef.h>
#include <stdint.h>

struct xxhash64 {
    uint64_t lanes[4];
    uint64_t total;          /* bytes so far */
    unsigned char block[32]; /* the last total % 32 of them */
};

void xxhash64_begin(struct xxhash64 *hash);
void xxhash64_add(struct xxhash64 *hash, const void *bytes, size_t len);
/* Of all bytes so far; more may be added. */
uint64_t xxhash64_value(const struct xxhash64 *hash);

#endif

/* XXH64, as its specification says it. */
#include "base/xxhash64.h"

#include <endian.h>
#include <string.h>

#define PRIME1 0x9E3779B185EBCA87u
#define PRIME2 0xC2B2AE3D27D4EB4Fu
#define PRIME3 0x165667B19E3779F9u
#define PRIME4 0x85EBCA77C2B2AE63u
#define PRIME5 0x27D4EB2F165667C5u

#define BLOCK sizeof(((struct xxhash64 *)NULL)->block)

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t word64(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return le64toh(word);
}

static uint32_t word32(const unsigned char *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof(word));
    return le32toh(word);
}

static uint64_t xxhash64_round(uint64_t lane, uint64_t word)
{
    return rotate(lane + word * PRIME2, 31) * PRIME1;
}

static void take_block(uint64_t lanes[4], const unsigned char *block)
{
    for (size_t i = 0; i < 4; i++)
        lanes[i] = xxhash64_round(lanes[i], word64(block + i * 8));
}

void xxhash64_begin(struct xxhash64 *hash)
{
    *hash = (struct xxhash64){.lanes = {PRIME1 + PRIME2, PRIME2, 0, -PRIME1}};
}

void xxhash64_add(struct xxhash64 *hash, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    size_t held = hash->total % BLOCK;
    hash->total += len;
    if (held + len < BLOCK) {
        if (len)
            memcpy(hash->block + held, at, len);
        return;
    }
    if (held) {
        memcpy(hash->block + held, at, BLOCK - held);
        take_block(hash->lanes, hash->block);
        at += BLOCK - held;
        len -= BLOCK - held;
    }
    for (; len >= BLOCK; at += BLOCK, len -= BLOCK)
        take_block(hash->lanes, at);
    memcpy(hash->block, at, len);
}

uint64_t xxhash64_value(const struct xxhash64 *hash)
{
    const uint64_t *lanes = hash->lanes;
    const unsigned char *at = hash->block;
    size_t left = hash->total % BLOCK;
    uint64_t value = PRIME5;
    if (hash->total >= BLOCK) {
        value =
            rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
        for (size_t i = 0; i < 4; i++)
            value = (value ^ xxhash64_round(0, lanes[i])) * PRIME1 + PRIME4;
    }
    value += hash->total;
    for (; left >= 8; at += 8, left -= 8)
        value = rotate(value ^ xxhash64_round(0, word64(at)), 27) * PRIME1 + PRIME4;
    if (left >= 4) {
        value = rotate(value ^ word32(at) * PRIME1, 23) * PRIME2 + PRIME3;
        at += 4;
        left -= 4;
    }
    for (; left; at++, left--)
        value = rotate(value ^ *at * PRIME5, 11) * PRIME1;
    value = (value ^ value >> 33) * PRIME2;
    value = (value ^ value >> 29) * PRIME3;
    return value ^ value >> 32;
}

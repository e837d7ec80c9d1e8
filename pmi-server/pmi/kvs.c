/*
 * An open-addressing index over an array of pairs that keeps the order in which they came. Each
 * pair is one allocation, "key\0value\0".
 *
 * Packed form, for each pair: key length, key, value length, value. Lengths are LEB128 of at
 * most 32 bits, the texts have no NUL.
 */
#include "pmi-server/pmi/kvs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct pair {
    char *text; /* "key\0value\0" */
    uint32_t hash;
    uint32_t key_len;
    uint32_t value_len;
    uint32_t fresh; /* the number of the put that made it so; 0: it is not */
};

struct kvs {
    char *name;
    struct pair *pairs;
    size_t count, room;
    uint32_t *slots; /* index into pairs + 1; 0 is empty */
    size_t nslots;   /* a power of two, more than twice count */
    uint32_t *fresh; /* indices of the fresh pairs, in the order of their puts */
    size_t nfresh, fresh_room;
    uint32_t puts; /* since the beginning */
    size_t bytes;  /* see kvs_bytes() */
};

#define PAIR_BYTES 64 /* what keeps one, about */

struct kvs *kvs_new(const char *name)
{
    struct kvs *kvs = mem_alloc(sizeof(*kvs));
    kvs->name = mem_copy_text(name);
    kvs->nslots = 64;
    kvs->slots = mem_array(kvs->nslots, sizeof(*kvs->slots));
    return kvs;
}

void kvs_free(struct kvs *kvs)
{
    if (!kvs)
        return;
    for (size_t i = 0; i < kvs->count; i++)
        free(kvs->pairs[i].text);
    free(kvs->pairs);
    free(kvs->slots);
    free(kvs->fresh);
    free(kvs->name);
    free(kvs);
}

const char *kvs_name(const struct kvs *kvs)
{
    return kvs->name;
}

size_t kvs_count(const struct kvs *kvs)
{
    return kvs->count;
}

size_t kvs_bytes(const struct kvs *kvs)
{
    return kvs->bytes;
}

/* FNV-1a: keys are short, and come from the program's own tasks. */
static uint32_t key_hash(const char *key, size_t len)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)key[i]) * 16777619u;
    return hash;
}

/* The slot that holds the key, or the empty one where it would go. */
static uint32_t *kvs_slot(const struct kvs *kvs, const char *key, size_t len, uint32_t hash)
{
    size_t mask = kvs->nslots - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        uint32_t *slot = &kvs->slots[at];
        if (!*slot)
            return slot;
        const struct pair *pair = &kvs->pairs[*slot - 1];
        if (pair->hash == hash && pair->key_len == len && !memcmp(pair->text, key, len))
            return slot;
    }
}

/* The pair of the key, new (without text) or old. */
static struct pair *kvs_pair(struct kvs *kvs, const char *key, size_t len)
{
    uint32_t hash = key_hash(key, len);
    uint32_t at = *kvs_slot(kvs, key, len, hash);
    if (at)
        return &kvs->pairs[at - 1];
    if ((kvs->count + 1) * 2 > kvs->nslots) {
        free(kvs->slots);
        kvs->nslots *= 2;
        kvs->slots = mem_array(kvs->nslots, sizeof(*kvs->slots));
        for (size_t i = 0; i < kvs->count; i++) {
            const struct pair *old = &kvs->pairs[i];
            *kvs_slot(kvs, old->text, old->key_len, old->hash) = (uint32_t)i + 1;
        }
    }
    if (kvs->count == kvs->room) {
        kvs->room = kvs->room ? kvs->room * 2 : 32;
        kvs->pairs = mem_resize(kvs->pairs, kvs->room, sizeof(*kvs->pairs));
    }
    struct pair *pair = &kvs->pairs[kvs->count];
    *pair = (struct pair){.hash = hash, .key_len = (uint32_t)len};
    *kvs_slot(kvs, key, len, hash) = (uint32_t)++kvs->count;
    return pair;
}

static void pair_set(struct kvs *kvs, struct pair *pair, const char *key, const char *value,
                     size_t len)
{
    size_t front = (size_t)pair->key_len + 1;
    kvs->bytes += len + (pair->text ? 0 : front + PAIR_BYTES) - pair->value_len;
    if (!pair->text || pair->value_len != len)
        pair->text = mem_resize(pair->text, front + len + 1, 1);
    memcpy(pair->text, key, pair->key_len);
    pair->text[pair->key_len] = '\0';
    memcpy(pair->text + front, value, len);
    pair->text[front + len] = '\0';
    pair->value_len = (uint32_t)len;
}

void kvs_put(struct kvs *kvs, const char *key, const char *value)
{
    struct pair *pair = kvs_pair(kvs, key, strlen(key));
    pair_set(kvs, pair, key, value, strlen(value));
    bool listed = pair->fresh;
    pair->fresh = ++kvs->puts;
    if (listed)
        return;
    if (kvs->nfresh == kvs->fresh_room) {
        kvs->fresh_room = kvs->fresh_room ? kvs->fresh_room * 2 : 32;
        kvs->fresh = mem_resize(kvs->fresh, kvs->fresh_room, sizeof(*kvs->fresh));
    }
    kvs->fresh[kvs->nfresh++] = (uint32_t)(pair - kvs->pairs);
}

void kvs_preset(struct kvs *kvs, const char *key, const char *value)
{
    struct pair *pair = kvs_pair(kvs, key, strlen(key));
    pair_set(kvs, pair, key, value, strlen(value));
}

const char *kvs_get(const struct kvs *kvs, const char *key)
{
    size_t len = strlen(key);
    uint32_t at = *kvs_slot(kvs, key, len, key_hash(key, len));
    return at ? kvs->pairs[at - 1].text + len + 1 : NULL;
}

bool kvs_at(const struct kvs *kvs, size_t index, const char **key, const char **value)
{
    if (index >= kvs->count)
        return false;
    const struct pair *pair = &kvs->pairs[index];
    *key = pair->text;
    *value = pair->text + pair->key_len + 1;
    return true;
}

static void pack_text(struct buf *out, const char *text, uint32_t len)
{
    uint32_t rest = len;
    do {
        buf_add_char(out, (char)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0)));
        rest >>= 7;
    } while (rest);
    buf_add(out, text, len);
}

uint32_t kvs_pack_fresh(struct kvs *kvs, struct buf *out)
{
    for (size_t i = 0; i < kvs->nfresh; i++) {
        const struct pair *pair = &kvs->pairs[kvs->fresh[i]];
        pack_text(out, pair->text, pair->key_len);
        pack_text(out, pair->text + pair->key_len + 1, pair->value_len);
    }
    return kvs->puts;
}

void kvs_published(struct kvs *kvs, uint32_t stamp)
{
    size_t kept = 0;
    for (size_t i = 0; i < kvs->nfresh; i++) {
        struct pair *pair = &kvs->pairs[kvs->fresh[i]];
        if (pair->fresh > stamp)
            kvs->fresh[kept++] = kvs->fresh[i];
        else
            pair->fresh = 0;
    }
    kvs->nfresh = kept;
}

struct cursor {
    const unsigned char *at, *start, *end;
};

static int unpack_fail(const struct cursor *cursor, const char *what, struct error *err)
{
    return error_set(err, "packed key-value pairs: %s at byte %zu of %zu", what,
                     (size_t)(cursor->at - cursor->start), (size_t)(cursor->end - cursor->start));
}

static int kvs_unpack_length(struct cursor *cursor, size_t *len, struct error *err)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (cursor->at == cursor->end)
            return unpack_fail(cursor, "a length is cut off", err);
        unsigned char byte = *cursor->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if (value > (uint64_t)(cursor->end - cursor->at))
            return unpack_fail(cursor, "a text is longer than what is left", err);
        *len = (size_t)value;
        return 0;
    }
    return unpack_fail(cursor, "a length has more than 32 bits", err);
}

static int kvs_unpack_text(struct cursor *cursor, const char **text, size_t *len, struct error *err)
{
    if (kvs_unpack_length(cursor, len, err) < 0)
        return -1;
    if (*len > UINT32_MAX)
        return unpack_fail(cursor, "a length has more than 32 bits", err);
    if (memchr(cursor->at, '\0', *len))
        return unpack_fail(cursor, "a text holds a NUL", err);
    *text = (const char *)cursor->at;
    cursor->at += *len;
    return 0;
}

int kvs_merge(struct kvs *kvs, const void *packed, size_t len, struct error *err)
{
    const unsigned char *bytes = len ? packed : (const unsigned char *)"";
    struct cursor cursor = {.at = bytes, .start = bytes, .end = bytes + len};
    const char *key = "", *value = "";
    size_t key_len = 0, value_len = 0;
    while (cursor.at < cursor.end) {
        if (kvs_unpack_text(&cursor, &key, &key_len, err) < 0 ||
            kvs_unpack_text(&cursor, &value, &value_len, err) < 0)
            return -1;
        /* What was put here after the exchange began is newer than what the exchange brought; it will
         * travel with the next one. */
        struct pair *pair = kvs_pair(kvs, key, key_len);
        if (!pair->fresh)
            pair_set(kvs, pair, key, value, value_len);
    }
    return 0;
}

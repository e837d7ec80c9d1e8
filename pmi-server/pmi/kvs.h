/*
 * kvs - a key-value space (RFC 13): text keys, text values.
 *
 * The pairs put here that no exchange has brought to the other nodes yet are the "fresh" ones. Each
 * exchange carries those that are fresh when it begins; they are so until one of them is over, as
 * exchanges may be under way side by side. A packed set of pairs is the exchange's payload; packed
 * sets may be concatenated, and are untrusted when unpacked.
 */
#ifndef PMI_SERVER_PMI_KVS_H
#define PMI_SERVER_PMI_KVS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct kvs;

struct kvs *kvs_new(const char *name); /* name is copied */
void kvs_free(struct kvs *kvs);
const char *kvs_name(const struct kvs *kvs);
size_t kvs_count(const struct kvs *kvs);
size_t kvs_bytes(const struct kvs *kvs); /* that its pairs take, about */

/* Put by a local task: fresh. A key that is there already gets the new value. */
void kvs_put(struct kvs *kvs, const char *key, const char *value);
/* Known to every node already (preset by the launcher): not fresh. */
void kvs_preset(struct kvs *kvs, const char *key, const char *value);

const char *kvs_get(const struct kvs *kvs, const char *key); /* borrowed; NULL if absent */

/* The pairs in the order in which their keys first came, by index; false past the end. Borrowed
 * until the next put. */
bool kvs_at(const struct kvs *kvs, size_t index, const char **key, const char **value);

/* Append the fresh pairs, packed, to `out`. They stay fresh until kvs_published() is given what
 * this returns; those put again meanwhile stay so. */
uint32_t kvs_pack_fresh(struct kvs *kvs, struct buf *out);
void kvs_published(struct kvs *kvs, uint32_t stamp);
/* Put every pair of a packed set (not fresh); a pair that is fresh here is newer, and stays. -1
 * with a sentence if it is malformed; pairs before the bad place stay. */
int kvs_merge(struct kvs *kvs, const void *packed, size_t len, struct error *err);

#endif

/*
 * short_text - long sets and lists of hosts in few characters, for people to read.
 */
#ifndef AFFINITY_SETS_SHORT_TEXT_H
#define AFFINITY_SETS_SHORT_TEXT_H

#include "affinity/sets/hostlist.h"
#include "affinity/sets/idset.h"

/* "0-3,8" where that has at most `max` characters, or is a range or two ids; else "0,2..398" for
 * even steps, or "0..398 (17)" with how many there are. Caller frees. */
char *idset_encode_short(const struct idset *set, size_t max);
/* A hostlist of at most about `max` characters: "a[0-3],b7,... (40 nodes)". Caller frees. */
char *hostlist_encode_short(const struct hostlist *hosts, size_t max);

#endif

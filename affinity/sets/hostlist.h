/*
 * hostlist - an ordered list of host names, duplicates kept (RFC 29).
 *
 * "node[0-3,7],login" and so on: one bracket group a name; the zero padding of a group's first
 * element holds for all of it. Commas separate; blanks are refused. Limits: HOSTLIST_MAX_RANGE
 * hosts a range, HOSTLIST_MAX hosts and HOSTLIST_MAX_BYTES bytes of names in all,
 * HOSTLIST_MAX_NAME bytes a name.
 */
#ifndef AFFINITY_SETS_HOSTLIST_H
#define AFFINITY_SETS_HOSTLIST_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

#define HOSTLIST_MAX_RANGE 1048576
#define HOSTLIST_MAX 4194304
#define HOSTLIST_MAX_BYTES (128u << 20)
#define HOSTLIST_MAX_NAME 320 /* a login, '@' and the longest DNS name */

struct hostlist;

struct hostlist *hostlist_new(void);
void hostlist_free(struct hostlist *list); /* NULL is fine */

/* NULL with a sentence that names the offending part. "" is the empty list. */
struct hostlist *hostlist_decode(const char *text, struct error *err);
/* Canonical text: neighbours folded in list order, "foo[12,4,1-2]". Caller frees.
 * decode(encode(x)) equals x element for element. */
char *hostlist_encode(const struct hostlist *list);

/* The hosts of `text` behind those there are. Returns 0, or -1 with a sentence; the list then ends
 * somewhere in the new hosts. */
int hostlist_append_text(struct hostlist *list, const char *text, struct error *err);

/* One name, taken as it is: printable, without brackets, commas and blanks. The bytes stay where
 * they are for the life of the list. */
void hostlist_append(struct hostlist *list, const char *host);
size_t hostlist_count(const struct hostlist *list);
size_t hostlist_bytes(const struct hostlist *list);                  /* of all names, a NUL each */
const char *hostlist_nth(const struct hostlist *list, size_t index); /* borrowed */
/* The first index, or -1; looks at all hosts. host_index.h is for many look-ups. */
ssize_t hostlist_find(const struct hostlist *list, const char *host);

#endif

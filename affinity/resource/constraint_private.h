/* What the files of constraint share, and nobody else. */
#ifndef AFFINITY_RESOURCE_CONSTRAINT_PRIVATE_H
#define AFFINITY_RESOURCE_CONSTRAINT_PRIVATE_H

#include <stdbool.h>

#include "affinity/resource/constraint.h"
#include "affinity/resource/hostlist.h"

enum constraint_kind {
    CONSTRAINT_AND,
    CONSTRAINT_OR,
    CONSTRAINT_NOT,
    CONSTRAINT_PROPERTIES,
    CONSTRAINT_HOSTLIST,
    CONSTRAINT_RANKS,
    CONSTRAINT_KINDS
};

extern const char *const constraint_names[CONSTRAINT_KINDS]; /* in JSON (RFC 31) */

/* Host names, and where each is found by its hash; open, at most half full. */
struct constraint_hosts {
    struct hostlist *list;
    uint32_t *slots; /* index in the list, plus one; 0 is free */
    size_t size;     /* a power of two */
};

struct constraint {
    enum constraint_kind kind;
    struct constraint **parts; /* of and, or, not */
    size_t nparts;
    json_t *values; /* of all else: strings, as they were */
    struct idset *ranks;
    struct constraint_hosts hosts;
};

struct constraint *constraint_new(enum constraint_kind kind);
void constraint_add(struct constraint *to, struct constraint *part); /* taken */
/* One more value of a leaf, which is decoded. *nhosts counts the hosts of all leaves. */
int constraint_add_value(struct constraint *leaf, const char *value, size_t *nhosts,
                         struct error *err);
/* All values of a leaf are there. */
void constraint_settle(struct constraint *leaf);

bool constraint_has_host(const struct constraint_hosts *hosts, const char *host);

#endif

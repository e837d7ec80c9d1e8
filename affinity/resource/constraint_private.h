/* What the files of constraint share, and nobody else. */
#ifndef AFFINITY_RESOURCE_CONSTRAINT_PRIVATE_H
#define AFFINITY_RESOURCE_CONSTRAINT_PRIVATE_H

#include <stdbool.h>

#include "affinity/resource/constraint.h"
#include "affinity/sets/hostlist.h"

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

struct constraint {
    enum constraint_kind kind;
    struct constraint **parts; /* of and, or, not */
    size_t nparts;
    json_t *values;       /* of all else: strings, as they were */
    struct idset **ranks; /* of a leaf about ranks: one set a value */
    size_t nranks;
    struct hostlist *hosts; /* of a leaf about hosts */
};

struct constraint *constraint_new(enum constraint_kind kind);
void constraint_add(struct constraint *to, struct constraint *part); /* taken */
/* One more value of a leaf, which is decoded. *nhosts counts the hosts of all leaves. */
int constraint_add_value(struct constraint *leaf, const char *value, size_t *nhosts,
                         struct error *err);

#endif

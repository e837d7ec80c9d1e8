/*
 * shape - what a job needs, as a tree of resources (RFC 46; RFC 14, key `resources`).
 *
 *     node=2/slot=4/[core=8;gpu=1]
 *
 * Text and JSON say the same: each becomes this tree, and the tree is written as either. The tree
 * is what was said; what a pool can do with it: affinity/treepool/request.h.
 *
 * Limits: SHAPE_MAX_TEXT bytes of text, SHAPE_MAX_DEPTH vertices deep, SHAPE_MAX_VERTICES in all.
 */
#ifndef AFFINITY_SHAPE_SHAPE_H
#define AFFINITY_SHAPE_SHAPE_H

#include <jansson.h>
#include <stddef.h>

#include "affinity/shape/count.h"
#include "base/error.h"

#define SHAPE_MAX_TEXT 65536
#define SHAPE_MAX_DEPTH 64
#define SHAPE_MAX_VERTICES 16384

#define SHAPE_SLOT "slot"
#define SHAPE_LABEL "default" /* of the only slot, where it was given none (RFC 46) */

enum shape_exclusive { SHAPE_UNSAID = -1, SHAPE_SHARED = 0, SHAPE_EXCLUSIVE = 1 };

struct shape_vertex {
    char *type; /* never empty */
    struct count count;
    char *label; /* every slot has one; all else may, or NULL */
    enum shape_exclusive exclusive;
    char *unit;         /* of the count (RFC 14), or NULL */
    json_t *attributes; /* other keys and their values; NULL: none */
    struct shape_vertex *with;
    size_t nwith;
    size_t at; /* where the type stands in shape->text; 0 without text */
};

struct shape {
    struct shape_vertex *vertices;
    size_t nvertices;
    char *text; /* what it was decoded from, for carets; NULL when it came from JSON */
};

/* NULL with a sentence, and a caret under the place. */
struct shape *shape_decode(const char *text, struct error *err);
/* The value of `resources` (borrowed): an array of vertices. NULL with a sentence. */
struct shape *shape_from_json(const json_t *resources, struct error *err);
void shape_free(struct shape *shape); /* NULL is fine */

/* The sentence about a vertex, with "shape: " in front and a caret where there is text. Returns
 * -1. */
int shape_refuse(const struct shape *shape, const struct shape_vertex *vertex, struct error *err,
                 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Canonical text: decode(encode(x)) equals x. Caller frees. */
char *shape_encode(const struct shape *shape);
/* RFC 14 `resources`; a new reference. */
json_t *shape_to_json(const struct shape *shape);

#endif

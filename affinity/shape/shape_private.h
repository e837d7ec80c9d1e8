/* What the files of shape share, and nobody else. */
#ifndef AFFINITY_SHAPE_SHAPE_PRIVATE_H
#define AFFINITY_SHAPE_SHAPE_PRIVATE_H

#include <stdarg.h>
#include <stdbool.h>

#include "affinity/shape/shape.h"

/* What reads a shape, from text or from JSON. */
struct shape_reader {
    struct shape *shape;
    size_t len; /* of shape->text */
    size_t at;  /* where in it we are */
    size_t nvertices;
    struct error *err;
};

/* A sentence with a caret at `at` where there is text. Returns -1. */
int shape_bad(const struct shape_reader *in, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* One more vertex, of nothing yet, at the end of the list; NULL where there are too many. */
struct shape_vertex *shape_add(struct shape_reader *in, struct shape_vertex **list, size_t *count);

/* Key and value of a vertex, but for type, count and with. Returns what is wrong, or NULL. */
const char *shape_set_key(struct shape_vertex *vertex, const char *key, json_t *value);

/* What holds for a vertex that is complete, and for the whole: children and labels of slots. */
int shape_check_vertex(const struct shape_reader *in, const struct shape_vertex *vertex);
int shape_finish(struct shape_reader *in);

bool shape_is_slot(const struct shape_vertex *vertex);
size_t shape_count_slots(const struct shape_vertex *list, size_t count);

#endif

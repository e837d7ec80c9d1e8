/*
 * shape_requests - what the parts of a program are given, each by a shape of its own.
 *
 * Parts are served in order: later ones get what earlier ones left. It is all or nothing.
 */
#ifndef LAUNCHER_PLAN_SHAPE_REQUESTS_H
#define LAUNCHER_PLAN_SHAPE_REQUESTS_H

#include <jansson.h>
#include <stddef.h>

#include "affinity/treepool/treepool.h"

struct shape_requests {
    struct treepool_grant **parts;
    size_t nparts;
    struct rset
        *R; /* all of it, with the ranks of the R that it is from; nslots and scheduling set */
};

/* As treepool_allocate(). TREEPOOL_NEVER also where no part is too large, but all of them
 * together. */
enum treepool_answer shape_requests_make(const struct rset *R, const struct rset *held,
                                         struct request *const *requests, size_t nparts,
                                         struct shape_requests **allotment, struct error *err);
void shape_requests_free(struct shape_requests *allotment); /* NULL is fine */

/* Which cores and GPUs belong together; a new reference:
 *     {"version": 1,
 *      "slots": [{"part": 0, "rank": 3, "host": "n3", "cores": "0-7", "gpus": "1"}, ...]}
 * In order of parts and of their slots; rank is that in R. */
json_t *shape_requests_slots(const struct shape_requests *allotment);

#endif

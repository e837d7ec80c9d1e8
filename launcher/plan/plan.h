/*
 * plan - where the tasks of one group run: a layout on candidates, and what is claimed for it. A
 * value, of which first_plan.h makes one for a program's first group, and spawn_plan.h for those
 * that are spawned.
 */
#ifndef LAUNCHER_PLAN_PLAN_H
#define LAUNCHER_PLAN_PLAN_H

#include "affinity/layout/layout.h"
#include "affinity/resource/rset.h"
#include "launcher/plan/candidates.h"

struct plan;

/* Lay the tasks out on these candidates. Takes them, and the request's parts (an array); the
 * request's nodes need not be set. What else request and parts point to is borrowed for as long as
 * somebody looks at plan_request(). NULL with a sentence. */
struct plan *plan_make(struct candidates *candidates, const struct layout_request *request,
                       struct error *err);
void plan_free(struct plan *plan); /* NULL is fine */

/* All borrowed; NULL without a plan. */
const struct layout *plan_layout(const struct plan *plan);
const struct layout_request *plan_request(const struct plan *plan);
const struct candidates *plan_candidates(const struct plan *plan);

/* The nodes of the tree that its tasks are on; caller frees. */
struct idset *plan_tree_nodes(const struct plan *plan);
/* What the tasks use, by R: of what was allocated by a shape some may be idle. Caller frees. */
struct rset *plan_used(const struct plan *plan);
/* Its tasks, which are not bound, use all cores that the candidates have of their nodes. */
void plan_widen(struct plan *plan);
/* What is to be claimed for it, by its maker: taken, and lent. */
void plan_set_claim(struct plan *plan, struct rset *claim);
const struct rset *plan_claim(const struct plan *plan); /* NULL without a plan */

#endif

/*
 * plan - the layout of the program's first tasks, and the claim that follows from it.
 *
 * plan_map() places the tasks on what is free, and claims what they use; where another program was
 * first it reads again what is free, and starts over. A dry run claims nothing.
 */
#ifndef LAUNCHER_PLAN_PLAN_H
#define LAUNCHER_PLAN_PLAN_H

#include "affinity/layout/layout.h"
#include "launcher/instance/agents.h"
#include "launcher/instance/resources.h"
#include "launcher/plan/candidates.h"
#include "launcher/plan/host_choice.h"
#include "launcher/plan/shape_allocation.h"

struct plan;

/* All is borrowed; `shapes` may be NULL. */
struct plan *plan_new(const struct spec *spec, struct resources *resources,
                      const struct agents *agents, struct host_choice *choice,
                      struct shape_allocation *shapes);
void plan_free(struct plan *plan); /* NULL is fine */

/* Layout made, and claimed if it runs. -1 with a sentence. */
int plan_map(struct plan *plan, struct error *err);
/* What it would claim were nothing held; caller frees. NULL with the reason why not; *known is
 * false where that cannot be told, some host's hardware not being known. */
struct rset *plan_fits_ever(struct plan *plan, bool *known, struct error *err);

/* Of the last plan_map() that succeeded; borrowed. NULL before, and without a plan. */
const struct layout *plan_layout(const struct plan *plan);
const struct rset *plan_claim(const struct plan *plan);
/* What the layout was made of. */
const struct layout_request *plan_request(const struct plan *plan);
const struct candidates *plan_candidates(const struct plan *plan);

#endif

/*
 * first_plan - the plan of a program's first tasks: on what is free on the hosts that were chosen,
 * on what its shapes were given, or on what --on says.
 */
#ifndef LAUNCHER_PLAN_FIRST_PLAN_H
#define LAUNCHER_PLAN_FIRST_PLAN_H

#include "launcher/instance/agents.h"
#include "launcher/instance/resources.h"
#include "launcher/plan/host_choice.h"
#include "launcher/plan/plan.h"
#include "launcher/plan/shape_allocation.h"

struct first_plan; /* what it is made of */

/* All is borrowed; `shapes` may be NULL. */
struct first_plan *first_plan_new(const struct spec *spec, struct resources *resources,
                                  const struct agents *agents, struct host_choice *choice,
                                  struct shape_allocation *shapes);
void first_plan_free(struct first_plan *first); /* NULL is fine */

/* A plan, and what has to be claimed for it, on what was free at the last resources_refresh().
 * Where there are shapes their claim is made already. The plan borrows from `first`. Caller frees;
 * NULL with a sentence. */
struct plan *first_plan_make(struct first_plan *first, struct error *err);
/* What it would claim were this held, and nothing else (NULL: nothing); caller frees. NULL with the
 * reason why not; *known is false where that cannot be told, some host's hardware not being
 * known. */
struct rset *first_plan_try(struct first_plan *first, const struct rset *held, bool *known,
                            struct error *err);

#endif

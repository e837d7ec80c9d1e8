/*
 * infeasible - why nothing was allocated. Private to treepool/.
 */
#ifndef AFFINITY_TREEPOOL_INFEASIBLE_H
#define AFFINITY_TREEPOOL_INFEASIBLE_H

#include "affinity/treepool/best_fit.h"

/* `nodes` with everything free, and what was found there. */
void treepool_why_never(const struct treepool_nodes *nodes, const struct treepool_ask *ask,
                        const struct treepool_chosen *found, const struct constraint *constraint,
                        struct error *err);
/* `nodes` as they are. */
void treepool_why_busy(const struct treepool_nodes *nodes, const struct treepool_ask *ask,
                       const struct treepool_chosen *found, struct error *err);

#endif

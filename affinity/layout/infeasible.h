/*
 * infeasible - words that refusals share.
 */
#ifndef AFFINITY_LAYOUT_INFEASIBLE_H
#define AFFINITY_LAYOUT_INFEASIBLE_H

#include "affinity/layout/layout.h"
#include "affinity/policy/policy.h"
#include "base/buf.h"

/* "core", "NUMA domain", or with -c "slot of 4 cores" */
void infeasible_add_object(struct buf *out, const struct policy *policy, enum topo_level level);
/* "1 core", "2 NUMA domains", "3 slots of 4 cores" */
void infeasible_add_objects(struct buf *out, const struct policy *policy, enum topo_level level,
                            uint32_t count);
/* Behind "4 slots": "in the host file", or as the request says. */
const char *infeasible_where(const struct layout_request *request);

#endif

/*
 * infeasible - why a layout cannot be made, and words that refusals share.
 */
#ifndef AFFINITY_LAYOUT_INFEASIBLE_H
#define AFFINITY_LAYOUT_INFEASIBLE_H

#include "affinity/layout/layout.h"
#include "base/buf.h"

struct all_positions;
struct layout_build;
struct passes;
struct placement;
struct policy;

/* "core", "NUMA domain", or with -c "slot of 4 cores" */
void infeasible_add_object(struct buf *out, const struct policy *policy, enum topo_level level);
/* "1 core", "2 NUMA domains", "3 slots of 4 cores" */
void infeasible_add_objects(struct buf *out, const struct policy *policy, enum topo_level level,
                            uint32_t count);
/* Behind "4 slots": "in the host file", or as the request says. */
const char *infeasible_where(const struct layout_request *request);

/* These all return -1 with a sentence. */
int infeasible_word(const struct all_positions *plans, const struct policy *policy,
                    struct error *err);
int infeasible_no_place(const struct layout_build *build, const struct placement *placement,
                        const struct all_positions *plans, struct error *err);
int infeasible_gpus(const struct layout_build *build, const struct placement *placement,
                    const struct all_positions *plans, struct error *err);
int infeasible_room(const struct layout_build *build, const struct passes *passes,
                    const struct placement *placement, struct error *err);
int infeasible_node_count(const struct layout_build *build, const struct passes *passes,
                          const struct placement *placement, const uint32_t *room, uint32_t share,
                          struct error *err);
/* A task map has `count` tasks on this node, where `fit` fit. */
int infeasible_map_share(const struct layout_build *build, const struct passes *passes,
                         const struct placement *placement, uint32_t node, uint32_t count,
                         uint32_t fit, struct error *err);

#endif

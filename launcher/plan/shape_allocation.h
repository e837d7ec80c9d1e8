/*
 * shape_allocation - what is allocated to the parts of a program by their shapes, and who runs in
 * which slot.
 *
 * Where the nodes' R says where on them cores and GPUs are, it is allocated from before any agent
 * starts; else from what the agents say. What is allocated is claimed as a whole, and written for
 * others as "slots.json".
 *
 * All functions accept NULL, which stands for a program without shapes: there is nothing to do
 * then.
 */
#ifndef LAUNCHER_PLAN_SHAPE_ALLOCATION_H
#define LAUNCHER_PLAN_SHAPE_ALLOCATION_H

#include "affinity/layout/layout.h"
#include "launcher/instance/resources.h"
#include "launcher/plan/host_choice.h"

struct shape_allocation;

/* Read the shapes of all parts. 0, and *shapes is NULL where no part has one; -1 with a sentence.
 * All is borrowed. Each function below takes NULL where not said otherwise, and does nothing. */
int shape_allocation_open(const struct spec *spec, struct resources *resources,
                          struct host_choice *choice, struct shape_allocation **shapes,
                          struct error *err);
void shape_allocation_free(struct shape_allocation *shapes);

/* Before any agent is started. Where R says where cores and GPUs are, allocate and claim now, and
 * want the hosts of that alone; else want all hosts: their agents say it. 0, or -1 with a
 * sentence. */
int shape_allocation_early(struct shape_allocation *shapes, struct error *err);
/* Allocate and claim what the shapes ask for, unless that was done. 0, or -1 with a sentence. */
int shape_allocation_take(struct shape_allocation *shapes, struct error *err);
/* What would be allocated (not of NULL) were this held and nothing else (NULL: nothing); caller
 * frees. NULL with the reason why not; *known is false where that cannot be told yet. */
struct rset *shape_allocation_try(const struct shape_allocation *shapes, const struct rset *held,
                                  bool *known, struct error *err);

/* What was taken, or NULL; of a host, or NULL. */
const struct rset *shape_allocation_R(const struct shape_allocation *shapes);
const struct rset_node *shape_allocation_of(const struct shape_allocation *shapes, uint32_t host);
/* Give the parts of a layout on these nodes their slots, which it borrows. -1 with a sentence. */
int shape_allocation_fill_parts(struct shape_allocation *shapes, struct layout_part *parts,
                                const struct layout_node *nodes, uint32_t nnodes,
                                struct error *err);

#endif

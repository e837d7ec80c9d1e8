/*
 * candidates - the hosts that tasks may be placed on, with the cores, GPUs and task limit of each.
 */
#ifndef LAUNCHER_PLAN_CANDIDATES_H
#define LAUNCHER_PLAN_CANDIDATES_H

#include "affinity/layout/layout.h"
#include "launcher/instance/resources.h"
#include "launcher/plan/host_choice.h"
#include "launcher/plan/shape_allocation.h"

struct candidates {            /* in the order of the hosts */
    struct layout_node *nodes; /* as a layout takes them */
    uint32_t *hosts;           /* [count] number of each */
    uint32_t count;
    struct rset *from;   /* whose sets the nodes borrow; NULL: they own theirs */
    struct idset **only; /* [nparts] those that each part may use; NULL: all of them */
    size_t nparts;
};

struct candidates_source { /* all is borrowed */
    const struct spec *spec;
    struct resources *resources;
    const struct host_choice *choice;      /* NULL: every host will do */
    const struct shape_allocation *shapes; /* NULL: none */
};

/* Hosts whose topology is known, that are wanted and have something free, into a zeroed struct,
 * which the caller clears in any case. -1 with a sentence. */
int candidates_find(const struct candidates_source *source, struct candidates *candidates,
                    struct error *err);
/* One more; the sets are taken, or borrowed from `from`. */
void candidates_add(struct candidates *candidates, const struct host *host,
                    const struct idset *cores, const struct idset *gpus, uint32_t limit);
/* Only this node of an R is left, with the cores and GPUs that it has there. */
void candidates_keep(struct candidates *candidates, const struct rset_node *node);
void candidates_clear(struct candidates *candidates);

#endif

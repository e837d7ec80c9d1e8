/*
 * placement - parts that are placed as if they were one program, and their numbers of tasks.
 * Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_PLACEMENT_H
#define AFFINITY_LAYOUT_PLACEMENT_H

#include "affinity/layout/layout.h"
#include "affinity/policy/policy.h"
#include "affinity/taskmap/taskmap_scheme.h"

/* A part without layout options joins the placement of the part before it. */
struct placement {
    uint32_t number; /* 0: the first of the program */
    uint32_t first_part, nparts;
    uint32_t ntasks;
    bool fill; /* --per without -n: ntasks is whatever fits, and not known before */
    struct policy policy;
    const struct rankfile *rankfile; /* of the first part; or NULL */
    const struct layout_slot *slots; /* likewise */
    struct taskmap_scheme taskmap;   /* of the first part */
};

struct placements {
    struct placement *list;
    uint32_t count;
    uint32_t *of_part;    /* by part: index into list */
    uint32_t *part_tasks; /* by part, defaults filled in; 0 for one that fills */
};

/* 0, or -1 with a sentence about options and numbers that stand against each other. To be freed in
 * either case. */
int placements_make(struct placements *placements, const struct layout_request *request,
                    struct error *err);
void placements_free(struct placements *placements);

#endif

/*
 * allocated_hosts - nodes as rank files and task maps count them; options that stand against each
 * other. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_ALLOCATED_HOSTS_H
#define AFFINITY_LAYOUT_ALLOCATED_HOSTS_H

#include "affinity/layout/placement.h"

struct node_choice;

/* What is allocated, as rank files and task maps count it. */
struct allocated {
    const char *const *hosts;
    uint32_t nhosts;
    uint32_t *node; /* of the request, for each host; NO_NODE where it is not to be used */
    const char **own;
};
#define NO_NODE UINT32_MAX
void allocated_make(struct allocated *allocated, const struct layout_request *request);
void allocated_free(struct allocated *allocated);

/* Options that stand against each other, and counts that no hardware can mend. */
int allocated_check_part(const struct layout_part *part, const struct taskmap_scheme *scheme,
                         struct error *err);
/* What a part without a number that takes all that fits was told so by, for messages. */
const char *allocated_fill_name(const struct layout_part *part);
/* The number of tasks that a rank file or a task map gives; 0: neither does. */
uint32_t allocated_ntasks(const struct placement *placement);
/* Does the number of tasks agree with them? */
int allocated_check_ntasks(const struct placement *placement, struct error *err);
/* And with the slots that a shape gave? */
int allocated_check_slots(const struct layout_part *part, struct error *err);
/* A placement took exactly these nodes (used[node of the request]): do they agree with node_count?
 * The first placement's are chosen for all from then on. */
int allocated_check_nodes(const struct layout_request *request, struct node_choice *choice,
                          const struct placement *placement, const bool *used, struct error *err);

#endif

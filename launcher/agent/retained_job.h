/*
 * retained_job - where a PMIx job of this agent belongs. It outlives the group's tasks on this node: those of
 * other nodes may still ask for what they put.
 */
#ifndef LAUNCHER_AGENT_RETAINED_JOB_H
#define LAUNCHER_AGENT_RETAINED_JOB_H

#include "launcher/agent/internal.h"

struct pmix_place {
    struct pmix_place *next;
    struct agent *agent;
    struct pmix_job *job;                      /* whose data this is */
    struct group *group;                       /* NULL: it has ended here */
    uint32_t number, node, nnodes, *tree_node; /* of the group, as in struct launch */
};

struct pmix_place *retained_job_new(struct group *group);
/* The group has ended here: its place is kept in `parted`, the latest first, while there are few, or freed
 * where nobody can ask. */
void retained_job_part(struct pmix_place **parted, struct pmix_place *place);
struct pmix_place *retained_job_find(struct pmix_place *parted, uint32_t number);
void retained_jobs_free(struct pmix_place **from); /* with their jobs; all from there on */

#endif

#include "launcher/agent/retained_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define PARTED_MAX 16 /* a program may spawn without end */

struct pmix_place *retained_job_new(struct group *group)
{
    const struct launch *launch = group->launch;
    struct pmix_place *place = mem_alloc(sizeof(*place));
    place->agent = group->agent;
    place->group = group;
    place->number = group->number;
    place->node = launch->node;
    place->nnodes = launch->nnodes;
    place->tree_node = mem_array(launch->nnodes, sizeof(*place->tree_node));
    memcpy(place->tree_node, launch->tree_node, launch->nnodes * sizeof(*place->tree_node));
    return place;
}

void retained_jobs_free(struct pmix_place **from)
{
    struct pmix_place *next;
    for (struct pmix_place *place = *from; place; place = next) {
        next = place->next;
        pmix_namespace_free(place->job);
        free(place->tree_node);
        free(place);
    }
    *from = NULL;
}

void retained_job_part(struct pmix_place **parted, struct pmix_place *place)
{
    if (place->nnodes == 1 || place->group->terminating || place->agent->terminating) {
        retained_jobs_free(&place);
        return;
    }
    place->group = NULL;
    place->next = *parted;
    *parted = place;
    for (unsigned count = 0; place; place = place->next)
        if (++count == PARTED_MAX)
            retained_jobs_free(&place->next);
}

struct pmix_place *retained_job_find(struct pmix_place *parted, uint32_t number)
{
    while (parted && parted->number != number)
        parted = parted->next;
    return parted;
}

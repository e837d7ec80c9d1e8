#include "affinity/layout/walk.h"

#include <stdlib.h>

#include "base/mem.h"

void walk_start(struct walk *walk, const struct plans *plans, const uint32_t *plan_of,
                const uint32_t *nodes, uint32_t nnodes)
{
    *walk = (struct walk){.plans = plans, .plan_of = plan_of, .nodes = nodes, .nnodes = nnodes};
    if (nnodes == 1) { /* no turns to take: the groups are one run */
        walk->plan = &plans->plans[plan_of[nodes[0]]];
        walk->end = walk->plan->npositions;
        walk->turn = 1;
        walk->group = plans->ngroups;
    } else {
        walk->reached = mem_array(plans->nplans, sizeof(*walk->reached));
    }
}

static void leave_group(struct walk *walk)
{
    for (uint32_t i = 0; i < walk->plans->nplans; i++)
        if (walk->plans->plans[i].groups[walk->reached[i]].id == walk->group)
            walk->reached[i]++;
    walk->group++;
    walk->turn = 0;
}

/* The positions of the next node that has some in this group, or in one further on. */
static bool next_turn(struct walk *walk)
{
    while (walk->group < walk->plans->ngroups && walk->nnodes) {
        if (walk->turn == walk->nnodes) {
            leave_group(walk);
            continue;
        }
        uint32_t plan = walk->plan_of[walk->nodes[walk->turn++]];
        const struct group *group = &walk->plans->plans[plan].groups[walk->reached[plan]];
        if (group->id != walk->group)
            continue;
        walk->plan = &walk->plans->plans[plan];
        walk->at = group[0].first;
        walk->end = group[1].first;
        return true;
    }
    return false;
}

bool walk_next(struct walk *walk, uint32_t *node, uint32_t *position)
{
    if (walk->at == walk->end && !next_turn(walk))
        return false;
    *node = walk->nodes[walk->turn - 1];
    *position = walk->at++;
    return true;
}

void walk_free(struct walk *walk)
{
    free(walk->reached);
}

#include "affinity/layout/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void walk_start(struct walk *walk, const struct plans *plans, const uint32_t *plan_of,
                const uint32_t *nodes, uint32_t nnodes)
{
    *walk = (struct walk){.plans = plans, .plan_of = plan_of};
    if (nnodes == 1) { /* no turns to take: the groups are one run */
        walk->node = nodes[0];
        walk->end = plans->plans[plan_of[nodes[0]]].npositions;
        return;
    }
    walk->reached = mem_array(plans->nplans, sizeof(*walk->reached));
    walk->nodes = mem_array(nnodes, sizeof(*walk->nodes));
    walk->nnodes = nnodes;
    memcpy(walk->nodes, nodes, nnodes * sizeof(*nodes));
}

/* The group of a plan that is not behind this one. */
static const struct group *reach_group(struct walk *walk, uint32_t plan)
{
    const struct group *groups = walk->plans->plans[plan].groups;
    while (groups[walk->reached[plan]].id < walk->group)
        walk->reached[plan]++;
    return &groups[walk->reached[plan]];
}

static void leave_group(struct walk *walk)
{
    walk->nnodes = walk->nkept;
    walk->nkept = 0;
    walk->turn = 0;
    walk->group++;
}

/* The positions of the next node that has some in this group, or in one further on. Nodes that have
 * none in any drop out. */
static bool next_turn(struct walk *walk)
{
    while (walk->nnodes) {
        if (walk->turn == walk->nnodes) {
            leave_group(walk);
            continue;
        }
        uint32_t node = walk->nodes[walk->turn++];
        const struct group *group = reach_group(walk, walk->plan_of[node]);
        if (group->id == UINT32_MAX)
            continue;
        walk->nodes[walk->nkept++] = node;
        if (group->id != walk->group)
            continue;
        walk->node = node;
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
    *node = walk->node;
    *position = walk->at++;
    return true;
}

void walk_free(struct walk *walk)
{
    free(walk->reached);
    free(walk->nodes);
}

/*
 * Which nodes a placement is on where their number was asked for, and what share each gets.
 */
#include "affinity/layout/node_count.h"

#include <stdlib.h>

#include "affinity/layout/build.h"
#include "affinity/layout/infeasible.h"
#include "affinity/layout/limits.h"
#include "affinity/layout/placement.h"
#include "base/mem.h"

void node_choice_all(struct node_choice *choice, uint32_t nnodes, const struct idset *only)
{
    choice->count = 0;
    for (uint32_t node = 0; node < nnodes; node++)
        if (!only || idset_has(only, node))
            choice->nodes[choice->count++] = node;
}

/* The first nodes with room for their share: `share` tasks, or one more on `rest` of them. Of nodes
 * with room for the smaller share only, no more are chosen than are to have it. */
static void choose_nodes(struct layout_build *build, const uint32_t *room, uint32_t share,
                         uint32_t rest)
{
    uint32_t small = build->request->node_count - rest;
    for (uint32_t node = 0; node < build->request->nnodes; node++) {
        if (build->choice->count == build->request->node_count)
            return;
        if (room[node] < share || (room[node] == share && small == 0))
            continue;
        small -= room[node] == share;
        build->choice->nodes[build->choice->count++] = node;
    }
}

int node_count_choose(struct layout_build *build, struct passes *passes,
                      const struct placement *placement, struct error *err)
{
    const struct layout_request *request = build->request;
    uint32_t share = placement->ntasks / request->node_count,
             rest = placement->ntasks % request->node_count;
    uint32_t *room = mem_array(request->nnodes, sizeof(*room));
    for (uint32_t node = 0; node < request->nnodes; node++)
        room[node] = passes_room(passes, node, share + 1);
    build->choice->count = 0;
    choose_nodes(build, room, share, rest);
    if (build->choice->count < request->node_count && placement->policy.oversubscribe) {
        build->choice->count = 0;
        for (uint32_t node = 0; node < request->nnodes; node++)
            room[node] = passes_has_position(passes, node) ? share + 1 : 0;
        choose_nodes(build, room, share, rest);
    }
    int rc = 0;
    if (build->choice->count < request->node_count)
        rc = infeasible_node_count(build, passes, placement, room, share + (rest > 0), err);
    free(room);
    return rc;
}

int node_count_choose_any(struct layout_build *build, struct passes *passes,
                          struct placement *placement, struct error *err)
{
    const struct layout_request *request = build->request;
    uint32_t *room = mem_array(request->nnodes, sizeof(*room));
    int rc = 0;
    build->choice->count = 0;
    for (uint32_t node = 0; node < request->nnodes; node++) {
        room[node] = passes_room(passes, node, 1);
        if (room[node] && build->choice->count < request->node_count)
            build->choice->nodes[build->choice->count++] = node;
    }
    placement->ntasks = request->node_count; /* for the sentence */
    if (build->choice->count < request->node_count)
        rc = infeasible_node_count(build, passes, placement, room, 1, err);
    free(room);
    return rc;
}

/* One task more for `left` of the nodes, in turn: for those with room for it, or with `any` for all
 * that got none. Returns how many tasks are left. */
static uint32_t share_rest(const struct layout_build *build, struct passes *passes, uint32_t *quota,
                           uint32_t share, uint32_t left, bool any)
{
    for (uint32_t i = 0; i < build->choice->count && left; i++) {
        uint32_t node = build->choice->nodes[(build->choice->rotation + i) % build->choice->count];
        if (quota[node] > share || (!any && passes_room(passes, node, share + 1) <= share))
            continue;
        quota[node]++;
        left--;
    }
    return left;
}

/* Shares by node. Where they do not divide evenly, the ones over go to the first nodes with room
 * for them; the next placement goes on behind those, so that the whole program stays even. */
uint32_t *node_count_shares(struct layout_build *build, struct passes *passes,
                            const struct placement *placement)
{
    uint32_t n = build->choice->count, share = placement->ntasks / n, rest = placement->ntasks % n;
    uint32_t *quota = mem_array(build->request->nnodes, sizeof(*quota));
    for (uint32_t i = 0; i < n; i++)
        quota[build->choice->nodes[i]] = share;
    uint32_t left = share_rest(build, passes, quota, share, rest, false);
    share_rest(build, passes, quota, share, left, true);
    build->choice->rotation = (build->choice->rotation + rest) % n;
    return quota;
}

/*
 * Which nodes a run is on where their number was asked for, and what share each gets.
 */
#include "affinity/layout/node_count.h"

#include <stdlib.h>

#include "affinity/layout/build.h"
#include "affinity/layout/infeasible.h"
#include "affinity/layout/limits.h"
#include "base/mem.h"

/* The first nodes with room for their share: the share, or one more on `rest` of them. Those with
 * room for the smaller share only may be so many that the larger ones still find a node. */
static void choose_nodes(struct layout_build *builder, const uint32_t *room, uint32_t share,
                         uint32_t rest)
{
    uint32_t small = builder->request->node_count - rest;
    for (uint32_t node = 0; node < builder->request->nnodes; node++) {
        if (builder->nchosen == builder->request->node_count)
            return;
        if (room[node] < share || (room[node] == share && small == 0))
            continue;
        small -= room[node] == share;
        builder->chosen[builder->nchosen++] = node;
    }
}

int layout_build_choose_nodes(struct layout_build *builder, struct passes *placing,
                              const struct placement *run, struct error *err)
{
    const struct layout_request *request = builder->request;
    uint32_t share = run->ntasks / request->node_count, rest = run->ntasks % request->node_count;
    uint32_t *room = mem_array(request->nnodes, sizeof(*room));
    for (uint32_t node = 0; node < request->nnodes; node++)
        room[node] = passes_room(placing, node, share + 1);
    builder->nchosen = 0;
    choose_nodes(builder, room, share, rest);
    if (builder->nchosen < request->node_count && run->policy.oversubscribe) {
        builder->nchosen = 0;
        for (uint32_t node = 0; node < request->nnodes; node++)
            room[node] = passes_has_position(placing, node) ? share + 1 : 0;
        choose_nodes(builder, room, share, rest);
    }
    int rc = 0;
    if (builder->nchosen < request->node_count)
        rc = infeasible_node_count(builder, placing, run, room, share + (rest > 0), err);
    free(room);
    return rc;
}

int layout_build_choose_any(struct layout_build *builder, struct passes *placing,
                            struct placement *run, struct error *err)
{
    const struct layout_request *request = builder->request;
    uint32_t *room = mem_array(request->nnodes, sizeof(*room));
    int rc = 0;
    builder->nchosen = 0;
    for (uint32_t node = 0; node < request->nnodes; node++) {
        room[node] = passes_room(placing, node, 1);
        if (room[node] && builder->nchosen < request->node_count)
            builder->chosen[builder->nchosen++] = node;
    }
    run->ntasks = request->node_count; /* for the sentence */
    if (builder->nchosen < request->node_count)
        rc = infeasible_node_count(builder, placing, run, room, 1, err);
    free(room);
    return rc;
}

/* One task more for `left` of the nodes, in turn: those with the room, or any that got none. */
static uint32_t share_rest(const struct layout_build *builder, struct passes *placing,
                           uint32_t *quota, uint32_t share, uint32_t left, bool any)
{
    for (uint32_t i = 0; i < builder->nchosen && left; i++) {
        uint32_t node = builder->chosen[(builder->rotation + i) % builder->nchosen];
        if (quota[node] > share || (!any && passes_room(placing, node, share + 1) <= share))
            continue;
        quota[node]++;
        left--;
    }
    return left;
}

/* Shares by node. Where they do not divide evenly, the ones over go to the first nodes with room
 * for them; the next run goes on behind those, so that the whole program stays even. */
uint32_t *layout_build_share_out(struct layout_build *builder, struct passes *placing,
                                 const struct placement *run)
{
    uint32_t n = builder->nchosen, share = run->ntasks / n, rest = run->ntasks % n;
    uint32_t *quota = mem_array(builder->request->nnodes, sizeof(*quota));
    for (uint32_t i = 0; i < n; i++)
        quota[builder->chosen[i]] = share;
    uint32_t left = share_rest(builder, placing, quota, share, rest, false);
    share_rest(builder, placing, quota, share, left, true);
    builder->rotation = (builder->rotation + rest) % n;
    return quota;
}

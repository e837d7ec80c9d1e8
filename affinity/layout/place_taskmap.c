/*
 * Placing a placement by a task map: the map says how many tasks each node gets and which ranks they
 * are; in the node they are placed as the policy says, one node by itself.
 */
#include "affinity/layout/place_taskmap.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/allocated_hosts.h"
#include "affinity/layout/build.h"
#include "affinity/layout/infeasible.h"
#include "affinity/layout/limits.h"
#include "affinity/layout/node_count.h"
#include "affinity/layout/placement.h"
#include "base/mem.h"

/* Nodes in the order in which ranks are dealt, and what each gets. */
struct hand {
    const uint32_t *nodes; /* of the request */
    uint32_t n;
    uint32_t *count; /* [n] */
    uint32_t *order; /* [ntasks] index into nodes, by rank */
};

/* ---- how many each node gets ---- */

static void count_order(struct hand *hand, uint32_t dealt)
{
    memset(hand->count, 0, hand->n * sizeof(*hand->count));
    for (uint32_t rank = 0; rank < dealt; rank++)
        hand->count[hand->order[rank]]++;
}

/* No node is asked for more than it may be dealt, so that work stays linear where there are no
 * limits: first what an even deal gives, in whole rounds; while that is too little, twice as many. */
static uint32_t deal_cyclic(const struct placement *placement, struct passes *passes,
                            struct hand *hand)
{
    const struct taskmap_scheme *scheme = &placement->taskmap;
    uint32_t even = (placement->ntasks - 1) / hand->n + 1, dealt = 0;
    uint64_t most = ((uint64_t)even - 1) / scheme->chunk * scheme->chunk + scheme->chunk;
    for (bool capped = true; dealt < placement->ntasks && capped; most *= 2) {
        most = most < placement->ntasks ? most : placement->ntasks;
        capped = false;
        for (uint32_t i = 0; i < hand->n; i++) {
            hand->count[i] = passes_room(passes, hand->nodes[i], (uint32_t)most);
            capped = capped || (hand->count[i] == most && most < placement->ntasks);
        }
        dealt = taskmap_scheme_deal(scheme, hand->count, hand->n, placement->ntasks, hand->order);
    }
    count_order(hand, dealt);
    return dealt;
}

/* Past the limits: again and again as many as fit, or one where nothing does. */
static uint32_t deal_beyond(const struct placement *placement, const struct passes *passes,
                            struct hand *hand, uint32_t dealt)
{
    uint32_t *again = mem_array(hand->n, sizeof(*again)), before;
    uint32_t *order = mem_array(placement->ntasks, sizeof(*order));
    for (uint32_t i = 0; i < hand->n; i++)
        if (passes_has_position(passes, hand->nodes[i]))
            again[i] = hand->count[i] ? hand->count[i] : 1;
    do {
        before = dealt;
        uint32_t more = taskmap_scheme_deal(&placement->taskmap, again, hand->n,
                                            placement->ntasks - dealt, order);
        for (uint32_t i = 0; i < more; i++)
            hand->count[order[i]]++;
        dealt += more;
    } while (dealt < placement->ntasks && dealt > before);
    free(again);
    free(order);
    return dealt;
}

/* Under the limits, as far as that goes. */
static int count_freely(struct layout_build *build, struct passes *passes,
                        const struct placement *placement, struct hand *hand, struct error *err)
{
    uint32_t dealt = 0;
    if (placement->taskmap.scheme == TASKMAP_SCHEME_BLOCK)
        for (uint32_t i = 0; i < hand->n && dealt < placement->ntasks; i++)
            dealt += hand->count[i] =
                passes_room(passes, hand->nodes[i], placement->ntasks - dealt);
    else
        dealt = deal_cyclic(placement, passes, hand);
    if (dealt < placement->ntasks && placement->policy.oversubscribe)
        dealt = deal_beyond(placement, passes, hand, dealt);
    if (dealt == placement->ntasks)
        return 0;
    for (uint32_t i = 0; i < hand->n; i++)
        passes_fit(passes, &hand->nodes[i], 1, hand->count[i]);
    return infeasible_room(build, passes, placement, err);
}

/* ---- manual ---- */

/* Ids of the map index what was allocated; order becomes nodes of the request. */
static int find_map_nodes(struct layout_build *build, const struct placement *placement,
                          struct hand *hand, struct error *err)
{
    struct allocated allocated;
    bool *used = mem_array(build->request->nnodes, sizeof(*used));
    int rc = 0;
    allocated_make(&allocated, build->request);
    taskmap_deal(placement->taskmap.map, placement->ntasks, hand->order);
    for (uint32_t rank = 0; rank < placement->ntasks && rc == 0; rank++) {
        uint32_t at = hand->order[rank];
        uint32_t node = at < allocated.nhosts ? allocated.node[at] : NO_NODE;
        if (at >= allocated.nhosts)
            rc =
                error_set(err, "--taskmap: the map uses node %u, and %u node%s allocated (0%s%.0u)",
                          at, allocated.nhosts, allocated.nhosts == 1 ? " is" : "s are",
                          allocated.nhosts > 1 ? " to " : "", allocated.nhosts - 1);
        else if (node == NO_NODE)
            rc = error_set(err,
                           "--taskmap: the map uses node %u, and %s has no core that is free for "
                           "this program",
                           at, allocated.hosts[at]);
        else
            used[hand->order[rank] = node] = true;
    }
    if (rc == 0)
        rc = allocated_check_nodes(build->request, build->choice, placement, used, err);
    allocated_free(&allocated);
    free(used);
    return rc;
}

/* ---- seats ---- */

/* All seats of a node one after the other; from first[i] on those of node i. */
static int take_dealt_seats(struct layout_build *build, struct passes *passes,
                            const struct placement *placement, const struct hand *hand,
                            uint32_t *first, struct error *err)
{
    for (uint32_t i = 0; i < hand->n; i++) {
        uint32_t count = hand->count[i], found;
        first[i] = passes->nseats;
        found = passes_fit(passes, &hand->nodes[i], 1, count);
        if (found < count && placement->policy.oversubscribe) {
            build->layout->oversubscribed = true;
            found += passes_force(passes, &hand->nodes[i], 1, count - found);
        }
        if (found < count && placement->taskmap.scheme == TASKMAP_SCHEME_MAP)
            return infeasible_map_share(build, passes, placement, hand->nodes[i], count, found,
                                        err);
    }
    return passes->nseats < placement->ntasks ? infeasible_room(build, passes, placement, err) : 0;
}

/* How many tasks each node gets, and the node of each rank. */
static int fill_hand(struct layout_build *build, struct passes *passes,
                     const struct placement *placement, struct hand *hand, struct error *err)
{
    if (placement->taskmap.scheme == TASKMAP_SCHEME_MAP) {
        if (find_map_nodes(build, placement, hand, err) < 0)
            return -1;
        count_order(hand, placement->ntasks);
        return passes->plans->ngroups ? 0
                                      : infeasible_no_place(build, placement, passes->plans, err);
    }
    if (build->request->node_count) {
        if (placement->number == 0 && node_count_choose(build, passes, placement, err) < 0)
            return -1;
        hand->n = build->choice->count;
        uint32_t *share = node_count_shares(build, passes, placement);
        for (uint32_t i = 0; i < hand->n; i++)
            hand->count[i] = share[hand->nodes[i]];
        free(share);
    } else if (count_freely(build, passes, placement, hand, err) < 0) {
        return -1;
    }
    taskmap_scheme_deal(&placement->taskmap, hand->count, hand->n, placement->ntasks, hand->order);
    return 0;
}

int place_taskmap(struct layout_build *build, struct passes *passes,
                  const struct placement *placement, struct error *err)
{
    uint32_t nnodes = build->request->nnodes;
    uint32_t *all = mem_array(nnodes, sizeof(*all)), *first = mem_array(nnodes, sizeof(*first));
    for (uint32_t node = 0; node < nnodes; node++)
        all[node] = node;
    bool map = placement->taskmap.scheme == TASKMAP_SCHEME_MAP;
    struct hand hand = {.nodes = map ? all : build->choice->nodes,
                        .n = map ? nnodes : build->choice->count,
                        .count = mem_array(nnodes, sizeof(*hand.count)),
                        .order = mem_array(placement->ntasks, sizeof(*hand.order))};
    int rc = fill_hand(build, passes, placement, &hand, err);
    if (rc == 0)
        rc = take_dealt_seats(build, passes, placement, &hand, first, err);
    if (rc == 0) { /* seats in the order of ranks */
        struct seat *seats = mem_array(passes->nseats, sizeof(*seats));
        for (uint32_t rank = 0; rank < passes->nseats; rank++)
            seats[rank] = passes->seats[first[hand.order[rank]]++];
        free(passes->seats);
        passes->seats = seats;
    }
    free(all);
    free(first);
    free(hand.count);
    free(hand.order);
    return rc;
}

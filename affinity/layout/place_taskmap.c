/*
 * Placing a run by a task map: the map says how many tasks each node gets and which ranks they
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
#include "base/mem.h"

/* Nodes in the order in which ranks are dealt, and what each gets. */
struct hand {
    const uint32_t *nodes; /* of the request */
    uint32_t n;
    uint32_t *count; /* [n] */
    uint32_t *order; /* [ntasks] index into nodes, by rank */
};

static uint64_t least64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- how many each node gets ---- */

/* Under the limits, as far as that goes; returns how many. */
static uint32_t place_taskmap_deal_block(const struct placement *run, struct passes *placing,
                                         struct hand *hand)
{
    uint32_t dealt = 0;
    for (uint32_t i = 0; i < hand->n && dealt < run->ntasks; i++)
        dealt += hand->count[i] = passes_room(placing, hand->nodes[i], run->ntasks - dealt);
    return dealt;
}

static void count_order(struct hand *hand, uint32_t dealt)
{
    memset(hand->count, 0, hand->n * sizeof(*hand->count));
    for (uint32_t rank = 0; rank < dealt; rank++)
        hand->count[hand->order[rank]]++;
}

/* No node is asked for more than it may be dealt, so that work stays linear where there are no
 * limits: first what an even deal gives, in whole rounds; while that is too little, twice as many. */
static uint32_t place_taskmap_deal_cyclic(const struct placement *run, struct passes *placing,
                                          struct hand *hand)
{
    const struct taskmap_scheme *deal = &run->deal;
    uint32_t even = (run->ntasks - 1) / hand->n + 1, dealt = 0;
    uint64_t most = ((uint64_t)even - 1) / deal->chunk * deal->chunk + deal->chunk;
    for (bool capped = true; dealt < run->ntasks && capped; most *= 2) {
        most = least64(most, run->ntasks);
        capped = false;
        for (uint32_t i = 0; i < hand->n; i++) {
            hand->count[i] = passes_room(placing, hand->nodes[i], (uint32_t)most);
            capped = capped || (hand->count[i] == most && most < run->ntasks);
        }
        dealt = taskmap_scheme_deal(deal, hand->count, hand->n, run->ntasks, hand->order);
    }
    count_order(hand, dealt);
    return dealt;
}

/* Past the limits: again and again as many as fit, or one where nothing does. */
static uint32_t deal_beyond(const struct placement *run, const struct passes *placing,
                            struct hand *hand, uint32_t dealt)
{
    uint32_t *again = mem_array(hand->n, sizeof(*again)), before;
    uint32_t *order = mem_array(run->ntasks, sizeof(*order));
    for (uint32_t i = 0; i < hand->n; i++)
        if (passes_has_position(placing, hand->nodes[i]))
            again[i] = hand->count[i] ? hand->count[i] : 1;
    do {
        before = dealt;
        uint32_t more = taskmap_scheme_deal(&run->deal, again, hand->n, run->ntasks - dealt, order);
        for (uint32_t i = 0; i < more; i++)
            hand->count[order[i]]++;
        dealt += more;
    } while (dealt < run->ntasks && dealt > before);
    free(again);
    free(order);
    return dealt;
}

static int count_freely(struct layout_build *builder, struct passes *placing,
                        const struct placement *run, struct hand *hand, struct error *err)
{
    uint32_t dealt = run->deal.scheme == TASKMAP_SCHEME_BLOCK
                         ? place_taskmap_deal_block(run, placing, hand)
                         : place_taskmap_deal_cyclic(run, placing, hand);
    if (dealt < run->ntasks && run->policy.oversubscribe)
        dealt = deal_beyond(run, placing, hand, dealt);
    if (dealt == run->ntasks)
        return 0;
    for (uint32_t i = 0; i < hand->n; i++)
        passes_fit(placing, &hand->nodes[i], 1, hand->count[i]);
    return infeasible_room(builder, placing, run, err);
}

static int count_shares(struct layout_build *builder, struct passes *placing,
                        const struct placement *run, struct hand *hand, struct error *err)
{
    if (run == builder->runs && layout_build_choose_nodes(builder, placing, run, err) < 0)
        return -1;
    hand->n = builder->nchosen;
    uint32_t *share = layout_build_share_out(builder, placing, run);
    for (uint32_t i = 0; i < hand->n; i++)
        hand->count[i] = share[hand->nodes[i]];
    free(share);
    return 0;
}

/* ---- manual ---- */

static int refuse_map_node(const struct allocated *allocated, uint32_t at, struct error *err)
{
    if (at >= allocated->nhosts)
        return error_set(err, "--taskmap: the map uses node %u, and %u node%s allocated (0%s%.0u)",
                         at, allocated->nhosts, allocated->nhosts == 1 ? " is" : "s are",
                         allocated->nhosts > 1 ? " to " : "", allocated->nhosts - 1);
    return error_set(err,
                     "--taskmap: the map uses node %u, and %s has no core that is free for this "
                     "program",
                     at, allocated->hosts[at]);
}

/* Ids of the map index what was allocated; order becomes nodes of the request. */
static int find_map_nodes(struct layout_build *builder, const struct placement *run,
                          struct hand *hand, struct error *err)
{
    struct allocated allocated;
    bool *used = mem_array(builder->request->nnodes, sizeof(*used));
    int rc = 0;
    allocated_make(&allocated, builder->request);
    taskmap_deal(run->deal.map, run->ntasks, hand->order);
    for (uint32_t rank = 0; rank < run->ntasks && rc == 0; rank++) {
        uint32_t at = hand->order[rank];
        uint32_t node = at < allocated.nhosts ? allocated.node[at] : NO_NODE;
        if (node == NO_NODE) {
            rc = refuse_map_node(&allocated, at, err);
            break;
        }
        used[hand->order[rank] = node] = true;
    }
    if (rc == 0)
        rc = allocated_check_nodes(builder, run, used, err);
    allocated_free(&allocated);
    free(used);
    return rc;
}

/* ---- seats ---- */

/* All seats of a node one after the other; from first[i] on those of node i. */
static int place_taskmap_take_seats(struct layout_build *builder, struct passes *placing,
                                    const struct placement *run, const struct hand *hand,
                                    uint32_t *first, struct error *err)
{
    for (uint32_t i = 0; i < hand->n; i++) {
        uint32_t count = hand->count[i], found;
        first[i] = placing->nseats;
        found = passes_fit(placing, &hand->nodes[i], 1, count);
        if (found < count && run->policy.oversubscribe) {
            builder->layout->oversubscribed = true;
            found += passes_force(placing, &hand->nodes[i], 1, count - found);
        }
        if (found < count && run->deal.scheme == TASKMAP_SCHEME_MAP)
            return infeasible_map_share(builder, placing, run, hand->nodes[i], count, found, err);
    }
    return placing->nseats < run->ntasks ? infeasible_room(builder, placing, run, err) : 0;
}

static void order_seats(struct passes *placing, const struct hand *hand, uint32_t *next)
{
    struct seat *seats = mem_array(placing->nseats, sizeof(*seats));
    for (uint32_t rank = 0; rank < placing->nseats; rank++)
        seats[rank] = placing->seats[next[hand->order[rank]]++];
    free(placing->seats);
    placing->seats = seats;
}

static int fill_hand(struct layout_build *builder, struct passes *placing,
                     const struct placement *run, struct hand *hand, struct error *err)
{
    if (run->deal.scheme == TASKMAP_SCHEME_MAP) {
        if (find_map_nodes(builder, run, hand, err) < 0)
            return -1;
        count_order(hand, run->ntasks);
        return placing->plans->ngroups ? 0 : infeasible_no_place(builder, run, placing->plans, err);
    }
    int rc = builder->request->node_count ? count_shares(builder, placing, run, hand, err)
                                          : count_freely(builder, placing, run, hand, err);
    if (rc == 0)
        taskmap_scheme_deal(&run->deal, hand->count, hand->n, run->ntasks, hand->order);
    return rc;
}

int layout_build_deal(struct layout_build *builder, struct passes *placing,
                      const struct placement *run, struct error *err)
{
    uint32_t nnodes = builder->request->nnodes;
    uint32_t *all = mem_array(nnodes, sizeof(*all)), *first = mem_array(nnodes, sizeof(*first));
    for (uint32_t node = 0; node < nnodes; node++)
        all[node] = node;
    bool map = run->deal.scheme == TASKMAP_SCHEME_MAP;
    struct hand hand = {.nodes = map ? all : builder->chosen,
                        .n = map ? nnodes : builder->nchosen,
                        .count = mem_array(nnodes, sizeof(*hand.count)),
                        .order = mem_array(run->ntasks, sizeof(*hand.order))};
    int rc = fill_hand(builder, placing, run, &hand, err);
    if (rc == 0)
        rc = place_taskmap_take_seats(builder, placing, run, &hand, first, err);
    if (rc == 0)
        order_seats(placing, &hand, first);
    free(all);
    free(first);
    free(hand.count);
    free(hand.order);
    return rc;
}

/*
 * Which nodes, and how much of each.
 *
 * Offers are ranked: most slots first (which only ranges make a difference for), then the level of
 * the coarsest domain that a slot needs, so that none is split while an intact domain has room for
 * it elsewhere; then fewest free cores, fewest free GPUs, lowest rank.
 */
#include "affinity/treepool/best_fit.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/treepool/candidates.h"
#include "affinity/treepool/demand.h"
#include "affinity/treepool/packing.h"
#include "affinity/treepool/slot_ids.h"
#include "base/array.h"
#include "base/mem.h"

struct choose_offer {
    uint32_t nslots, level;
    uint32_t ncores, ngpus; /* free there */
    uint32_t node;
    uint32_t npieces;
};

struct choose_offers {
    struct choose_offer *offers;
    size_t count;
};

static int choose_compare(const void *a, const void *b)
{
    const struct choose_offer *x = a, *y = b;
    if (x->nslots != y->nslots)
        return x->nslots > y->nslots ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->ncores != y->ncores)
        return x->ncores < y->ncores ? -1 : 1;
    if (x->ngpus != y->ngpus)
        return x->ngpus < y->ngpus ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static void choose_add(struct choose_offers *all, struct choose_offer offer)
{
    all->offers = array_grow(all->offers, all->count, sizeof(*all->offers));
    all->offers[all->count++] = offer;
}

static struct choose_offer choose_offer_of(const struct treepool_nodes *nodes, uint32_t node)
{
    const struct treepool_class *class = &nodes->classes[nodes->nodes[node].class];
    return (struct choose_offer){.ncores = class->ncores, .ngpus = class->ngpus, .node = node};
}

/* All pieces that a node needs, as one offer. */
static void choose_offer_node(struct choose_offers *all, const struct treepool_nodes *nodes,
                              const struct count *count, uint32_t node)
{
    const struct treepool_plan *plan = nodes->classes[nodes->nodes[node].class].plan;
    struct choose_offer offer = choose_offer_of(nodes, node);
    offer.npieces = count_within(count, plan->npieces);
    if (!offer.npieces)
        return;
    for (uint32_t i = 0; i < offer.npieces; i++) {
        const struct treepool_piece *piece = &plan->pieces[i];
        offer.nslots += piece->nslots;
        offer.level = piece->level > offer.level ? piece->level : offer.level;
    }
    choose_add(all, offer);
}

/* An offer for each run of pieces that rank alike. */
static void choose_offer_pieces(struct choose_offers *all, const struct treepool_nodes *nodes,
                                uint32_t node)
{
    const struct treepool_plan *plan = nodes->classes[nodes->nodes[node].class].plan;
    struct choose_offer offer = choose_offer_of(nodes, node);
    for (uint32_t i = 0; i < plan->npieces; i++) {
        const struct treepool_piece *piece = &plan->pieces[i];
        bool same = offer.nslots == piece->nslots && offer.level >= piece->level;
        if (!same && offer.npieces) {
            choose_add(all, offer);
            offer.npieces = 0;
        }
        offer.nslots = piece->nslots;
        offer.level = piece->level > offer.level ? piece->level : offer.level;
        offer.npieces++;
    }
    if (offer.npieces)
        choose_add(all, offer);
}

static void choose_plan(struct treepool_nodes *nodes, const struct treepool_ask *ask,
                        struct treepool_chosen *chosen)
{
    struct packing *packing = packing_new(ask);
    for (uint32_t i = 0; i < nodes->nclasses; i++) {
        struct treepool_class *class = &nodes->classes[i];
        treepool_plan_free(class->plan);
        treepool_fill_free(class->fills);
        class->fills = NULL;
        class->plan = packing_plan(packing, class);
        if (class->plan->npieces > chosen->best)
            chosen->best = class->plan->npieces;
    }
    packing_free(packing);
}

/* Take offers from the first on; a node that comes again has more of its plan taken. */
static void choose_take(struct treepool_chosen *chosen, const struct choose_offers *all,
                        const struct treepool_nodes *nodes, uint64_t wanted, bool by_node)
{
    uint32_t *seen = mem_array(nodes->nnodes, sizeof(*seen)); /* choice, from 1 */
    for (size_t i = 0; i < all->count && wanted; i++) {
        const struct choose_offer *offer = &all->offers[i];
        uint32_t n = !by_node && wanted < offer->npieces ? (uint32_t)wanted : offer->npieces;
        if (!seen[offer->node]) {
            chosen->choices[chosen->nchoices++] = (struct treepool_choice){.node = offer->node};
            seen[offer->node] = (uint32_t)chosen->nchoices;
        }
        chosen->choices[seen[offer->node] - 1].npieces += n;
        wanted -= by_node ? 1 : n;
    }
    free(seen);
}

bool treepool_choose(struct treepool_nodes *nodes, const struct treepool_ask *ask,
                     struct treepool_chosen *chosen)
{
    const struct count *per_node = ask->request->nodes.max ? &ask->request->nodes : NULL;
    struct choose_offers all = {0};
    *chosen = (struct treepool_chosen){0};
    choose_plan(nodes, ask, chosen);
    for (uint32_t i = 0; i < nodes->nnodes; i++) {
        if (per_node)
            choose_offer_node(&all, nodes, ask->pieces, i);
        else
            choose_offer_pieces(&all, nodes, i);
        chosen->found += per_node ? 0 : nodes->classes[nodes->nodes[i].class].plan->npieces;
    }
    if (per_node)
        chosen->found = all.count;
    if (all.count)
        qsort(all.offers, all.count, sizeof(*all.offers), choose_compare);
    uint64_t wanted = chosen->found < TREEPOOL_MAX_SLOTS ? chosen->found : TREEPOOL_MAX_SLOTS;
    wanted = count_within(per_node ? per_node : ask->pieces, wanted);
    chosen->choices = mem_array(nodes->nnodes, sizeof(*chosen->choices));
    choose_take(chosen, &all, nodes, wanted, per_node != NULL);
    for (size_t i = 0; i < chosen->nchoices; i++) {
        const struct treepool_choice *choice = &chosen->choices[i];
        const struct treepool_plan *plan = nodes->classes[nodes->nodes[choice->node].class].plan;
        chosen->nslots += plan->pieces[choice->npieces - 1].seats_end;
    }
    free(all.offers);
    return wanted > 0;
}

void treepool_chosen_clear(struct treepool_chosen *chosen)
{
    free(chosen->choices);
    *chosen = (struct treepool_chosen){0};
}

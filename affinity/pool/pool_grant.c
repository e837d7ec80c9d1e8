/* The R of what was chosen, and its slots. */
#include <stdlib.h>

#include "affinity/pool/pool_private.h"
#include "base/mem.h"

static const struct pool_fill *grant_fill(struct pool_nodes *nodes, const struct pool_ask *ask,
                                          const struct pool_choice *choice)
{
    struct pool_class *class = &nodes->classes[nodes->nodes[choice->node].class];
    return pool_fill(class, ask, choice->npieces);
}

static void grant_slots(struct pool_grant *grant, struct pool_nodes *nodes,
                        const struct pool_ask *ask, const struct pool_choice *choice)
{
    const struct pool_fill *fill = grant_fill(nodes, ask, choice);
    uint32_t rank = nodes->nodes[choice->node].node->rank;
    for (uint32_t i = 0; i < fill->nslots; i++)
        grant->slots[grant->nslots++] =
            (struct pool_slot){rank, idset_copy(fill->cores[i]), idset_copy(fill->gpus[i])};
}

static bool grant_keep(const struct rset_node *node, void *arg)
{
    return rset_find_rank(arg, node->rank) != NULL;
}

/* Properties of the ranks that are granted, less those of the instance. */
static json_t *grant_properties(const struct rset *R, struct rset *granted)
{
    if (!R->properties)
        return NULL;
    struct rset *kept = rset_select(R, grant_keep, granted);
    rset_drop_local_properties(kept);
    json_t *properties = json_incref(kept->properties);
    rset_free(kept);
    return properties;
}

static struct rset *grant_R(const struct rset *R, struct pool_nodes *nodes,
                            const struct pool_ask *ask, const struct pool_chosen *chosen)
{
    struct rset *granted = rset_new();
    const struct pool_choice **order = mem_array(nodes->nnodes, sizeof(*order));
    for (size_t i = 0; i < chosen->nchoices; i++)
        order[chosen->choices[i].node] = &chosen->choices[i];
    for (size_t i = 0; i < nodes->nnodes; i++) {
        if (!order[i])
            continue;
        const struct pool_fill *fill = grant_fill(nodes, ask, order[i]);
        const struct rset_node *node = nodes->nodes[i].node;
        rset_append(granted, node->rank, node->host, fill->all_cores, fill->all_gpus);
    }
    free(order);
    granted->starttime = R->starttime;
    granted->expiration = R->expiration;
    granted->nslots = chosen->nslots;
    granted->properties = grant_properties(R, granted);
    granted->scheduling = locality_trim(R->scheduling, granted);
    return granted;
}

struct pool_grant *pool_grant_new(const struct rset *R, struct pool_nodes *nodes,
                                  const struct pool_ask *ask, const struct pool_chosen *chosen)
{
    struct pool_grant *grant = mem_alloc(sizeof(*grant));
    grant->R = grant_R(R, nodes, ask, chosen);
    grant->slots = mem_array(chosen->nslots, sizeof(*grant->slots));
    for (size_t i = 0; i < chosen->nchoices; i++)
        grant_slots(grant, nodes, ask, &chosen->choices[i]);
    return grant;
}

void pool_grant_free(struct pool_grant *grant)
{
    if (!grant)
        return;
    for (size_t i = 0; i < grant->nslots; i++) {
        idset_free(grant->slots[i].cores);
        idset_free(grant->slots[i].gpus);
    }
    free(grant->slots);
    rset_free(grant->R);
    free(grant);
}

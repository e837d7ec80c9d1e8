/* Which nodes may be used, and what is free there. */
#include "affinity/treepool/candidates.h"

#include <stdlib.h>

#include "affinity/sets/host_index.h"
#include "affinity/sets/idset.h"
#include "affinity/treepool/packing.h"
#include "affinity/treepool/slot_ids.h"
#include "base/array.h"
#include "base/hash_table.h"
#include "base/mem.h"

/* What is held, by host. */
struct held_index {
    const struct rset *held;
    struct rset *merged; /* where a host came twice */
    struct host_index *hosts;
};

static struct held_index held_index_new(const struct rset *held)
{
    struct held_index index = {.held = held};
    if (!held)
        return index;
    index.hosts = rset_host_index(held);
    for (size_t i = 0; i < held->nnodes; i++)
        if (host_index_find(index.hosts, held->nodes[i].host) != i) {
            host_index_free(index.hosts);
            index.held = index.merged = rset_union_hosts(&held, 1);
            index.hosts = rset_host_index(index.held);
            break;
        }
    return index;
}

/* ---- classes ---- */

struct class_key {
    const struct rset_children *own, *held;
    const struct scheduling_tree *tree;
};

struct class_maker {
    struct treepool_nodes *nodes;
    struct class_key *keys; /* of the classes */
    struct hash_table table;
};

static bool class_same(const void *owner, uint32_t number, const void *thing)
{
    const struct class_key *a = thing, *b = (const struct class_key *)owner + number;
    return a->own == b->own && a->held == b->held && a->tree == b->tree;
}

static uint32_t class_of(struct class_maker *maker, const struct class_key *key)
{
    struct treepool_nodes *nodes = maker->nodes;
    const struct rset_children *own = key->own, *held = key->held;
    uint64_t hash = hash_table_hash(
        hash_table_hash(hash_table_hash(0, (uintptr_t)own), (uintptr_t)held), (uintptr_t)key->tree);
    uint32_t number = hash_table_intern(&maker->table, hash, class_same, maker->keys, key);
    if (number < nodes->nclasses)
        return number;
    maker->keys = array_grow(maker->keys, number, sizeof(*maker->keys));
    nodes->classes = array_grow(nodes->classes, number, sizeof(*nodes->classes));
    maker->keys[number] = *key;
    struct treepool_class *class = &nodes->classes[nodes->nclasses++];
    *class = (struct treepool_class){.own = own, .tree = key->tree};
    class->cores = idset_subtract(own->cores, held ? held->cores : NULL);
    class->gpus = idset_subtract(own->gpus, held ? held->gpus : NULL);
    class->ncores = (uint32_t)idset_count(class->cores);
    class->ngpus = (uint32_t)idset_count(class->gpus);
    class->whole =
        !held || (idset_equal(class->cores, own->cores) && idset_equal(class->gpus, own->gpus));
    return number;
}

/* ---- nodes ---- */

/* A node that states less than is asked for is passed over; one that states nothing is not. */
static bool node_states_enough(struct treepool_nodes *nodes, const struct scheduling_tree *tree,
                               const struct request *request)
{
    if (tree->memory > nodes->memory)
        nodes->memory = tree->memory;
    if (tree->storage > nodes->storage)
        nodes->storage = tree->storage;
    return (!tree->memory || tree->memory >= request->memory) &&
           (!tree->storage || tree->storage >= request->storage);
}

static void nodes_collect(struct treepool_nodes *nodes, const struct rset *R,
                          const struct rset *held, const struct request *request,
                          const struct idset *matching)
{
    struct class_maker maker = {.nodes = nodes};
    struct held_index index = held_index_new(held);
    nodes->nodes = mem_array(R->nnodes, sizeof(*nodes->nodes));
    for (size_t i = 0; i < R->nnodes; i++) {
        const struct rset_node *node = &R->nodes[i];
        if (matching && !idset_has(matching, node->rank))
            continue;
        int32_t number = scheduling_find(nodes->locality, node->rank);
        const struct scheduling_tree *tree =
            number < 0 ? &nodes->alone : &nodes->locality->trees[number];
        nodes->nmatched++;
        if (!node_states_enough(nodes, tree, request)) {
            nodes->nstated++;
            continue;
        }
        size_t place = host_index_find(index.hosts, node->host);
        struct class_key key = {node->children,
                                place == HOST_INDEX_NONE ? NULL : index.held->nodes[place].children,
                                tree};
        uint32_t class = class_of(&maker, &key);
        nodes->nodes[nodes->nnodes++] = (struct treepool_node){node, class};
    }
    rset_free(index.merged);
    host_index_free(index.hosts);
    hash_table_free(&maker.table);
    free(maker.keys);
}

struct treepool_nodes *treepool_nodes_new(const struct rset *R, const struct rset *held,
                                          const struct request *request,
                                          const struct constraint *constraint, struct error *err)
{
    struct scheduling *locality = scheduling_read(R->scheduling, err);
    if (!locality)
        return NULL;
    struct treepool_nodes *nodes = mem_alloc(sizeof(*nodes));
    struct idset *matching = constraint ? constraint_match(constraint, R) : NULL;
    nodes->locality = locality;
    nodes->alone.domains = mem_alloc(sizeof(*nodes->alone.domains));
    nodes->alone.ndomains = 1;
    nodes->alone.domains[0] =
        (struct scheduling_domain){.end = 1, .cores = idset_new(), .gpus = idset_new()};
    nodes_collect(nodes, R, held, request, matching);
    uint64_t(*own)[2] = mem_array(nodes->nclasses, sizeof(*own)); /* by class: cores, GPUs */
    for (uint32_t i = 0; i < nodes->nclasses; i++) {
        own[i][0] = idset_count(nodes->classes[i].own->cores);
        own[i][1] = idset_count(nodes->classes[i].own->gpus);
    }
    for (size_t i = 0; i < nodes->nnodes; i++) {
        uint32_t class = nodes->nodes[i].class;
        nodes->free_cores += nodes->classes[class].ncores;
        nodes->free_gpus += nodes->classes[class].ngpus;
        nodes->own_cores += own[class][0];
        nodes->own_gpus += own[class][1];
    }
    free(own);
    idset_free(matching);
    return nodes;
}

void treepool_nodes_free(struct treepool_nodes *nodes)
{
    if (!nodes)
        return;
    for (uint32_t i = 0; i < nodes->nclasses; i++) {
        struct treepool_class *class = &nodes->classes[i];
        idset_free(class->cores);
        idset_free(class->gpus);
        treepool_plan_free(class->plan);
        treepool_fill_free(class->fills);
    }
    free(nodes->classes);
    free(nodes->nodes);
    scheduling_tree_clear(&nodes->alone);
    scheduling_free(nodes->locality);
    free(nodes);
}

/*
 * candidates - nodes that may be used and what is free there, in classes of equal nodes. Private to
 * treepool/.
 */
#ifndef AFFINITY_TREEPOOL_CANDIDATES_H
#define AFFINITY_TREEPOOL_CANDIDATES_H

#include "affinity/resource/constraint.h"
#include "affinity/resource/scheduling.h"
#include "affinity/treepool/request.h"

struct treepool_plan;
struct treepool_fill;

/* Nodes that have the same and of that the same free. */
struct treepool_class {
    const struct rset_children *own;
    const struct scheduling_tree *tree;
    struct idset *cores, *gpus; /* free */
    uint32_t ncores, ngpus;     /* free */
    bool whole;                 /* all is free */
    struct treepool_plan *plan;
    struct treepool_fill *fills; /* by how much of the plan they fill; a list */
};

struct treepool_node {
    const struct rset_node *node;
    uint32_t class;
};

struct treepool_nodes {
    struct treepool_node *nodes; /* by rank */
    size_t nnodes;
    struct treepool_class *classes;
    uint32_t nclasses;
    uint32_t nstated;         /* nodes passed over, which state too little memory or storage */
    uint32_t nmatched;        /* nodes that match the constraint */
    uint64_t memory, storage; /* the most any of these states */
    uint64_t own_cores, own_gpus, free_cores, free_gpus;
    struct scheduling *locality;
    struct scheduling_tree alone; /* of nodes without topology */
};

/* NULL with a sentence where the topology of R is not right. */
struct treepool_nodes *treepool_nodes_new(const struct rset *R, const struct rset *held,
                                          const struct request *request,
                                          const struct constraint *constraint, struct error *err);
void treepool_nodes_free(struct treepool_nodes *nodes);

#endif

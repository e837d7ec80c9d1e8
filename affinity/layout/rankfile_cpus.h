/*
 * rankfile_cpus - processors of a node by their numbers: cores, cores of sockets, OS indexes.
 *
 * Numbers are those of the whole machine, as R, lstopo(1) and the kernel have them, whatever of it
 * was allocated. What is picked are allocated threads, as rows of the node's class; of a core those
 * that are allowed.
 */
#ifndef AFFINITY_LAYOUT_RANKFILE_CPUS_H
#define AFFINITY_LAYOUT_RANKFILE_CPUS_H

#include "affinity/layout/node_class.h"
#include "affinity/policy/rankfile.h"

struct rankfile_cpus {
    const struct node_class *class;
    uint32_t *before; /* [npus + 1] allocated rows before each row of the topo */
    uint32_t *core;   /* [ncores + 1] the first row of each core */
    uint32_t ncores;
    uint32_t *socket; /* [2 * nsockets] first and last core of each */
    uint32_t nsockets;
    struct pick_cpu *cpus; /* sorted by OS index */
    struct rows *spans;    /* what was picked: [first, end) of the class's rows, in order, apart */
    uint32_t nspans;
    uint64_t work; /* steps that this took */
};

void rankfile_cpus_make(struct rankfile_cpus *pick, const struct node_class *class);
void rankfile_cpus_free(struct rankfile_cpus *pick); /* a zeroed one is fine */

/* What a rank of a rank file is bound to, into `spans`. -1 with a sentence about the list, which
 * says what `host` has, and what of it was allocated. */
int rankfile_cpus_rank(struct rankfile_cpus *pick, const struct rankfile_rank *rank,
                       const char *host, struct error *err);

#endif

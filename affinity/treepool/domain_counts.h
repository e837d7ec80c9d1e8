/*
 * domain_counts - what is left in every domain of one node, as counts; how many of a need a domain
 * can hold. Private to treepool/.
 *
 * Shares are taken and given back in the order of a stack.
 */
#ifndef AFFINITY_TREEPOOL_DOMAIN_COUNTS_H
#define AFFINITY_TREEPOOL_DOMAIN_COUNTS_H

#include "affinity/treepool/candidates.h"
#include "affinity/treepool/demand.h"

/* What a slot, or a claim, takes from a domain. */
struct treepool_share {
    uint32_t domain;
    uint32_t slot; /* of the packing; TREEPOOL_NONE: claimed, for no slot by itself */
    uint32_t cores, gpus;
    uint32_t stop;  /* domain: those around it, or it itself, are claimed for this share */
    bool exclusive; /* all of the domain */
    bool inside;    /* the claim of the same slot around it has these already */
};

/* What a domain would hold by itself as one of those counted at a depth of `within`. */
struct treepool_trial {
    uint32_t domain, level, nslots; /* 0 slots: it does not fit */
};

struct domain_counts;

/* The demand is borrowed until domain_counts_free(). */
struct domain_counts *domain_counts_new(const struct treepool_ask *ask);
void domain_counts_free(struct domain_counts *counts);
/* What a node of this class has free, and nothing taken; the class is borrowed until the next
 * one. */
void domain_counts_load(struct domain_counts *counts, const struct treepool_class *class);

/* Take what a share says, or false and nothing is changed. */
bool domain_counts_take(struct domain_counts *counts, struct treepool_share share);
/* Shares taken so far, and these: valid until the next one is taken. */
size_t domain_counts_ntaken(const struct domain_counts *counts);
const struct treepool_share *domain_counts_taken(const struct domain_counts *counts);
/* Keep the first ntaken shares, and give back the others. */
void domain_counts_undo(struct domain_counts *counts, size_t ntaken);

/* At most so many of a need fit into a domain and what is below it; UINT32_MAX: any number. What is
 * found is kept until the domain changes, since needs within one another ask for the same again and
 * again. */
uint32_t domain_counts_room(struct domain_counts *counts, const struct treepool_need *need,
                            uint32_t domain);

/* The trial of trial->domain, if it was made before with the same taken within `stop`; else
 * false. */
bool domain_counts_recall(struct domain_counts *counts, uint32_t depth, uint32_t stop,
                          struct treepool_trial *trial);
void domain_counts_remember(struct domain_counts *counts, uint32_t depth, uint32_t stop,
                            const struct treepool_trial *trial);

#endif

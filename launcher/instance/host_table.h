/*
 * host_table - the hosts of a run: how far the agent of each is, what hardware it has, why it
 * failed.
 *
 * A host is known by its number: its place in the list of nodes, its node in the tree of agents,
 * and its position for rank files and task maps. Numbers never change.
 *
 * Hosts with the same hardware share one topology, so that it can be compared by pointer. Another
 * name of a machine that is up already is a duplicate, which is used for nothing.
 *
 * The table calls nobody. Pointers that it gives are good until it is changed.
 */
#ifndef LAUNCHER_INSTANCE_HOST_TABLE_H
#define LAUNCHER_INSTANCE_HOST_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "affinity/topology/topo.h"
#include "launcher/source/node_list.h"

enum host_state {
    HOST_UNUSED,    /* it has no agent, and was not asked */
    HOST_STARTING,  /* its agent is on its way */
    HOST_UP,        /* its topology is known: its agent has told it, or need not be asked */
    HOST_DUPLICATE, /* its machine is up under another name */
    HOST_FAILED,    /* for the reason in `failure`; it may be tried again */
    HOST_LOST       /* it was up; `failure` says why it is not */
};

struct host {
    const struct node *node;
    uint32_t number;
    enum host_state state;
    struct topo *topo;          /* UP, LOST, or lent; else NULL */
    char *digest;               /* of the topology, as its agent found it; or NULL */
    char *failure;              /* without the host's name; NULL: none */
    double elapsed;             /* s that it took to fail; below 0: not to be told */
    bool unreached;             /* that is the failure; others are what its agent said */
    struct idset *granted_gpus; /* as its agent found; NULL: all that it has */
    char *gpus_refusal;         /* why these cannot be told; NULL: they can */
    uint32_t same;              /* DUPLICATE: the host whose machine it is */
};

struct host_table;

struct host_table *host_table_new(struct node_list *nodes); /* takes the list */
void host_table_free(struct host_table *hosts);             /* NULL is fine */

const struct node_list *host_nodes(const struct host_table *hosts);
uint32_t host_count(const struct host_table *hosts);
const struct host *host_at(const struct host_table *hosts, uint32_t number);
/* Names by number, for as long as the table lives. */
const char *const *host_names(const struct host_table *hosts);
/* All whose state is not HOST_UNUSED, and those that a topology is lent to. A loop over these does
 * not touch the other hosts, which may be many. */
const struct idset *host_used(const struct host_table *hosts);
bool host_any_failed(const struct host_table *hosts); /* some have a `failure` */
/* How many agents are on their way; 0 without a table. */
uint32_t host_awaited(const struct host_table *hosts);
/* "HOST: WHY (after 3.0 s)" of one that failed; caller frees. */
char *host_failure(const struct host_table *hosts, uint32_t number);

/* The agent is on its way now; a failure of before is forgotten. */
void host_starting(struct host_table *hosts, uint32_t number);
/* It counts as up without an agent. The table adds a reference to the topology. */
void host_known(struct host_table *hosts, uint32_t number, struct topo *topo);
/* Its agent is up, with this topology (taken), and on this machine (a text that is the same for all
 * names of a machine; NULL: not known). False: that machine is up under another name, of which this
 * host is a duplicate now. A host that was lost keeps its topology of before: ask host_is_changed()
 * first. */
bool host_up(struct host_table *hosts, uint32_t number, struct topo *topo, const char *machine);
/* It was up before, with another topology than this one. */
bool host_is_changed(const struct host_table *hosts, uint32_t number, const struct topo *topo);
/* These of its GPUs may be given out (taken; NULL: all). With a refusal (copied) it cannot be told
 * which, for this reason. */
void host_grant_gpus(struct host_table *hosts, uint32_t number, struct idset *gpus,
                     const char *refusal);
/* Its agent could not be started (again), or said why it cannot be used. Takes the text, which may
 * begin with the host's name; `elapsed` and `unreached` as in struct host. */
void host_failed(struct host_table *hosts, uint32_t number, char *text, double elapsed,
                 bool unreached);
/* Its agent is gone; `why` is copied. */
void host_lost(struct host_table *hosts, uint32_t number, const char *why);

/* For a trial: a host without a topology has this one (the table adds a reference) until
 * host_take_back(), which is for all hosts. */
void host_lend(struct host_table *hosts, uint32_t number, struct topo *topo);
void host_take_back(struct host_table *hosts);

#endif

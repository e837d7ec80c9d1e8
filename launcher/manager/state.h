/*
 * state - what a manager knows. Private to the manager.
 *
 *   manager.c  life: frames from the front end and the agents, the end
 *   gather.c   nodes, instance, agents: who is there and what is free
 *   place.c    layout, claim, what is shown, the launch
 */
#ifndef LAUNCHER_MANAGER_STATE_H
#define LAUNCHER_MANAGER_STATE_H

#include <ev.h>
#include <stdbool.h>

#include "affinity/layout/layout.h"
#include "affinity/resource/rset.h"
#include "launcher/manager/manager.h"
#include "launcher/manager/verdict.h"
#include "launcher/program/ledger.h"
#include "launcher/program/nodes.h"
#include "launcher/tree/link.h"
#include "launcher/tree/tree.h"
#include "pmi-server/kvs/exchange.h"

enum phase { PHASE_GATHER, PHASE_RUN, PHASE_END };

struct host { /* beside nodes->list, by the same index: its number in the tree */
    struct topo *topo;
    struct idset *cores; /* what R gives less what others hold; NULL: R does not say */
    bool wanted;         /* has something free, and is likely to be needed */
    bool spare;          /* has something free: started if those wanted do not suffice */
    char *digest;        /* of its topology */
    bool settled;        /* up or failed */
    bool direct;         /* was tried from here */
    char *failure;       /* the whole line */
};

struct manager {
    struct ev_loop *loop;
    struct spec *spec;
    struct link *front; /* NULL once it is gone */
    enum phase phase;

    struct nodes *nodes;
    struct host *hosts;
    size_t waiting; /* hosts that have not settled */
    struct topo *here;
    char **descriptions; /* of --topology, beside the nodes */

    struct instance *instance;
    const char *enclosing; /* programs that this run is a task of (idset), or NULL */
    struct program *program;
    struct rset *held;

    struct bootstrap boot;
    struct tree *tree;

    struct layout_node *candidates;
    uint32_t *candidate_host; /* [ncandidates] index into nodes->list */
    uint32_t ncandidates;
    struct layout_part *parts;
    struct layout_request request;
    struct layout *layout;
    struct rset *claim;
    uint32_t *tree_node;     /* by node id */
    const char **node_hosts; /* by node id */

    struct exchange *exchange;
    bool missing_told; /* some rank will enter no PMI barrier from number `missing` on */
    uint64_t missing;
    struct idset *pending; /* nodes of the tree that have not said that they are done */
    struct verdict *verdict;
    struct idset *input_nodes; /* of the tree: where stdin is read */
    size_t input_owed;         /* bulk bytes of stdin that have not gone down */
    bool terminating;
    bool finished;
    bool limit_is_R;
    ev_timer limit;    /* time limit, or R's expiration */
    ev_timer patience; /* after TERMINATE: who does not answer is given up */
};

/* gather.c */
int gather_open(struct manager *manager, struct error *err);
void gather_start(struct manager *manager);
/* Start the spare hosts too. False when there are none. */
bool gather_more(struct manager *manager);
void gather_hello(struct manager *manager, const struct frame *frame);
void gather_unreached(struct manager *manager, const struct tree_unreached *what, bool direct);
/* What others hold may have changed: read it again, and what each node has left. */
int gather_free(struct manager *manager, struct error *err);
void gather_close(struct manager *manager);

/* place.c */
int place_map(struct manager *manager, struct error *err); /* layout made, and claimed if it runs */
void place_show(struct manager *manager);
void place_launch(struct manager *manager);
void place_close(struct manager *manager);

/* manager.c */
void manager_gathered(struct manager *manager); /* every host has settled */
/* Nothing can run: say why, and end. */
void manager_refuse(struct manager *manager, const struct error *err);
void manager_terminate(struct manager *manager, double grace);
void manager_end(struct manager *manager);
/* With -v: what is being done, as a line on stderr. */
void manager_say(struct manager *manager, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void manager_show(struct manager *manager, const char *text, bool error);

#endif

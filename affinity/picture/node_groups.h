/*
 * node_groups - a layout as it is drawn: its parts, the ranks of each node, and nodes that look
 * alike folded into one look. A node is drawn as the hardware threads of its table, each with what
 * is there (struct cell), inside the objects that divide it. Private to picture/.
 */
#ifndef AFFINITY_PICTURE_NODE_GROUPS_H
#define AFFINITY_PICTURE_NODE_GROUPS_H

#include "affinity/layout/layout.h"
#include "affinity/policy/policy.h"
#include "affinity/sets/hostlist.h"
#include "base/buf.h"

#define PICTURE_MAX_LOOKS 64           /* that the text picture shows in each of its sections */
#define PICTURE_MAX_CORES 4096         /* of a machine that is drawn core by core */
#define PICTURE_MAX_TASKS TOPO_MAX_PUS /* of a node whose tasks are shown one by one */

/* Nodes that look the same but for their names and ranks. */
struct node_group {
    uint32_t first; /* node id */
    uint32_t last;  /* of the latest member */
    uint32_t count;
    bool shifted; /* each member's ranks are the one's before, plus `shift` */
    int64_t shift;
    struct hostlist *others; /* all but the first */
};

struct part_view {
    uint32_t first, count; /* its ranks, which are contiguous */
    uint32_t owner;        /* the part whose layout options hold for it */
    struct policy policy;
};

struct drawing_index;

/* What is drawn. */
struct drawing {
    const struct layout *layout;
    const struct layout_request *request;
    const struct part_view *parts;
    const struct node_group *looks; /* by their first nodes, ascending */
    uint32_t nlooks;
    bool folded;                 /* equal nodes are one look; otherwise every node is its own */
    struct drawing_index *index; /* what the functions below look up */
};

/* Layout and request are borrowed until drawing_close(). */
void drawing_open(struct drawing *drawing, const struct layout *layout,
                  const struct layout_request *request, bool folded);
void drawing_close(struct drawing *drawing);

const struct layout_node *drawing_node(const struct drawing *drawing, uint32_t node);
/* The i-th task of a node, by local rank. */
const struct layout_task *drawing_task(const struct drawing *drawing, uint32_t node, uint32_t i);
uint32_t drawing_rank(const struct drawing *drawing, uint32_t node, uint32_t i);
/* Those that it was given; NULL: none. */
const struct idset *drawing_gpus(const struct drawing *drawing, const struct layout_task *task);

/* Both were allocated the same of the same machine. */
bool drawing_same_grant(const struct layout_node *a, const struct layout_node *b);

/* The look that a node is of: index into looks. */
uint32_t drawing_look(const struct drawing *drawing, uint32_t node);
/* The first of all bindings that are equal to a task's. */
uint32_t drawing_binding(const struct drawing *drawing, const struct layout_task *task);

/* The ranks of a look's nodes from one node id to another. Caller frees. */
struct idset *node_group_ranks(const struct drawing *drawing, uint32_t look, uint32_t first,
                               uint32_t last);
/* All its hosts, as hostlist_encode_short(). Caller frees. */
char *node_group_hosts(const struct drawing *drawing, uint32_t look, size_t max);
/* "ranks 32 higher from node to node", or "with ranks 4-9 in all" of the others. */
char *phrase_shift(const struct drawing *drawing, const struct node_group *look);
/* "node[1-3]: as node0, ranks 32 higher from node to node"; nothing for a look of one node. */
char *drawing_others(const struct drawing *drawing, const struct node_group *look);

#endif

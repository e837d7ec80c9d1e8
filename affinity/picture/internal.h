/*
 * internal - the pictures of a layout: what picture_text() and picture_svg() share.
 *
 * Nodes that look alike are folded into one look. A node is drawn as the hardware threads of its
 * table, each with what is there (struct cell), inside the objects that divide it.
 */
#ifndef AFFINITY_PICTURE_INTERNAL_H
#define AFFINITY_PICTURE_INTERNAL_H

#include "affinity/layout/layout.h"
#include "affinity/picture/picture.h"
#include "affinity/policy/policy.h"
#include "affinity/sets/hostlist.h"
#include "base/buf.h"

#define PICTURE_WIDTH 96               /* columns of the text picture */
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

struct drawing {
    struct buf out;
    const struct layout *layout;
    const struct layout_request *request;
    struct part_view *parts;
    uint32_t *same;  /* by binding: the first one with equal sets */
    uint32_t *ranks; /* by node, ascending: node i has ranks[at[i]] to ranks[at[i + 1]] */
    uint32_t *at;
    uint32_t *look_of; /* by node: index into looks */
    bool folded;       /* equal nodes are one look; otherwise every node is its own */
    struct node_group *looks;
    uint32_t nlooks;
};

const struct layout_node *drawing_node(const struct drawing *drawing, uint32_t node);
/* The i-th task of a node, by local rank. */
const struct layout_task *drawing_task(const struct drawing *drawing, uint32_t node, uint32_t i);
uint32_t drawing_rank(const struct drawing *drawing, uint32_t node, uint32_t i);
/* It may run on all that the node has. */
bool drawing_is_unbound(const struct drawing *drawing, const struct layout_task *task);
/* Those that it was given; NULL: none. */
const struct idset *drawing_gpus(const struct drawing *drawing, const struct layout_task *task);

/* ---- node_groups.c: folding ---- */

/* Both were allocated the same of the same machine. */
bool drawing_same_grant(const struct layout_node *a, const struct layout_node *b);

/* Fill all but `out` from layout, request and folded, which are there. */
void drawing_fold(struct drawing *drawing);
void drawing_free(struct drawing *drawing); /* all but `out` */
/* The ranks of a look's nodes from one node id to another. Caller frees. */
struct idset *node_group_ranks(const struct drawing *drawing, uint32_t look, uint32_t first,
                               uint32_t last);
/* All its hosts, as hostlist_encode_short(). Caller frees. */
char *node_group_hosts(const struct drawing *drawing, uint32_t look, size_t max);
/* "ranks 32 higher from node to node", or "with ranks 4-9 in all" of the others. */
char *phrase_shift(const struct drawing *drawing, const struct node_group *look);
/* "node[1-3]: as node0, ranks 32 higher from node to node"; nothing for a look of one node. */
char *drawing_others(const struct drawing *drawing, const struct node_group *look);

/* ---- cells.c: who is where ---- */

struct cell { /* a hardware thread of one node */
    bool allocated;
    uint32_t nbound;      /* bound ranks that may run here */
    uint32_t rank;        /* the first of them */
    struct idset *placed; /* ranks whose place it is, or NULL */
    bool unbound;         /* all that are placed here may run anywhere */
};

enum cell_kind {
    CELL_RANKS,
    CELL_SHARED, /* by several ranks, none of which has its place here */
    CELL_IDLE,
    CELL_ABSENT /* not allocated */
};

/* One for each row of the node's topo. */
struct cell *drawing_seats(const struct drawing *drawing, uint32_t node);
void seats_free(struct cell *seats, uint32_t n);

enum cell_kind cell_kind(const struct cell *seat);

/* What a legend has to explain. */
enum {
    LEGEND_SHARED = 1,
    LEGEND_IDLE = 2,
    LEGEND_ABSENT = 4,
    LEGEND_THREADS = 8,
    LEGEND_UNBOUND = 16,
    LEGEND_L2 = 32,
    LEGEND_RANK = 64,
    LEGEND_BOUND = 128,
    LEGEND_PART = 256 /* of what is bound to: in one box of several */
};
/* Of the rows [first, end) of one core, those to be told one by one: just the first where all are
 * alike. Left out are threads on which nobody stands behind ranks that share the core, and idle
 * ones of a core that has no owner. */
uint32_t seats_told(const struct cell *seats, uint32_t first, uint32_t end);
unsigned seats_signs(const struct cell *seats, uint32_t first, uint32_t end);
/* A thread that only one rank may use: it has the thread even if its place is elsewhere. */
bool cell_is_owned(const struct cell *seat);
/* "3", "3,7", "0,2..398"; "(3)" for a rank that is not bound. Caller frees. */
char *cell_ranks(const struct cell *seat);

/* ---- phrases.c: phrases ---- */

/* "64 tasks on 4 of 8 nodes" */
char *phrase_title(const struct drawing *drawing);
/* "2 sockets, 8 NUMA domains, 32 cores, 64 hardware threads" */
char *phrase_machine(const struct topo *topo);
/* "by numa, each bound to a NUMA domain": what a part asked for. */
char *phrase_policy(const struct drawing *drawing, uint32_t part);
/* "8 tasks, ranks 0-7" */
char *phrase_ranks(const struct drawing *drawing, uint32_t node);
const char *phrase_program(const char *program);
/* "part 2, ./ocean: ranks 4-7" */
char *phrase_part(const struct drawing *drawing, uint32_t part);

/* ---- boxes.c: what divides a machine ---- */

/* Levels that can be a box: board, socket, NUMA domain, L3 */
enum { PICTURE_MAX_LEVELS = 4 };

/* Those with more than one object, fewest first; of two with as many, the outer one. */
size_t levels_dividing(const struct topo *topo, enum topo_level *levels);
/* Within the innermost of these, cores in groups around a common L2. */
bool levels_have_l2(const struct topo *topo);
bool levels_same(const struct topo *topo, const enum topo_level *levels, size_t n, uint32_t a,
                 uint32_t b);
/* "numa 3", padded to the widest number of its level where `pad`; "no numa" outside of all. */
char *levels_label(const struct topo *topo, enum topo_level level, uint32_t row, bool pad);
/* "socket 0, numa 1-2": the objects that hold these cores. Caller frees. */
char *levels_where(const struct topo *topo, const struct idset *cores);
bool levels_begin_core(const struct topo *topo, uint32_t row);
uint32_t levels_core_end(const struct topo *topo, uint32_t row); /* behind the core's last row */

/* ---- the sections of the text picture ---- */

void draw_alloc(struct drawing *drawing);
void draw_topo(struct drawing *drawing);
void draw_map(struct drawing *drawing);
void draw_bind(struct drawing *drawing);

/* What drawing_others() says, as a line. */
void draw_others(struct drawing *drawing, const struct node_group *look);
/* The looks beyond PICTURE_MAX_LOOKS, counted. */
void draw_rest(struct drawing *drawing);

/* Text broken before PICTURE_WIDTH at the blanks behind commas and semicolons; the first line begins
 * `indent` columns in, those that go on two more. */
void draw_wrapped(struct buf *out, const char *text, uint32_t indent);

/* One machine as brackets, an entry a core. */
struct boxes {
    const struct topo *topo;
    char *const *cells; /* for each row that is the first of its core; others are not looked at */
    char *const *tails; /* behind the box that begins at a row; NULL: none */
    uint32_t indent;
};
void draw_boxes(struct buf *out, const struct boxes *boxes);

#endif

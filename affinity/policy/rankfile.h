/*
 * rankfile - exact placement: on which host each rank runs, and on which processors, a line each.
 *
 *     rank 0=node1 slot=1:0-2    # Open MPI's form: socket 1, its cores 0 to 2
 *     rank 2=+n0 slot=0-3,6      # cores of the first node that was allocated
 *     1 node2 8-9,24             # RANK HOST CPUS: OS indexes of processors (RFC 22)
 *
 * Ranks come in any order, each once, from 0 without gaps. Here text becomes a table; what the
 * numbers mean on a machine is rankfile_cpus.h's to know. The lists are checked for form, and kept
 * as text.
 */
#ifndef AFFINITY_POLICY_RANKFILE_H
#define AFFINITY_POLICY_RANKFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define RANKFILE_MAX_TEXT (16u << 20)
#define RANKFILE_NO_NODE UINT32_MAX

enum rankfile_form { RANKFILE_SLOTS, RANKFILE_CPUS };

struct rankfile_rank {
    const char *list; /* inside `text`, not terminated */
    uint32_t len;
    uint32_t line;
    uint32_t host; /* index into hosts */
    enum rankfile_form form;
};

struct rankfile_host {
    char *name;    /* as the file has it, without user@ */
    uint32_t line; /* where it is named first */
    char *alias;   /* the node's own name, where the caller knows better; or NULL */
};

struct rankfile {
    char *name; /* of the file, for messages */
    char *text;
    struct rankfile_rank *ranks; /* by rank */
    uint32_t nranks;
    struct rankfile_host *hosts;
    uint32_t nhosts;
};

/* NULL with a sentence of kind ERROR_USAGE that begins "NAME:LINE: ". */
struct rankfile *rankfile_parse(const char *name, const char *text, size_t len, struct error *err);
void rankfile_free(struct rankfile *file); /* NULL is fine */

/* node[i]: which of hosts[], the nodes that were allocated, the file's host i is: the one of that
 * name, the only one whose name is the same up to the first dot, where one of both has none, or for
 * +nX the one at X. RANKFILE_NO_NODE where there is none; that is an error, with a sentence, for
 * the hosts of the first `nranks` ranks. */
int rankfile_find_nodes(const struct rankfile *file, uint32_t nranks, const char *const *hosts,
                        uint32_t nhosts, uint32_t *node, struct error *err);
/* The number in "+n3"; RANKFILE_NO_NODE for a name. */
uint32_t rankfile_relative(const char *name);

/* ---- one element after the other of a slot list ---- */

#define SLOT_LAST UINT32_MAX /* `last` of "*": as many as there are */

struct slot_item {
    bool in_socket; /* cores first..last of each of these sockets; else of the node */
    uint32_t socket_first, socket_last;
    uint32_t first, last;
    uint32_t at, len; /* its place in the list */
};

struct slot_reader { /* to be zeroed but for these two */
    const char *list;
    uint32_t len;
    uint32_t at;   /* how far it is; in case of an error, where */
    bool physical; /* the list began with a p: OS indexes in place of core numbers */
    struct slot_item before;
};

/* 1 and an element, 0 behind the last, -1 with what is wrong at `at`. */
int slot_next(struct slot_reader *reader, struct slot_item *item, const char **why);

#endif

/*
 * nodes_build - putting a list of nodes together.
 *
 * In this order: nodes_new(), nodes_add() for each host that the source names, nodes_find_here(),
 * nodes_excluded() and nodes_drop(), nodes_join_here().
 */
#ifndef LAUNCHER_SOURCE_NODE_LIST_PRIVATE_H
#define LAUNCHER_SOURCE_NODE_LIST_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/source/hostfile.h"
#include "launcher/source/node_index.h"
#include "launcher/source/node_list.h"

struct nodes *nodes_new(char *source); /* takes the text */
/* A host once more adds to its limit and to its cores; sets are copied, and may be NULL. */
struct node *nodes_add(struct nodes *nodes, struct nodes_index *index, const char *login,
                       uint32_t target, uint32_t limit);
void nodes_add_cores(struct node *node, const struct idset *cores, const struct idset *gpus);

void nodes_find_here(struct nodes *nodes);
void nodes_join_here(struct nodes *nodes); /* two names of this machine are one node */

/* drop[i] for each node that a hostlist names; NULL with a sentence for a host that is not there,
 * and where none would be left. Caller frees. */
bool *nodes_excluded(const struct nodes *nodes, const char *hostlist, struct error *err);
/* nodes_requires.c: likewise each node that a constraint does not match is marked, and the nodes are
 * given the note. `R` (or NULL) has the properties. -1 with a sentence where none would be left. */
int nodes_require(struct nodes *nodes, const struct rset *R, const char *constraint, bool *drop,
                  struct error *err);
void nodes_drop(struct nodes *nodes, const bool *drop);

/* R from text, checked against the time. NULL with a sentence. */
struct rset *nodes_decode_R(const char *text, size_t len, double now, struct error *err);
struct nodes *nodes_from_rset(struct rset *R, char *source); /* takes both */
struct nodes *nodes_read_R(const char *path, double now, struct error *err);
char *nodes_R_identity(const char *path); /* "R file /real/path"; caller frees */

/* The host of user@host; borrowed. */
const char *nodes_host_of(const char *login);

#endif

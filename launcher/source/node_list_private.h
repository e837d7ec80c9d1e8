/*
 * node_list_private - putting a list of nodes together.
 *
 * In this order: node_list_new(), node_list_add() for each host that the source names,
 * node_list_find_here(), node_list_excluded() and node_list_drop(), node_list_join_here().
 */
#ifndef LAUNCHER_SOURCE_NODE_LIST_PRIVATE_H
#define LAUNCHER_SOURCE_NODE_LIST_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/source/hostfile.h"
#include "affinity/sets/host_index.h"
#include "launcher/source/node_list.h"

struct node_list *node_list_new(char *source); /* takes the text */
/* A host once more adds to its limit and to its cores. The login must last as long as the index. Of
 * the sets, which may be NULL, the first of a host gets one more owner; others are joined into a new
 * one. */
struct node *node_list_add(struct node_list *nodes, struct host_index *index, const char *login,
                           uint32_t target, uint32_t limit);
void node_list_add_cores(struct node *node, struct idset *cores, struct idset *gpus);

void node_list_find_here(struct node_list *nodes);
void node_list_join_here(struct node_list *nodes); /* two names of this machine are one node */

/* drop[i] for each node that a hostlist names; NULL with a sentence for a host that is not there,
 * and where none would be left. Caller frees. */
bool *node_list_excluded(const struct node_list *nodes, const char *hostlist, struct error *err);
/* Likewise each node that a constraint does not match is marked; a property that no node has is a
 * line of the note. `R` (or NULL) has the properties. -1 with a sentence where none would be
 * left. */
int node_list_require(struct node_list *nodes, const struct rset *R, const char *constraint,
                      bool *drop, struct error *err);
void node_list_drop(struct node_list *nodes, const bool *drop);

/* R from text, checked against the time. NULL with a sentence. */
struct rset *node_list_decode_R(const char *text, size_t len, double now, struct error *err);
struct node_list *node_list_from_rset(struct rset *R, char *source); /* takes both */
/* The spec, or NULL, is that whose option names the file. */
struct node_list *node_list_read_R(const struct spec *spec, const char *path, double now,
                                   struct error *err);
char *node_list_R_identity(const char *path); /* "R file /real/path"; caller frees */

/* The host of user@host; borrowed. */
const char *node_list_host_of(const char *login);

#endif

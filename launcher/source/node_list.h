/*
 * node_list - the nodes that a run may use, in order, from whatever named them.
 *
 * -R FILE gives ranks, hosts and cores; --hosts and --hostfile give hosts (and limits), their
 * cores are whatever each node says later; with neither, launcher/source/batch_system.h says what
 * (nodes_from_options.h). --exclude and --requires take nodes away.
 * A host named twice is one node (limits add up). This machine is recognised by any of its names
 * or addresses.
 */
#ifndef LAUNCHER_SOURCE_NODE_LIST_H
#define LAUNCHER_SOURCE_NODE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "affinity/resource/rset.h"
#include "base/error.h"

struct batch_system;
struct spec;

struct node {
    const char
        *host; /* as it is shown and written into R, without user@; of the names of the list */
    const char *login;   /* what ssh is told: user@host, or `host` itself */
    uint32_t target;     /* rank in R; position where there is no R */
    uint32_t limit;      /* most tasks (a hostfile's slots), or see nodes->limits_cores; 0: none */
    bool here;           /* this machine */
    struct idset *cores; /* allocated logical cores; NULL: all that the node allows */
    struct idset *gpus;  /* NULL: likewise */
};

struct host_index;
struct hostfile;
struct hostlist;

struct node_list {
    struct node *list;
    size_t count;
    size_t here_at;         /* for node_list_this_machine() */
    struct hostlist *names; /* where the hosts' names are, also of those that were dropped */
    struct rset *R;    /* of -R or a source that has one (times checked, `now` from the caller), or
                          what the enclosing program holds: all nodes have cores then; else NULL */
    bool enclosed;     /* of this machine's cores only those that its mask allows are meant */
    bool limits_cores; /* limits count cores, of which a task with -c takes as many */
    char *note;   /* what a user may not expect of the job or of --requires: lines to be told; or
                     NULL */
    char *source; /* "R file /path", "--hosts", "hostfile /path", "this machine",
                          "Slurm job 17 (SLURM_JOB_NODELIST)": for messages */
    const struct batch_system *from; /* what named them, where no option did; else NULL. Borrowed */
    char *identity; /* of the instance: an R file by its real path, a batch job, this machine;
                          hosts named inside of one of these belong to it */
};

/* All that a list of hosts names; takes the source. */
struct node_list *node_list_from_entries(const struct hostfile *file, char *source);
void node_list_free(struct node_list *nodes); /* NULL is fine; errno stays */
/* The node that is this machine; NULL: none is. Of a list of node_list_from_spec() or
 * node_list_from_source(), which has no two. */
struct node *node_list_this_machine(const struct node_list *nodes);
/* Positions by name of the host; caller frees. */
struct host_index *node_list_index(const struct node_list *nodes);

/* Parts of a list of nodes; `name` is what the set is called in messages. Both leave
 * an R, where there is one, that names what is left. */
/* R from a file that an option of the spec names, its times checked. NULL with a sentence. */
struct rset *node_list_read_set(const struct spec *spec, const char *path, const char *name,
                                double now, struct error *err);
/* Keep exactly what the set has: -1 with both sets where it has more than the nodes do. */
int node_list_keep(struct node_list *nodes, const struct rset *set, const char *name,
                   struct error *err);
/* Keep what the set has of these nodes, whose cores are all there where they do not say. -1 where
 * they say more than it has, or name other hosts. */
int node_list_bound(struct node_list *nodes, const struct rset *set, const char *name,
                    struct error *err);

/* True for any name or address of this machine. A name that is not plainly its own is looked up,
 * which may take seconds. */
bool node_list_is_here(const char *host);

#endif

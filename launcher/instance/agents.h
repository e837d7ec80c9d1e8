/*
 * agents - the agents of a run: started on hosts, heard of, tried again, given up.
 *
 * agents_start() asks all hosts that are wanted and not known yet; agents_late() asks more, while
 * the program runs. What becomes of each is in the host table: whoever starts agents, or hands on
 * what is heard of them, looks there afterwards (host_awaited()). An agent answers with its
 * topology, or says that it is as the topology cache has it.
 *
 * A dry run starts no agent on a host whose topology is known without one.
 */
#ifndef LAUNCHER_INSTANCE_AGENTS_H
#define LAUNCHER_INSTANCE_AGENTS_H

#include <ev.h>
#include <stdarg.h>

#include "launcher/instance/host_bootstrap.h"
#include "launcher/instance/host_table.h"
#include "launcher/instance/local_topology.h"
#include "launcher/ledger/topology_cache.h"
#include "launcher/tree/tree.h"

struct agents_ops { /* `owner` is what agents_new() was given */
    void (*say)(void *owner, const char *fmt, va_list args); /* with -v: what is being done */
    void (*note)(void *owner, const char *text);             /* to the user in any case */
    void (*failed)(void *owner, uint32_t host);              /* for the reason in the table */
    void (*duplicate)(void *owner, uint32_t host);           /* it is another's machine */
    /* How a slow start goes on: after a second, and then a few times a second while something
     * changes. {"reached": 3, "all": 8, "missing": HOSTLIST}. False: nobody wants to hear of it any
     * more. */
    bool (*progress)(void *owner, const json_t *value);
};

struct agents;

/* All is borrowed, but the cache is taken; NULL: topologies are not remembered. */
struct agents *agents_new(struct ev_loop *loop, const struct spec *spec, struct host_table *hosts,
                          struct local_topology *local, struct host_bootstrap *bootstrap,
                          struct topology_cache *cache, struct tree *tree,
                          const struct agents_ops *ops, void *owner);
void agents_free(struct agents *agents); /* NULL is fine */

/* Ask those of these hosts that have not been heard of; with -v say so, and without `tell` only
 * where there are any. -1 with a sentence where one cannot be asked: then none is. */
int agents_start(struct agents *agents, const struct idset *wanted, bool tell, struct error *err);
/* Ask these as well, which have no agent: one that cannot be asked has failed at once. With -v it
 * is said `why`. */
void agents_late(struct agents *agents, const struct idset *hosts, const char *why);
/* What is known of the hardware of a host without asking it; borrowed, or NULL. */
struct topo *agents_known_topology(const struct agents *agents, uint32_t host);

/* An agent's first word. Nothing happens where the host is none, or was heard of before. */
void agents_hello(struct agents *agents, const struct frame *frame);
/* The tree's word, directly or passed on by an agent, that a host and those behind it were not
 * reached. */
void agents_unreached(struct agents *agents, const struct tree_unreached *what, bool direct);

/* Say of hosts that turned out to be duplicates that they are, a line for each machine. */
void agents_tell_duplicates(struct agents *agents);
void agents_keep(struct agents *agents); /* what was learned, for the next run */
/* None is awaited: keep what was learned, and tell of duplicates. -1 with a sentence about all
 * hosts that failed; 0 where none did. */
int agents_check(struct agents *agents, struct error *err);
/* Say which hosts failed, and that the others suffice. */
void agents_tell_spared(struct agents *agents);

#endif

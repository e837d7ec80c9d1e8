/*
 * agents - the agents of a run: started on hosts, heard of, tried again, given up.
 *
 * agents_start() asks all hosts that are wanted and not known yet; agents_late() asks more, while
 * the program runs. How far each is stands in the host table: after every call that starts agents
 * or passes on a message of theirs, the caller looks there (host_awaited()). An agent answers with
 * its topology, or says that it is as the topology cache has it.
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
    void (*duplicate)(void *owner, uint32_t host); /* its machine is up under another name */
    /* Progress of a slow start: called after a second, and then a few times a second while
     * something changes. {"reached": 3, "all": 8, "missing": HOSTLIST}. False: nobody wants to hear
     * of it any more. */
    bool (*progress)(void *owner, const json_t *value);
};

struct agents;

/* The cache is taken (NULL: topologies are not remembered), all else is borrowed. */
struct agents *agents_new(struct ev_loop *loop, const struct spec *spec, struct host_table *hosts,
                          struct local_topology *local, struct host_bootstrap *bootstrap,
                          struct topology_cache *cache, struct tree *tree,
                          const struct agents_ops *ops, void *owner);
void agents_free(struct agents *agents); /* NULL is fine */

/* Start the agents of those wanted hosts that have not been heard of. With -v a line says how many;
 * `tell` false: only if there are any. 0, or -1 with a sentence: one of them cannot have an agent,
 * and none is started. */
int agents_start(struct agents *agents, const struct idset *wanted, bool tell, struct error *err);
/* Start agents on these hosts as well, which have none. One that cannot have an agent fails at
 * once, by failed(). `why` is for the line of -v. */
void agents_late(struct agents *agents, const struct idset *hosts, const char *why);
/* What is known of the hardware of a host without asking it; borrowed, or NULL. */
struct topo *agents_known_topology(const struct agents *agents, uint32_t host);

/* FRAME_HELLO, an agent's first message. It is passed over where its host is not in the table, or
 * was heard of before. */
void agents_hello(struct agents *agents, const struct frame *frame);
/* A host, and those behind it in the tree, were not reached. `direct`: this process tried, and the
 * host has failed; else an agent did, and it is tried from here. */
void agents_unreached(struct agents *agents, const struct tree_unreached *what, bool direct);

/* Say of hosts that turned out to be duplicates that they are, a line for each machine. */
void agents_tell_duplicates(struct agents *agents);
void agents_keep(struct agents *agents); /* topologies, for the next run */
/* Once no agent is awaited: agents_keep() and agents_tell_duplicates(). 0 where no host failed; -1
 * with a text about all that did, a line for each reason. */
int agents_check(struct agents *agents, struct error *err);
/* Note which hosts failed, and that the others suffice. */
void agents_tell_spared(struct agents *agents);

#endif

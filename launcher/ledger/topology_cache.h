/*
 * topology_cache - what an instance remembers of its nodes' hardware: topologies by host and
 * digest.
 *
 * An agent that finds the same hardware again need not send it, and a dry run need not ask. It is
 * a cache: what cannot be read counts as not there, and an agent's own word is always newer.
 *
 * In the instance, "topologies.json":
 *     {"version": 1, "nodes": [{"hosts": HOSTLIST, "digest": HEX, "topology": {...}}, ...]}
 */
#ifndef LAUNCHER_LEDGER_TOPOLOGY_CACHE_H
#define LAUNCHER_LEDGER_TOPOLOGY_CACHE_H

#include "affinity/topology/topo.h"
#include "launcher/ledger/instance_directory.h"

struct topology_cache;

struct topology_cache *topology_cache_open(struct instance *instance); /* borrowed; never NULL */
void topology_cache_free(struct topology_cache *cache);                /* NULL is fine */
/* Read now what the instance remembers. The next topology_cache_open() in this process, and the next
 * in each that is forked later, does not read it again where the file is the same. It is kept for
 * the life of the process. What was kept before is dropped: nothing may use it. */
void topology_cache_read_ahead(struct instance *instance);

/* What is remembered of a host, borrowed; NULL: nothing. Hosts of one digest share one topo. */
struct topo *topology_cache_topo(struct topology_cache *cache, const char *host);
const char *topology_cache_digest(struct topology_cache *cache, const char *host);

/* From now on the host is as `topo` says, whose digest is given. */
void topology_cache_put(struct topology_cache *cache, const char *host, struct topo *topo,
                        const char *digest);

/* Keep what was put, beside what others kept meanwhile. 0, or -1 with a sentence. */
int topology_cache_save(struct topology_cache *cache, struct error *err);

#endif

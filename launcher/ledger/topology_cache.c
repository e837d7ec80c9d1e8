/* Topologies of hosts that runs of an instance have seen, for agents.c: in memory and as a file. */
#include "launcher/ledger/topology_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/sets/hostlist.h"
#include "base/array.h"
#include "base/mem.h"
#include "launcher/ledger/instance_lock_private.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/private_directory.h"

#define TOPOLOGY_CACHE_FILE "topologies.json"
#define TOPOLOGY_CACHE_MAX (64u << 20) /* bytes of the file */

struct cached_topology { /* one kind of hardware */
    char *digest;
    struct topo *topo;
};

struct topology_cache {
    struct instance *instance;
    struct cached_topology *topologies;
    size_t ntopologies;
    json_t *of; /* host: index into topologies */
    bool changed;
};

/* ---- in memory ---- */

static struct cached_topology *find_cached(const struct topology_cache *cache, const char *host)
{
    const json_t *index = json_object_get(cache->of, host);
    return index ? &cache->topologies[json_integer_value(index)] : NULL;
}

/* The number of the topology with this digest, made where there is none (takes a reference). */
static size_t number_of_cached(struct topology_cache *cache, const char *digest, struct topo *topo)
{
    for (size_t i = 0; i < cache->ntopologies; i++)
        if (strcmp(cache->topologies[i].digest, digest) == 0)
            return i;
    cache->topologies =
        array_grow(cache->topologies, cache->ntopologies, sizeof(*cache->topologies));
    cache->topologies[cache->ntopologies] =
        (struct cached_topology){mem_copy_text(digest), topo_ref(topo)};
    return cache->ntopologies++;
}

struct topo *topology_cache_topo(struct topology_cache *cache, const char *host)
{
    struct cached_topology *cached = find_cached(cache, host);
    return cached ? cached->topo : NULL;
}

const char *topology_cache_digest(const struct topology_cache *cache, const char *host)
{
    struct cached_topology *cached = find_cached(cache, host);
    return cached ? cached->digest : NULL;
}

void topology_cache_put(struct topology_cache *cache, const char *host, struct topo *topo,
                        const char *digest)
{
    const char *known = topology_cache_digest(cache, host);
    if (known && strcmp(known, digest) == 0)
        return;
    size_t cached = number_of_cached(cache, digest, topo);
    json_object_set_new(cache->of, host, json_integer((json_int_t)cached));
    cache->changed = true;
}

/* ---- on disk ---- */

static void read_node(struct topology_cache *cache, const json_t *node)
{
    const char *text = json_string_value(json_object_get(node, "hosts"));
    struct hostlist *hosts = text ? hostlist_decode(text, NULL) : NULL;
    struct topo *topo = hosts ? topo_from_json(json_object_get(node, "topology"), NULL) : NULL;
    if (topo) {
        char *digest = topo_digest(topo); /* its own, whatever the file says */
        json_int_t cached = (json_int_t)number_of_cached(cache, digest, topo);
        for (size_t i = 0; i < hostlist_count(hosts); i++)
            if (!json_object_get(cache->of, hostlist_nth(hosts, i)))
                json_object_set_new(cache->of, hostlist_nth(hosts, i), json_integer(cached));
        free(digest);
    }
    topo_free(topo);
    hostlist_free(hosts);
}

/* Add what the file has of hosts that are not known yet. */
static void topology_cache_read_file(struct topology_cache *cache)
{
    size_t len, i;
    char *text =
        private_directory_read(cache->instance->dir, TOPOLOGY_CACHE_FILE, TOPOLOGY_CACHE_MAX, &len);
    json_t *value = text ? json_loadb(text, len, 0, NULL) : NULL, *node;
    if (json_integer_value(json_object_get(value, "version")) == 1)
        json_array_foreach(json_object_get(value, "nodes"), i, node) read_node(cache, node);
    json_decref(value);
    free(text);
}

static json_t *to_json(const struct topology_cache *cache)
{
    struct hostlist **hosts = mem_array(cache->ntopologies, sizeof(*hosts));
    json_t *nodes = json_array(), *index;
    const char *host;
    for (size_t i = 0; i < cache->ntopologies; i++)
        hosts[i] = hostlist_new();
    json_object_foreach(cache->of, host, index)
        hostlist_append(hosts[json_integer_value(index)], host);
    for (size_t i = 0; i < cache->ntopologies; i++) {
        const struct cached_topology *cached = &cache->topologies[i];
        char *text = hostlist_encode(hosts[i]);
        if (hostlist_count(hosts[i]))
            json_array_append_new(nodes, json_pack("{s:s, s:s, s:o}", "hosts", text, "digest",
                                                   cached->digest, "topology",
                                                   topo_to_json(cached->topo)));
        free(text);
        hostlist_free(hosts[i]);
    }
    free(hosts);
    return json_pack("{s:i, s:o}", "version", 1, "nodes", nodes);
}

int topology_cache_save(struct topology_cache *cache, struct error *err)
{
    if (!cache->changed)
        return 0;
    struct ledger_lock lock; /* not the one of the claims: this takes its time */
    if (ledger_lock(cache->instance, "topologies.lock", &lock, err) < 0)
        return -1;
    topology_cache_read_file(cache);
    json_t *value = to_json(cache);
    char *text = json_dumps(value, JSON_COMPACT);
    int result = text ? private_directory_write(cache->instance->dir, TOPOLOGY_CACHE_FILE, text,
                                                strlen(text))
                      : -1;
    if (result < 0)
        error_set(err, "%s/%s: cannot write: %s", cache->instance->path, TOPOLOGY_CACHE_FILE,
                  strerror(errno));
    cache->changed = false;
    ledger_unlock(&lock);
    json_decref(value);
    free(text);
    return result;
}

struct topology_cache *topology_cache_open(struct instance *instance)
{
    struct topology_cache *cache = mem_alloc(sizeof(*cache));
    cache->instance = instance;
    cache->of = json_object();
    topology_cache_read_file(cache);
    return cache;
}

void topology_cache_free(struct topology_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < cache->ntopologies; i++) {
        free(cache->topologies[i].digest);
        topo_free(cache->topologies[i].topo);
    }
    free(cache->topologies);
    json_decref(cache->of);
    free(cache);
}

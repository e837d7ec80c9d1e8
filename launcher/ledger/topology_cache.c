/* Topologies of hosts that runs of an instance have seen, for agents.c: in memory and as a file. */
#include "launcher/ledger/topology_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/sets/host_index.h"
#include "affinity/sets/hostlist.h"
#include "base/array.h"
#include "base/mem.h"
#include "launcher/ledger/instance_lock_private.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/private_directory.h"

#define TOPOLOGY_CACHE_FILE "topologies.json"
#define TOPOLOGY_CACHE_MAX (64u << 20) /* bytes of the file */
#define TOPOLOGY_CACHE_LOOKS 8         /* for hosts, one by one, before there is an index of them */

struct cached_topology { /* one kind of hardware */
    char *digest;
    struct topo *topo;
};

struct topology_cache {
    struct instance *instance;
    struct cached_topology *topologies;
    size_t ntopologies;
    struct hostlist *hosts;
    size_t *of;                /* by place in them: index into topologies */
    struct host_index *places; /* of the hosts, once it is needed; NULL before */
    unsigned looks;            /* without it */
    bool changed;
};

/* By this process, or by that which it was forked from. The cache is never freed: a forked process
 * that does so copies every page of it. */
static struct {
    struct topology_cache *cache; /* NULL: nothing was read */
    char *text;                   /* of the file */
    size_t len;
    bool is_used;
} read_ahead;

/* ---- in memory ---- */

static void make_index(struct topology_cache *cache)
{
    size_t count = hostlist_count(cache->hosts);
    if (cache->places)
        return;
    cache->places = host_index_new(count);
    for (size_t i = 0; i < count; i++)
        host_index_add(cache->places, hostlist_nth(cache->hosts, i), i);
}

/* Most programs ask for the hosts that they run on, and an index takes in all of the instance. */
static size_t place_of(struct topology_cache *cache, const char *host)
{
    if (!cache->places && cache->looks++ < TOPOLOGY_CACHE_LOOKS) {
        ssize_t place = hostlist_find(cache->hosts, host);
        return place < 0 ? HOST_INDEX_NONE : (size_t)place;
    }
    make_index(cache);
    return host_index_find(cache->places, host);
}

static struct cached_topology *find_cached(struct topology_cache *cache, const char *host)
{
    size_t place = place_of(cache, host);
    return place == HOST_INDEX_NONE ? NULL : &cache->topologies[cache->of[place]];
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

/* A host that is not known yet has this topology. */
static void add_host(struct topology_cache *cache, const char *host, size_t cached)
{
    size_t place = hostlist_count(cache->hosts);
    hostlist_append(cache->hosts, host);
    cache->of = array_grow(cache->of, place, sizeof(*cache->of));
    cache->of[place] = cached;
    if (cache->places)
        host_index_add(cache->places, hostlist_nth(cache->hosts, place), place);
}

struct topo *topology_cache_topo(struct topology_cache *cache, const char *host)
{
    struct cached_topology *cached = find_cached(cache, host);
    return cached ? cached->topo : NULL;
}

const char *topology_cache_digest(struct topology_cache *cache, const char *host)
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
    size_t place = place_of(cache, host);
    if (place == HOST_INDEX_NONE)
        add_host(cache, host, cached);
    else
        cache->of[place] = cached;
    cache->changed = true;
}

/* ---- on disk ---- */

static void read_node(struct topology_cache *cache, const json_t *node)
{
    const char *text = json_string_value(json_object_get(node, "hosts"));
    struct hostlist *hosts = text ? hostlist_decode(text, NULL) : NULL;
    struct topo *topo = hosts ? topo_from_json(json_object_get(node, "topology"), NULL) : NULL;
    char *digest = topo ? topo_digest(topo) : NULL; /* its own, whatever the file says */
    size_t cached = topo ? number_of_cached(cache, digest, topo) : 0;
    bool first = hostlist_count(cache->hosts) == 0; /* a host that it names twice is found once */
    for (size_t i = 0; topo && i < hostlist_count(hosts); i++)
        if (first || place_of(cache, hostlist_nth(hosts, i)) == HOST_INDEX_NONE)
            add_host(cache, hostlist_nth(hosts, i), cached);
    free(digest);
    topo_free(topo);
    hostlist_free(hosts);
}

/* Of what the instance remembers. Caller frees; NULL where there is no such file. */
static char *file_text(const struct instance *instance, size_t *len)
{
    return private_directory_read(instance->dir, TOPOLOGY_CACHE_FILE, TOPOLOGY_CACHE_MAX, len);
}

/* Add what the text of a file (or NULL) has of hosts that are not known yet. */
static void take_in(struct topology_cache *cache, const char *text, size_t len)
{
    json_t *value = text ? json_loadb(text, len, 0, NULL) : NULL, *node;
    size_t i;
    if (json_integer_value(json_object_get(value, "version")) == 1)
        json_array_foreach(json_object_get(value, "nodes"), i, node) read_node(cache, node);
    json_decref(value);
}

static json_t *to_json(const struct topology_cache *cache)
{
    struct hostlist **hosts = mem_array(cache->ntopologies, sizeof(*hosts));
    json_t *nodes = json_array();
    for (size_t i = 0; i < cache->ntopologies; i++)
        hosts[i] = hostlist_new();
    for (size_t i = 0; i < hostlist_count(cache->hosts); i++)
        hostlist_append(hosts[cache->of[i]], hostlist_nth(cache->hosts, i));
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
    size_t len = 0;
    char *others = file_text(cache->instance, &len);
    take_in(cache, others, len);
    free(others);
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

/* Of the text of a file, or NULL. */
static struct topology_cache *cache_of(const char *text, size_t len)
{
    struct topology_cache *cache = mem_alloc(sizeof(*cache));
    cache->hosts = hostlist_new();
    take_in(cache, text, len);
    return cache;
}

void topology_cache_read_ahead(struct instance *instance)
{
    struct topology_cache *before = read_ahead.cache;
    read_ahead.cache = NULL;
    read_ahead.is_used = false;
    topology_cache_free(before);
    free(read_ahead.text);
    read_ahead.text = file_text(instance, &read_ahead.len);
    if (!read_ahead.text)
        return;
    read_ahead.cache = cache_of(read_ahead.text, read_ahead.len);
    make_index(read_ahead.cache);
}

struct topology_cache *topology_cache_open(struct instance *instance)
{
    size_t len = 0;
    char *text = file_text(instance, &len);
    bool was_read = text && read_ahead.cache && !read_ahead.is_used && len == read_ahead.len &&
                    memcmp(text, read_ahead.text, len) == 0;
    struct topology_cache *cache = was_read ? read_ahead.cache : cache_of(text, len);
    read_ahead.is_used |= was_read;
    cache->instance = instance;
    free(text);
    return cache;
}

void topology_cache_free(struct topology_cache *cache)
{
    if (!cache || cache == read_ahead.cache)
        return;
    for (size_t i = 0; i < cache->ntopologies; i++) {
        free(cache->topologies[i].digest);
        topo_free(cache->topologies[i].topo);
    }
    free(cache->topologies);
    host_index_free(cache->places);
    hostlist_free(cache->hosts);
    free(cache->of);
    free(cache);
}

#include "launcher/ledger/topology_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/sets/hostlist.h"
#include "base/array.h"
#include "base/mem.h"
#include "launcher/ledger/ledger_private.h"
#include "launcher/ledger/private_directory.h"

#define ATLAS_FILE "topologies.json"
#define ATLAS_MAX (64u << 20) /* bytes of the file */

struct sheet { /* one kind of hardware */
    char *digest;
    struct topo *topo;
};

struct atlas {
    struct instance *instance;
    struct sheet *sheets;
    size_t nsheets;
    json_t *of; /* host: index into sheets */
    bool changed;
};

/* ---- in memory ---- */

static struct sheet *find_sheet(const struct atlas *atlas, const char *host)
{
    const json_t *index = json_object_get(atlas->of, host);
    return index ? &atlas->sheets[json_integer_value(index)] : NULL;
}

/* The number of the sheet with this digest, made where there is none (takes a reference). */
static size_t use_sheet(struct atlas *atlas, const char *digest, struct topo *topo)
{
    for (size_t i = 0; i < atlas->nsheets; i++)
        if (strcmp(atlas->sheets[i].digest, digest) == 0)
            return i;
    atlas->sheets = array_grow(atlas->sheets, atlas->nsheets, sizeof(*atlas->sheets));
    atlas->sheets[atlas->nsheets] = (struct sheet){mem_copy_text(digest), topo_ref(topo)};
    return atlas->nsheets++;
}

struct topo *topology_cache_topo(struct atlas *atlas, const char *host)
{
    struct sheet *sheet = find_sheet(atlas, host);
    return sheet ? sheet->topo : NULL;
}

const char *topology_cache_digest(const struct atlas *atlas, const char *host)
{
    struct sheet *sheet = find_sheet(atlas, host);
    return sheet ? sheet->digest : NULL;
}

void topology_cache_put(struct atlas *atlas, const char *host, struct topo *topo,
                        const char *digest)
{
    const char *known = topology_cache_digest(atlas, host);
    if (known && strcmp(known, digest) == 0)
        return;
    size_t sheet = use_sheet(atlas, digest, topo);
    json_object_set_new(atlas->of, host, json_integer((json_int_t)sheet));
    atlas->changed = true;
}

/* ---- on disk ---- */

static void read_node(struct atlas *atlas, const json_t *node)
{
    const char *text = json_string_value(json_object_get(node, "hosts"));
    struct hostlist *hosts = text ? hostlist_decode(text, NULL) : NULL;
    struct topo *topo = hosts ? topo_from_json(json_object_get(node, "topology"), NULL) : NULL;
    if (topo) {
        char *digest = topo_digest(topo); /* its own, whatever the file says */
        json_int_t sheet = (json_int_t)use_sheet(atlas, digest, topo);
        for (size_t i = 0; i < hostlist_count(hosts); i++)
            if (!json_object_get(atlas->of, hostlist_nth(hosts, i)))
                json_object_set_new(atlas->of, hostlist_nth(hosts, i), json_integer(sheet));
        free(digest);
    }
    topo_free(topo);
    hostlist_free(hosts);
}

/* Add what the file has of hosts that are not known yet. */
static void topology_cache_read_file(struct atlas *atlas)
{
    size_t len, i;
    char *text = private_directory_read(atlas->instance->dir, ATLAS_FILE, ATLAS_MAX, &len);
    json_t *value = text ? json_loadb(text, len, 0, NULL) : NULL, *node;
    if (json_integer_value(json_object_get(value, "version")) == 1)
        json_array_foreach(json_object_get(value, "nodes"), i, node) read_node(atlas, node);
    json_decref(value);
    free(text);
}

static json_t *to_json(const struct atlas *atlas)
{
    struct hostlist **hosts = mem_array(atlas->nsheets, sizeof(*hosts));
    json_t *nodes = json_array(), *index;
    const char *host;
    for (size_t i = 0; i < atlas->nsheets; i++)
        hosts[i] = hostlist_new();
    json_object_foreach(atlas->of, host, index)
        hostlist_append(hosts[json_integer_value(index)], host);
    for (size_t i = 0; i < atlas->nsheets; i++) {
        const struct sheet *sheet = &atlas->sheets[i];
        char *text = hostlist_encode(hosts[i]);
        if (hostlist_count(hosts[i]))
            json_array_append_new(nodes,
                                  json_pack("{s:s, s:s, s:o}", "hosts", text, "digest",
                                            sheet->digest, "topology", topo_to_json(sheet->topo)));
        free(text);
        hostlist_free(hosts[i]);
    }
    free(hosts);
    return json_pack("{s:i, s:o}", "version", 1, "nodes", nodes);
}

int topology_cache_save(struct atlas *atlas, struct error *err)
{
    if (!atlas->changed)
        return 0;
    struct ledger_lock lock; /* not the one of the claims: this takes its time */
    if (ledger_lock(atlas->instance, "topologies.lock", &lock, err) < 0)
        return -1;
    topology_cache_read_file(atlas);
    json_t *value = to_json(atlas);
    char *text = json_dumps(value, JSON_COMPACT);
    int result =
        text ? private_directory_write(atlas->instance->dir, ATLAS_FILE, text, strlen(text)) : -1;
    if (result < 0)
        error_set(err, "%s/%s: cannot write: %s", atlas->instance->path, ATLAS_FILE,
                  strerror(errno));
    atlas->changed = false;
    ledger_unlock(&lock);
    json_decref(value);
    free(text);
    return result;
}

struct atlas *topology_cache_open(struct instance *instance)
{
    struct atlas *atlas = mem_alloc(sizeof(*atlas));
    atlas->instance = instance;
    atlas->of = json_object();
    topology_cache_read_file(atlas);
    return atlas;
}

void topology_cache_free(struct atlas *atlas)
{
    if (!atlas)
        return;
    for (size_t i = 0; i < atlas->nsheets; i++) {
        free(atlas->sheets[i].digest);
        topo_free(atlas->sheets[i].topo);
    }
    free(atlas->sheets);
    json_decref(atlas->of);
    free(atlas);
}

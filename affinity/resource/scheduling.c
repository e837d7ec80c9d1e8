/* Topologies of an R from JSON (RFC 49), each distinct one once, and which of them a rank has. */
#include "affinity/resource/scheduling.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash_table.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/text.h"

struct locality_reader {
    struct scheduling *out;
    struct hash_table kinds;
    char **texts; /* of the topologies, by number */
    uint64_t ndomains;
    struct error *err;
};

void scheduling_free(struct scheduling *locality)
{
    if (!locality)
        return;
    for (uint32_t i = 0; i < locality->ntrees; i++)
        scheduling_tree_clear(&locality->trees[i]);
    free(locality->trees);
    free(locality->spans);
    free(locality);
}

static const char *locality_text(const void *owner, uint32_t number)
{
    return ((const struct locality_reader *)owner)->texts[number];
}

/* The number of a topology's tree, which is read where it is not there yet. */
static int locality_tree_of(struct locality_reader *in, const json_t *topo, const char *ranks,
                            uint32_t *number)
{
    char *text = json_dumps(topo, JSON_COMPACT);
    if (!text)
        return error_set(in->err, "ranks %s: topo is not text that can be written",
                         excerpt(ranks, strlen(ranks)).text);
    *number = hash_table_intern_text(&in->kinds, text, locality_text, in);
    if (*number < in->out->ntrees) {
        free(text);
        return 0;
    }
    in->texts = array_grow(in->texts, *number, sizeof(*in->texts));
    in->out->trees = array_grow(in->out->trees, *number, sizeof(*in->out->trees));
    in->texts[*number] = text;
    struct scheduling_tree *tree = &in->out->trees[in->out->ntrees++];
    *tree = (struct scheduling_tree){0};
    if (scheduling_read_topo(topo, ranks, tree, in->err) < 0)
        return -1;
    in->ndomains += tree->ndomains;
    if (in->ndomains <= SCHEDULING_MAX_ALL_DOMAINS)
        return 0;
    return error_set(in->err,
                     "ranks %s: with this topology there are more than %u domains in all, the most "
                     "that is read: nodes that are alike may share one",
                     excerpt(ranks, strlen(ranks)).text, SCHEDULING_MAX_ALL_DOMAINS);
}

static int locality_bad_entry(const struct locality_reader *in, size_t entry, const char *what)
{
    return error_set(
        in->err,
        "scheduling.children[%zu]: %s; expected an object with only ranks, an idset in "
        "a string, and topo, an object (RFC 49)",
        entry, what);
}

static int locality_read_entry(struct locality_reader *in, const json_t *entry, uint32_t index)
{
    json_t *ranks = json_object_get(entry, "ranks"), *topo = json_object_get(entry, "topo");
    struct scheduling *out = in->out;
    struct scheduling_span span = {.entry = index};
    if (!json_is_object(entry))
        return locality_bad_entry(in, index, "not an object");
    if (!json_is_string(ranks))
        return locality_bad_entry(in, index, "ranks is missing or no text");
    if (!json_is_object(topo))
        return locality_bad_entry(in, index, "topo is missing or no object");
    if (json_object_size(entry) != 2)
        return locality_bad_entry(in, index, "there is one key more");
    struct idset *set = idset_decode(json_string_value(ranks), in->err);
    if (!set)
        return error_prefix(in->err, "scheduling.children[%u].ranks", index);
    int rc = idset_empty(set) ? locality_bad_entry(in, index, "ranks is empty") : 0;
    if (rc == 0)
        rc = locality_tree_of(in, topo, json_string_value(ranks), &span.tree);
    for (size_t at = 0; rc == 0 && idset_range(set, &at, &span.first, &span.last);) {
        out->spans = array_grow(out->spans, out->nspans, sizeof(*out->spans));
        out->spans[out->nspans++] = span;
    }
    idset_free(set);
    return rc;
}

static int locality_compare_spans(const void *a, const void *b)
{
    const struct scheduling_span *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

static int locality_read_all(struct locality_reader *in, const json_t *scheduling)
{
    const char *writer = json_string_value(json_object_get(scheduling, "writer"));
    json_t *children = json_object_get(scheduling, "children");
    struct scheduling *out = in->out;
    if (!writer || strcmp(writer, SCHEDULING_WRITER) != 0)
        return 0;
    if (json_object_size(scheduling) != (children ? 2 : 1))
        return error_set(in->err, "scheduling has a key beside writer and children, which is all "
                                  "there is for the writer TreePool (RFC 49)");
    if (children && !json_is_array(children))
        return error_set(in->err,
                         "scheduling.children: expected an array of objects with ranks and "
                         "topo (RFC 49)");
    for (size_t i = 0; i < json_array_size(children); i++)
        if (locality_read_entry(in, json_array_get(children, i), (uint32_t)i) < 0)
            return -1;
    if (out->nspans)
        qsort(out->spans, out->nspans, sizeof(*out->spans), locality_compare_spans);
    for (size_t i = 1; i < out->nspans; i++)
        if (out->spans[i].first <= out->spans[i - 1].last)
            return error_set(in->err,
                             "rank %u is in scheduling.children[%u] and in "
                             "scheduling.children[%u]: expected one entry for each rank",
                             out->spans[i].first, out->spans[i - 1].entry, out->spans[i].entry);
    return 0;
}

struct scheduling *scheduling_read(const json_t *scheduling, struct error *err)
{
    struct locality_reader in = {.out = mem_alloc(sizeof(*in.out)), .err = err};
    int rc = locality_read_all(&in, scheduling);
    for (uint32_t i = 0; i < in.kinds.count; i++)
        free(in.texts[i]);
    free(in.texts);
    hash_table_free(&in.kinds);
    if (rc == 0)
        return in.out;
    scheduling_free(in.out);
    return NULL;
}

static int locality_compare_rank(const void *rank, const void *ranks)
{
    uint32_t wanted = *(const uint32_t *)rank;
    const struct scheduling_span *span = ranks;
    return (wanted > span->last) - (wanted < span->first);
}

int32_t scheduling_find(const struct scheduling *locality, uint32_t rank)
{
    if (!locality->nspans)
        return -1;
    const struct scheduling_span *span = bsearch(&rank, locality->spans, locality->nspans,
                                                 sizeof(*locality->spans), locality_compare_rank);
    return span ? (int32_t)span->tree : -1;
}

int scheduling_check(const struct rset *R, struct error *err)
{
    struct scheduling *locality = scheduling_read(R->scheduling, err);
    scheduling_free(locality);
    return locality ? 0 : -1;
}

/* One topology of RFC 49, a tree of domains, from its JSON form. */

#define GIB ((double)(1u << 30))
#define BYTES_MAX 9e18

/* Where in the topology the reader is, outermost last. */
struct topo_place {
    const struct topo_place *up;
    const char *name;
    size_t index;
    uint32_t depth;
};

struct topo_reader {
    struct scheduling_tree *tree;
    const char *ranks;
    struct error *err;
};

static void topo_write_place(struct buf *out, const struct topo_place *place)
{
    if (!place->up) {
        buf_add_text(out, "topo");
        return;
    }
    struct excerpt name = excerpt(place->name, strlen(place->name));
    topo_write_place(out, place->up);
    buf_printf(out, ".%.*s[%zu]", (int)strlen(name.text) - 2, name.text + 1, place->index);
}

/* "ranks 0-15: topo.socket[1].numa[0]: SENTENCE". */
static int topo_bad(const struct topo_reader *in, const struct topo_place *place, const char *fmt,
                    ...) __attribute__((format(printf, 3, 4)));

static int topo_bad(const struct topo_reader *in, const struct topo_place *place, const char *fmt,
                    ...)
{
    struct buf where = BUF_INIT;
    char *sentence;
    va_list args;
    va_start(args, fmt);
    int rc = vasprintf(&sentence, fmt, args);
    va_end(args);
    topo_write_place(&where, place);
    error_set(in->err, "ranks %s: %s: %s", excerpt(in->ranks, strlen(in->ranks)).text,
              buf_text(&where), rc < 0 ? "out of memory" : sentence);
    buf_free(&where);
    if (rc >= 0)
        free(sentence);
    return -1;
}

static int topo_read_ids(const struct topo_reader *in, const struct topo_place *place,
                         const char *key, const json_t *value, struct idset **ids)
{
    struct error bad = ERROR_INIT;
    if (!json_is_string(value))
        return topo_bad(in, place, "%s: expected an idset in a string", key);
    struct idset *set = idset_decode(json_string_value(value), &bad);
    if (!set) {
        topo_bad(in, place, "%s: %s", key, error_text(&bad));
        error_clear(&bad);
        return -1;
    }
    idset_free(*ids);
    *ids = set;
    return 0;
}

/* ---- memory and storage ---- */

static const struct {
    const char *name;
    double bytes;
} topo_units[] = {
    {"B", 1},        {"kB", 1e3},     {"KB", 1e3},     {"MB", 1e6},
    {"GB", 1e9},     {"TB", 1e12},    {"PB", 1e15},    {"KiB", 1024.0},
    {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"PiB", 0x1p50},
};

static int topo_read_amount(const struct topo_reader *in, const struct topo_place *place,
                            const char *key, const json_t *value, double unit, uint64_t *bytes)
{
    double amount = json_number_value(value) * unit;
    if (!json_is_number(value) || !(amount >= 0) || amount > BYTES_MAX)
        return topo_bad(in, place, "%s: expected a number from 0 up", key);
    *bytes = (uint64_t)amount;
    return 0;
}

static const char *topo_odd_key(const json_t *object, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        size_t i = 0;
        while (known[i] && strcmp(known[i], key) != 0)
            i++;
        if (!known[i])
            return key;
    }
    return NULL;
}

static int topo_read_store(const struct topo_reader *in, const struct topo_place *place,
                           const json_t *store, uint64_t *bytes)
{
    static const char *const known[] = {"path", "capacity", "unit", NULL};
    const json_t *unit = json_object_get(store, "unit");
    const char *name = json_string_value(unit);
    double factor = unit ? 0 : GIB;
    if (!json_is_object(store))
        return topo_bad(in, place, "expected an object with path and capacity");
    const char *odd = topo_odd_key(store, known);
    if (odd)
        return topo_bad(in, place, "unknown key %s of a storage (expected path, capacity or unit)",
                        excerpt(odd, strlen(odd)).text);
    if (!json_is_string(json_object_get(store, "path")))
        return topo_bad(in, place, "path: expected a mount point in a string");
    if (unit && !name)
        return topo_bad(in, place, "unit: expected a string such as MB, GiB or TiB");
    for (size_t i = 0; name && i < sizeof(topo_units) / sizeof(topo_units[0]); i++)
        if (strcmp(topo_units[i].name, name) == 0)
            factor = topo_units[i].bytes;
    if (factor == 0)
        return topo_bad(in, place, "unknown unit %s (expected MB, GiB, TiB or the like)",
                        excerpt(name, strlen(name)).text);
    return topo_read_amount(in, place, "capacity", json_object_get(store, "capacity"), factor,
                            bytes);
}

static int topo_read_storage(const struct topo_reader *in, const struct topo_place *place,
                             const json_t *list)
{
    if (!json_is_array(list))
        return topo_bad(in, place, "storage: expected an array of objects");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const struct topo_place here = {place, "storage", i, place->depth + 1};
        uint64_t bytes = 0;
        if (topo_read_store(in, &here, json_array_get(list, i), &bytes) < 0)
            return -1;
        if (bytes > in->tree->storage)
            in->tree->storage = bytes;
    }
    return 0;
}

/* ---- domains ---- */

static int topo_read_domain(struct topo_reader *in, const struct topo_place *place, uint32_t up,
                            const json_t *value, uint64_t *memory);

static int topo_read_list(struct topo_reader *in, const struct topo_place *place, uint32_t up,
                          const char *name, const json_t *list, uint64_t *memory)
{
    if (!*name)
        return topo_bad(in, place,
                        "the name of a domain is empty: expected socket, numa or a name of "
                        "the site's own");
    if (!json_is_array(list))
        return topo_bad(in, place,
                        "%s: expected an array of domains; the keys of a domain are cores, "
                        "gpus, memory and storage",
                        excerpt(name, strlen(name)).text);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const struct topo_place here = {place, name, i, place->depth + 1};
        if (topo_read_domain(in, &here, up, json_array_get(list, i), memory) < 0)
            return -1;
    }
    return 0;
}

/* All ids of these sets, joined two by two, so that each is copied log n times. *twice becomes one
 * that two of them have, if there is any. */
static struct idset *topo_join_all(const struct idset *const *sets, size_t n, uint32_t *twice)
{
    if (n < 2)
        return n ? idset_copy(sets[0]) : idset_new();
    struct idset *first = topo_join_all(sets, n / 2, twice);
    struct idset *second = topo_join_all(sets + n / 2, n - n / 2, twice);
    if (*twice == IDSET_NONE && idset_count_both(first, second)) {
        struct idset *both = idset_intersect(first, second);
        *twice = idset_first(both);
        idset_free(both);
    }
    idset_add_set(first, second);
    idset_free(second);
    return first;
}

/* The sets of domains side by side, which may not have anything in common, go into the one around
 * them. */
static int topo_gather_sets(const struct topo_reader *in, const struct topo_place *place,
                            const char *what, const struct idset *const *sets, size_t n,
                            struct idset *around)
{
    uint32_t twice = IDSET_NONE;
    struct idset *all = topo_join_all(sets, n, &twice);
    idset_add_set(around, all);
    idset_free(all);
    if (twice == IDSET_NONE)
        return 0;
    return topo_bad(in, place,
                    "%s %u is in two domains side by side: domains must lie within one another or "
                    "apart",
                    what, twice);
}

/* What the domains right below `index` have, which goes into it. */
static int topo_gather(const struct topo_reader *in, const struct topo_place *place, uint32_t index)
{
    struct scheduling_domain *domains = in->tree->domains, *here = &domains[index];
    size_t most = in->tree->ndomains - index, n = 0;
    const struct idset **cores = mem_array(most, sizeof(*cores));
    const struct idset **gpus = mem_array(most, sizeof(*gpus));
    for (uint32_t i = index + 1; i < in->tree->ndomains; i = domains[i].end, n++) {
        cores[n] = domains[i].cores;
        gpus[n] = domains[i].gpus;
    }
    int rc = topo_gather_sets(in, place, "core", cores, n, here->cores);
    if (rc == 0)
        rc = topo_gather_sets(in, place, "GPU", gpus, n, here->gpus);
    free(cores);
    free(gpus);
    return rc;
}

/* A domain that has no more than one below it is on that one's level. */
static uint32_t topo_height(const struct scheduling_tree *tree, uint32_t index)
{
    const struct scheduling_domain *here = &tree->domains[index];
    uint32_t height = 0;
    for (uint32_t i = index + 1; i < here->end; i = tree->domains[i].end) {
        const struct scheduling_domain *below = &tree->domains[i];
        if (idset_empty(below->cores) && idset_empty(below->gpus))
            continue;
        bool same = idset_equal(below->cores, here->cores) && idset_equal(below->gpus, here->gpus);
        if (below->height + !same > height)
            height = below->height + !same;
    }
    return height;
}

/* A key of a domain: one that RFC 49 has, or the name of a locality. */
static int topo_read_key(struct topo_reader *in, const struct topo_place *place, uint32_t index,
                         const char *key, const json_t *value, uint64_t *own, uint64_t *below)
{
    if (strcmp(key, "cores") == 0)
        return topo_read_ids(in, place, key, value, &in->tree->domains[index].cores);
    if (strcmp(key, "gpus") == 0)
        return topo_read_ids(in, place, key, value, &in->tree->domains[index].gpus);
    if (strcmp(key, "memory") == 0)
        return topo_read_amount(in, place, key, value, GIB, own);
    if (strcmp(key, "storage") == 0)
        return topo_read_storage(in, place, value);
    return topo_read_list(in, place, index, key, value, below);
}

static int topo_read_domain(struct topo_reader *in, const struct topo_place *place, uint32_t up,
                            const json_t *value, uint64_t *memory)
{
    struct scheduling_tree *tree = in->tree;
    uint64_t own = 0, below = 0;
    const char *key;
    json_t *item;
    if (!json_is_object(value))
        return topo_bad(in, place, "a domain must be an object");
    if (place->depth > SCHEDULING_MAX_DEPTH)
        return topo_bad(in, place, "this is deeper than %d levels, the most that is read",
                        SCHEDULING_MAX_DEPTH);
    if (tree->ndomains == SCHEDULING_MAX_DOMAINS)
        return topo_bad(in, place, "these are more than %d domains, the most a node may have",
                        SCHEDULING_MAX_DOMAINS);
    uint32_t index = tree->ndomains++;
    tree->domains = array_grow(tree->domains, index, sizeof(*tree->domains));
    tree->domains[index] = (struct scheduling_domain){
        .name = mem_copy_text(place->name), .up = up, .cores = idset_new(), .gpus = idset_new()};
    json_object_foreach((json_t *)value, key, item)
    {
        if (topo_read_key(in, place, index, key, item, &own, &below) < 0)
            return -1;
    }
    tree->domains[index].end = tree->ndomains;
    if (topo_gather(in, place, index) < 0)
        return -1;
    tree->domains[index].height = topo_height(tree, index);
    *memory += own > below ? own : below; /* both at most BYTES_MAX: the sum is below 2^64 */
    if (*memory > (uint64_t)BYTES_MAX)
        return topo_bad(in, place,
                        "with this the domains state more memory than 9000 PB, the most that a "
                        "node may have");
    return 0;
}

int scheduling_read_topo(const json_t *topo, const char *ranks, struct scheduling_tree *tree,
                         struct error *err)
{
    const struct topo_place top = {NULL, NULL, 0, 0};
    struct topo_reader in = {.tree = tree, .ranks = ranks, .err = err};
    return topo_read_domain(&in, &top, 0, topo, &tree->memory);
}

void scheduling_tree_clear(struct scheduling_tree *tree)
{
    for (uint32_t i = 0; i < tree->ndomains; i++) {
        free(tree->domains[i].name);
        idset_free(tree->domains[i].cores);
        idset_free(tree->domains[i].gpus);
    }
    free(tree->domains);
    *tree = (struct scheduling_tree){0};
}

static bool scheduling_is_in_part(const struct rset_node *node, void *arg)
{
    return rset_find_rank(arg, node->rank);
}

void scheduling_describe(struct rset *part, const struct rset *R)
{
    struct rset *nodes = R->properties ? rset_select(R, scheduling_is_in_part, part) : NULL;
    json_decref(part->properties);
    json_decref(part->scheduling);
    part->starttime = R->starttime;
    part->expiration = R->expiration;
    part->properties = nodes ? json_incref(nodes->properties) : NULL;
    part->scheduling = scheduling_trim(R->scheduling, part);
    rset_drop_local_properties(part);
    rset_free(nodes);
}

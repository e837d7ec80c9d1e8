#include "affinity/pool/locality.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/resource/excerpt.h"
#include "base/mem.h"
#include "base/table.h"

struct locality_reader {
    struct locality *out;
    struct table kinds;
    char **texts; /* of the topologies, by number */
    uint64_t ndomains;
    size_t spans_room, trees_room;
    struct error *err;
};

void locality_free(struct locality *locality)
{
    if (!locality)
        return;
    for (uint32_t i = 0; i < locality->ntrees; i++)
        locality_tree_clear(&locality->trees[i]);
    free(locality->trees);
    free(locality->spans);
    free(locality);
}

struct locality_wanted {
    const struct locality_reader *in;
    const char *text;
};

static bool locality_same_text(uint32_t number, const void *thing)
{
    const struct locality_wanted *wanted = thing;
    return strcmp(wanted->in->texts[number], wanted->text) == 0;
}

/* The tree of a topology that is not there yet. */
static int locality_new_tree(struct locality_reader *in, const json_t *topo, const char *ranks)
{
    struct locality *out = in->out;
    struct locality_tree *tree = &out->trees[out->ntrees++];
    *tree = (struct locality_tree){0};
    if (locality_read_topo(topo, ranks, tree, in->err) < 0)
        return -1;
    in->ndomains += tree->ndomains;
    if (in->ndomains <= LOCALITY_MAX_ALL_DOMAINS)
        return 0;
    return error_set(in->err,
                     "ranks %s: with this topology there are more than %u domains in all, the most "
                     "that is read: nodes that are alike may share one",
                     excerpt(ranks, strlen(ranks)).text, LOCALITY_MAX_ALL_DOMAINS);
}

static int locality_tree_of(struct locality_reader *in, const json_t *topo, const char *ranks,
                            uint32_t *number)
{
    char *text = json_dumps(topo, JSON_COMPACT);
    if (!text)
        return error_set(in->err, "ranks %s: topo is not text that can be written",
                         excerpt(ranks, strlen(ranks)).text);
    const struct locality_wanted wanted = {in, text};
    *number = table_number(&in->kinds, table_hash_text(text), locality_same_text, &wanted);
    if (*number < in->out->ntrees) {
        free(text);
        return 0;
    }
    if (*number >= in->trees_room) {
        in->trees_room = in->trees_room ? in->trees_room * 2 : 4;
        in->texts = mem_resize(in->texts, in->trees_room, sizeof(*in->texts));
        in->out->trees = mem_resize(in->out->trees, in->trees_room, sizeof(*in->out->trees));
    }
    in->texts[*number] = text;
    return locality_new_tree(in, topo, ranks);
}

static void locality_add_spans(struct locality_reader *in, const struct idset *ranks,
                               uint32_t entry, uint32_t tree)
{
    struct locality_span span = {.entry = entry, .tree = tree};
    struct locality *out = in->out;
    for (size_t at = 0; idset_range(ranks, &at, &span.first, &span.last);) {
        if (out->nspans == in->spans_room) {
            in->spans_room = in->spans_room ? in->spans_room * 2 : 16;
            out->spans = mem_resize(out->spans, in->spans_room, sizeof(*out->spans));
        }
        out->spans[out->nspans++] = span;
    }
}

static int locality_bad_entry(const struct locality_reader *in, size_t entry, const char *what)
{
    return error_set(in->err,
                     "scheduling.children[%zu]: %s; an object with exactly ranks, an idset in a "
                     "string, and topo, an object, is right there (RFC 49)",
                     entry, what);
}

static int locality_read_entry(struct locality_reader *in, const json_t *entry, uint32_t index)
{
    json_t *ranks = json_object_get(entry, "ranks"), *topo = json_object_get(entry, "topo");
    uint32_t tree = 0;
    if (!json_is_object(entry))
        return locality_bad_entry(in, index, "this is no object");
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
        rc = locality_tree_of(in, topo, json_string_value(ranks), &tree);
    if (rc == 0)
        locality_add_spans(in, set, index, tree);
    idset_free(set);
    return rc;
}

static int locality_compare_spans(const void *a, const void *b)
{
    const struct locality_span *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

static int locality_sort_spans(struct locality_reader *in)
{
    struct locality *out = in->out;
    if (out->nspans)
        qsort(out->spans, out->nspans, sizeof(*out->spans), locality_compare_spans);
    for (size_t i = 1; i < out->nspans; i++)
        if (out->spans[i].first <= out->spans[i - 1].last)
            return error_set(in->err,
                             "rank %u is in scheduling.children[%u] and in "
                             "scheduling.children[%u]: one entry for a rank is right",
                             out->spans[i].first, out->spans[i - 1].entry, out->spans[i].entry);
    return 0;
}

static bool locality_is_ours(const json_t *scheduling)
{
    const char *writer = json_string_value(json_object_get(scheduling, "writer"));
    return writer && strcmp(writer, LOCALITY_WRITER) == 0;
}

static int locality_read_all(struct locality_reader *in, const json_t *scheduling)
{
    json_t *children = json_object_get(scheduling, "children");
    if (!locality_is_ours(scheduling))
        return 0;
    if (json_object_size(scheduling) != (children ? 2 : 1))
        return error_set(in->err, "scheduling has a key beside writer and children, which is all "
                                  "there is for the writer TreePool (RFC 49)");
    if (children && !json_is_array(children))
        return error_set(in->err, "scheduling.children is no list: an array of objects with ranks "
                                  "and topo is right there (RFC 49)");
    for (size_t i = 0; i < json_array_size(children); i++)
        if (locality_read_entry(in, json_array_get(children, i), (uint32_t)i) < 0)
            return -1;
    return locality_sort_spans(in);
}

struct locality *locality_read(const json_t *scheduling, struct error *err)
{
    struct locality_reader in = {.out = mem_alloc(sizeof(*in.out)), .err = err};
    int rc = locality_read_all(&in, scheduling);
    for (uint32_t i = 0; i < in.kinds.count; i++)
        free(in.texts[i]);
    free(in.texts);
    table_free(&in.kinds);
    if (rc == 0)
        return in.out;
    locality_free(in.out);
    return NULL;
}

int32_t locality_find(const struct locality *locality, uint32_t rank)
{
    size_t low = 0, high = locality->nspans;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (locality->spans[middle].last < rank)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == locality->nspans || locality->spans[low].first > rank)
        return -1;
    return (int32_t)locality->spans[low].tree;
}

int locality_check(const struct rset *R, struct error *err)
{
    struct locality *locality = locality_read(R->scheduling, err);
    locality_free(locality);
    return locality ? 0 : -1;
}

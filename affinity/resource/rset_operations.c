/* Resource sets out of resource sets: copy, select, subtract, overlap, union; and where ranks change:
 * intersect, renumber, append. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/rset.h"
#include "affinity/resource/rset_private.h"
#include "base/mem.h"
#include "base/search.h"

struct rset_draft rset_draft_new(const struct rset *from)
{
    return (struct rset_draft){from, rset_new(),
                               mem_array(from->priv->nshared, sizeof(struct rset_children *))};
}

void rset_draft_keep(struct rset_draft *draft, const struct rset_node *node)
{
    const struct rset_children **twin = &draft->twins[rset_children_index(node->children)];
    if (!*twin)
        *twin = rset_share(draft->set, node->children->cores, node->children->gpus);
    hostlist_append(draft->set->priv->hosts, node->host);
    const char *host = hostlist_nth(draft->set->priv->hosts, draft->set->nnodes);
    rset_push(draft->set, node->rank, host, *twin);
}

struct rset *rset_draft_done(struct rset_draft *draft, bool same)
{
    struct rset *set = draft->set;
    set->starttime = draft->from->starttime;
    set->expiration = draft->from->expiration;
    set->nslots = same ? draft->from->nslots : 0;
    set->scheduling = json_incref(draft->from->scheduling);
    set->properties =
        same ? json_incref(draft->from->properties) : rset_trim_properties(draft->from, set);
    free(draft->twins);
    return set;
}

struct rset *rset_select(const struct rset *set,
                         bool (*keep)(const struct rset_node *node, void *arg), void *arg)
{
    struct rset_draft draft = rset_draft_new(set);
    for (size_t i = 0; i < set->nnodes; i++)
        if (!keep || keep(&set->nodes[i], arg))
            rset_draft_keep(&draft, &set->nodes[i]);
    return rset_draft_done(&draft, draft.set->nnodes == set->nnodes);
}

struct rset *rset_copy(const struct rset *set)
{
    return rset_select(set, NULL, NULL);
}

static int rset_compare_hosts(const void *a, const void *b)
{
    const struct rset_node *x = *(const struct rset_node *const *)a;
    const struct rset_node *y = *(const struct rset_node *const *)b;
    int order = strcmp(x->host, y->host);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

struct rset_index rset_index_new(const struct rset *set)
{
    struct rset_index index = {mem_array(set->nnodes, sizeof(*index.nodes)), set->nnodes};
    for (size_t i = 0; i < set->nnodes; i++)
        index.nodes[i] = &set->nodes[i];
    qsort(index.nodes, index.count, sizeof(*index.nodes), rset_compare_hosts);
    return index;
}

struct rset_index_search {
    const struct rset_index *index;
    const char *host;
};

static bool rset_index_before(const void *arg, size_t i)
{
    const struct rset_index_search *search = arg;
    return strcmp(search->index->nodes[i]->host, search->host) < 0;
}

size_t rset_index_find(const struct rset_index *index, const char *host)
{
    size_t at =
        search_first(index->count, rset_index_before, &(struct rset_index_search){index, host});
    return rset_index_same(index, at, host) ? at : index->count;
}

bool rset_index_same(const struct rset_index *index, size_t at, const char *host)
{
    return at < index->count && strcmp(index->nodes[at]->host, host) == 0;
}

/* One node less what the nodes at `at` of the index hold. */
static void rset_draft_subtract(struct rset_draft *draft, const struct rset_node *node,
                                const struct rset_index *held, size_t at)
{
    struct idset *cores = idset_copy(node->children->cores);
    struct idset *gpus = idset_copy(node->children->gpus);
    for (; rset_index_same(held, at, node->host); at++) {
        idset_remove_set(cores, held->nodes[at]->children->cores);
        idset_remove_set(gpus, held->nodes[at]->children->gpus);
    }
    if (!idset_empty(cores))
        rset_append(draft->set, node->rank, node->host, cores, gpus);
    idset_free(cores);
    idset_free(gpus);
}

struct rset *rset_subtract_hosts(const struct rset *set, const struct rset *held)
{
    struct rset_draft draft = rset_draft_new(set);
    struct rset_index index = rset_index_new(held);
    bool same = true;
    for (size_t i = 0; i < set->nnodes; i++) {
        size_t at = rset_index_find(&index, set->nodes[i].host);
        if (at == index.count) {
            rset_draft_keep(&draft, &set->nodes[i]);
            continue;
        }
        rset_draft_subtract(&draft, &set->nodes[i], &index, at);
        same = false;
    }
    free(index.nodes);
    return rset_draft_done(&draft, same);
}

/* Add to `all` what two sets have in common. */
static void rset_add_common(struct idset *all, const struct idset *a, const struct idset *b)
{
    struct idset *both = idset_intersect(a, b);
    idset_add_set(all, both);
    idset_free(both);
}

void rset_free_children(struct rset_children *children)
{
    idset_free(children->cores);
    idset_free(children->gpus);
}

struct rset_children rset_common(const struct rset_node *node, const struct rset_index *index,
                                 size_t at)
{
    struct rset_children all = {idset_new(), idset_new()};
    for (; rset_index_same(index, at, node->host); at++) {
        const struct rset_children *other = index->nodes[at]->children;
        rset_add_common(all.cores, node->children->cores, other->cores);
        rset_add_common(all.gpus, node->children->gpus, other->gpus);
    }
    return all;
}

const char *rset_overlap(const struct rset *a, const struct rset *b, struct rset_children *common)
{
    struct rset_index index = rset_index_new(b);
    const char *host = NULL;
    for (size_t i = 0; i < a->nnodes && !host; i++) {
        size_t at = rset_index_find(&index, a->nodes[i].host);
        if (at == index.count)
            continue;
        struct rset_children both = rset_common(&a->nodes[i], &index, at);
        if (!idset_empty(both.cores) || !idset_empty(both.gpus))
            host = a->nodes[i].host;
        if (host && common)
            *common = both;
        else
            rset_free_children(&both);
    }
    free(index.nodes);
    return host;
}

/* The two sets of one host, over all of its nodes. */
static size_t rset_merge_host(struct rset *sum, const struct rset_index *index, size_t at)
{
    const char *host = index->nodes[at]->host;
    struct idset *cores = idset_new(), *gpus = idset_new();
    for (; rset_index_same(index, at, host); at++) {
        idset_add_set(cores, index->nodes[at]->children->cores);
        idset_add_set(gpus, index->nodes[at]->children->gpus);
    }
    rset_append(sum, (uint32_t)sum->nnodes, host, cores, gpus);
    idset_free(cores);
    idset_free(gpus);
    return at;
}

struct rset *rset_union_hosts(const struct rset *const *sets, size_t nsets)
{
    struct rset_index index = {NULL, 0};
    size_t at = 0;
    for (size_t i = 0; i < nsets; i++)
        index.count += sets[i]->nnodes;
    index.nodes = mem_array(index.count, sizeof(*index.nodes));
    for (size_t i = 0; i < nsets; i++)
        for (size_t j = 0; j < sets[i]->nnodes; j++)
            index.nodes[at++] = &sets[i]->nodes[j];
    qsort(index.nodes, index.count, sizeof(*index.nodes), rset_compare_hosts);
    struct rset *sum = rset_new();
    for (at = 0; at < index.count;)
        at = rset_merge_host(sum, &index, at);
    free(index.nodes);
    return sum;
}

/* `set` is valid while `other` is, too. */
static int join_times(struct rset *set, const struct rset *other, struct error *err)
{
    if (other->starttime > set->starttime)
        set->starttime = other->starttime;
    if (other->expiration != 0 && (set->expiration == 0 || other->expiration < set->expiration))
        set->expiration = other->expiration;
    if (set->expiration != 0 && set->expiration <= set->starttime)
        return error_set(err,
                         "the two are never valid together: one expires at %.15g, the other "
                         "starts at %.15g (seconds since 1970)",
                         set->expiration, set->starttime);
    return 0;
}

struct rset *rset_intersect_hosts(const struct rset *set, const struct rset *other,
                                  struct error *err)
{
    struct rset_draft draft = rset_draft_new(set);
    struct rset_index index = rset_index_new(other);
    for (size_t i = 0; i < set->nnodes; i++) {
        const struct rset_node *node = &set->nodes[i];
        struct rset_children both = rset_common(node, &index, rset_index_find(&index, node->host));
        if (!idset_empty(both.cores))
            rset_append(draft.set, node->rank, node->host, both.cores, both.gpus);
        rset_free_children(&both);
    }
    free(index.nodes);
    struct rset *result = rset_draft_done(&draft, false);
    if (join_times(result, other, err) == 0)
        return result;
    rset_free(result);
    return NULL;
}

/* ---- properties ---- */

/* The properties of a set, with its new numbers (NULL: as they are), beside those of `to`. */
static void join_properties(struct rset *to, const struct rset *set, const uint32_t *ranks)
{
    const char *name;
    json_t *value;
    json_object_foreach(set->properties, name, value)
    {
        const char *there = json_string_value(json_object_get(to->properties, name));
        struct idset *from = idset_decode(json_string_value(value), NULL);
        struct idset *all = idset_decode(there ? there : "", NULL);
        IDSET_FOREACH(rank, from)
        {
            const struct rset_node *node = rset_find_rank(set, rank);
            if (node)
                idset_add(all, ranks ? ranks[node - set->nodes] : rank);
        }
        char *text = idset_encode(all);
        if (!to->properties)
            to->properties = json_object();
        json_object_set_new(to->properties, name, json_string(text));
        free(text);
        idset_free(from);
        idset_free(all);
    }
}

/* ---- nodes in a new order ---- */

/* A node as it will be. */
struct place {
    uint32_t rank;
    const struct rset_node *node;
    struct rset_draft *draft;    /* of the set that it is from */
    struct rset_children joined; /* all that there is of its host; NULL: what the node has */
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* In order of their ranks; drafts share the set that they make. Takes the places. */
static void put_places(struct place *places, size_t count)
{
    qsort(places, count, sizeof(*places), compare_places);
    for (size_t i = 0; i < count; i++) {
        const struct place *place = &places[i];
        struct rset_node node = *place->node;
        node.rank = place->rank;
        if (place->joined.cores)
            rset_append(place->draft->set, node.rank, node.host, place->joined.cores,
                        place->joined.gpus);
        else
            rset_draft_keep(place->draft, &node);
        rset_free_children(&places[i].joined);
    }
    free(places);
}

struct rset *rset_renumber(const struct rset *set, const uint32_t *ranks)
{
    struct rset_draft draft = rset_draft_new(set);
    struct place *places = mem_array(set->nnodes, sizeof(*places));
    for (size_t i = 0; i < set->nnodes; i++)
        places[i] = (struct place){.rank = ranks[i], .node = &set->nodes[i], .draft = &draft};
    put_places(places, set->nnodes);
    struct rset *result = draft.set;
    free(draft.twins);
    result->starttime = set->starttime;
    result->expiration = set->expiration;
    result->nslots = set->nslots;
    join_properties(result, set, ranks);
    return result;
}

/* ---- append ---- */

struct joint {
    const struct rset *set, *more;
    struct rset_index hosts; /* of `set` */
    uint32_t *ranks;         /* of the nodes of `more` */
    struct place *places;    /* the nodes of `set`, then the new ones */
    size_t nplaces;
};

static int check_apart(const struct joint *joint, struct error *err)
{
    struct rset_children common;
    const char *host = rset_overlap(joint->set, joint->more, &common);
    if (!host)
        return 0;
    char *cores = idset_encode(common.cores), *gpus = idset_encode(common.gpus);
    if (*cores)
        error_set(err, "%s: core%s %s %s in both; subtract one from the other first", host,
                  idset_count(common.cores) == 1 ? "" : "s", cores,
                  idset_count(common.cores) == 1 ? "is" : "are");
    else
        error_set(err, "%s: gpu%s %s %s in both; subtract one from the other first", host,
                  idset_count(common.gpus) == 1 ? "" : "s", gpus,
                  idset_count(common.gpus) == 1 ? "is" : "are");
    free(cores);
    free(gpus);
    rset_free_children(&common);
    return -1;
}

/* The node of `set` that a host has, or NULL. */
static const struct rset_node *node_of_host(const struct joint *joint, const char *host)
{
    size_t at = rset_index_find(&joint->hosts, host);
    return at < joint->hosts.count ? joint->hosts.nodes[at] : NULL;
}

static int rset_operations_number_nodes(struct joint *joint, struct error *err)
{
    size_t count = 0, nold = joint->set->nnodes;
    bool keep = true; /* whether the new hosts keep their ranks */
    for (size_t i = 0; i < joint->more->nnodes; i++) {
        const struct rset_node *node = &joint->more->nodes[i];
        if (node_of_host(joint, node->host))
            continue;
        keep = keep && !rset_find_rank(joint->set, node->rank);
        count++;
    }
    uint32_t next = nold ? joint->set->nodes[nold - 1].rank + 1 : 0;
    if (!keep && count > (size_t)IDSET_MAX + 1 - next)
        return error_set(err, "behind rank %u are not enough numbers for %zu nodes: rerank before",
                         next - 1, count);
    for (size_t i = 0; i < joint->more->nnodes; i++) {
        const struct rset_node *node = &joint->more->nodes[i];
        const struct rset_node *there = node_of_host(joint, node->host);
        joint->ranks[i] = there ? there->rank : keep ? node->rank : next;
        next += !there && !keep;
    }
    return 0;
}

static void join_set(struct idset **all, const struct idset *first, const struct idset *more)
{
    if (!*all)
        *all = idset_copy(first);
    idset_add_set(*all, more);
}

static void place_nodes(struct joint *joint, struct rset_draft drafts[2])
{
    const struct rset *set = joint->set, *more = joint->more;
    joint->places = mem_array(set->nnodes + more->nnodes, sizeof(*joint->places));
    for (size_t i = 0; i < set->nnodes; i++)
        joint->places[joint->nplaces++] =
            (struct place){.rank = set->nodes[i].rank, .node = &set->nodes[i], .draft = &drafts[0]};
    for (size_t i = 0; i < more->nnodes; i++) {
        const struct rset_node *node = &more->nodes[i], *there = node_of_host(joint, node->host);
        if (there) { /* what it has comes to that node */
            struct rset_children *joined = &joint->places[there - set->nodes].joined;
            join_set(&joined->cores, there->children->cores, node->children->cores);
            join_set(&joined->gpus, there->children->gpus, node->children->gpus);
        } else {
            joint->places[joint->nplaces++] =
                (struct place){.rank = joint->ranks[i], .node = node, .draft = &drafts[1]};
        }
    }
}

static struct rset *join(struct joint *joint, struct error *err)
{
    struct rset_draft first = rset_draft_new(joint->set), second = rset_draft_new(joint->more);
    struct rset_draft drafts[2] = {first, second};
    rset_free(drafts[1].set);
    drafts[1].set = first.set;
    place_nodes(joint, drafts);
    put_places(joint->places, joint->nplaces);
    free(first.twins);
    free(second.twins);
    first.set->starttime = joint->set->starttime;
    first.set->expiration = joint->set->expiration;
    join_properties(first.set, joint->set, NULL);
    join_properties(first.set, joint->more, joint->ranks);
    if (join_times(first.set, joint->more, err) == 0)
        return first.set;
    rset_free(first.set);
    return NULL;
}

struct rset *rset_append_set(const struct rset *set, const struct rset *more, uint32_t **ranks,
                             struct error *err)
{
    struct joint joint = {.set = set,
                          .more = more,
                          .hosts = rset_index_new(set),
                          .ranks = mem_array(more->nnodes, sizeof(*joint.ranks))};
    struct rset *sum = NULL;
    if (check_apart(&joint, err) == 0 && rset_operations_number_nodes(&joint, err) == 0)
        sum = join(&joint, err);
    free(joint.hosts.nodes);
    if (!sum) {
        free(joint.ranks);
        joint.ranks = NULL;
    }
    *ranks = joint.ranks;
    return sum;
}

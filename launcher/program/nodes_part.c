/* Parts of a list of nodes. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/program/allotment.h"
#include "launcher/program/nodes.h"
#include "launcher/program/nodes_build.h"

/* Both sets, where `want` is not within `have`. */
static int part_check(const struct idset *want, const struct idset *have, const char *what,
                      const struct node *node, const char *names[2], struct error *err)
{
    if (!want || !have || idset_within(want, have))
        return 0;
    char *want_text = idset_encode(want), *have_text = idset_encode(have);
    error_set(err, "%s names %ss %s of %s, but %s has %s there", names[0], what, want_text,
              node->host, names[1], *have_text ? have_text : "none");
    free(want_text);
    free(have_text);
    return -1;
}

static void part_take(struct idset **set, const struct idset *from)
{
    idset_free(*set);
    *set = idset_copy(from);
}

/* R says what the nodes do now; of its times the set's are kept where they end earlier. */
static void part_settle(struct nodes *nodes, const struct rset *set)
{
    struct rset *R = rset_new(), *old = nodes->R;
    for (size_t i = 0; i < nodes->count; i++) {
        struct node *node = &nodes->list[i];
        if (!old)
            node->target = (uint32_t)i;
        rset_append(R, node->target, node->host, node->cores, node->gpus);
    }
    if (old)
        allotment_describe(R, old);
    if (!(R->expiration > 0) || (set->expiration > 0 && set->expiration < R->expiration))
        R->expiration = set->expiration;
    rset_free(old);
    nodes->R = R;
}

/* The node of a host, which may be this machine under another name; NODES_INDEX_NONE: none. */
static size_t part_find(const struct nodes *nodes, const struct nodes_index *index,
                        const char *host)
{
    size_t at = nodes_index_find(index, host);
    if (at != NODES_INDEX_NONE || !nodes_is_here(host))
        return at;
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->list[i].here)
            return i;
    return NODES_INDEX_NONE;
}

static struct nodes_index *part_index(const struct nodes *nodes)
{
    struct nodes_index *index = nodes_index_new(nodes->count);
    for (size_t i = 0; i < nodes->count; i++)
        nodes_index_add(index, nodes->list[i].host, i);
    return index;
}

static char *part_hosts(const struct nodes *nodes)
{
    struct hostlist *hosts = hostlist_new();
    for (size_t i = 0; i < nodes->count; i++)
        hostlist_append(hosts, nodes->list[i].host);
    char *text = hostlist_encode(hosts);
    hostlist_free(hosts);
    return text;
}

static int part_keep_node(struct nodes *nodes, size_t at, const struct rset_node *from,
                          const char *name, struct error *err)
{
    const char *names[2] = {name, nodes->source};
    if (at == NODES_INDEX_NONE) {
        char *hosts = part_hosts(nodes);
        error_set(err, "%s names %s, which is not part of this instance (%s: %s)", name, from->host,
                  nodes->source, hosts);
        free(hosts);
        return -1;
    }
    struct node *node = &nodes->list[at];
    if (part_check(from->children->cores, node->cores, "core", node, names, err) < 0 ||
        part_check(from->children->gpus, node->gpus, "GPU", node, names, err) < 0)
        return -1;
    part_take(&node->cores, from->children->cores);
    part_take(&node->gpus, from->children->gpus);
    return 0;
}

int nodes_keep(struct nodes *nodes, const struct rset *set, const char *name, struct error *err)
{
    struct nodes_index *index = part_index(nodes);
    bool *drop = mem_array(nodes->count, sizeof(*drop));
    int rc = 0;
    for (size_t i = 0; i < nodes->count; i++)
        drop[i] = true;
    for (size_t i = 0; rc == 0 && i < set->nnodes; i++) {
        size_t at = part_find(nodes, index, set->nodes[i].host);
        rc = part_keep_node(nodes, at, &set->nodes[i], name, err);
        if (rc == 0)
            drop[at] = false;
    }
    if (rc == 0) {
        nodes_drop(nodes, drop);
        part_settle(nodes, set);
    }
    nodes_index_free(index);
    free(drop);
    return rc;
}

static const struct rset_node *part_find_in_set(const struct rset *set, const struct node *node)
{
    const struct rset_node *found = rset_find_host(set, node->host);
    for (size_t i = 0; !found && node->here && i < set->nnodes; i++)
        if (nodes_is_here(set->nodes[i].host))
            found = &set->nodes[i];
    return found;
}

static char *part_hosts_of_set(const struct rset *set)
{
    struct hostlist *hosts = hostlist_new();
    for (size_t i = 0; i < set->nnodes; i++)
        hostlist_append(hosts, set->nodes[i].host);
    char *text = hostlist_encode(hosts);
    hostlist_free(hosts);
    return text;
}

static int part_bound_node(struct node *node, const struct rset *set, const char *names[2],
                           bool *any, struct error *err)
{
    const struct rset_node *outer = part_find_in_set(set, node);
    if (!outer) {
        char *hosts = part_hosts_of_set(set);
        error_set(err, "%s names %s, but %s has only %s", names[0], node->host, names[1], hosts);
        free(hosts);
        return -1;
    }
    if (part_check(node->cores, outer->children->cores, "core", node, names, err) < 0 ||
        part_check(node->gpus, outer->children->gpus, "GPU", node, names, err) < 0)
        return -1;
    if (!node->cores) {
        part_take(&node->cores, outer->children->cores);
        *any = true;
    }
    if (!node->gpus)
        part_take(&node->gpus, outer->children->gpus);
    return 0;
}

int nodes_bound(struct nodes *nodes, const struct rset *set, const char *name, struct error *err)
{
    const char *names[2] = {nodes->source, name};
    for (size_t i = 0; i < nodes->count; i++)
        if (part_bound_node(&nodes->list[i], set, names, &nodes->enclosed, err) < 0)
            return -1;
    if (nodes->R)
        part_settle(nodes, set);
    return 0;
}

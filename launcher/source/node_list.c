/* A list of nodes put together: hosts joined, left out, and kept within what a set or a program has. */
#include "launcher/source/node_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/scheduling.h"
#include "affinity/sets/hostlist.h"
#include "base/array.h"
#include "base/mem.h"
#include "launcher/process/localhost.h"
#include "launcher/source/node_list_private.h"
#include "launcher/spec/field_words.h"

#define BOUND_FEW 8 /* nodes that are looked for one by one in what bounds them */

const char *node_list_host_of(const char *login)
{
    const char *at = strrchr(login, '@');
    return at ? at + 1 : login;
}

struct node_list *node_list_new(char *source)
{
    struct node_list *nodes = mem_alloc(sizeof(*nodes));
    nodes->names = hostlist_new();
    nodes->source = source;
    return nodes;
}

static void node_clear(struct node *node)
{
    if (node->login != node->host)
        free((char *)(uintptr_t)node->login);
    idset_free(node->cores);
    idset_free(node->gpus);
}

void node_list_free(struct node_list *nodes)
{
    int saved = errno;
    for (size_t i = 0; nodes && i < nodes->count; i++)
        node_clear(&nodes->list[i]);
    if (nodes) {
        free(nodes->list);
        hostlist_free(nodes->names);
        rset_free(nodes->R);
        free(nodes->source);
        free(nodes->identity);
        free(nodes->note);
    }
    free(nodes);
    errno = saved;
}

/* No limit and a limit are no limit. */
static uint32_t limits_add(uint32_t a, uint32_t b)
{
    if (!a || !b)
        return 0;
    return a + b < SPEC_MAX_NUMBER ? a + b : SPEC_MAX_NUMBER;
}

/* A set that is not there says nothing; the empty one says none. */
static void sets_join(struct idset **set, struct idset *more)
{
    struct idset *old = *set;
    if (!more)
        return;
    *set = old ? idset_union(old, more) : idset_ref(more);
    idset_free(old);
}

void node_list_add_cores(struct node *node, struct idset *cores, struct idset *gpus)
{
    sets_join(&node->cores, cores);
    sets_join(&node->gpus, gpus);
}

struct node *node_list_add(struct node_list *nodes, struct host_index *index, const char *login,
                           uint32_t target, uint32_t limit)
{
    const char *host = node_list_host_of(login);
    size_t at = host_index_add(index, host, nodes->count);
    if (at != HOST_INDEX_NONE) {
        nodes->list[at].limit = limits_add(nodes->list[at].limit, limit);
        return &nodes->list[at];
    }
    hostlist_append(nodes->names, host);
    const char *name = hostlist_nth(nodes->names, hostlist_count(nodes->names) - 1);
    nodes->list = array_grow(nodes->list, nodes->count, sizeof(nodes->list[0]));
    struct node *node = &nodes->list[nodes->count++];
    *node = (struct node){.host = name,
                          .login = login == host ? name : mem_copy_text(login),
                          .target = target,
                          .limit = limit};
    return node;
}

struct host_index *node_list_index(const struct node_list *nodes)
{
    struct host_index *index = host_index_new(nodes->count);
    for (size_t i = 0; i < nodes->count; i++)
        host_index_add(index, nodes->list[i].host, i);
    return index;
}

bool node_list_is_here(const char *host)
{
    bool here = localhost_is_literal(host);
    if (!here)
        localhost_resolve(&host, &here, 1);
    return here;
}

/* Names that are not known to be ours are looked up in small lists only: the hosts of a large one
 * come from a batch system, which calls this machine by its name. */
static void find_resolved(const char *const *hosts, bool *here, size_t count)
{
    const char *names[LOCALHOST_MAX_LOOKUPS] = {NULL};
    bool answer[LOCALHOST_MAX_LOOKUPS] = {false};
    size_t asked = 0;
    if (count > LOCALHOST_MAX_LOOKUPS)
        return;
    for (size_t i = 0; i < count; i++)
        if (!here[i])
            names[asked++] = hosts[i];
    localhost_resolve(names, answer, asked);
    for (size_t i = count; i > 0 && asked > 0; i--)
        if (!here[i - 1])
            here[i - 1] = answer[--asked];
}

void node_list_find_here(struct node_list *nodes)
{
    const char **hosts = mem_array(nodes->count, sizeof(*hosts));
    bool *here = mem_array(nodes->count, sizeof(*here));
    for (size_t i = 0; i < nodes->count; i++)
        hosts[i] = nodes->list[i].host;
    localhost_find_literals(hosts, here, nodes->count);
    find_resolved(hosts, here, nodes->count);
    for (size_t i = 0; i < nodes->count; i++) {
        nodes->list[i].here = here[i];
        if (here[i])
            nodes->here_at = i;
    }
    free(hosts);
    free(here);
}

void node_list_drop(struct node_list *nodes, const bool *drop)
{
    size_t kept = 0;
    for (size_t i = 0; i < nodes->count; i++) {
        if (drop[i]) {
            node_clear(&nodes->list[i]);
            continue;
        }
        if (nodes->list[i].here)
            nodes->here_at = kept;
        nodes->list[kept++] = nodes->list[i];
    }
    nodes->count = kept;
}

void node_list_join_here(struct node_list *nodes)
{
    bool *drop = mem_array(nodes->count, sizeof(*drop));
    struct node *first = NULL;
    for (size_t i = 0; i < nodes->count; i++) {
        struct node *node = &nodes->list[i];
        drop[i] = node->here && first;
        if (drop[i]) {
            first->limit = limits_add(first->limit, node->limit);
            node_list_add_cores(first, node->cores, node->gpus);
        } else if (node->here) {
            first = node;
        }
    }
    node_list_drop(nodes, drop);
    free(drop);
}

struct node *node_list_this_machine(const struct node_list *nodes)
{
    struct node *node = nodes->here_at < nodes->count ? &nodes->list[nodes->here_at] : NULL;
    return node && node->here ? node : NULL;
}

/* By name, or as this machine by any of its own. False: there is no such node. */
static bool exclude_one(const struct node_list *nodes, const struct host_index *index,
                        const char *host, bool *drop)
{
    size_t at = host_index_find(index, host);
    bool found = at != HOST_INDEX_NONE;
    if (found)
        drop[at] = true;
    if (found ? !nodes->list[at].here : !localhost_is_literal(host))
        return found;
    for (size_t i = 0; i < nodes->count; i++) {
        drop[i] = drop[i] || nodes->list[i].here;
        found = found || nodes->list[i].here;
    }
    return found;
}

static int exclude_all(const struct node_list *nodes, const struct hostlist *hosts, bool *drop,
                       struct error *err)
{
    struct host_index *index = node_list_index(nodes);
    int rc = 0;
    for (size_t i = 0; i < hostlist_count(hosts) && rc == 0; i++) {
        const char *host = node_list_host_of(hostlist_nth(hosts, i));
        if (!exclude_one(nodes, index, host, drop))
            rc =
                error_usage(err, "--exclude: %s is not among the nodes of %s", host, nodes->source);
    }
    host_index_free(index);
    if (rc < 0)
        return -1;
    for (size_t i = 0; i < nodes->count; i++)
        if (!drop[i])
            return 0;
    return error_usage(err, "--exclude leaves no node of %s: name fewer nodes", nodes->source);
}

bool *node_list_excluded(const struct node_list *nodes, const char *hostlist, struct error *err)
{
    struct hostlist *hosts = hostlist_decode(hostlist ? hostlist : "", err);
    if (!hosts) {
        error_usage(err, "--exclude: %s", error_text(err));
        return NULL;
    }
    bool *drop = mem_array(nodes->count, sizeof(*drop));
    int rc = exclude_all(nodes, hosts, drop, err);
    hostlist_free(hosts);
    if (rc == 0)
        return drop;
    free(drop);
    return NULL;
}

/* ---- parts of a list ---- */

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

static void part_take(struct idset **set, struct idset *from)
{
    idset_free(*set);
    *set = idset_ref(from);
}

/* R says what the nodes do now; of its times the set's are kept where they end earlier. */
static void part_settle(struct node_list *nodes, const struct rset *set)
{
    struct rset *R = rset_new(), *old = nodes->R;
    for (size_t i = 0; i < nodes->count; i++) {
        struct node *node = &nodes->list[i];
        if (!old)
            node->target = (uint32_t)i;
        rset_append(R, node->target, node->host, node->cores, node->gpus);
    }
    if (old)
        scheduling_describe(R, old);
    if (!(R->expiration > 0) || (set->expiration > 0 && set->expiration < R->expiration))
        R->expiration = set->expiration;
    rset_free(old);
    nodes->R = R;
}

/* The node of a host, which may be this machine under another name; HOST_INDEX_NONE: none. */
static size_t part_find(const struct node_list *nodes, const struct host_index *index,
                        const char *host)
{
    size_t at = host_index_find(index, host);
    if (at != HOST_INDEX_NONE || !node_list_is_here(host))
        return at;
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->list[i].here)
            return i;
    return HOST_INDEX_NONE;
}

static int part_keep_node(struct node_list *nodes, size_t at, const struct rset_node *from,
                          const char *name, struct error *err)
{
    const char *names[2] = {name, nodes->source};
    if (at == HOST_INDEX_NONE) {
        struct hostlist *list = hostlist_new();
        for (size_t i = 0; i < nodes->count; i++)
            hostlist_append(list, nodes->list[i].host);
        char *hosts = hostlist_encode(list);
        error_set(err, "%s names %s, which is not part of this instance (%s: %s)", name, from->host,
                  nodes->source, hosts);
        hostlist_free(list);
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

int node_list_keep(struct node_list *nodes, const struct rset *set, const char *name,
                   struct error *err)
{
    struct host_index *index = node_list_index(nodes);
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
        node_list_drop(nodes, drop);
        part_settle(nodes, set);
    }
    host_index_free(index);
    free(drop);
    return rc;
}

static const struct rset_node *part_find_by_name(const struct rset *set,
                                                 const struct host_index *index, const char *host)
{
    if (!index)
        return rset_find_host(set, host);
    size_t place = host_index_find(index, host);
    return place == HOST_INDEX_NONE ? NULL : &set->nodes[place];
}

/* The set's node of this one, which may be this machine under another name; NULL: none. */
static const struct rset_node *
part_find_in_set(const struct rset *set, const struct host_index *index, const struct node *node)
{
    const struct rset_node *found = part_find_by_name(set, index, node->host);
    for (size_t i = 0; !found && node->here && i < set->nnodes; i++)
        if (node_list_is_here(set->nodes[i].host))
            found = &set->nodes[i];
    return found;
}

static int part_bound_node(struct node *node, const struct rset *set,
                           const struct host_index *index, const char *names[2], bool *any,
                           struct error *err)
{
    const struct rset_node *outer = part_find_in_set(set, index, node);
    if (!outer) {
        struct hostlist *list = hostlist_new();
        for (size_t i = 0; i < set->nnodes; i++)
            hostlist_append(list, set->nodes[i].host);
        char *hosts = hostlist_encode(list);
        error_set(err, "%s names %s, but %s has only %s", names[0], node->host, names[1], hosts);
        hostlist_free(list);
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

int node_list_bound(struct node_list *nodes, const struct rset *set, const char *name,
                    struct error *err)
{
    const char *names[2] = {nodes->source, name};
    /* An index takes in all of a large set, and few nodes are found sooner without. */
    struct host_index *index = nodes->count > BOUND_FEW ? rset_host_index(set) : NULL;
    int rc = 0;
    for (size_t i = 0; i < nodes->count && rc == 0; i++)
        rc = part_bound_node(&nodes->list[i], set, index, names, &nodes->enclosed, err);
    host_index_free(index);
    if (rc == 0 && nodes->R)
        part_settle(nodes, set);
    return rc;
}

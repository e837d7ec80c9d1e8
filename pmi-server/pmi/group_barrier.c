/* Groups of tasks: parsed, kept by name and by id, and what their exchange carries. */
#include "pmi-server/pmi/group_barrier.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/exchange/exchange.h"

/* ---- a group's name ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t l = *(const uint32_t *)a, r = *(const uint32_t *)b;
    return (l > r) - (l < r);
}

/* "RANK,RANK,...:", in any order, and a rank more than once; false when it is none. */
static bool parse_ranks(struct group_barrier *group, const char *text, uint32_t size)
{
    size_t room = 1, count = 0;
    char *end;
    for (const char *at = text; *at != ':' && *at; at++)
        room += *at == ',';
    group->ranks = mem_array(room, sizeof(*group->ranks));
    do {
        if (!isdigit((unsigned char)*text))
            return false;
        unsigned long rank = strtoul(text, &end, 10);
        if (rank >= size || count == room)
            return false;
        group->ranks[count++] = (uint32_t)rank;
        text = end + 1;
    } while (*end == ',');
    if (*end != ':')
        return false;
    qsort(group->ranks, count, sizeof(*group->ranks), by_number);
    for (size_t i = 0; i < count; i++)
        if (!i || group->ranks[i] != group->ranks[group->count - 1])
            group->ranks[group->count++] = group->ranks[i];
    return true;
}

static uint32_t node_of(const struct pmi_server *server, uint32_t rank)
{
    return server->ops->node_of ? server->ops->node_of(server->arg, rank) : 0;
}

static bool is_of_node(const struct group_barrier *group)
{
    return *group->barrier.name == 'N';
}

bool group_barrier_has(const struct pmi_server *server, const struct group_barrier *group,
                       uint32_t rank)
{
    if (group->ranks)
        return bsearch(&rank, group->ranks, group->count, sizeof(rank), by_number) != NULL;
    return !is_of_node(group) || node_of(server, rank) == node_of(server, server->clients[0]->rank);
}

size_t group_barrier_index(const struct group_barrier *group, const struct pmi_client *client)
{
    if (!group->local)
        return client->index;
    return (size_t)((const uint32_t *)bsearch(&client->rank, group->local, group->barrier.nlocal,
                                              sizeof(client->rank), by_number) -
                    group->local);
}

/* ---- its barrier ---- */

/* FNV-1a: all members' nodes come to the same. Two groups whose hashes are the same are told apart
 * by their names, in what the exchange brings. */
static uint64_t name_hash(const char *name)
{
    uint64_t hash = 14695981039346656037ull;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211ull;
    return hash;
}

/* The bits of an id that say which group it is. */
static uint64_t hash_bits(uint64_t hash)
{
    return hash & PMI_GROUP_HASH;
}

/* How many nodes have members, and which members are here. */
static void group_spread(struct group_barrier *group, const struct pmi_client *client)
{
    const struct pmi_server *server = client->server;
    uint32_t here = node_of(server, client->rank);
    uint32_t *nodes = mem_array(group->count, sizeof(*nodes));
    for (size_t i = 0; i < group->count; i++) {
        nodes[i] = node_of(server, group->ranks[i]);
        group->barrier.nlocal += nodes[i] == here;
    }
    group->local = mem_array(group->barrier.nlocal, sizeof(*group->local));
    for (size_t i = 0, n = 0; i < group->count; i++)
        if (nodes[i] == here)
            group->local[n++] = group->ranks[i];
    qsort(nodes, group->count, sizeof(*nodes), by_number);
    for (size_t i = 0; i < group->count; i++)
        group->barrier.nnodes += !i || nodes[i] != nodes[i - 1];
    free(nodes);
}

/* Who has left already enters it no more. */
static void group_miss(struct group_barrier *group, const struct pmi_server *server)
{
    if (!server->left.bits)
        return;
    for (size_t i = 0; i < group->count; i++)
        if (left_ranks_has(&server->left, group->ranks[i]))
            barrier_leave(&group->barrier, group->ranks[i], 0);
    for (size_t i = 0; !group->ranks && i < server->nclients; i++)
        if (left_ranks_has(&server->left, server->clients[i]->rank))
            barrier_leave(&group->barrier, server->clients[i]->rank, 0);
    if (!group->ranks && !is_of_node(group))
        barrier_leave(&group->barrier, server->left.last, 0);
}

static void group_free(struct group_barrier *group)
{
    barrier_free(&group->barrier);
    free(group->tag);
    free(group->ranks);
    free(group->local);
    free(group);
}

/* ---- those that are open ---- */

static struct group_barrier **group_barrier_bucket_of(const struct groups *groups, uint64_t id)
{
    return &groups->buckets[hash_bits(id) & (groups->nbuckets - 1)];
}

static void groups_add(struct groups *groups, struct group_barrier *group)
{
    group->next = groups->first;
    if (group->next)
        group->next->before = group;
    groups->first = group;
    groups->bytes += strlen(group->barrier.name);
    bool grows = ++groups->count > groups->nbuckets;
    if (grows) {
        free(groups->buckets);
        groups->nbuckets = groups->nbuckets ? groups->nbuckets * 2 : 16;
        groups->buckets = mem_array(groups->nbuckets, sizeof(*groups->buckets));
    }
    /* All of them go into new buckets, this one alone into old ones. */
    for (struct group_barrier *one = group; one; one = grows ? one->next : NULL) {
        struct group_barrier **bucket = group_barrier_bucket_of(groups, one->barrier.id);
        one->chain = *bucket;
        *bucket = one;
    }
}

void group_barrier_retire(struct pmi_server *server, struct group_barrier *group)
{
    struct groups *groups = &server->groups;
    struct group_barrier **at = group_barrier_bucket_of(groups, group->barrier.id);
    while (*at != group)
        at = &(*at)->chain;
    *at = group->chain;
    *(group->before ? &group->before->next : &groups->first) = group->next;
    if (group->next)
        group->next->before = group->before;
    groups->count--;
    groups->bytes -= strlen(group->barrier.name);
    group_free(group);
}

void group_barriers_free(struct pmi_server *server)
{
    while (server->groups.first)
        group_barrier_retire(server, server->groups.first);
    free(server->groups.buckets);
    server->groups = (struct groups){0};
}

struct group_barrier *group_barrier_by_id(const struct pmi_server *server, uint64_t id)
{
    struct group_barrier *group =
        server->groups.count ? *group_barrier_bucket_of(&server->groups, id) : NULL;
    while (group && group->barrier.id != id)
        group = group->chain;
    return group;
}

static struct group_barrier *group_by_name(const struct pmi_server *server, const char *name)
{
    struct group_barrier *group =
        server->groups.count ? *group_barrier_bucket_of(&server->groups, name_hash(name)) : NULL;
    while (group && strcmp(group->barrier.name, name) != 0)
        group = group->chain;
    return group;
}

static bool all_have_left(const struct pmi_server *server, const struct group_barrier *group)
{
    bool listed = group->local;
    for (size_t i = 0; i < group->barrier.nlocal; i++)
        if ((!listed && i >= server->nclients) ||
            !left_ranks_has(&server->left, listed ? group->local[i] : server->clients[i]->rank))
            return false;
    return true;
}

void group_barriers_left(struct pmi_server *server, uint32_t rank)
{
    struct group_barrier *next;
    for (struct group_barrier *group = server->groups.first; group; group = next) {
        next = group->next;
        if (group->barrier.exchanging || !group_barrier_has(server, group, rank) ||
            !all_have_left(server, group))
            continue;
        for (struct pmi_request *at = group->barrier.first, *after; at; at = after) {
            after = at->next_in;
            request_done(at);
        }
        group_barrier_retire(server, group);
    }
}

/* ---- entered ---- */

static struct group_barrier *group_parse(const struct pmi_client *client, const char *text,
                                         const char **why)
{
    const char *tag = strchr(text, ':');
    struct group_barrier *group = mem_alloc(sizeof(*group));
    bool world = !strncmp(text, "WORLD:", 6), node = !strncmp(text, "NODE:", 5);
    *why = NULL;
    /* The tag is a number of 1 to 10 digits. */
    if (!tag || !tag[1] || strlen(tag) > 11 || strspn(tag + 1, "0123456789") != strlen(tag + 1) ||
        (!world && !node && !parse_ranks(group, text, client->server->config.size))) {
        *why = "a bad group";
        group_free(group);
        return NULL;
    }
    group->tag = mem_copy_text(tag + 1);
    /* One name for one group, however its members wrote it. */
    struct buf name = BUF_INIT;
    if (!group->ranks)
        buf_add_text(&name, world ? "WORLD" : "NODE");
    for (size_t i = 0; i < group->count; i++)
        buf_printf(&name, "%s%" PRIu32, i ? "," : "", group->ranks[i]);
    buf_printf(&name, ":%s", group->tag);
    group->barrier.name = buf_take_text(&name);
    return group;
}

/* Made, and taken over, unless there is one of that name. */
static struct group_barrier *group_open(struct pmi_client *client, struct group_barrier *fresh,
                                        const char **why)
{
    struct pmi_server *server = client->server;
    struct group_barrier *group = group_by_name(server, fresh->barrier.name);
    bool full = server->groups.count == GROUP_BARRIER_MAX ||
                server->groups.bytes + strlen(fresh->barrier.name) > GROUP_BARRIER_BYTES_MAX;
    if (!group && full)
        *why = "one group too many is open";
    else if (!group && !group_barrier_has(server, fresh, client->rank))
        *why = "a group without its asker";
    if (group || *why) {
        group_free(fresh);
        return group;
    }
    if (fresh->ranks)
        group_spread(fresh, client);
    else
        fresh->barrier.nlocal = server->config.nlocal;
    if (is_of_node(fresh))
        fresh->barrier.nnodes = 1;
    fresh->barrier.id = PMI_GROUP_ROUNDS | (fresh->barrier.nnodes > 1 ? EXCHANGE_PART : 0) |
                        hash_bits(name_hash(fresh->barrier.name));
    group_miss(fresh, server);
    groups_add(&server->groups, fresh);
    return fresh;
}

/* Most clients write the name as it is kept: it is not taken apart again then. */
struct group_barrier *group_barrier_of(struct pmi_client *client, const char *name,
                                       const char **why)
{
    struct group_barrier *group = group_by_name(client->server, name);
    *why = NULL;
    if (!group) {
        struct group_barrier *fresh = group_parse(client, name, why);
        group = fresh ? group_open(client, fresh, why) : NULL;
    }
    if (!group || group_barrier_has(client->server, group, client->rank))
        return group;
    *why = "a group without its asker";
    return NULL;
}

/* ---- what the exchange carries ---- */

uint32_t group_barrier_pack(const struct group_barrier *group, struct kvs *kvs, struct buf *out)
{
    struct buf pairs = BUF_INIT;
    uint32_t stamp = kvs_pack_fresh(kvs, &pairs);
    buf_add(out, group->barrier.name, strlen(group->barrier.name) + 1);
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_add_char(out, (char)(pairs.len >> shift));
    buf_add(out, buf_bytes(&pairs), pairs.len);
    buf_free(&pairs);
    return stamp;
}

int group_barrier_take(const struct group_barrier *group, struct kvs *kvs, const char *bytes,
                       size_t len, struct error *err)
{
    const char *end = bytes + len, *name = group ? group->barrier.name : bytes;
    size_t count; /* bytes of a node's pairs */
    for (const char *at = bytes; at < end; at += count) {
        const char *nul = memchr(at, '\0', (size_t)(end - at));
        if (!nul)
            return error_set(err, "what the nodes said of a group's barrier is malformed");
        if (strcmp(at, name) != 0)
            return error_set(err, "two groups of tasks go by one number: %s and %s", name, at);
        at = nul + 1;
        count = 0;
        for (int i = 0; i < 4 && at < end; i++)
            count = count << 8 | (unsigned char)*at++;
        if (at - nul < 5 || count > (size_t)(end - at))
            return error_set(err, "what the nodes said of a group's barrier is malformed");
        if (kvs_merge(kvs, at, count, err) < 0)
            return -1;
    }
    return 0;
}

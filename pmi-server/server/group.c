#include "pmi-server/server/group.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/kvs/exchange.h"

/* ---- a group's name ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t l = *(const uint32_t *)a, r = *(const uint32_t *)b;
    return (l > r) - (l < r);
}

/* "RANK,RANK,...:"; false when it is none. Doubles are kept for now. */
static bool parse_ranks(struct group *group, const char *text, uint32_t size)
{
    size_t room = 1;
    for (const char *at = text; *at != ':' && *at; at++)
        room += *at == ',';
    group->ranks = mem_array(room, sizeof(*group->ranks));
    for (;;) {
        char *end;
        if (!isdigit((unsigned char)*text))
            return false;
        unsigned long rank = strtoul(text, &end, 10);
        if (rank >= size || group->count == room)
            return false;
        group->ranks[group->count++] = (uint32_t)rank;
        text = end + 1;
        if (*end != ',')
            return *end == ':';
    }
}

static void ranks_unique(struct group *group)
{
    size_t kept = 1;
    qsort(group->ranks, group->count, sizeof(*group->ranks), by_number);
    for (size_t i = 1; i < group->count; i++)
        if (group->ranks[i] != group->ranks[kept - 1])
            group->ranks[kept++] = group->ranks[i];
    group->count = kept;
}

/* One name for one group, however its members wrote it. */
static char *group_name(const struct group *group, const char *kind)
{
    struct buf name = BUF_INIT;
    buf_add_text(&name, group->ranks ? "" : kind);
    for (size_t i = 0; i < group->count; i++)
        buf_printf(&name, "%s%" PRIu32, i ? "," : "", group->ranks[i]);
    buf_printf(&name, ":%s", group->tag);
    return buf_take_text(&name);
}

static const char *parse_tag(const char *text)
{
    const char *colon = strchr(text, ':');
    if (!colon || !colon[1] || strlen(colon) > 11 ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return NULL;
    return colon + 1;
}

bool group_has(const struct group *group, uint32_t rank)
{
    return !group->ranks ||
           bsearch(&rank, group->ranks, group->count, sizeof(rank), by_number) != NULL;
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

#define HASH_BITS 40
#define SEQUENCE_BITS 22

static uint64_t group_id(const struct group *group)
{
    uint64_t hash = name_hash(group->barrier.name) >> (64 - HASH_BITS);
    return PMI_GROUP_ROUNDS | (group->barrier.nnodes > 1 ? EXCHANGE_PART : 0) |
           hash << SEQUENCE_BITS;
}

static uint32_t node_of(const struct pmi_server *server, uint32_t rank)
{
    return server->ops->node_of ? server->ops->node_of(server->arg, rank) : 0;
}

/* How many nodes have members, and how many members are here. */
static void group_spread(struct group *group, const struct pmi_client *client)
{
    const struct pmi_server *server = client->server;
    uint32_t here = node_of(server, client->rank);
    uint32_t *nodes = mem_array(group->count, sizeof(*nodes));
    for (size_t i = 0; i < group->count; i++) {
        nodes[i] = node_of(server, group->ranks[i]);
        group->barrier.nlocal += nodes[i] == here;
    }
    qsort(nodes, group->count, sizeof(*nodes), by_number);
    for (size_t i = 0; i < group->count; i++)
        group->barrier.nnodes += !i || nodes[i] != nodes[i - 1];
    free(nodes);
}

/* Who has left already enters it no more. */
static void group_miss(struct group *group, const struct pmi_server *server)
{
    for (size_t i = 0; i < server->nleft; i++)
        if (group_has(group, server->left[i]))
            barrier_leave(&group->barrier, server->left[i], 0);
    for (size_t i = 0; i < server->nclients; i++) {
        const struct pmi_client *client = server->clients[i];
        if ((client->gone || client->state == PMI_FINALIZED) && group_has(group, client->rank))
            barrier_leave(&group->barrier, client->rank, 0);
    }
}

static void group_free(struct group *group)
{
    barrier_free(&group->barrier);
    free(group->tag);
    free(group->ranks);
    free(group);
}

void groups_free(struct pmi_server *server)
{
    while (server->groups) {
        struct group *group = server->groups;
        server->groups = group->next;
        group_free(group);
    }
}

static struct group *group_parse(const struct pmi_client *client, const char *text,
                                 const char **why)
{
    const char *tag = parse_tag(text);
    struct group *group = mem_alloc(sizeof(*group));
    bool world = !strncmp(text, "WORLD:", 6), node = !strncmp(text, "NODE:", 5);
    *why = NULL;
    if (!tag || (!world && !node && !parse_ranks(group, text, client->server->config.size)))
        *why = "a bad group";
    else if (group->ranks)
        ranks_unique(group);
    if (!*why && !group_has(group, client->rank))
        *why = "a group without its asker";
    if (*why) {
        group_free(group);
        return NULL;
    }
    group->tag = mem_copy_text(tag);
    group->barrier.name = group_name(group, world ? "WORLD" : "NODE");
    return group;
}

struct group *group_of(struct pmi_client *client, const char *name, const char **why)
{
    struct pmi_server *server = client->server;
    struct group *fresh = group_parse(client, name, why), **at = &server->groups;
    size_t count = 0;
    for (; fresh && *at; at = &(*at)->next, count++) {
        if (strcmp((*at)->barrier.name, fresh->barrier.name) != 0)
            continue;
        group_free(fresh);
        return *at;
    }
    if (fresh && count == GROUP_MAX) {
        *why = "one group too many";
        group_free(fresh);
        fresh = NULL;
    }
    if (!fresh)
        return NULL;
    if (fresh->ranks)
        group_spread(fresh, client);
    else
        fresh->barrier.nlocal = server->config.nlocal;
    if (*fresh->barrier.name == 'N')
        fresh->barrier.nnodes = 1;
    fresh->barrier.id = group_id(fresh);
    group_miss(fresh, server);
    return *at = fresh;
}

/* ---- what the exchange carries ---- */

uint32_t group_pack(const struct group *group, struct kvs *kvs, struct buf *out)
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

static bool unpack_length(const char **at, const char *end, size_t *len)
{
    if (end - *at < 4)
        return false;
    *len = 0;
    for (int i = 0; i < 4; i++)
        *len = *len << 8 | (unsigned char)*(*at)++;
    return *len <= (size_t)(end - *at);
}

int group_take(const struct group *group, struct kvs *kvs, const char *bytes, size_t len,
               struct error *err)
{
    const char *end = bytes + len, *name = group ? group->barrier.name : bytes;
    size_t count;
    for (const char *at = bytes; at < end; at += count) {
        const char *nul = memchr(at, '\0', (size_t)(end - at));
        if (!nul)
            return error_set(err, "what the nodes said of a group's barrier is malformed");
        if (strcmp(at, name) != 0)
            return error_set(err, "two groups of tasks go by one number: %s and %s", name, at);
        at = nul + 1;
        if (!unpack_length(&at, end, &count))
            return error_set(err, "what the nodes said of a group's barrier is malformed");
        if (kvs_merge(kvs, at, count, err) < 0)
            return -1;
    }
    return 0;
}

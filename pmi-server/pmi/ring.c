/* The ring: what this node's tasks have brought, packed, and what all nodes said, answered. */
#include "pmi-server/pmi/ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- this node's tasks ---- */

static int by_rank(const void *a, const void *b)
{
    const struct pmi_request *const *left = a, *const *right = b;
    uint32_t l = (*left)->client->rank, r = (*right)->client->rank;
    return (l > r) - (l < r);
}

/* Those in the open round, by rank; caller frees. */
static struct pmi_request **ring_members(const struct pmi_server *server, size_t *count)
{
    struct pmi_request **members = mem_array(server->nclients, sizeof(struct pmi_request *));
    *count = 0;
    for (struct pmi_request *at = server->ring.first; at; at = at->next_in)
        if (at->round == server->ring.sequence)
            members[(*count)++] = at;
    qsort(members, *count, sizeof(struct pmi_request *), by_rank);
    return members;
}

static void pack_number(struct buf *out, uint32_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_add_char(out, (char)(number >> shift));
}

void ring_pack(const struct pmi_server *server, struct buf *out)
{
    size_t count;
    struct pmi_request **members = ring_members(server, &count);
    if (count) {
        pack_number(out, members[0]->client->rank);
        pack_number(out, (uint32_t)count);
        buf_add(out, members[0]->texts[0], strlen(members[0]->texts[0]) + 1);
        buf_add(out, members[count - 1]->texts[1], strlen(members[count - 1]->texts[1]) + 1);
    }
    free(members);
}

/* ---- all nodes ---- */

struct arc { /* a node's part of the ring */
    uint32_t first, count;
    const char *left, *right;
};

static bool ring_unpack_text(const char **at, const char *end, const char **text)
{
    const char *nul = memchr(*at, '\0', (size_t)(end - *at));
    if (!nul)
        return false;
    *text = *at;
    *at = nul + 1;
    return true;
}

static bool unpack_number(const char **at, const char *end, uint32_t *number)
{
    *number = 0;
    if (end - *at < 4)
        return false;
    for (int i = 0; i < 4; i++)
        *number = *number << 8 | (unsigned char)*(*at)++;
    return true;
}

static int by_first(const void *a, const void *b)
{
    uint32_t l = ((const struct arc *)a)->first, r = ((const struct arc *)b)->first;
    return (l > r) - (l < r);
}

/* The ring's arcs in order, or NULL when they are malformed; caller frees. */
static struct arc *unpack_arcs(const char *at, size_t len, size_t *count)
{
    const char *end = at + len;
    struct arc *arcs = NULL;
    size_t room = 0;
    for (*count = 0; at < end; ++*count) {
        if (*count == room) {
            room = room ? room * 2 : 16;
            arcs = mem_resize(arcs, room, sizeof(*arcs));
        }
        struct arc *arc = &arcs[*count];
        if (!unpack_number(&at, end, &arc->first) || !unpack_number(&at, end, &arc->count) ||
            !ring_unpack_text(&at, end, &arc->left) || !ring_unpack_text(&at, end, &arc->right)) {
            free(arcs);
            return NULL;
        }
    }
    if (arcs)
        qsort(arcs, *count, sizeof(*arcs), by_first);
    return arcs;
}

int ring_take(struct pmi_server *server, const void *bytes, size_t len, struct error *err)
{
    size_t narcs, count, here = 0;
    uint32_t place = 0;
    struct arc *arcs = unpack_arcs(bytes, len, &narcs);
    struct pmi_request **members = ring_members(server, &count);
    while (arcs && count && here < narcs && arcs[here].first != members[0]->client->rank)
        place += arcs[here++].count;
    bool good = arcs && count && here < narcs && arcs[here].count == count;
    const char *left = good ? arcs[(here + narcs - 1) % narcs].right : NULL;
    const char *right = good ? arcs[(here + 1) % narcs].left : NULL;
    for (size_t i = 0; i < count && good; i++) {
        struct pmi_client *client = members[i]->client;
        if (!client->gone)
            client->dialect->ring_out(client, members[i], place + (uint32_t)i,
                                      i ? members[i - 1]->texts[1] : left,
                                      i + 1 < count ? members[i + 1]->texts[0] : right);
    }
    free(arcs);
    free(members);
    return good ? 0 : error_set(err, "what the nodes said of a ring is malformed");
}

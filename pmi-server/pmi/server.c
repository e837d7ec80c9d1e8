/* The server of one group: its barriers and rings, their rounds in the exchange, and who leaves them. */
#include "pmi-server/pmi/server.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/exchange/exchange.h"
#include "pmi-server/pmi/context.h"
#include "pmi-server/pmi/group_barrier.h"
#include "pmi-server/pmi/ring.h"
#include "pmi-server/pmi/server_private.h"

struct pmi_server *pmi_server_new(const struct pmi_config *config, const struct pmi_ops *ops,
                                  void *arg)
{
    struct pmi_server *server = mem_alloc(sizeof(*server));
    server->config = *config;
    server->ops = ops;
    server->arg = arg;
    server->world.nlocal = server->ring.nlocal = config->nlocal;
    server->ring.id = RING_ROUNDS;
    server->left.size = config->size;
    return server;
}

void pmi_server_free(struct pmi_server *server)
{
    if (!server)
        return;
    requests_free(server);
    for (size_t i = 0; i < server->nclients; i++)
        connection_free(server->clients[i]);
    free(server->clients);
    barrier_free(&server->world);
    barrier_free(&server->ring);
    group_barriers_free(server);
    left_ranks_free(&server->left);
    kvs_free(server->attributes);
    buf_free(&server->fresh);
    free(server);
}

bool pmi_mapping_fits(const char *mapping)
{
    size_t len = strlen(mapping);
    return len && len < 1024 - PMI_KVSNAME_MAX - PMI_KEYLEN_MAX - 30;
}

/* ---- barriers ---- */

static bool server_release(struct pmi_server *server, struct barrier *barrier);

/* All barriers of a server: `at` begins as NULL, and what follows the last is NULL. */
static struct barrier *server_next_barrier(const struct pmi_server *server,
                                           const struct barrier *at)
{
    if (!at)
        return (struct barrier *)&server->world;
    if (at == &server->world)
        return (struct barrier *)&server->ring;
    const struct group_barrier *group =
        at == &server->ring ? server->groups.first : ((struct group_barrier *)at)->next;
    return (struct barrier *)group;
}

/* A client's index in a barrier, whose member it is. */
static size_t barrier_index(const struct barrier *barrier, const struct pmi_client *client)
{
    return barrier->name ? group_barrier_index((const struct group_barrier *)barrier, client)
                         : client->index;
}

/* ---- who waits in vain ---- */

/* Who has the lowest rank of those that wait in that barrier, or in any. */
static const struct pmi_request *barrier_waiting(const struct pmi_server *server,
                                                 const struct barrier *barrier)
{
    const struct pmi_request *lowest = NULL, *next;
    for (const struct pmi_request *at = barrier ? barrier->first : server->requests; at;
         at = next) {
        next = barrier ? at->next_in : at->next;
        if (at->barrier && !at->client->gone &&
            (!lowest || at->client->rank < lowest->client->rank))
            lowest = at;
    }
    return lowest;
}

bool pmi_server_in_barrier(const struct pmi_server *server, uint32_t *waiting)
{
    const struct pmi_request *request = barrier_waiting(server, NULL);
    if (request)
        *waiting = request->client->rank;
    return request;
}

bool pmi_server_stuck(const struct pmi_server *server, uint32_t *missing, uint32_t *waiting)
{
    const struct barrier *at = NULL;
    while ((at = server_next_barrier(server, at))) {
        const struct pmi_request *request =
            barrier_is_stuck(at) ? barrier_waiting(server, at) : NULL;
        if (!request)
            continue;
        *missing = at->missing_rank;
        *waiting = request->client->rank;
        return true;
    }
    return false;
}

/* If it is, and nobody was told. */
static void server_tell_stuck(struct pmi_server *server)
{
    uint32_t missing, waiting;
    if (server->told_stuck || !pmi_server_stuck(server, &missing, &waiting))
        return;
    server->told_stuck = true;
    if (server->ops->stuck)
        server->ops->stuck(server->arg, missing, waiting);
}

bool pmi_server_left(const struct pmi_server *server, uint32_t *rank, uint64_t *sequence)
{
    *rank = server->world.missing_rank;
    *sequence = server->world.missing_from;
    return server->world.missing;
}

/* The world's barriers have numbers that all nodes know. In a ring or a group, whose last round
 * went down the same way before this message, the open round is the one that is missed. */
bool pmi_server_missing(struct pmi_server *server, uint32_t rank, uint64_t sequence)
{
    uint32_t missing, waiting;
    struct barrier *at = &server->world;
    barrier_leave(at, rank, sequence);
    while ((at = server_next_barrier(server, at)))
        if (!at->name || group_barrier_has(server, (struct group_barrier *)at, rank))
            barrier_leave(at, rank, at->sequence);
    left_ranks_add(&server->left, rank);
    if (server->told_stuck || !pmi_server_stuck(server, &missing, &waiting))
        return false;
    server->told_stuck = true;
    return true;
}

/* ---- rounds ---- */

/* What this node has to say in the open round. */
static void barrier_pack(const struct pmi_server *server, struct barrier *barrier, struct buf *out)
{
    if (barrier == &server->ring)
        ring_pack(server, out);
    else if (barrier->name)
        barrier->stamp =
            group_barrier_pack((const struct group_barrier *)barrier, server->config.kvs, out);
    else
        barrier->stamp = kvs_pack_fresh(server->config.kvs, out);
}

/* A group that is all here needs no exchange. */
static void server_exchange(struct pmi_server *server, struct barrier *barrier)
{
    while (barrier_begin_exchange(barrier)) {
        if (barrier->nnodes != 1) {
            buf_clear(&server->fresh);
            barrier_pack(server, barrier, &server->fresh);
            server->ops->exchange(server->arg, barrier_id(barrier), barrier->nnodes,
                                  buf_bytes(&server->fresh), server->fresh.len);
            return;
        }
        server->let_go = true;
        if (!server_release(server, barrier))
            return;
    }
}

static void barrier_take(struct pmi_server *server, struct pmi_request *request,
                         struct barrier *barrier)
{
    request->barrier = barrier;
    request->round = barrier_enter(barrier, barrier_index(barrier, request->client));
    if (barrier->last)
        barrier->last->next_in = request;
    else
        barrier->first = request;
    barrier->last = request;
    if (barrier_is_stuck(barrier))
        server_tell_stuck(server);
    server_exchange(server, barrier); /* after which a group may be gone */
}

void server_enter(struct pmi_client *client, const char *tag, bool blocks)
{
    struct pmi_server *server = client->server;
    barrier_take(server, request_new(client, WAITS_BARRIER, tag, blocks), &server->world);
}

const char *server_enter_group(struct pmi_client *client, const char *name)
{
    struct pmi_server *server = client->server;
    const char *why;
    struct group_barrier *group = group_barrier_of(client, name, &why);
    if (group)
        barrier_take(server, request_new(client, WAITS_BARRIER, group->tag, false),
                     &group->barrier);
    return why;
}

void server_enter_ring(struct pmi_client *client, const char *left, const char *right,
                       const char *tag, bool blocks)
{
    struct pmi_server *server = client->server;
    struct pmi_request *request = request_new(client, WAITS_BARRIER, tag, blocks);
    request->texts[0] = mem_copy_text(left);
    request->texts[1] = mem_copy_text(right);
    barrier_take(server, request, &server->ring);
}

/* Everybody is let out before anybody's next request is looked at, which may be the next round. False:
 * the barrier was a group's, and is gone. */
static bool server_release(struct pmi_server *server, struct barrier *barrier)
{
    struct pmi_request *request = barrier->first, *next;
    barrier->first = barrier->last = NULL;
    for (; request; request = next) {
        struct pmi_client *client = request->client;
        next = request->next_in;
        request->next_in = NULL;
        if (request->round != barrier->sequence) { /* of a thread that is ahead */
            *(barrier->last ? &barrier->last->next_in : &barrier->first) = request;
            barrier->last = request;
            continue;
        }
        if (!client->gone && barrier != &server->ring)
            client->dialect->barrier_out(client, request);
        request_done(request);
    }
    barrier_next(barrier);
    if (!barrier->name || barrier->first)
        return true;
    group_barrier_retire(server, (struct group_barrier *)barrier);
    return false;
}

static int barrier_unpack(struct pmi_server *server, const struct barrier *barrier,
                          const void *bytes, size_t len, struct error *err)
{
    if (barrier == &server->ring)
        return ring_take(server, bytes, len, err);
    if (barrier) /* what another node put under one of these names counts, as it does there */
        kvs_published(server->config.kvs, barrier->stamp);
    if (!barrier || barrier->name)
        return group_barrier_take((const struct group_barrier *)barrier, server->config.kvs, bytes,
                                  len, err);
    return kvs_merge(server->config.kvs, bytes, len, err);
}

/* Of a round of other nodes what they publish is all there is. */
int pmi_server_exchanged(struct pmi_server *server, uint64_t id, const void *bytes, size_t len,
                         struct error *err)
{
    struct group_barrier *group = id & PMI_GROUP_ROUNDS ? group_barrier_by_id(server, id) : NULL;
    struct barrier *barrier = group               ? &group->barrier
                              : id >= RING_ROUNDS ? &server->ring
                                                  : &server->world;
    if (!barrier->exchanging || barrier_id(barrier) != id)
        barrier = NULL;
    if (!barrier && !(id & EXCHANGE_PART))
        return error_set(err, "a barrier's end came, but no barrier is complete here");
    if (barrier_unpack(server, barrier, bytes, len, err) < 0)
        return error_prefix(err, "barrier %s%" PRIu64,
                            barrier && barrier->name ? "of a group, " : "",
                            barrier ? barrier->sequence : 0);
    if (barrier) {
        if (server_release(server, barrier))
            server_exchange(server, barrier);
        connections_resume(server);
    }
    return 0;
}

/* ---- who leaves ---- */

static void server_leave(struct pmi_client *client)
{
    struct pmi_server *server = client->server;
    struct barrier *at = NULL;
    while ((at = server_next_barrier(server, at)))
        if (!at->name || group_barrier_has(server, (struct group_barrier *)at, client->rank))
            barrier_leave(at, client->rank, barrier_entered(at, barrier_index(at, client)));
    left_ranks_add(&server->left, client->rank);
    group_barriers_left(server, client->rank);
}

void server_finalize(struct pmi_client *client)
{
    client->state = PMI_FINALIZED;
    server_leave(client);
    server_tell_stuck(client->server);
}

bool pmi_server_connection_gone(struct pmi_client *client)
{
    struct pmi_server *server = client->server;
    bool in_time = client->gone || client->state == PMI_FINALIZED;
    if (!client->gone)
        server_leave(client);
    client->gone = true;
    buf_free(&client->input);
    buf_free(&client->output);
    client->searched = 0;
    uint32_t missing, waiting;
    if (in_time || !pmi_server_stuck(server, &missing, &waiting))
        return false;
    server->told_stuck = true;
    return true;
}

#include "pmi-server/server/server.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/server/client.h"
#include "pmi-server/server/request.h"
#include "pmi-server/server/ring.h"

struct pmi_server *pmi_server_new(const struct pmi_config *config, const struct pmi_ops *ops,
                                  void *arg)
{
    struct pmi_server *server = mem_alloc(sizeof(*server));
    server->config = *config;
    server->ops = ops;
    server->arg = arg;
    server->world.nlocal = server->ring.nlocal = config->nlocal;
    server->ring.id = RING_ROUNDS;
    return server;
}

void pmi_server_free(struct pmi_server *server)
{
    if (!server)
        return;
    requests_free(server);
    for (size_t i = 0; i < server->nclients; i++)
        client_free(server->clients[i]);
    free(server->clients);
    barrier_free(&server->world);
    barrier_free(&server->ring);
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

static void server_exchange(struct pmi_server *server, struct barrier *barrier)
{
    if (!barrier_begin_exchange(barrier))
        return;
    buf_clear(&server->fresh);
    if (barrier == &server->ring)
        ring_pack(server, &server->fresh);
    else
        kvs_take_fresh(server->config.kvs, &server->fresh);
    server->ops->exchange(server->arg, barrier->id + barrier->sequence, 0,
                          buf_bytes(&server->fresh), server->fresh.len);
}

static void barrier_take(struct pmi_server *server, struct pmi_request *request,
                         struct barrier *barrier)
{
    request->barrier = barrier;
    request->round = barrier_enter(barrier, request->client->index);
    server_exchange(server, barrier);
    server_tell_stuck(server);
}

void client_enter(struct pmi_client *client, const char *tag, bool blocks)
{
    struct pmi_server *server = client->server;
    barrier_take(server, request_new(client, WAITS_BARRIER, tag, blocks), &server->world);
}

void client_enter_ring(struct pmi_client *client, const char *left, const char *right,
                       const char *tag, bool blocks)
{
    struct pmi_server *server = client->server;
    struct pmi_request *request = request_new(client, WAITS_BARRIER, tag, blocks);
    request->texts[0] = mem_copy_text(left);
    request->texts[1] = mem_copy_text(right);
    barrier_take(server, request, &server->ring);
}

/* Everybody is let out before anybody's next request is looked at, which may be the next round. */
static void server_release(struct pmi_server *server, struct barrier *barrier)
{
    struct pmi_request *request = server->requests;
    while (request) {
        struct pmi_request *next = request->next;
        struct pmi_client *client = request->client;
        if (request->barrier == barrier && request->round == barrier->sequence) {
            if (!client->gone && barrier != &server->ring)
                client->dialect->barrier_out(client, request);
            request_done(request);
        }
        request = next;
    }
    barrier_next(barrier);
}

void server_resume(struct pmi_server *server)
{
    do {
        server->let_go = false;
        for (size_t i = 0; i < server->nclients; i++)
            client_resume(server->clients[i]);
    } while (server->let_go);
}

static struct barrier *server_barrier(struct pmi_server *server, uint64_t id)
{
    struct barrier *barrier = id < RING_ROUNDS ? &server->world : &server->ring;
    return barrier->exchanging && barrier->id + barrier->sequence == id ? barrier : NULL;
}

int pmi_server_exchanged(struct pmi_server *server, uint64_t id, const void *bytes, size_t len,
                         struct error *err)
{
    struct barrier *barrier = server_barrier(server, id);
    if (!barrier)
        return error_set(err, "a barrier's end came, but no barrier is complete here");
    int rc = barrier == &server->ring ? ring_take(server, bytes, len, err)
                                      : kvs_merge(server->config.kvs, bytes, len, err);
    if (rc < 0)
        return error_prefix(err, "barrier %" PRIu64, barrier->sequence);
    server_release(server, barrier);
    server_exchange(server, barrier);
    server_resume(server);
    return 0;
}

/* ---- who waits in vain ---- */

/* Who has the lowest rank of those that wait in that barrier, or in any. */
static const struct pmi_request *barrier_waiting(const struct pmi_server *server,
                                                 const struct barrier *barrier)
{
    const struct pmi_request *lowest = NULL;
    for (const struct pmi_request *at = server->requests; at; at = at->next)
        if (at->barrier && (!barrier || at->barrier == barrier) && !at->client->gone &&
            (!lowest || at->client->rank < lowest->client->rank))
            lowest = at;
    return lowest;
}

bool pmi_server_in_barrier(const struct pmi_server *server, uint32_t *waiting)
{
    const struct pmi_request *request = barrier_waiting(server, NULL);
    if (request)
        *waiting = request->client->rank;
    return request;
}

static bool barrier_stuck(const struct pmi_server *server, const struct barrier *barrier,
                          uint32_t *missing, uint32_t *waiting)
{
    if (!barrier_is_stuck(barrier))
        return false;
    const struct pmi_request *request = barrier_waiting(server, barrier);
    if (!request)
        return false;
    *missing = barrier->missing_rank;
    *waiting = request->client->rank;
    return true;
}

bool pmi_server_stuck(const struct pmi_server *server, uint32_t *missing, uint32_t *waiting)
{
    return barrier_stuck(server, &server->world, missing, waiting) ||
           barrier_stuck(server, &server->ring, missing, waiting);
}

void server_tell_stuck(struct pmi_server *server)
{
    uint32_t missing, waiting;
    if (server->told_stuck || !pmi_server_stuck(server, &missing, &waiting))
        return;
    server->told_stuck = true;
    if (server->ops->stuck)
        server->ops->stuck(server->arg, missing, waiting);
}

bool pmi_client_gone(struct pmi_client *client)
{
    struct pmi_server *server = client->server;
    bool in_time = client->gone || client->state == PMI_FINALIZED;
    if (!client->gone)
        client_leave(client);
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

bool pmi_server_left(const struct pmi_server *server, uint32_t *rank, uint64_t *sequence)
{
    *rank = server->world.missing_rank;
    *sequence = server->world.missing_from;
    return server->world.missing;
}

bool pmi_server_missing(struct pmi_server *server, uint32_t rank, uint64_t sequence)
{
    uint32_t missing, waiting;
    barrier_leave(&server->world, rank, sequence);
    if (server->told_stuck || !pmi_server_stuck(server, &missing, &waiting))
        return false;
    server->told_stuck = true;
    return true;
}

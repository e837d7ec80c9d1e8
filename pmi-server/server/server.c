#include "pmi-server/server/server.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/server/client.h"
#include "pmi-server/server/request.h"

struct pmi_server *pmi_server_new(const struct pmi_config *config, const struct pmi_ops *ops,
                                  void *arg)
{
    struct pmi_server *server = mem_alloc(sizeof(*server));
    server->config = *config;
    server->ops = ops;
    server->arg = arg;
    server->world.nlocal = config->nlocal;
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
    kvs_take_fresh(server->config.kvs, &server->fresh);
    server->ops->exchange(server->arg, barrier->sequence, 0, buf_bytes(&server->fresh),
                          server->fresh.len);
}

void client_enter(struct pmi_client *client)
{
    struct pmi_server *server = client->server;
    struct pmi_request *request = request_new(client, true);
    request->barrier = &server->world;
    request->round = barrier_enter(request->barrier, client->index);
    server_exchange(server, request->barrier);
    server_tell_stuck(server);
}

/* Everybody is let out before anybody's next request is looked at, which may be the next round. */
static void server_release(struct pmi_server *server, struct barrier *barrier)
{
    struct pmi_request *request = server->requests;
    while (request) {
        struct pmi_request *next = request->next;
        struct pmi_client *client = request->client;
        if (request->barrier == barrier && request->round == barrier->sequence) {
            if (!client->gone)
                client->dialect->barrier_out(client, request);
            request_done(request);
        }
        request = next;
    }
    barrier_next(barrier);
}

/* What clients sent ahead. */
static int server_resume(struct pmi_server *server, struct error *err)
{
    int rc = 0;
    for (size_t i = 0; i < server->nclients; i++)
        if (client_resume(server->clients[i], rc ? NULL : err) < 0)
            rc = -1;
    return rc;
}

int pmi_server_exchanged(struct pmi_server *server, uint64_t id, const void *bytes, size_t len,
                         struct error *err)
{
    struct barrier *barrier = &server->world;
    if (!barrier->exchanging || barrier->sequence != id)
        return error_set(err, "a barrier's end came, but no barrier is complete here");
    if (kvs_merge(server->config.kvs, bytes, len, err) < 0)
        return error_prefix(err, "barrier %" PRIu64, barrier->sequence);
    server_release(server, barrier);
    server_exchange(server, barrier);
    return server_resume(server, err);
}

/* ---- who waits in vain ---- */

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

bool pmi_server_stuck(const struct pmi_server *server, uint32_t *missing, uint32_t *waiting)
{
    const struct barrier *barrier = &server->world;
    if (!barrier_is_stuck(barrier))
        return false;
    const struct pmi_request *request = barrier_waiting(server, barrier);
    if (!request)
        return false;
    *missing = barrier->missing_rank;
    *waiting = request->client->rank;
    return true;
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
    bool in_time = client->gone || client->waits || client->state == PMI_FINALIZED;
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

#include "pmi-server/pmi1/client.h"

#include <string.h>

uint32_t pmi1_client_rank(const struct pmi1_client *client)
{
    return client->rank;
}

void *pmi1_client_data(const struct pmi1_client *client)
{
    return client->data;
}

enum pmi1_state pmi1_client_state(const struct pmi1_client *client)
{
    return client->state;
}

struct buf *pmi1_client_output(struct pmi1_client *client)
{
    return &client->output;
}

void pmi1_client_reply_bytes(struct pmi1_client *client, const char *bytes, size_t len)
{
    buf_add(&client->output, bytes, len);
    client->has_news = true;
}

void pmi1_client_reply(struct pmi1_client *client, const char *line)
{
    pmi1_client_reply_bytes(client, line, strlen(line));
}

bool pmi1_server_in_barrier(const struct pmi1_server *server, uint32_t *waiting)
{
    for (size_t i = 0; i < server->nclients; i++) {
        if (!server->clients[i]->waiting || server->clients[i]->gone)
            continue;
        *waiting = server->clients[i]->rank;
        return true;
    }
    return false;
}

bool pmi1_server_stuck(const struct pmi1_server *server, uint32_t *missing, uint32_t *waiting)
{
    *missing = server->barrier.missing_rank;
    return pmi1_barrier_is_stuck(&server->barrier) && pmi1_server_in_barrier(server, waiting);
}

void pmi1_server_tell_stuck(struct pmi1_server *server)
{
    uint32_t missing, waiting;
    if (server->told_stuck || !pmi1_server_stuck(server, &missing, &waiting))
        return;
    server->told_stuck = true;
    if (server->ops->stuck)
        server->ops->stuck(server->arg, missing, waiting);
}

void pmi1_client_enter(struct pmi1_client *client)
{
    struct pmi1_server *server = client->server;
    uint64_t sequence = server->barrier.sequence;
    client->waiting = true;
    if (pmi1_barrier_enter(&server->barrier)) {
        buf_clear(&server->fresh);
        kvs_take_fresh(server->config.kvs, &server->fresh);
        server->ops->barrier(server->arg, sequence, buf_bytes(&server->fresh), server->fresh.len);
    }
    pmi1_server_tell_stuck(server);
}

/* From which barrier on the client is missing, when it leaves now. */
void pmi1_client_leave(struct pmi1_client *client)
{
    struct pmi1_barrier *barrier = &client->server->barrier;
    pmi1_barrier_leave(barrier, client->rank, barrier->sequence + client->waiting);
}

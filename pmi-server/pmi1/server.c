#include "pmi-server/pmi1/server.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmi1/client.h"
#include "pmi-server/pmi1/command.h"
#include "pmi-server/pmi1/wire.h"

struct pmi1_server *pmi1_server_new(const struct pmi1_config *config, const struct pmi1_ops *ops,
                                    void *arg)
{
    struct pmi1_server *server = mem_alloc(sizeof(*server));
    server->config = *config;
    server->ops = ops;
    server->arg = arg;
    server->barrier.nlocal = config->nlocal;
    return server;
}

static void client_free(struct pmi1_client *client)
{
    buf_free(&client->input);
    buf_free(&client->output);
    free(client);
}

void pmi1_server_free(struct pmi1_server *server)
{
    if (!server)
        return;
    for (size_t i = 0; i < server->nclients; i++)
        client_free(server->clients[i]);
    free(server->clients);
    buf_free(&server->fresh);
    free(server);
}

struct pmi1_client *pmi1_client_new(struct pmi1_server *server, uint32_t rank, uint32_t appnum,
                                    void *owner_data)
{
    struct pmi1_client *client = mem_alloc(sizeof(*client));
    client->server = server;
    client->rank = rank;
    client->appnum = appnum;
    client->data = owner_data;
    server->clients =
        mem_resize(server->clients, server->nclients + 1, sizeof(struct pmi1_client *));
    server->clients[server->nclients++] = client;
    return client;
}

bool pmi1_mapping_fits(const char *mapping)
{
    size_t len = strlen(mapping);
    return len && len < 1024 - PMI1_KVSNAME_MAX - PMI1_KEYLEN_MAX - 30;
}

/* The next line that may be answered now. What was searched for a newline once is not searched
 * again: lines may come a byte at a time. */
static bool client_next_line(struct pmi1_client *client, size_t *len)
{
    const char *bytes = buf_bytes(&client->input);
    const char *end = NULL;
    if (client->input.len > client->searched)
        end = memchr(bytes + client->searched, '\n', client->input.len - client->searched);
    client->searched = end ? (size_t)(end - bytes) : client->input.len;
    *len = client->searched;
    if (!end || *len > PMI1_MAX_LINE)
        return false;
    static const char hurry[] = "cmd=abort";
    return !client->waiting ||
           (*len >= sizeof(hurry) - 1 && !memcmp(bytes, hurry, sizeof(hurry) - 1));
}

/* Beside a line that is too long: more than one line's worth sent ahead of a barrier's end. */
static int client_check_input(const struct pmi1_client *client, struct error *err)
{
    if (client->input.len <= PMI1_MAX_LINE)
        return 0;
    if (client->searched <= PMI1_MAX_LINE && !client->waiting)
        return 0;
    char quote[PMI1_QUOTE_SIZE];
    pmi1_quote(quote, buf_bytes(&client->input), client->searched);
    return error_set(err, "%s of more than %d bytes: \"%s\"",
                     client->searched > PMI1_MAX_LINE ? "a line" : "input during a barrier",
                     PMI1_MAX_LINE, quote);
}

static int client_run(struct pmi1_client *client, struct error *err)
{
    int rc = 0;
    size_t len;
    client->running = true;
    while (!rc && client_next_line(client, &len)) {
        rc = pmi1_command_line(client, client->input.data + client->input.start, len, err);
        buf_consume(&client->input, len + 1);
        client->searched = 0;
    }
    if (!rc)
        rc = client_check_input(client, err);
    client->running = false;
    if (rc < 0) {
        client->broken = true;
        buf_free(&client->input);
    }
    return rc;
}

static void client_flush(struct pmi1_client *client)
{
    if (!client->has_news)
        return;
    client->has_news = false;
    client->server->ops->output(client->server->arg, client);
}

int pmi1_client_input(struct pmi1_client *client, const void *bytes, size_t len, struct error *err)
{
    if (client->broken || client->gone)
        return 0;
    buf_add(&client->input, bytes, len);
    int rc = client_run(client, err);
    client_flush(client);
    return rc;
}

/* Everybody is let out before anybody's next request is looked at, which may be a barrier_in. */
static void server_release(struct pmi1_server *server)
{
    pmi1_barrier_next(&server->barrier);
    for (size_t i = 0; i < server->nclients; i++) {
        struct pmi1_client *client = server->clients[i];
        if (client->waiting && !client->gone)
            pmi1_client_reply(client, "cmd=barrier_out\n");
        client->waiting = false;
    }
}

/* What a client sent ahead. One that is running (it was the last to enter) goes on by itself. */
static int client_resume(struct pmi1_client *client, struct error *err)
{
    if (client->running)
        return 0;
    int rc = client->input.len ? client_run(client, err) : 0;
    client_flush(client);
    return rc < 0 ? error_prefix(err, "rank %" PRIu32, client->rank) : 0;
}

int pmi1_server_barrier_out(struct pmi1_server *server, const void *bytes, size_t len,
                            struct error *err)
{
    int rc = 0;
    if (!server->barrier.exchanging)
        return error_set(err, "a barrier's end came, but no barrier is complete here");
    if (kvs_merge(server->config.kvs, bytes, len, err) < 0)
        return error_prefix(err, "barrier %" PRIu64, server->barrier.sequence);
    server_release(server);
    for (size_t i = 0; i < server->nclients; i++)
        if (client_resume(server->clients[i], rc ? NULL : err) < 0)
            rc = -1;
    return rc;
}

bool pmi1_client_gone(struct pmi1_client *client)
{
    struct pmi1_server *server = client->server;
    bool in_time = client->gone || client->waiting || client->state == PMI1_FINALIZED;
    if (!client->gone)
        pmi1_client_leave(client);
    client->gone = true;
    buf_free(&client->input);
    buf_free(&client->output);
    client->searched = 0;
    uint32_t waiting;
    if (in_time || !pmi1_server_in_barrier(server, &waiting))
        return false;
    server->told_stuck = true;
    return true;
}

bool pmi1_server_left(const struct pmi1_server *server, uint32_t *rank, uint64_t *sequence)
{
    *rank = server->barrier.missing_rank;
    *sequence = server->barrier.missing_from;
    return server->barrier.missing;
}

bool pmi1_server_missing(struct pmi1_server *server, uint32_t rank, uint64_t sequence)
{
    uint32_t missing, waiting;
    pmi1_barrier_leave(&server->barrier, rank, sequence);
    if (server->told_stuck || !pmi1_server_stuck(server, &missing, &waiting))
        return false;
    server->told_stuck = true;
    return true;
}

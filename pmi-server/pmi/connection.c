/* The requests of a client: taken whole from its input, answered by its dialect, and bounded. */
#include "pmi-server/pmi/connection.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmi/context.h"
#include "pmi-server/pmi/quote.h"

struct pmi_client *pmi_connection_new(struct pmi_server *server, uint32_t rank, uint32_t appnum,
                                      void *owner_data)
{
    struct pmi_client *client = mem_alloc(sizeof(*client));
    client->server = server;
    client->rank = rank;
    client->appnum = appnum;
    client->data = owner_data;
    client->index = server->nclients;
    client->dialect = server->config.dialects[0];
    server->clients =
        mem_resize(server->clients, server->nclients + 1, sizeof(struct pmi_client *));
    server->clients[server->nclients++] = client;
    return client;
}

static void client_forget(struct pmi_client *client)
{
    if (client->memory)
        client->dialect->forget(client);
    client->memory = NULL;
}

void connection_free(struct pmi_client *client)
{
    client_forget(client);
    buf_free(&client->input);
    buf_free(&client->output);
    free(client);
}

uint32_t pmi_connection_rank(const struct pmi_client *client)
{
    return client->rank;
}

void *pmi_connection_data(const struct pmi_client *client)
{
    return client->data;
}

enum pmi_state pmi_connection_state(const struct pmi_client *client)
{
    return client->state;
}

struct buf *pmi_connection_output(struct pmi_client *client)
{
    return &client->output;
}

struct kvs *connection_kvs(const struct pmi_client *client)
{
    return client->server->config.kvs;
}

void connection_reply_bytes(struct pmi_client *client, const char *bytes, size_t len)
{
    buf_add(&client->output, bytes, len);
    client->has_news = true;
}

void connection_reply(struct pmi_client *client, const char *text)
{
    connection_reply_bytes(client, text, strlen(text));
}

void connection_printf(struct pmi_client *client, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&client->output, fmt, args);
    va_end(args);
    client->has_news = true;
}

bool connection_speak(struct pmi_client *client, int version)
{
    const struct dialect *const *dialect = client->server->config.dialects;
    while (*dialect && (*dialect)->version != version)
        dialect++;
    if (!*dialect)
        return false;
    client_forget(client);
    client->dialect = *dialect;
    return true;
}

void connection_abort(struct pmi_client *client, int exitcode, const char *message)
{
    struct pmi_server *server = client->server;
    client->broken = true;
    server->ops->abort(server->arg, client, exitcode, message);
}

static void connection_limited(struct pmi_client *client, const char *what)
{
    const struct pmi_server *server = client->server;
    if (!client->limited && server->ops->limited)
        server->ops->limited(server->arg, client, what);
    client->limited = true;
}

/* The length of the request that may be answered now, 0 for none. */
static long client_next(struct pmi_client *client, struct error *err)
{
    bool urgent = false, full = client->output.len >= PMI_OUTPUT_MAX;
    long len = client->input.len ? client->dialect->next(client, &urgent, err) : 0;
    if (len > 0 && client->open >= PMI_OPEN_MAX && !urgent)
        return error_set(err, "%d requests wait for an answer, and one more came", PMI_OPEN_MAX);
    if (len > 0 && full && !urgent)
        connection_limited(client,
                           "256 KiB of answers were not taken by it, and until they are nothing "
                           "more is read from it");
    return len > 0 && (client->waits || full) && !urgent ? 0 : len;
}

static int connection_run(struct pmi_client *client, struct error *err)
{
    int rc = 0;
    long len;
    client->running = true;
    while (!rc && !client->broken && (len = client_next(client, err)) != 0) {
        rc = len < 0 ? -1 : 0;
        if (!rc)
            rc = client->dialect->run(client, client->input.data + client->input.start, (size_t)len,
                                      err);
        if (!rc)
            buf_consume(&client->input, (size_t)len);
        client->searched = 0;
    }
    if (!rc && !client->broken && client->waits && client->input.len > PMI_MAX_REQUEST) {
        /* More than one request's worth was sent ahead of a wait's end. */
        char quote[QUOTE_SIZE];
        size_t said = client->searched ? client->searched : client->input.len;
        rc = error_set(err, "input during a barrier of more than %d bytes: \"%s\"", PMI_MAX_REQUEST,
                       quote_text(quote, buf_bytes(&client->input), said));
    }
    client->running = false;
    if (rc < 0)
        client->broken = true;
    if (client->broken || !client->input.len) /* a task that is silent needs no room */
        buf_free(&client->input);
    return rc;
}

static void client_flush(struct pmi_client *client)
{
    if (!client->has_news)
        return;
    client->has_news = false;
    client->server->ops->output(client->server->arg, client);
}

/* ---- go on ---- */

void connection_resume(struct pmi_client *client)
{
    struct pmi_server *server = client->server;
    struct error err = ERROR_INIT;
    if (client->running)
        return;
    int rc = client->input.len ? connection_run(client, &err) : 0;
    client_flush(client);
    if (rc < 0)
        server->ops->broken(server->arg, client, &err);
    error_clear(&err);
}

void connections_resume(struct pmi_server *server)
{
    struct pmi_client *client;
    server->let_go = false;
    while ((client = server->resumed)) {
        server->resumed = client->resumed_next;
        client->resumed = false;
        connection_resume(client);
    }
}

int pmi_connection_input(struct pmi_client *client, const void *bytes, size_t len,
                         struct error *err)
{
    if (client->broken || client->gone)
        return 0;
    buf_add(&client->input, bytes, len);
    int rc = connection_run(client, err);
    client_flush(client);
    if (client->server->let_go)
        connections_resume(client->server);
    return rc;
}

bool pmi_connection_wants_input(const struct pmi_client *client)
{
    return client->output.len < PMI_OUTPUT_MAX;
}

bool pmi_connection_go_on(struct pmi_client *client)
{
    struct pmi_server *server = client->server;
    struct error err = ERROR_INIT;
    if (client->running || client->broken || !client->input.len ||
        !pmi_connection_wants_input(client))
        return false;
    int rc = connection_run(client, &err);
    bool news = client->has_news && !client->gone;
    client->has_news = false;
    if (rc < 0)
        server->ops->broken(server->arg, client, &err);
    error_clear(&err);
    if (server->let_go)
        connections_resume(server);
    return news;
}

/* ---- limits ---- */

#define TEXT_OF(number) #number
#define TEXT(macro) TEXT_OF(macro)

bool connection_may_ask(struct pmi_client *client)
{
    if (client->asks < PMI_ASKS_MAX)
        return true;
    connection_limited(client,
                       TEXT(PMI_ASKS_MAX) " of its names and spawns wait for an answer, and one "
                                          "more was refused");
    return false;
}

bool connection_may_put(struct pmi_client *client)
{
    if (client->put < (int64_t)PMI_PUTS_MAX)
        return true;
    connection_limited(client, "it has put 16 MiB of keys and values, and one more was refused");
    return false;
}

/* What the space grows by counts: a pair that is put again costs nothing. */
void connection_keep(struct pmi_client *client, struct kvs *kvs, const char *key, const char *value,
                     void (*put)(struct kvs *, const char *, const char *))
{
    size_t before = kvs_bytes(kvs);
    put(kvs, key, value);
    client->put += (int64_t)kvs_bytes(kvs) - (int64_t)before;
}

void connection_put(struct pmi_client *client, const char *key, const char *value)
{
    connection_keep(client, connection_kvs(client), key, value, kvs_put);
}

/* ---- what it does in barriers ---- */

bool pmi_connection_in_groups(const struct pmi_client *client)
{
    return client->subversion >= 2;
}

uint64_t pmi_connection_barriers(const struct pmi_client *client)
{
    return barrier_entered(&client->server->world, client->index);
}

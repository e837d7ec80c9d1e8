/* The requests that wait: linked, answered, and those that the owner is asked. */
#include "pmi-server/pmi/pmi_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmi/context.h"

/* The owner answers. */
static bool asks_owner(enum waits waits)
{
    return waits == WAITS_NAME || waits == WAITS_SPAWN || waits == WAITS_VALUE;
}

struct pmi_request *request_new(struct pmi_client *client, enum waits waits, const char *tag,
                                bool blocks)
{
    struct pmi_server *server = client->server;
    struct pmi_request *request = mem_alloc(sizeof(*request));
    request->client = client;
    request->waits = waits;
    request->blocks = blocks;
    request->tag = mem_copy_text(tag);
    request->before = server->last;
    if (server->last)
        server->last->next = request;
    else
        server->requests = request;
    server->last = request;
    client->open++;
    client->asks += asks_owner(waits);
    client->waits += blocks;
    return request;
}

static void pmi_request_free(struct pmi_request *request)
{
    free(request->tag);
    free(request->texts[0]);
    free(request->texts[1]);
    free(request);
}

void request_done(struct pmi_request *request)
{
    struct pmi_server *server = request->client->server;
    if (request->before)
        request->before->next = request->next;
    else
        server->requests = request->next;
    if (request->next)
        request->next->before = request->before;
    else
        server->last = request->before;
    struct pmi_client *client = request->client;
    client->open--;
    client->asks -= asks_owner(request->waits);
    client->waits -= request->blocks;
    if (!client->resumed) {
        client->resumed = true;
        client->resumed_next = NULL;
        *(server->resumed ? server->resumed_end : &server->resumed) = client;
        server->resumed_end = &client->resumed_next;
    }
    pmi_request_free(request);
}

void requests_free(struct pmi_server *server)
{
    struct pmi_request *next;
    for (struct pmi_request *request = server->requests; request; request = next) {
        next = request->next;
        pmi_request_free(request);
    }
    server->requests = server->last = NULL;
}

/* What the owner answers: names, spawn, and values of keys that launchers have. */

static void request_answered(struct pmi_request *request)
{
    struct pmi_client *client = request->client;
    request_done(request);
    connection_resume(client);
    if (client->server->let_go)
        connections_resume(client->server);
}

bool owner_can_name(const struct pmi_client *client)
{
    return client->server->ops->name;
}

void owner_name(struct pmi_client *client, enum pmi_name name, const char *service,
                const char *port, const char *tag, bool blocks)
{
    struct pmi_server *server = client->server;
    struct pmi_request *request = request_new(client, WAITS_NAME, tag, blocks);
    request->name = name;
    server->ops->name(server->arg, request, name, service, port);
}

void pmi_request_named(struct pmi_request *request, enum pmi_named named, const char *port)
{
    struct pmi_client *client = request->client;
    if (!client->gone)
        client->dialect->named(client, request, named, port);
    request_answered(request);
}

bool owner_can_spawn(const struct pmi_client *client)
{
    return client->server->ops->spawn;
}

void owner_spawn(struct pmi_client *client, const struct spawn_request *spawn, const char *tag,
                 bool blocks)
{
    struct pmi_server *server = client->server;
    struct pmi_request *request = request_new(client, WAITS_SPAWN, tag, blocks);
    server->ops->spawn(server->arg, request, spawn);
}

void pmi_request_spawned(struct pmi_request *request, const struct pmi_spawned *spawned)
{
    struct pmi_client *client = request->client;
    if (!client->gone)
        client->dialect->spawned(client, request, spawned);
    request_answered(request);
}

bool owner_can_value(const struct pmi_client *client, const char *key)
{
    return client->server->ops->value && !strncmp(key, "PMI_", 4);
}

void owner_value(struct pmi_client *client, const char *key, const char *command, const char *tag,
                 bool blocks)
{
    struct pmi_server *server = client->server;
    struct pmi_request *request = request_new(client, WAITS_VALUE, tag, blocks);
    request->texts[0] = mem_copy_text(key);
    request->texts[1] = mem_copy_text(command);
    server->ops->value(server->arg, request, request->texts[0]);
}

void pmi_request_value(struct pmi_request *request, const char *value)
{
    struct pmi_client *client = request->client;
    if (!client->gone)
        client->dialect->value(client, request, value);
    request_answered(request);
}

struct pmi_client *pmi_request_client(const struct pmi_request *request)
{
    return request->client;
}

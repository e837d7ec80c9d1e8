/* What the owner answers: names, spawn, and values of keys that launchers have. */
#include "pmi-server/server/request.h"

#include <string.h>

#include "base/mem.h"

static void request_answered(struct pmi_request *request)
{
    struct pmi_client *client = request->client;
    request_done(request);
    client_resume(client);
    if (client->server->let_go)
        server_resume(client->server);
}

bool client_can_name(const struct pmi_client *client)
{
    return client->server->ops->name;
}

void client_name(struct pmi_client *client, enum pmi_name name, const char *service,
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

bool client_can_spawn(const struct pmi_client *client)
{
    return client->server->ops->spawn;
}

void client_spawn(struct pmi_client *client, const struct pmi_spawn *spawn, const char *tag,
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

bool client_can_value(const struct pmi_client *client, const char *key)
{
    return client->server->ops->value && !strncmp(key, "PMI_", 4);
}

void client_value(struct pmi_client *client, const char *key, const char *command, const char *tag,
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

#include "pmi-server/server/request.h"

#include <stdlib.h>

#include "base/mem.h"

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

static void request_free(struct pmi_request *request)
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
    request_free(request);
}

void requests_free(struct pmi_server *server)
{
    struct pmi_request *next;
    for (struct pmi_request *request = server->requests; request; request = next) {
        next = request->next;
        request_free(request);
    }
    server->requests = server->last = NULL;
}

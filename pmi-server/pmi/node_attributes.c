/* Attributes of a node: what one task puts here its neighbours of the same group get, at once. */
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmi/pmi_request.h"

const char *connection_get_attribute(struct pmi_client *client, const char *key)
{
    const struct kvs *attributes = client->server->attributes;
    return attributes ? kvs_get(attributes, key) : NULL;
}

void connection_await_attribute(struct pmi_client *client, const char *key, const char *tag,
                                bool blocks)
{
    struct pmi_request *request = request_new(client, WAITS_ATTRIBUTE, tag, blocks);
    request->texts[0] = mem_copy_text(key);
}

static bool awaits(const struct pmi_request *request, const char *key)
{
    return request->waits == WAITS_ATTRIBUTE && !strcmp(request->texts[0], key);
}

/* Those who waited for it go on once the client's own input is dealt with. */
void connection_put_attribute(struct pmi_client *client, const char *key, const char *value)
{
    struct pmi_server *server = client->server;
    if (!server->attributes)
        server->attributes = kvs_new("");
    connection_keep(client, server->attributes, key, value, kvs_preset);
    struct pmi_request *request = server->requests;
    while (request) {
        struct pmi_request *next = request->next;
        if (awaits(request, key)) {
            if (!request->client->gone)
                request->client->dialect->attribute(request->client, request, value);
            request_done(request);
            server->let_go = true;
        }
        request = next;
    }
}

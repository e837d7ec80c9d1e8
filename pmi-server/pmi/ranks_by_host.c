/* Which rank is on which host, as far as the owner tells. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmi/connection.h"

struct place {
    uint32_t node, rank;
};

static int by_node(const void *a, const void *b)
{
    const struct place *l = a, *r = b;
    if (l->node != r->node)
        return l->node < r->node ? -1 : 1;
    return (l->rank > r->rank) - (l->rank < r->rank);
}

size_t connection_hosts(const struct pmi_client *client, struct buf *text)
{
    const struct pmi_server *server = client->server;
    uint32_t size = server->config.size;
    size_t nhosts = 0;
    if (!server->ops->node_of || !server->ops->host_of)
        return 0;
    struct place *places = mem_array(size, sizeof(*places));
    for (uint32_t rank = 0; rank < size; rank++)
        places[rank] = (struct place){server->ops->node_of(server->arg, rank), rank};
    qsort(places, size, sizeof(*places), by_node);
    for (uint32_t i = 0; i < size; i++) {
        if (!i || places[i].node != places[i - 1].node) {
            const char *host = server->ops->host_of(server->arg, places[i].node);
            buf_printf(text, "%zu %s ", strlen(host), host);
            nhosts++;
        }
        buf_printf(text, "%" PRIu32 ",", places[i].rank);
        if (i + 1 == size || places[i].node != places[i + 1].node)
            buf_add_char(text, ' ');
    }
    free(places);
    return nhosts;
}

/* Any bytes to a PMI-1 server. With an even first byte one client speaks, and the answer must not
 * depend on where its bytes are cut. With an odd one three clients speak in turns, die, and have
 * their barriers ended late: replies stay whole lines, and nobody is let out of a barrier that
 * is not complete. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pmi-server/dialects.h"
#include "pmi-server/server/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NCLIENTS 3
#define GREETING "cmd=init pmi_version=1 pmi_subversion=1\n"

struct node {
    struct kvs *kvs;
    struct pmi_server *server;
    struct pmi_client *clients[NCLIENTS];
    bool direct, exchanging;
    uint64_t id;
    struct buf carried;
};

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void on_exchange(void *arg, uint64_t id, uint32_t nnodes, const void *bytes, size_t len)
{
    struct node *node = arg;
    (void)nnodes;
    check(!node->exchanging);
    if (node->direct) {
        pmi_server_exchanged(node->server, id, bytes, len, NULL);
        return;
    }
    node->exchanging = true;
    node->id = id;
    buf_clear(&node->carried);
    buf_add(&node->carried, bytes, len);
}

static void on_abort(void *arg, struct pmi_client *client, int exitcode, const char *message)
{
    (void)arg, (void)exitcode;
    check(pmi_client_rank(client) < NCLIENTS && (!message || strlen(message) <= PMI_MAX_REQUEST));
}

static void on_output(void *arg, struct pmi_client *client)
{
    const struct buf *output = pmi_client_output(client);
    (void)arg;
    check(output->len && buf_bytes(output)[output->len - 1] == '\n');
}

static void on_broken(void *arg, struct pmi_client *client, const struct error *err)
{
    (void)arg;
    check(pmi_client_rank(client) < NCLIENTS && *error_text(err));
}

static void on_stuck(void *arg, uint32_t missing, uint32_t waiting)
{
    (void)arg;
    check(missing < NCLIENTS && waiting < NCLIENTS && missing != waiting);
}

static const struct pmi_ops ops = {.exchange = on_exchange,
                                   .abort = on_abort,
                                   .output = on_output,
                                   .broken = on_broken,
                                   .stuck = on_stuck};

static void node_open(struct node *node, uint32_t nclients)
{
    *node = (struct node){.kvs = kvs_new("kvs_f"), .direct = nclients == 1};
    struct pmi_config config = {.size = nclients,
                                .universe_size = -1,
                                .nlocal = nclients,
                                .kvs = node->kvs,
                                .dialects = dialects_of(true, true)};
    node->server = pmi_server_new(&config, &ops, node);
    for (uint32_t i = 0; i < nclients; i++) {
        node->clients[i] = pmi_client_new(node->server, i, i, NULL);
        check(!pmi_client_input(node->clients[i], GREETING, strlen(GREETING), NULL));
    }
}

static void node_close(struct node *node)
{
    pmi_server_free(node->server);
    kvs_free(node->kvs);
    buf_free(&node->carried);
}

static void fuzz_cuts(const uint8_t *data, size_t size)
{
    struct node whole, cut;
    int rc, cut_rc = 0;
    node_open(&whole, 1);
    node_open(&cut, 1);
    rc = pmi_client_input(whole.clients[0], data, size, NULL);
    for (size_t at = 0, step = 1; at < size && !cut_rc; at += step) {
        step = 1 + data[at] % 5;
        if (step > size - at)
            step = size - at;
        cut_rc = pmi_client_input(cut.clients[0], data + at, step, NULL);
    }
    const struct buf *a = pmi_client_output(whole.clients[0]);
    const struct buf *b = pmi_client_output(cut.clients[0]);
    check(rc == cut_rc && a->len == b->len && !memcmp(buf_bytes(a), buf_bytes(b), a->len));
    node_close(&whole);
    node_close(&cut);
}

/* Each record: whom and what in one byte, then for input a length and the bytes. */
static void fuzz_turns(const uint8_t *data, size_t size)
{
    struct node node;
    node_open(&node, NCLIENTS);
    for (size_t at = 0; at + 1 < size;) {
        struct pmi_client *client = node.clients[data[at] % NCLIENTS];
        unsigned what = data[at++] / NCLIENTS % 8;
        if (what == 0) {
            pmi_client_gone(client);
        } else if (what == 1 && node.exchanging) {
            node.exchanging = false;
            pmi_server_exchanged(node.server, node.id, buf_bytes(&node.carried), node.carried.len,
                                 NULL);
        } else {
            size_t len = data[at] < size - at - 1 ? data[at] : size - at - 1;
            pmi_client_input(client, data + at + 1, len, NULL);
            at += len + 1;
        }
    }
    if (!node.exchanging)
        check(pmi_server_exchanged(node.server, node.id, "", 0, NULL) < 0);
    node_close(&node);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    if (data[0] & 1)
        fuzz_turns(data + 1, size - 1);
    else
        fuzz_cuts(data + 1, size - 1);
    return 0;
}

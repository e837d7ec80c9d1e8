/* Any bytes to a PMI server, for the fuzz targets of its dialects. With an even first byte one
 * client speaks, and the answer must not depend on where its bytes are cut. With an odd one three
 * clients on two nodes speak in turns, die, and have their barriers ended and their names and
 * spawns answered late: replies stay whole, and no barrier ends that is not complete. */
#ifndef TESTS_FUZZ_PMI_TURNS_H
#define TESTS_FUZZ_PMI_TURNS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pmi-server/pmi/dialects.h"
#include "pmi-server/pmi/server.h"

#define NCLIENTS 3
#define NOPEN 8 /* answers that are owed; what comes beyond is answered at once */

/* What a target says of its dialect. */
static const char *turns_greeting(uint8_t first);
static bool turns_are_whole(const struct buf *output);

struct owed {
    uint64_t id; /* of an exchange, when there is no request */
    struct pmi_request *request;
    bool spawn;
    char *bytes;
    size_t len;
};

struct node {
    struct kvs *kvs;
    struct pmi_server *server;
    struct pmi_client *clients[NCLIENTS];
    bool direct;
    struct owed owed[NOPEN];
    size_t nowed;
};

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void pay(struct node *node, struct owed owed)
{
    static const int codes[] = {0, -1};
    struct pmi_spawned spawned = {
        .rc = owed.id & 1, .job = "kvs_g", .errcodes = codes, .nerrcodes = 2};
    if (!owed.request)
        pmi_server_exchanged(node->server, owed.id, owed.bytes, owed.len, NULL);
    else if (owed.spawn)
        pmi_request_spawned(owed.request, &spawned);
    else
        pmi_request_named(owed.request, owed.len, owed.len ? owed.bytes : NULL);
    free(owed.bytes);
}

static void owe(struct node *node, struct owed owed, const void *bytes, size_t len)
{
    owed.bytes = calloc(1, len + 1);
    check(owed.bytes);
    if (len)
        memcpy(owed.bytes, bytes, len);
    owed.len = len;
    if (node->direct || node->nowed == NOPEN)
        pay(node, owed);
    else
        node->owed[node->nowed++] = owed;
}

static void on_exchange(void *arg, uint64_t id, uint32_t nnodes, const void *bytes, size_t len)
{
    check(nnodes != 1);
    owe(arg, (struct owed){.id = id}, bytes, len);
}

static void on_name(void *arg, struct pmi_request *request, enum pmi_name name, const char *service,
                    const char *port)
{
    check(service && (name == PMI_NAME_PUBLISH) == (port != NULL));
    owe(arg, (struct owed){.request = request}, service, strlen(service));
}

static void on_spawn(void *arg, struct pmi_request *request, const struct spawn_request *spawn)
{
    check(spawn->nblocks && spawn_request_procs(spawn) >= spawn->nblocks);
    for (size_t i = 0; i < spawn->nblocks; i++)
        check(*spawn->blocks[i].argv[0] && !spawn->blocks[i].argv[spawn->blocks[i].argc]);
    owe(arg, (struct owed){.request = request, .spawn = true, .id = spawn->nblocks}, NULL, 0);
}

static void on_abort(void *arg, struct pmi_client *client, int exitcode, const char *message)
{
    (void)arg, (void)exitcode;
    check(pmi_connection_rank(client) < NCLIENTS &&
          (!message || strlen(message) <= PMI_MAX_REQUEST));
}

static void on_output(void *arg, struct pmi_client *client)
{
    const struct buf *output = pmi_connection_output(client);
    (void)arg;
    check(output->len && turns_are_whole(output));
}

static void on_broken(void *arg, struct pmi_client *client, const struct error *err)
{
    (void)arg;
    check(pmi_connection_rank(client) < NCLIENTS && *error_text(err));
}

static void on_stuck(void *arg, uint32_t missing, uint32_t waiting)
{
    (void)arg;
    check(missing < NCLIENTS + 2 && waiting < NCLIENTS);
}

/* The last one is by itself, though the same server's: so groups have parts. */
static uint32_t node_of(void *arg, uint32_t rank)
{
    (void)arg;
    return rank / 2;
}

static const char *host_of(void *arg, uint32_t node)
{
    (void)arg;
    return node ? "n1" : "n0";
}

static const struct pmi_ops ops = {.exchange = on_exchange,
                                   .abort = on_abort,
                                   .output = on_output,
                                   .broken = on_broken,
                                   .stuck = on_stuck,
                                   .name = on_name,
                                   .spawn = on_spawn,
                                   .node_of = node_of,
                                   .host_of = host_of};

static void node_open(struct node *node, uint32_t nclients, uint8_t first)
{
    const char *greeting = turns_greeting(first);
    *node = (struct node){.kvs = kvs_new("kvs_f"), .direct = nclients == 1};
    struct pmi_config config = {.size = nclients,
                                .universe_size = -1,
                                .nlocal = nclients,
                                .kvs = node->kvs,
                                .dialects = dialects_of(true, true)};
    node->server = pmi_server_new(&config, &ops, node);
    for (uint32_t i = 0; i < nclients; i++) {
        node->clients[i] = pmi_connection_new(node->server, i, i, NULL);
        check(!pmi_connection_input(node->clients[i], greeting, strlen(greeting), NULL));
    }
}

static void node_close(struct node *node)
{
    pmi_server_free(node->server);
    kvs_free(node->kvs);
    while (node->nowed)
        free(node->owed[--node->nowed].bytes);
}

static void fuzz_cuts(uint8_t first, const uint8_t *data, size_t size)
{
    struct node whole, cut;
    int rc, cut_rc = 0;
    node_open(&whole, 1, first);
    node_open(&cut, 1, first);
    rc = pmi_connection_input(whole.clients[0], data, size, NULL);
    for (size_t at = 0, step = 1; at < size && !cut_rc; at += step) {
        step = 1 + data[at] % 5;
        if (step > size - at)
            step = size - at;
        cut_rc = pmi_connection_input(cut.clients[0], data + at, step, NULL);
    }
    const struct buf *a = pmi_connection_output(whole.clients[0]);
    const struct buf *b = pmi_connection_output(cut.clients[0]);
    check(rc == cut_rc && a->len == b->len && !memcmp(buf_bytes(a), buf_bytes(b), a->len));
    node_close(&whole);
    node_close(&cut);
}

/* Each record: whom and what in one byte, then for input a length and the bytes. */
static void fuzz_turns(uint8_t first, const uint8_t *data, size_t size)
{
    struct node node;
    node_open(&node, NCLIENTS, first);
    for (size_t at = 0; at + 1 < size;) {
        struct pmi_client *client = node.clients[data[at] % NCLIENTS];
        unsigned what = data[at++] / NCLIENTS % 8;
        if (what == 0) {
            pmi_server_connection_gone(client);
        } else if (what == 1 && node.nowed) {
            struct owed owed = node.owed[0];
            memmove(node.owed, node.owed + 1, --node.nowed * sizeof(node.owed[0]));
            pay(&node, owed);
        } else if (what == 2) {
            pmi_server_missing(node.server, NCLIENTS + data[at] % 2, data[at] % 4);
        } else {
            size_t len = data[at] < size - at - 1 ? data[at] : size - at - 1;
            pmi_connection_input(client, data + at + 1, len, NULL);
            at += len + 1;
        }
    }
    if (!node.nowed)
        for (uint64_t id = 0; id < 3; id++)
            check(pmi_server_exchanged(node.server, id, "", 0, NULL) < 0);
    node_close(&node);
}

static void fuzz_server(const uint8_t *data, size_t size)
{
    if (size && data[0] & 1)
        fuzz_turns(data[0], data + 1, size - 1);
    else if (size)
        fuzz_cuts(data[0], data + 1, size - 1);
}

#endif

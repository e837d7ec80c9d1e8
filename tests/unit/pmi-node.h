/* A PMI server with its clients, in one process, for the tests of both. */
#ifndef TESTS_UNIT_PMI_NODE_H
#define TESTS_UNIT_PMI_NODE_H

#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmi/dialects.h"
#include "pmi-server/pmi/server.h"

#define MAX_CLIENTS 4

/* A node: a server, its clients, and what it told its owner. */
struct node {
    struct kvs *kvs;
    struct pmi_server *server;
    struct pmi_client *clients[MAX_CLIENTS];
    bool direct; /* answer a barrier from inside the op */
    unsigned nbarriers;
    uint64_t nworld;    /* those of them that were of all tasks */
    uint64_t sequence;  /* of the last one */
    struct buf carried; /* what its exchange carries */
    int exitcode;       /* of the last abort */
    char message[64];
    unsigned naborts, nnews, nstuck, nbroken;
    uint32_t missing, waiting, broken;
};

static inline void on_exchange(void *arg, uint64_t id, uint32_t nnodes, const void *bytes,
                               size_t len)
{
    struct node *node = arg;
    assert_true(id >> 56 || id == node->nworld++);
    assert_true(!nnodes || id >> 63);
    node->nbarriers++;
    node->sequence = id;
    buf_clear(&node->carried);
    buf_add(&node->carried, bytes, len);
    if (node->direct)
        assert_int_equal(pmi_server_exchanged(node->server, id, bytes, len, NULL), 0);
}

static inline void on_abort(void *arg, struct pmi_client *client, int exitcode, const char *message)
{
    struct node *node = arg;
    assert_ptr_equal(pmi_connection_data(client), node);
    node->naborts++;
    node->exitcode = exitcode;
    snprintf(node->message, sizeof(node->message), "%s", message ? message : "(none)");
}

static inline void on_output(void *arg, struct pmi_client *client)
{
    struct node *node = arg;
    assert_int_not_equal(pmi_connection_output(client)->len, 0);
    node->nnews++;
}

static inline void on_broken(void *arg, struct pmi_client *client, const struct error *err)
{
    struct node *node = arg;
    node->nbroken++;
    node->broken = pmi_connection_rank(client);
    snprintf(node->message, sizeof(node->message), "%s", error_text(err));
}

static inline void on_stuck(void *arg, uint32_t missing, uint32_t waiting)
{
    struct node *node = arg;
    node->nstuck++;
    node->missing = missing;
    node->waiting = waiting;
}

/* The exchange of the last barrier is done. */
static inline int node_end_barrier(struct node *node, const void *bytes, size_t len,
                                   struct error *err)
{
    return pmi_server_exchanged(node->server, node->sequence, bytes, len, err);
}

static const struct pmi_ops ops = {.exchange = on_exchange,
                                   .abort = on_abort,
                                   .output = on_output,
                                   .broken = on_broken,
                                   .stuck = on_stuck};

/* Ranks from `first` on, of `size`. */
static inline struct node *node_new_of(uint32_t first, uint32_t nlocal, uint32_t size,
                                       uint32_t appnum)
{
    struct node *node = calloc(1, sizeof(*node));
    assert_non_null(node);
    node->kvs = kvs_new("kvs_7");
    kvs_preset(node->kvs, "PMI_process_mapping", "(vector,(0,1,4))");
    struct pmi_config config = {.size = size,
                                .universe_size = -1,
                                .nlocal = nlocal,
                                .kvs = node->kvs,
                                .dialects = dialects_of(true, true)};
    node->server = pmi_server_new(&config, &ops, node);
    for (uint32_t i = 0; i < nlocal; i++)
        node->clients[i] = pmi_connection_new(node->server, first + i, appnum, node);
    return node;
}

static inline struct node *node_new(uint32_t first, uint32_t nlocal)
{
    return node_new_of(first, nlocal, 4, 3);
}

static inline void node_free(struct node *node)
{
    pmi_server_free(node->server);
    kvs_free(node->kvs);
    buf_free(&node->carried);
    free(node);
}

static inline void say(struct node *node, int client, const char *text)
{
    struct error err = ERROR_INIT;
    if (pmi_connection_input(node->clients[client], text, strlen(text), &err) < 0)
        fail_msg("%s", error_text(&err));
}

static inline void hear(struct node *node, int client, const char *text)
{
    struct buf *output = pmi_connection_output(node->clients[client]);
    assert_string_equal(buf_text(output), text);
    buf_clear(output);
}

/* A frame of PMI-2 in each direction, without its length; "": nothing is heard. */
static inline void say_frame(struct node *node, int client, const char *body)
{
    char *frame = mem_format("%6zu%s", strlen(body), body);
    say(node, client, frame);
    free(frame);
}

static inline void hear_frame(struct node *node, int client, const char *body)
{
    char *frame = mem_format("%6zu%s", strlen(body), body);
    hear(node, client, *body ? frame : "");
    free(frame);
}

/* The longest value of either dialect, and the longest key. */
#define V16 "0123456789abcdef"
#define V256 V16 V16 V16 V16 V16 V16 V16 V16 V16 V16 V16 V16 V16 V16 V16 V16
#define V1023                                                                                      \
    V256 V256 V256 V16 V16 V16 V16 V16 V16 V16 V16 V16 V16 V16 V16 V16 V16 V16 "0123456789abcde"
#define K63 V16 V16 V16 "0123456789abcde"

#define INIT "cmd=init pmi_version=1 pmi_subversion=1\n"
#define INIT_OK "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
#define INIT12 "cmd=init pmi_version=1 pmi_subversion=2\n"
#define INIT12_OK "cmd=response_to_init pmi_version=1 pmi_subversion=2 rc=0\n"
#define INIT_NO "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n"
#define PUT_OK "cmd=put_result rc=0 msg=success\n"
#define GOT "cmd=get_result rc=0 msg=success value="
#define OUT "cmd=barrier_out\n"

/* A node whose clients have all initialized. */
static inline struct node *node_running(uint32_t first, uint32_t nlocal)
{
    struct node *node = node_new(first, nlocal);
    for (uint32_t i = 0; i < nlocal; i++) {
        say(node, (int)i, INIT);
        hear(node, (int)i, INIT_OK);
    }
    return node;
}

#endif

/* PMI 1.2: barriers of groups, on one node and on several. */
#include <time.h>

#include "pmi-server/exchange/exchange.h"
#include "tests/unit/pmi-node.h"

#define TAG(number) "cmd=barrier_out tag=" #number "\n"

static uint32_t node_of(void *arg, uint32_t rank)
{
    (void)arg;
    return rank / 2; /* two ranks a node */
}

/* Two nodes with ranks 0, 1 and 2, 3; those who join what the exchange carries. */
struct pair {
    struct node *nodes[2];
};

static const struct pmi_ops group_ops = {.exchange = on_exchange,
                                         .abort = on_abort,
                                         .output = on_output,
                                         .broken = on_broken,
                                         .stuck = on_stuck,
                                         .node_of = node_of};

static struct node *grouped_node(uint32_t first, uint32_t nlocal)
{
    struct node *node = calloc(1, sizeof(*node));
    assert_non_null(node);
    node->kvs = kvs_new("kvs_7");
    struct pmi_config config = {.size = 4,
                                .universe_size = -1,
                                .nlocal = nlocal,
                                .kvs = node->kvs,
                                .dialects = dialects_of(true, true)};
    node->server = pmi_server_new(&config, &group_ops, node);
    for (uint32_t i = 0; i < nlocal; i++) {
        node->clients[i] = pmi_connection_new(node->server, first + i, 0, node);
        say(node, (int)i, INIT12);
        hear(node, (int)i, INIT12_OK);
    }
    return node;
}

static struct pair pair_new(void)
{
    return (struct pair){{grouped_node(0, 2), grouped_node(2, 2)}};
}

static void pair_free(struct pair *pair)
{
    node_free(pair->nodes[0]);
    node_free(pair->nodes[1]);
}

static void say_rank(struct pair *pair, int rank, const char *text)
{
    say(pair->nodes[rank / 2], rank % 2, text);
}

static void hear_rank(struct pair *pair, int rank, const char *text)
{
    hear(pair->nodes[rank / 2], rank % 2, text);
}

/* The round that both nodes are in is over. */
static void pair_exchange(struct pair *pair, const struct node *left, const struct node *right)
{
    struct buf all = BUF_INIT;
    assert_true(left->sequence == right->sequence);
    buf_add(&all, buf_bytes(&left->carried), left->carried.len);
    buf_add(&all, buf_bytes(&right->carried), right->carried.len);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pmi_server_exchanged(pair->nodes[i]->server, left->sequence,
                                              buf_bytes(&all), all.len, NULL),
                         0);
    buf_free(&all);
}

static void test_a_group_of_one_node_is_the_nodes_own(void **state)
{
    (void)state;
    struct pair pair = pair_new();
    say_rank(&pair, 0, "cmd=barrier_in group=0,1:77\ncmd=get_appnum\n");
    hear_rank(&pair, 0, "cmd=appnum appnum=0\n"); /* a thread's barrier holds up no other */
    say_rank(&pair, 1, "cmd=barrier_in group=1,0:77\n");
    hear_rank(&pair, 0, TAG(77));
    hear_rank(&pair, 1, TAG(77));
    say_rank(&pair, 2, "cmd=barrier_in group=NODE:3\n");
    hear_rank(&pair, 2, "");
    say_rank(&pair, 3, "cmd=barrier_in group=NODE:3\n");
    hear_rank(&pair, 2, TAG(3));
    hear_rank(&pair, 3, TAG(3));
    assert_int_equal(pair.nodes[0]->nbarriers + pair.nodes[1]->nbarriers, 0);
    pair_free(&pair);
}

static void test_a_group_of_two_nodes_publishes_and_lets_out_its_members(void **state)
{
    (void)state;
    struct pair pair = pair_new();
    for (int round = 0; round < 3; round++) {
        say_rank(&pair, 0, "cmd=put key=a value=1\ncmd=barrier_in group=0,3:5\n");
        say_rank(&pair, 2, "cmd=put key=b value=2\n");
        say_rank(&pair, 3, "cmd=barrier_in group=3,0,3:5\n");
        assert_int_equal(pair.nodes[0]->nbarriers, round + 1);
        assert_true(pair.nodes[0]->sequence & EXCHANGE_PART);
        pair_exchange(&pair, pair.nodes[0], pair.nodes[1]);
        hear_rank(&pair, 0, PUT_OK TAG(5));
        hear_rank(&pair, 3, TAG(5));
        hear_rank(&pair, 2, PUT_OK);
        hear_rank(&pair, 1, "");
    }
    say_rank(&pair, 1, "cmd=get key=b\n");
    hear_rank(&pair, 1, "cmd=get_result rc=0 msg=success found=TRUE value=2\n");
    pair_free(&pair);
}

static void test_nodes_without_members_hear_what_is_published(void **state)
{
    (void)state;
    struct pair pair = pair_new();
    struct node *other = grouped_node(0, 1);
    say_rank(&pair, 0, "cmd=put key=a value=1\ncmd=barrier_in group=0,2:5\n");
    struct node *left = pair.nodes[0];
    assert_int_equal(pmi_server_exchanged(other->server, left->sequence, buf_bytes(&left->carried),
                                          left->carried.len, NULL),
                     0);
    assert_string_equal(kvs_get(other->kvs, "a"), "1");
    node_free(other);
    pair_free(&pair);
}

static void test_several_groups_are_open_at_once(void **state)
{
    (void)state;
    struct pair pair = pair_new();
    struct node first = {0}, second = {0};
    say_rank(&pair, 0, "cmd=barrier_in group=0,2:1\n");
    buf_add(&first.carried, buf_bytes(&pair.nodes[0]->carried), pair.nodes[0]->carried.len);
    first.sequence = pair.nodes[0]->sequence;
    say_rank(&pair, 0, "cmd=barrier_in group=0,2:2\ncmd=barrier_in group=NODE:9\n");
    second.sequence = pair.nodes[0]->sequence;
    assert_true(first.sequence != second.sequence);
    say_rank(&pair, 2, "cmd=barrier_in group=0,2:2\n");
    pair_exchange(&pair, pair.nodes[0], pair.nodes[1]);
    hear_rank(&pair, 0, TAG(2));
    hear_rank(&pair, 2, TAG(2));
    say_rank(&pair, 2, "cmd=barrier_in group=0,2:1\n");
    pair_exchange(&pair, &first, pair.nodes[1]);
    hear_rank(&pair, 0, TAG(1));
    hear_rank(&pair, 2, TAG(1));
    say_rank(&pair, 1, "cmd=barrier_in group=NODE:9\n");
    hear_rank(&pair, 0, TAG(9));
    buf_free(&first.carried);
    pair_free(&pair);
}

static void test_threads_may_enter_one_group_twice(void **state)
{
    (void)state;
    struct pair pair = pair_new();
    say_rank(&pair, 0, "cmd=barrier_in group=0,1:4\ncmd=barrier_in group=0,1:4\n");
    say_rank(&pair, 1, "cmd=barrier_in group=0,1:4\n");
    hear_rank(&pair, 0, TAG(4));
    say_rank(&pair, 1, "cmd=barrier_in group=0,1:4\n");
    hear_rank(&pair, 0, TAG(4));
    hear_rank(&pair, 1, TAG(4) TAG(4));
    pair_free(&pair);
}

static void test_a_barrier_of_all_with_a_tag_is_one_of_all_nodes(void **state)
{
    (void)state;
    struct pair pair = pair_new();
    for (int rank = 0; rank < 4; rank++)
        say_rank(&pair, rank, "cmd=barrier_in group=WORLD:8\n");
    assert_false(pair.nodes[0]->sequence & EXCHANGE_PART);
    pair_exchange(&pair, pair.nodes[0], pair.nodes[1]);
    for (int rank = 0; rank < 4; rank++)
        hear_rank(&pair, rank, TAG(8));
    pair_free(&pair);
}

static void test_what_comes_back_of_a_group_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        const char *error;
    } bad[] = {
        {"0,2:1", 5, "malformed"},
        {"0,2:1\0\0\0\0", 9, "malformed"},
        {"0,2:1\0\0\0\0\1", 10, "malformed"},
        {"0,2:1\0\377\377\377\377", 10, "malformed"},
        {"0,2:2\0\0\0\0\0", 10, "two groups of tasks go by one number: 0,2:1 and 0,2:2"},
        {"0,2:1\0\0\0\0\1\5", 11, "packed key-value pairs"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = ERROR_INIT;
        struct pair pair = pair_new();
        say_rank(&pair, 0, "cmd=barrier_in group=0,2:1\n");
        assert_int_equal(pmi_server_exchanged(pair.nodes[0]->server, pair.nodes[0]->sequence,
                                              bad[i].bytes, bad[i].len, &err),
                         -1);
        if (!strstr(error_text(&err), bad[i].error))
            fail_msg("case %zu: %s", i, error_text(&err));
        hear_rank(&pair, 0, "");
        error_clear(&err);
        pair_free(&pair);
    }
}

static void test_who_leaves_strands_the_groups_it_is_in(void **state)
{
    (void)state;
    struct pair pair = pair_new();
    say_rank(&pair, 0, "cmd=barrier_in group=0,1:1\n");
    say_rank(&pair, 1, "cmd=finalize\n");
    assert_int_equal(pair.nodes[0]->nstuck, 1);
    assert_int_equal(pair.nodes[0]->missing, 1);
    assert_int_equal(pair.nodes[0]->waiting, 0);
    pair_free(&pair);
    pair = pair_new(); /* the group is new when the other has left */
    say_rank(&pair, 1, "cmd=finalize\n");
    say_rank(&pair, 0, "cmd=barrier_in group=0,2:1\n");
    assert_int_equal(pair.nodes[0]->nstuck, 0);
    say_rank(&pair, 0, "cmd=barrier_in group=0,1:1\n");
    assert_int_equal(pair.nodes[0]->nstuck, 1);
    pair_free(&pair);
}

static void test_who_leaves_on_another_node_strands_them_too(void **state)
{
    (void)state;
    struct pair pair = pair_new();
    struct node *here = pair.nodes[0];
    say_rank(&pair, 3, "cmd=finalize\n");
    pmi_server_connection_gone(pair.nodes[1]->clients[1]);
    assert_true(pmi_connection_in_groups(pair.nodes[1]->clients[1]));
    assert_int_equal(pmi_connection_barriers(pair.nodes[1]->clients[1]), 0);
    say_rank(&pair, 0, "cmd=barrier_in group=0,2:1\n");
    assert_false(pmi_server_missing(here->server, 3, 0));
    say_rank(&pair, 0, "cmd=barrier_in group=0,3:1\n");
    assert_int_equal(here->nstuck, 1);
    assert_int_equal(here->missing, 3);
    pair_free(&pair);
    pair = pair_new();
    say_rank(&pair, 0, "cmd=barrier_in group=0,3:1\n");
    assert_true(pmi_server_missing(pair.nodes[0]->server, 3, 0));
    pair_free(&pair);
}

/* Enters barriers of so many groups, "RANKS:0" and so on; how many of these were accepted. */
static int enter_many(struct node *node, int client, const char *ranks, int count,
                      struct error *err)
{
    char line[64];
    for (int i = 0; i < count; i++) {
        int len = snprintf(line, sizeof(line), "cmd=barrier_in group=%s:%d\n", ranks, i);
        if (pmi_connection_input(node->clients[client], line, (size_t)len, err) < 0)
            return i;
    }
    return count;
}

static void test_open_groups_and_open_requests_have_a_limit(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct pair pair = pair_new();
    assert_int_equal(enter_many(pair.nodes[0], 0, "0,1", 4000, &err), 4000);
    assert_int_equal(enter_many(pair.nodes[0], 1, "1,2", 4000, &err), 96);
    assert_non_null(strstr(error_text(&err), "one group too many is open: \"cmd=barrier_in"));
    error_clear(&err);
    static const char wait[] = "cmd=barrier_in group=2,0:1\n";
    int rc = 0, count = 0;
    for (; count < 5000 && !rc; count++)
        rc = pmi_connection_input(pair.nodes[1]->clients[0], wait, sizeof(wait) - 1, &err);
    assert_int_equal(count, 4097);
    assert_non_null(strstr(error_text(&err), "4096 requests wait for an answer"));
    error_clear(&err);
    pair_free(&pair);
}

/* Processor time, in us, of so many groups that are open together, and then over; the least of some. */
static double time_of(int count)
{
    double least = 1e9;
    for (int i = 0; i < 5; i++) {
        struct node *node = grouped_node(0, 2);
        clock_t begin = clock();
        for (int client = 0; client < 2; client++)
            assert_int_equal(enter_many(node, client, "0,1", count, NULL), count);
        double took = (double)(clock() - begin);
        least = took < least ? took : least;
        node_free(node);
    }
    return least;
}

static void test_a_group_costs_the_same_beside_many(void **state)
{
    (void)state;
    double few = time_of(1000), many = time_of(4000);
    if (many > 8 * few)
        fail_msg("4000 groups took %.0f us, 1000 took %.0f", many, few);
}

static void test_groups_that_are_over_count_no_more(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct pair pair = pair_new();
    assert_int_equal(enter_many(pair.nodes[0], 0, "0", 20000, &err), 20000);
    buf_clear(pmi_connection_output(pair.nodes[0]->clients[0]));
    for (int i = 0; i < 5000; i++) {
        char text[64], out[64];
        snprintf(text, sizeof(text), "cmd=barrier_in group=1,3:%d\n", i);
        snprintf(out, sizeof(out), "cmd=barrier_out tag=%d\n", i);
        say_rank(&pair, 1, text);
        say_rank(&pair, 3, text);
        pair_exchange(&pair, pair.nodes[0], pair.nodes[1]);
        hear_rank(&pair, 1, out);
        hear_rank(&pair, 3, out);
    }
    pair_free(&pair);
}

static void test_groups_whose_members_have_left_count_no_more(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct node *node = node_new(0, 3); /* all are here */
    for (int i = 0; i < 3; i++)
        say(node, i, INIT12);
    assert_int_equal(enter_many(node, 0, "0,1", 3000, &err), 3000);
    say(node, 0, "cmd=finalize\n");
    assert_false(pmi_server_connection_gone(node->clients[0]));
    say(node, 1, "cmd=finalize\n");
    assert_int_equal(enter_many(node, 2, "2,3", 3000, &err), 3000);
    node_free(node);
}

static void test_who_leaves_strands_no_barrier_of_another_node(void **state)
{
    (void)state;
    struct pair pair = pair_new();
    say_rank(&pair, 0, "cmd=barrier_in group=NODE:1\n");
    assert_false(pmi_server_missing(pair.nodes[0]->server, 3, 0));
    say_rank(&pair, 1, "cmd=barrier_in group=NODE:1\n");
    hear_rank(&pair, 0, TAG(1));
    say_rank(&pair, 0, "cmd=barrier_in group=NODE:1\n");
    say_rank(&pair, 1, "cmd=barrier_in group=NODE:1\n");
    hear_rank(&pair, 0, TAG(1));
    assert_int_equal(pair.nodes[0]->nstuck, 0);
    pair_free(&pair);
}

/* Four nodes with a task each, below one who gathers. */
#define NNODES 4

struct tree_node {
    struct tree_world *world;
    struct kvs *kvs;
    struct pmi_server *server;
    struct pmi_client *client;
    struct exchange *exchange;
};

struct tree_world {
    struct exchange *root;
    struct tree_node nodes[NNODES];
    struct {
        bool down;
        uint64_t id;
        uint32_t weight;
        struct buf bytes;
    } queue[64];
    size_t count;
};

static void world_send(struct tree_world *world, bool down, uint64_t id, uint32_t weight,
                       const void *bytes, size_t len)
{
    assert_true(world->count < 64);
    world->queue[world->count].down = down;
    world->queue[world->count].id = id;
    world->queue[world->count].weight = weight;
    world->queue[world->count].bytes = (struct buf)BUF_INIT;
    buf_add(&world->queue[world->count++].bytes, bytes, len);
}

static void leaf_up(void *arg, uint64_t id, uint32_t weight, const void *bytes, size_t len)
{
    struct tree_node *node = arg;
    world_send(node->world, false, id, weight, bytes, len);
}

static void leaf_down(void *arg, uint64_t id, const void *bytes, size_t len)
{
    (void)arg, (void)id, (void)bytes, (void)len;
}

static void leaf_done(void *arg, uint64_t id, const void *bytes, size_t len)
{
    struct tree_node *node = arg;
    assert_int_equal(pmi_server_exchanged(node->server, id, bytes, len, NULL), 0);
}

static void root_down(void *arg, uint64_t id, const void *bytes, size_t len)
{
    world_send(arg, true, id, 0, bytes, len);
}

static void root_done(void *arg, uint64_t id, const void *bytes, size_t len)
{
    (void)arg, (void)id, (void)bytes, (void)len;
}

static void leaf_exchange(void *arg, uint64_t id, uint32_t nnodes, const void *bytes, size_t len)
{
    struct tree_node *node = arg;
    assert_int_equal(nnodes ? exchange_enter_part(node->exchange, id, nnodes, bytes, len, NULL)
                            : exchange_enter(node->exchange, id, 1, bytes, len, NULL),
                     0);
}

static void leaf_output(void *arg, struct pmi_client *client)
{
    (void)arg, (void)client;
}

static uint32_t rank_is_node(void *arg, uint32_t rank)
{
    (void)arg;
    return rank;
}

static void world_run(struct tree_world *world)
{
    for (size_t at = 0; at < world->count; at++) {
        struct buf bytes = world->queue[at].bytes;
        uint64_t id = world->queue[at].id;
        if (!world->queue[at].down)
            assert_int_equal(exchange_enter(world->root, id, world->queue[at].weight,
                                            buf_bytes(&bytes), bytes.len, NULL),
                             0);
        for (int i = 0; world->queue[at].down && i < NNODES; i++)
            assert_int_equal(
                exchange_complete(world->nodes[i].exchange, id, buf_bytes(&bytes), bytes.len, NULL),
                0);
        buf_free(&bytes);
    }
    world->count = 0;
}

static void world_open(struct tree_world *world)
{
    static const struct exchange_ops leaf_ops = {leaf_up, leaf_down, leaf_done};
    static const struct exchange_ops root_ops = {NULL, root_down, root_done};
    static const struct pmi_ops server_ops = {
        .exchange = leaf_exchange, .output = leaf_output, .node_of = rank_is_node};
    world->root = exchange_new(&root_ops, world, NNODES, NNODES);
    for (uint32_t i = 0; i < NNODES; i++) {
        struct tree_node *node = &world->nodes[i];
        node->world = world;
        node->kvs = kvs_new("kvs_7");
        struct pmi_config config = {
            .size = NNODES, .nlocal = 1, .kvs = node->kvs, .dialects = dialects_of(true, true)};
        node->server = pmi_server_new(&config, &server_ops, node);
        node->client = pmi_connection_new(node->server, i, 0, node);
        node->exchange = exchange_new(&leaf_ops, node, NNODES, 1);
        assert_int_equal(pmi_connection_input(node->client, INIT12, strlen(INIT12), NULL), 0);
        buf_clear(pmi_connection_output(node->client));
    }
}

static void world_close(struct tree_world *world)
{
    for (int i = 0; i < NNODES; i++) {
        pmi_server_free(world->nodes[i].server);
        kvs_free(world->nodes[i].kvs);
        exchange_free(world->nodes[i].exchange);
    }
    exchange_free(world->root);
}

static void test_neighbours_on_many_nodes_meet_in_twos(void **state)
{
    (void)state;
    struct tree_world world = {.count = 0};
    world_open(&world);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < NNODES; i++) {
            char text[160];
            int next = (i + 1) % NNODES, last = (i + NNODES - 1) % NNODES;
            int len = snprintf(text, sizeof(text),
                               "cmd=put key=k-%d-%d value=%d\ncmd=barrier_in group=%d,%d:5\n"
                               "cmd=barrier_in group=%d,%d:5\n",
                               round, i, i, i, next, last, i);
            assert_int_equal(pmi_connection_input(world.nodes[i].client, text, (size_t)len, NULL),
                             0);
            if (round % 2)
                world_run(&world);
        }
        world_run(&world);
        for (int i = 0; i < NNODES; i++) {
            struct buf *output = pmi_connection_output(world.nodes[i].client);
            assert_string_equal(buf_text(output), PUT_OK TAG(5) TAG(5));
            buf_clear(output);
        }
    }
    world_close(&world);
}

/* A group is let out with all that its members had put, though an earlier exchange that carries it
 * too is still under way. */
static void test_what_is_put_is_there_whichever_exchange_is_over_first(void **state)
{
    (void)state;
    struct tree_world world = {.count = 0};
    world_open(&world);
    static const char first[] = "cmd=put key=a value=1\ncmd=barrier_in group=0,1:1\n"
                                "cmd=barrier_in group=0,2:1\n";
    static const char second[] = "cmd=barrier_in group=0,2:1\n";
    assert_int_equal(pmi_connection_input(world.nodes[0].client, first, sizeof(first) - 1, NULL),
                     0);
    assert_int_equal(pmi_connection_input(world.nodes[2].client, second, sizeof(second) - 1, NULL),
                     0);
    world_run(&world);
    assert_string_equal(buf_text(pmi_connection_output(world.nodes[2].client)), TAG(1));
    assert_string_equal(kvs_get(world.nodes[2].kvs, "a"), "1");
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_group_of_one_node_is_the_nodes_own),
        cmocka_unit_test(test_a_group_of_two_nodes_publishes_and_lets_out_its_members),
        cmocka_unit_test(test_nodes_without_members_hear_what_is_published),
        cmocka_unit_test(test_several_groups_are_open_at_once),
        cmocka_unit_test(test_threads_may_enter_one_group_twice),
        cmocka_unit_test(test_a_barrier_of_all_with_a_tag_is_one_of_all_nodes),
        cmocka_unit_test(test_what_comes_back_of_a_group_is_checked),
        cmocka_unit_test(test_who_leaves_strands_the_groups_it_is_in),
        cmocka_unit_test(test_who_leaves_on_another_node_strands_them_too),
        cmocka_unit_test(test_neighbours_on_many_nodes_meet_in_twos),
        cmocka_unit_test(test_what_is_put_is_there_whichever_exchange_is_over_first),
        cmocka_unit_test(test_open_groups_and_open_requests_have_a_limit),
        cmocka_unit_test(test_a_group_costs_the_same_beside_many),
        cmocka_unit_test(test_groups_that_are_over_count_no_more),
        cmocka_unit_test(test_groups_whose_members_have_left_count_no_more),
        cmocka_unit_test(test_who_leaves_strands_no_barrier_of_another_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

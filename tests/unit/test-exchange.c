#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pmi-server/exchange/exchange.h"
#include "tests/unit/unit.h"

#define MAX_VERTICES 16

/* A tree of exchanges. Messages go through a queue, so that they arrive in the order (or, with
 * `reverse`, in the opposite order) of their sending; with `direct` they arrive at once, from
 * inside the callback. */
struct vertex {
    struct tree *tree;
    struct exchange *exchange;
    int parent; /* -1 at the root */
    bool takes_part;
    unsigned ndone;
    uint64_t last_id;
    struct buf got; /* of the last round done */
};

struct message {
    int to;
    bool down;
    uint64_t id;
    uint32_t weight;
    struct buf bytes;
};

struct tree {
    struct vertex vertices[MAX_VERTICES];
    int count;
    bool direct, reverse;
    struct message queue[256];
    size_t nqueue;
    unsigned nmessages;
};

static void message_deliver(struct tree *tree, struct message *message)
{
    struct error err = ERROR_INIT;
    struct exchange *exchange = tree->vertices[message->to].exchange;
    const char *bytes = buf_bytes(&message->bytes);
    int rc;
    tree->nmessages++;
    if (message->down)
        rc = exchange_complete(exchange, message->id, bytes, message->bytes.len, &err);
    else
        rc =
            exchange_enter(exchange, message->id, message->weight, bytes, message->bytes.len, &err);
    assert_int_equal(rc, 0);
    buf_free(&message->bytes);
}

static void message_send(struct tree *tree, struct message message, const void *bytes, size_t len)
{
    buf_add(&message.bytes, bytes, len);
    if (tree->direct) {
        message_deliver(tree, &message);
        return;
    }
    assert_true(tree->nqueue < 256);
    tree->queue[tree->nqueue++] = message;
}

static void tree_run(struct tree *tree)
{
    while (tree->nqueue) {
        size_t at = tree->reverse ? tree->nqueue - 1 : 0;
        struct message message = tree->queue[at];
        memmove(&tree->queue[at], &tree->queue[at + 1],
                (--tree->nqueue - at) * sizeof(tree->queue[0]));
        message_deliver(tree, &message);
    }
}

static void on_up(void *arg, uint64_t id, uint32_t weight, const void *bytes, size_t len)
{
    struct vertex *vertex = arg;
    assert_true(vertex->parent >= 0);
    message_send(vertex->tree, (struct message){.to = vertex->parent, .id = id, .weight = weight},
                 bytes, len);
}

static void on_down(void *arg, uint64_t id, const void *bytes, size_t len)
{
    struct vertex *vertex = arg;
    struct tree *tree = vertex->tree;
    for (int i = 0; i < tree->count; i++)
        if (tree->vertices[i].parent == vertex - tree->vertices)
            message_send(tree, (struct message){.to = i, .down = true, .id = id}, bytes, len);
}

static void on_done(void *arg, uint64_t id, const void *bytes, size_t len)
{
    struct vertex *vertex = arg;
    vertex->ndone++;
    vertex->last_id = id;
    buf_clear(&vertex->got);
    buf_add(&vertex->got, bytes, len);
}

static const struct exchange_ops ops = {.up = on_up, .down = on_down, .done = on_done};

static uint32_t tree_weight(const struct tree *tree, int vertex)
{
    uint32_t weight = tree->vertices[vertex].takes_part;
    for (int i = 0; i < tree->count; i++)
        if (tree->vertices[i].parent == vertex)
            weight += tree_weight(tree, i);
    return weight;
}

/* shape: a vertex a word, "PARENT" or "PARENT:" for one that does not take part; the first is the
 * root, its parent is "-". */
static struct tree *tree_new(const char *shape)
{
    struct tree *tree = calloc(1, sizeof(*tree));
    assert_non_null(tree);
    for (const char *at = shape; *at;) {
        struct vertex *vertex = &tree->vertices[tree->count++];
        char *end;
        *vertex = (struct vertex){.tree = tree, .takes_part = true, .parent = -1};
        if (*at == '-')
            end = (char *)(uintptr_t)at + 1;
        else
            vertex->parent = (int)strtol(at, &end, 10);
        if (*end == ':') {
            vertex->takes_part = false;
            end++;
        }
        at = end + strspn(end, " ");
    }
    for (int i = 0; i < tree->count; i++)
        tree->vertices[i].exchange =
            exchange_new(&ops, &tree->vertices[i], tree_weight(tree, 0), tree_weight(tree, i));
    return tree;
}

static void tree_free(struct tree *tree)
{
    for (int i = 0; i < tree->count; i++) {
        exchange_free(tree->vertices[i].exchange);
        buf_free(&tree->vertices[i].got);
    }
    for (size_t i = 0; i < tree->nqueue; i++)
        buf_free(&tree->queue[i].bytes);
    free(tree);
}

static void vertex_enter(struct tree *tree, int vertex, uint64_t id)
{
    char bytes[32];
    int len = snprintf(bytes, sizeof(bytes), "<%d/%d>", vertex, (int)id);
    assert_int_equal(
        exchange_enter(tree->vertices[vertex].exchange, id, 1, bytes, (size_t)len, NULL), 0);
}

/* Everybody below takes part, so the round never comes up here. */
static bool is_above_root(const struct tree *tree, int vertex)
{
    for (int i = 0; i < tree->count; i++)
        if (tree->vertices[i].parent == vertex && tree_weight(tree, i) == tree_weight(tree, 0))
            return true;
    return false;
}

static void check_whole(const struct tree *tree, int vertex, uint64_t id)
{
    const struct vertex *at = &tree->vertices[vertex];
    size_t len = 0;
    assert_int_equal(at->last_id, id);
    for (int i = 0; i < tree->count; i++) {
        char bytes[32];
        snprintf(bytes, sizeof(bytes), "<%d/%d>", i, (int)id);
        if (!tree->vertices[i].takes_part)
            continue;
        assert_non_null(strstr(buf_text(&at->got), bytes));
        len += strlen(bytes);
    }
    assert_int_equal(at->got.len, len);
}

static const char *const shapes[] = {
    "-",                 /* one node: never leaves its agent */
    "-: 0",              /* the manager and one agent: the agent is the root */
    "- 0",               /* root at an agent */
    "-: 0 0 0",          /* the manager as relay root with three agents */
    "- 0 0 1 1 2 2",     /* binary */
    "-: 0 1 2 3",        /* a chain below the manager */
    "- 0: 1 1",          /* a relay in the middle */
    "-: 0: 0 1 1: 2 4:", /* relays in the middle and at the end */
    "-: 0 0 0 0 0 0 0 0 1 1 2 2 3 3",
};

static void test_every_shape_gathers_all_and_tells_all(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
        for (int mode = 0; mode < 3; mode++) {
            struct tree *tree = tree_new(shapes[s]);
            tree->direct = mode == 1;
            tree->reverse = mode == 2;
            for (uint64_t id = 0; id < 100; id++) {
                for (int i = tree->count - 1; i >= 0; i--)
                    if (tree->vertices[i].takes_part)
                        vertex_enter(tree, i, id);
                tree_run(tree);
                for (int i = 0; i < tree->count; i++)
                    if (!is_above_root(tree, i))
                        check_whole(tree, i, id);
            }
            for (int i = 0; i < tree->count; i++)
                assert_int_equal(tree->vertices[i].ndone, is_above_root(tree, i) ? 0 : 100);
            tree_free(tree);
        }
    }
}

static void test_one_node_sends_nothing(void **state)
{
    (void)state;
    struct tree *tree = tree_new("-");
    vertex_enter(tree, 0, 7);
    check_whole(tree, 0, 7);
    assert_int_equal(tree->nmessages, 0);
    tree_free(tree);
}

static void test_each_link_carries_one_message_a_way(void **state)
{
    (void)state;
    struct tree *tree = tree_new("-: 0 0 1 1 2 2");
    for (int i = 1; i < tree->count; i++)
        vertex_enter(tree, i, 1);
    tree_run(tree);
    assert_int_equal(tree->nmessages, 2 * 6);
    tree_free(tree);
}

static void test_rounds_overlap(void **state)
{
    (void)state;
    struct tree *tree = tree_new("- 0 0 1 1 2 2");
    for (int i = 0; i < tree->count; i++)
        for (uint64_t id = 1; id <= 3; id++)
            if (i != 5 || id == 2)
                vertex_enter(tree, i, id);
    tree_run(tree);
    for (int i = 0; i < tree->count; i++) {
        assert_int_equal(tree->vertices[i].ndone, 1);
        check_whole(tree, i, 2);
    }
    vertex_enter(tree, 5, 3);
    tree_run(tree);
    check_whole(tree, 6, 3);
    vertex_enter(tree, 5, 1);
    tree_run(tree);
    for (int i = 0; i < tree->count; i++)
        check_whole(tree, i, 1);
    tree_free(tree);
}

static void test_a_round_may_hold_no_bytes(void **state)
{
    (void)state;
    struct tree *tree = tree_new("-: 0 0");
    for (int i = 1; i < 3; i++)
        assert_int_equal(exchange_enter(tree->vertices[i].exchange, 9, 1, NULL, 0, NULL), 0);
    tree_run(tree);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tree->vertices[i].ndone, 1);
        assert_int_equal(tree->vertices[i].got.len, 0);
    }
    tree_free(tree);
}

struct again {
    struct exchange *exchange;
    unsigned rounds;
};

static void again_done(void *arg, uint64_t id, const void *bytes, size_t len)
{
    struct again *again = arg;
    assert_int_equal(len, 1);
    assert_int_equal(*(const char *)bytes, 'x');
    if (++again->rounds < 5)
        assert_int_equal(exchange_enter(again->exchange, id + 1, 1, "x", 1, NULL), 0);
    else
        exchange_free(again->exchange);
}

static void again_down(void *arg, uint64_t id, const void *bytes, size_t len)
{
    (void)arg, (void)id, (void)bytes, (void)len;
}

static void test_a_new_round_and_the_end_may_come_from_inside_done(void **state)
{
    (void)state;
    static const struct exchange_ops again_ops = {.down = again_down, .done = again_done};
    struct again again = {0};
    again.exchange = exchange_new(&again_ops, &again, 1, 1);
    assert_int_equal(exchange_enter(again.exchange, 0, 1, "x", 1, NULL), 0);
    assert_int_equal(again.rounds, 5);
}

static void refuse(int rc, struct error *err, const char *says)
{
    assert_int_equal(rc, -1);
    assert_non_null(strstr(error_text(err), says));
    error_clear(err);
}

static void test_wrong_weights_are_refused(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct tree *tree = tree_new("-: 0 0 0");
    struct exchange *root = tree->vertices[0].exchange, *leaf = tree->vertices[1].exchange;
    refuse(exchange_enter(root, 1, 0, "", 0, &err), &err, "weight 0");
    refuse(exchange_enter(root, 1, 4, "", 0, &err), &err, "weight 4 entered, but 3 of 3");
    assert_int_equal(exchange_enter(root, 1, 2, "ab", 2, NULL), 0);
    refuse(exchange_enter(root, 1, 2, "cd", 2, &err), &err, "1 of 3");
    refuse(exchange_enter(root, 1, UINT32_MAX, "cd", 2, &err), &err, "1 of 3");
    assert_int_equal(exchange_enter(root, 1, 1, "e", 1, NULL), 0);
    assert_string_equal(buf_text(&tree->vertices[0].got), "abe");

    vertex_enter(tree, 1, 2);
    refuse(exchange_enter(leaf, 2, 1, "", 0, &err), &err, "round 0x2: entered after it was over");
    tree_free(tree);
}

static void test_messages_of_a_round_that_is_over_are_refused(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct tree *tree = tree_new("- 0 1:");
    for (uint64_t id = 0; id < 3; id++) {
        vertex_enter(tree, 0, id);
        vertex_enter(tree, 1, id);
        tree_run(tree);
    }
    for (int i = 0; i < 2; i++)
        refuse(exchange_enter(tree->vertices[i].exchange, 1, 1, "", 0, &err), &err, "over");
    for (int i = 0; i < 3; i++)
        refuse(exchange_complete(tree->vertices[i].exchange, 1, "", 0, &err), &err, "over");
    tree_free(tree);
}

static void test_what_comes_down_must_have_gone_up(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct tree *tree = tree_new("-: 0 1 1");
    struct exchange *middle = tree->vertices[1].exchange;
    refuse(exchange_complete(middle, 5, "x", 1, &err), &err, "never sent up");
    vertex_enter(tree, 1, 5);
    refuse(exchange_complete(middle, 5, "x", 1, &err), &err, "never sent up");
    vertex_enter(tree, 2, 5);
    vertex_enter(tree, 3, 5);
    tree_run(tree);
    check_whole(tree, 3, 5);
    tree_free(tree);
}

#define PART(number) (EXCHANGE_PART | (number))

static void vertex_enter_part(struct tree *tree, int vertex, uint64_t id, uint32_t nnodes)
{
    char bytes[32];
    int len = snprintf(bytes, sizeof(bytes), "<%d/%d>", vertex, (int)id);
    assert_int_equal(
        exchange_enter_part(tree->vertices[vertex].exchange, id, nnodes, bytes, (size_t)len, NULL),
        0);
}

/* Every third node and the last take part; no other knows. */
static uint32_t part_members(const struct tree *tree, int members[])
{
    uint32_t count = 0;
    for (int i = 0; i < tree->count; i++)
        if (tree->vertices[i].takes_part && (i % 3 == 1 || i == tree->count - 1))
            members[count++] = i;
    return count;
}

static void check_part(const struct tree *tree, int vertex, uint64_t id, const int members[],
                       uint32_t count)
{
    size_t len = 0;
    assert_true(tree->vertices[vertex].last_id == id);
    for (uint32_t i = 0; i < count; i++) {
        char bytes[32];
        snprintf(bytes, sizeof(bytes), "<%d/%d>", members[i], (int)id);
        assert_non_null(strstr(buf_text(&tree->vertices[vertex].got), bytes));
        len += strlen(bytes);
    }
    assert_int_equal(tree->vertices[vertex].got.len, len);
}

static void test_a_round_of_some_nodes_tells_all(void **state)
{
    (void)state;
    int members[MAX_VERTICES];
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
        for (int mode = 0; mode < 3; mode++) {
            struct tree *tree = tree_new(shapes[s]);
            uint32_t count = part_members(tree, members);
            tree->direct = mode == 1;
            tree->reverse = mode == 2;
            for (unsigned round = 0; count && round < 100; round++) {
                for (uint32_t i = count; i-- > 0;)
                    vertex_enter_part(tree, members[i], PART(round), count);
                tree_run(tree);
                for (int i = 0; i < tree->count; i++)
                    if (!is_above_root(tree, i))
                        check_part(tree, i, PART(round), members, count);
            }
            for (int i = 0; count && i < tree->count; i++)
                assert_int_equal(tree->vertices[i].ndone, is_above_root(tree, i) ? 0 : 100);
            tree_free(tree);
        }
    }
}

static void test_an_id_that_comes_again_is_another_round(void **state)
{
    (void)state;
    int members[MAX_VERTICES];
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
        struct tree *tree = tree_new(shapes[s]);
        uint32_t count = part_members(tree, members);
        for (unsigned round = 0; count && round < 10; round++) {
            for (uint32_t i = 0; i < count; i++)
                vertex_enter_part(tree, members[i], PART(EXCHANGE_AGAIN | 1), count);
            tree_run(tree);
            check_part(tree, members[0], PART(EXCHANGE_AGAIN | 1), members, count);
            for (int i = 0; i < tree->count; i++)
                if (tree->vertices[i].takes_part)
                    vertex_enter(tree, i, EXCHANGE_AGAIN | 1);
            tree_run(tree);
            check_whole(tree, members[0], EXCHANGE_AGAIN | 1);
        }
        tree_free(tree);
    }
}

static void test_rounds_of_all_and_of_some_overlap(void **state)
{
    (void)state;
    struct tree *tree = tree_new("-: 0 0 0 1 1 2 2");
    vertex_enter_part(tree, 4, PART(1), 2);
    for (int i = 1; i < tree->count - 1; i++)
        vertex_enter(tree, i, 1);
    vertex_enter_part(tree, 7, PART(2), 2);
    tree_run(tree);
    assert_int_equal(tree->vertices[3].ndone, 0);
    vertex_enter_part(tree, 6, PART(2), 2);
    tree_run(tree);
    check_part(tree, 3, PART(2), (int[]){6, 7}, 2);
    vertex_enter(tree, 7, 1);
    tree_run(tree);
    check_whole(tree, 3, 1);
    vertex_enter_part(tree, 5, PART(1), 2);
    tree_run(tree);
    check_part(tree, 0, PART(1), (int[]){4, 5}, 2);
    tree_free(tree);
}

static void test_parts_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct tree *tree = tree_new("-: 0 0 0 1:");
    struct exchange *root = tree->vertices[0].exchange, *relay = tree->vertices[4].exchange;
    refuse(exchange_enter(root, PART(1), 1, "\0\0\2", 3, &err), &err, "malformed");
    refuse(exchange_enter(relay, PART(1), 1, "\0\0\0\2", 4, &err), &err, "malformed");
    refuse(exchange_enter(root, PART(1), 1, "\0\0\0\4", 4, &err), &err, "says that 4");
    refuse(exchange_enter(root, PART(1), 1, "\0\0\0\0", 4, &err), &err, "0 of 0 nodes");
    assert_int_equal(exchange_enter(root, PART(1), 1, "\0\0\0\2a", 5, NULL), 0);
    refuse(exchange_enter(root, PART(1), 1, "\0\0\0\3b", 5, &err), &err, "says that 3");
    refuse(exchange_enter(root, PART(1), 2, "\0\0\0\2b", 5, &err), &err, "1 of 2 nodes");
    refuse(exchange_enter(root, PART(1), 0, "\0\0\0\2b", 5, &err), &err, "weight 0");
    assert_int_equal(exchange_enter(root, PART(1), 1, "\0\0\0\2b", 5, NULL), 0);
    assert_string_equal(buf_text(&tree->vertices[0].got), "ab");
    refuse(exchange_enter(root, PART(1), 1, "\0\0\0\2c", 5, &err), &err, "over");
    tree_run(tree);
    refuse(exchange_complete(tree->vertices[1].exchange, PART(1), "x", 1, &err), &err, "over");
    refuse(exchange_complete(root, PART(2), "x", 1, &err), &err, "never sent up");
    tree_free(tree);
}

static void count_done(void *arg, uint64_t id, const void *bytes, size_t len)
{
    (void)id, (void)bytes;
    *(size_t *)arg += len;
}

static void test_no_more_is_exchanged_than_can_be_carried(void **state)
{
    static const struct exchange_ops counting = {.down = again_down, .done = count_done};
    const size_t half = EXCHANGE_MAX / 2 + 1;
    char *bytes = mem_alloc(EXCHANGE_MAX + 1);
    struct error err = ERROR_INIT;
    size_t done = 0;
    (void)state;
    struct exchange *alone = exchange_new(&counting, &done, 1, 1);
    assert_int_equal(exchange_enter(alone, 1, 1, bytes, EXCHANGE_MAX + 1, NULL), 0);
    assert_int_equal(done, EXCHANGE_MAX + 1);
    struct exchange *root = exchange_new(&counting, &done, 2, 2);
    refuse(exchange_enter(root, 1, 1, bytes, EXCHANGE_MAX + 1, &err), &err, "67108801 bytes");
    assert_int_equal(exchange_enter(root, 1, 1, bytes, half, NULL), 0);
    refuse(exchange_enter(root, 1, 1, bytes, half, &err), &err, "at most 67108800 are carried");
    bytes[3] = 2; /* nodes take part */
    assert_int_equal(exchange_enter(root, PART(2), 1, bytes, half + 4, NULL), 0);
    refuse(exchange_enter(root, PART(2), 1, bytes, half + 4, &err), &err, "are carried");
    exchange_free(root);
    exchange_free(alone);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_shape_gathers_all_and_tells_all),
        cmocka_unit_test(test_one_node_sends_nothing),
        cmocka_unit_test(test_each_link_carries_one_message_a_way),
        cmocka_unit_test(test_rounds_overlap),
        cmocka_unit_test(test_a_round_may_hold_no_bytes),
        cmocka_unit_test(test_a_new_round_and_the_end_may_come_from_inside_done),
        cmocka_unit_test(test_wrong_weights_are_refused),
        cmocka_unit_test(test_messages_of_a_round_that_is_over_are_refused),
        cmocka_unit_test(test_what_comes_down_must_have_gone_up),
        cmocka_unit_test(test_a_round_of_some_nodes_tells_all),
        cmocka_unit_test(test_an_id_that_comes_again_is_another_round),
        cmocka_unit_test(test_rounds_of_all_and_of_some_overlap),
        cmocka_unit_test(test_parts_that_do_not_fit_are_refused),
        cmocka_unit_test(test_no_more_is_exchanged_than_can_be_carried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tests/unit/pmi-node.h"

static void test_a_barrier_waits_for_all_and_lets_all_out(void **state)
{
    (void)state;
    uint32_t waiting;
    struct node *node = node_running(0, 3);
    for (int round = 0; round < 3; round++) {
        assert_false(pmi_server_in_barrier(node->server, &waiting));
        say(node, 2, "cmd=barrier_in\n");
        assert_true(pmi_server_in_barrier(node->server, &waiting));
        assert_int_equal(waiting, 2);
        say(node, 0, "cmd=barrier_in\n");
        assert_int_equal(node->nbarriers, round);
        say(node, 1, "cmd=barrier_in\n");
        assert_int_equal(node->nbarriers, round + 1);
        hear(node, 0, "");
        node->nnews = 0;
        assert_int_equal(node_end_barrier(node, NULL, 0, NULL), 0);
        assert_int_equal(node->nnews, 3);
        for (int i = 0; i < 3; i++)
            hear(node, i, OUT);
    }
    node_free(node);
}

static void test_a_barrier_carries_what_was_put(void **state)
{
    (void)state;
    struct node *left = node_running(0, 2), *right = node_running(2, 1);
    struct buf all = BUF_INIT;
    say(left, 0, "cmd=put key=a value=1\ncmd=barrier_in\n");
    say(left, 1, "cmd=put key=b value=two words\ncmd=barrier_in\n");
    say(right, 0, "cmd=put key=c value=3\ncmd=barrier_in\n");
    buf_add(&all, buf_bytes(&right->carried), right->carried.len);
    buf_add(&all, buf_bytes(&left->carried), left->carried.len);
    assert_int_equal(node_end_barrier(left, buf_bytes(&all), all.len, NULL), 0);
    assert_int_equal(node_end_barrier(right, buf_bytes(&all), all.len, NULL), 0);
    hear(right, 0, PUT_OK OUT);
    say(right, 0, "cmd=get key=a\ncmd=get key=b\ncmd=get key=c\n");
    hear(right, 0, GOT "1\n" GOT "two words\n" GOT "3\n");
    hear(left, 1, PUT_OK OUT);
    say(left, 1, "cmd=get key=c\n");
    hear(left, 1, GOT "3\n");
    say(left, 0, "cmd=barrier_in\n");
    say(left, 1, "cmd=barrier_in\n");
    assert_int_equal(left->carried.len, 0); /* once is enough */
    buf_free(&all);
    node_free(left);
    node_free(right);
}

static void test_what_is_sent_ahead_of_a_barriers_end_is_answered_after_it(void **state)
{
    (void)state;
    struct node *node = node_running(0, 3);
    node->direct = true;
    say(node, 0, "cmd=barrier_in\ncmd=get key=z\ncmd=barrier_in\ncmd=barrier_in\ncmd=get_appnum\n");
    say(node, 1, "cmd=barrier_in\ncmd=barrier_in\ncmd=barrier_in\n");
    hear(node, 0, "");
    say(node, 2, "cmd=put key=z value=1\ncmd=barrier_in\n");
    hear(node, 0, OUT GOT "1\n");
    hear(node, 1, OUT);
    hear(node, 2, PUT_OK OUT);
    say(node, 2, "cmd=barrier_in\ncmd=barrier_in\n");
    hear(node, 0, OUT OUT "cmd=appnum appnum=3\n");
    hear(node, 1, OUT OUT);
    hear(node, 2, OUT OUT);
    assert_int_equal(node->nbarriers, 3);
    node_free(node);
}

static void test_a_barriers_end_may_begin_the_next(void **state)
{
    (void)state;
    struct node *node = node_running(0, 3);
    for (int i = 0; i < 3; i++)
        say(node, i, "cmd=barrier_in\ncmd=barrier_in\ncmd=barrier_in\ncmd=finalize\n");
    assert_int_equal(node->nbarriers, 1);
    node->direct = true;
    assert_int_equal(node_end_barrier(node, NULL, 0, NULL), 0);
    assert_int_equal(node->nbarriers, 3);
    for (int i = 0; i < 3; i++)
        hear(node, i, OUT OUT OUT "cmd=finalize_ack\n");
    node_free(node);
}

static void test_an_error_sent_ahead_is_told_of_its_client(void **state)
{
    (void)state;
    struct node *node = node_running(4, 2);
    say(node, 1, "cmd=barrier_in\ncmd=frob\n");
    say(node, 0, "cmd=barrier_in\ncmd=get_appnum\n");
    assert_int_equal(node_end_barrier(node, NULL, 0, NULL), 0);
    assert_int_equal(node->nbroken, 1);
    assert_int_equal(node->broken, 5);
    assert_string_equal(node->message, "unknown PMI-1 command: \"cmd=frob\"");
    hear(node, 0, OUT "cmd=appnum appnum=3\n");
    node_free(node);
}

static void test_too_much_sent_ahead_is_refused(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct node *node = node_running(0, 2);
    int rc = 0;
    say(node, 0, "cmd=barrier_in\n");
    for (int i = 0; i < 5000 && !rc; i++)
        rc = pmi_connection_input(node->clients[0], "cmd=get_appnum\n", 15, &err);
    assert_int_equal(rc, -1);
    assert_string_equal(error_text(&err),
                        "input during a barrier of more than 65536 bytes: \"cmd=get_appnum\"");
    error_clear(&err);
    node_free(node);
}

static void test_abort_is_heard_in_a_barrier(void **state)
{
    (void)state;
    struct node *node = node_running(0, 2);
    say(node, 0, "cmd=barrier_in\n");
    say(node, 0, "cmd=abort exitcode=4\n");
    assert_int_equal(node->naborts, 1);
    assert_int_equal(node->exitcode, 4);
    node_free(node);
}

static void test_a_barriers_end_must_fit(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct node *node = node_running(0, 2);
    assert_int_equal(node_end_barrier(node, "", 0, &err), -1);
    say(node, 0, "cmd=barrier_in\n");
    assert_int_equal(node_end_barrier(node, "", 0, &err), -1);
    assert_string_equal(error_text(&err), "a barrier's end came, but no barrier is complete here");
    say(node, 1, "cmd=barrier_in\n");
    assert_int_equal(node_end_barrier(node, "\5", 1, &err), -1);
    assert_non_null(strstr(error_text(&err), "barrier 0: packed key-value pairs"));
    hear(node, 0, "");
    error_clear(&err);
    node_free(node);
}

/* Who left: how a client goes, and when the others' barrier is known to be hopeless. */
static void test_who_goes_without_finalizing_strands_those_who_wait(void **state)
{
    (void)state;
    uint32_t missing, waiting;
    struct node *node = node_running(0, 3);
    say(node, 1, "cmd=barrier_in\n");
    assert_false(pmi_server_stuck(node->server, &missing, &waiting));
    assert_true(pmi_server_connection_gone(node->clients[2]));
    assert_true(pmi_server_stuck(node->server, &missing, &waiting));
    assert_int_equal(missing, 2);
    assert_int_equal(waiting, 1);
    assert_int_equal(node->nstuck, 0); /* told once, by the return value */
    say(node, 0, "cmd=barrier_in\n");
    assert_int_equal(node->nstuck, 0);
    node_free(node);
}

static void test_who_never_spoke_strands_a_later_barrier(void **state)
{
    (void)state;
    uint32_t missing, waiting;
    struct node *node = node_new(0, 3);
    assert_false(pmi_server_connection_gone(node->clients[0]));
    say(node, 1, INIT);
    say(node, 1, "cmd=put key=a value=b\n");
    assert_false(pmi_server_stuck(node->server, &missing, &waiting));
    assert_int_equal(node->nstuck, 0);
    say(node, 1, "cmd=barrier_in\n");
    assert_int_equal(node->nstuck, 1);
    assert_int_equal(node->missing, 0);
    assert_int_equal(node->waiting, 1);
    say(node, 2, INIT "cmd=barrier_in\n");
    assert_int_equal(node->nstuck, 1);
    node_free(node);
}

static void test_who_finalized_strands_a_later_barrier(void **state)
{
    (void)state;
    struct node *node = node_running(0, 2);
    say(node, 0, "cmd=finalize\n");
    assert_false(pmi_server_connection_gone(node->clients[0]));
    say(node, 1, "cmd=barrier_in\n");
    assert_int_equal(node->nstuck, 1);
    assert_int_equal(node->missing, 0);
    node_free(node);
}

static void test_who_finalizes_beside_an_open_barrier_strands_it(void **state)
{
    (void)state;
    struct node *node = node_running(0, 2);
    say(node, 1, "cmd=barrier_in\n");
    say(node, 0, "cmd=finalize\n");
    assert_int_equal(node->nstuck, 1);
    assert_false(pmi_server_connection_gone(node->clients[0]));
    assert_int_equal(node->nstuck, 1);
    node_free(node);
}

static void test_who_dies_inside_a_barrier_strands_only_the_next(void **state)
{
    (void)state;
    struct node *node = node_running(0, 2);
    say(node, 0, "cmd=barrier_in\n");
    assert_false(pmi_server_connection_gone(node->clients[0]));
    say(node, 1, "cmd=barrier_in\n");
    assert_int_equal(node->nbarriers, 1);
    assert_int_equal(node->nstuck, 0);
    assert_int_equal(node_end_barrier(node, "", 0, NULL), 0);
    hear(node, 1, OUT);
    hear(node, 0, "");
    say(node, 1, "cmd=barrier_in\n");
    assert_int_equal(node->nstuck, 1);
    node_free(node);
}

static void test_a_program_that_ends_in_order_is_never_stuck(void **state)
{
    (void)state;
    uint32_t missing, waiting, rank;
    uint64_t sequence;
    struct node *node = node_running(4, 2);
    assert_false(pmi_server_left(node->server, &rank, &sequence));
    for (int i = 0; i < 2; i++)
        say(node, i, "cmd=barrier_in\n");
    assert_int_equal(node_end_barrier(node, "", 0, NULL), 0);
    say(node, 1, "cmd=finalize\n");
    assert_false(pmi_server_connection_gone(node->clients[1]));
    say(node, 0, "cmd=finalize\n");
    assert_false(pmi_server_connection_gone(node->clients[0]));
    assert_false(pmi_server_connection_gone(node->clients[0]));
    assert_int_equal(node->nstuck, 0);
    assert_false(pmi_server_stuck(node->server, &missing, &waiting));
    assert_true(pmi_server_left(node->server, &rank, &sequence));
    assert_int_equal(rank, 5);
    assert_int_equal(sequence, 1);
    node_free(node);
}

static void test_a_program_without_pmi_is_never_stuck(void **state)
{
    (void)state;
    struct node *node = node_new(0, 4);
    for (int i = 0; i < 4; i++)
        assert_false(pmi_server_connection_gone(node->clients[i]));
    assert_int_equal(node->nstuck, 0);
    node_free(node);
}

static void test_a_rank_of_another_node_strands_a_barrier_by_its_number(void **state)
{
    (void)state;
    struct node *node = node_running(0, 1);
    say(node, 0, "cmd=barrier_in\n");
    assert_false(pmi_server_missing(node->server, 9, 1)); /* it was in this one, number 0 */
    assert_int_equal(node_end_barrier(node, "", 0, NULL), 0);
    assert_int_equal(node->nstuck, 0);
    say(node, 0, "cmd=barrier_in\n");
    assert_int_equal(node->nstuck, 1);
    assert_int_equal(node->missing, 9);
    node_free(node);

    node = node_running(0, 1);
    say(node, 0, "cmd=barrier_in\n");
    assert_true(pmi_server_missing(node->server, 8, 0));
    assert_false(pmi_server_missing(node->server, 7, 0));
    assert_int_equal(node->nstuck, 0);
    node_free(node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_barrier_waits_for_all_and_lets_all_out),
        cmocka_unit_test(test_a_barrier_carries_what_was_put),
        cmocka_unit_test(test_what_is_sent_ahead_of_a_barriers_end_is_answered_after_it),
        cmocka_unit_test(test_a_barriers_end_may_begin_the_next),
        cmocka_unit_test(test_an_error_sent_ahead_is_told_of_its_client),
        cmocka_unit_test(test_too_much_sent_ahead_is_refused),
        cmocka_unit_test(test_abort_is_heard_in_a_barrier),
        cmocka_unit_test(test_a_barriers_end_must_fit),
        cmocka_unit_test(test_who_goes_without_finalizing_strands_those_who_wait),
        cmocka_unit_test(test_who_never_spoke_strands_a_later_barrier),
        cmocka_unit_test(test_who_finalized_strands_a_later_barrier),
        cmocka_unit_test(test_who_finalizes_beside_an_open_barrier_strands_it),
        cmocka_unit_test(test_who_dies_inside_a_barrier_strands_only_the_next),
        cmocka_unit_test(test_a_program_that_ends_in_order_is_never_stuck),
        cmocka_unit_test(test_a_program_without_pmi_is_never_stuck),
        cmocka_unit_test(test_a_rank_of_another_node_strands_a_barrier_by_its_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

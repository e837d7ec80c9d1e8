/* What one client can make grow has a limit, and its owner hears of it once. */
#include "tests/unit/pmi-node.h"

#include "base/mem.h"

#define RANKS 64
#define ASK "cmd=get_ranks2hosts\n"

static struct {
    unsigned nlimited;
    uint32_t rank;
    char what[128];
    struct pmi_request *requests[PMI_ASKS_MAX]; /* that the owner does not answer yet */
    size_t nrequests;
} owner;

static void on_limited(void *arg, struct pmi_client *client, const char *what)
{
    (void)arg;
    owner.nlimited++;
    owner.rank = pmi_connection_rank(client);
    snprintf(owner.what, sizeof(owner.what), "%s", what);
}

static void on_name(void *arg, struct pmi_request *request, enum pmi_name name, const char *service,
                    const char *port)
{
    (void)arg, (void)name, (void)service, (void)port;
    assert_true(owner.nrequests < PMI_ASKS_MAX);
    owner.requests[owner.nrequests++] = request;
}

static uint32_t node_of(void *arg, uint32_t rank)
{
    (void)arg;
    return rank;
}

static const char *host_of(void *arg, uint32_t node)
{
    (void)arg, (void)node;
    return "node";
}

static const struct pmi_ops limited_ops = {.exchange = on_exchange,
                                           .abort = on_abort,
                                           .output = on_output,
                                           .broken = on_broken,
                                           .limited = on_limited,
                                           .name = on_name,
                                           .node_of = node_of,
                                           .host_of = host_of};

/* One client, of rank 3. */
static struct node *limited_node(const char *greeting)
{
    struct node *node = calloc(1, sizeof(*node));
    assert_non_null(node);
    memset(&owner, 0, sizeof(owner));
    node->kvs = kvs_new("kvs_7");
    struct pmi_config config = {.size = RANKS,
                                .universe_size = -1,
                                .nlocal = 1,
                                .kvs = node->kvs,
                                .dialects = dialects_of(true, true)};
    node->server = pmi_server_new(&config, &limited_ops, node);
    node->clients[0] = pmi_connection_new(node->server, 3, 0, node);
    say(node, 0, greeting);
    buf_clear(pmi_connection_output(node->clients[0]));
    return node;
}

#define INIT2 "cmd=init pmi_version=2 pmi_subversion=0\n    13cmd=fullinit;"

static size_t count_answers(struct buf *output)
{
    size_t count = 0;
    for (const char *at = buf_text(output); (at = strstr(at, "cmd=put_ranks2hosts")); at++)
        count++;
    buf_clear(output);
    return count;
}

static void test_a_client_that_does_not_read_is_not_read(void **state)
{
    (void)state;
    struct node *node = limited_node(INIT);
    struct pmi_client *client = node->clients[0];
    struct buf *output = pmi_connection_output(client), many = BUF_INIT;
    size_t asked = 0, answered = 0, most = 0;
    for (int i = 0; i < 400; i++)
        buf_add_text(&many, ASK);
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < 100 && pmi_connection_wants_input(client); i++, asked += 400)
            say(node, 0, buf_text(&many));
        assert_false(pmi_connection_wants_input(client));
        most = output->len > most ? output->len : most;
        answered += count_answers(output);
        while (pmi_connection_go_on(client)) /* it takes what there is, again and again */
            answered += count_answers(output);
        assert_int_equal(answered, asked);
    }
    assert_true(most >= PMI_OUTPUT_MAX);
    assert_true(most < PMI_OUTPUT_MAX + 8192);
    assert_int_equal(owner.nlimited, 1);
    assert_int_equal(owner.rank, 3);
    assert_string_equal(owner.what, "256 KiB of answers were not taken by it, and until they are "
                                    "nothing more is read from it");
    buf_free(&many);
    node_free(node);
}

static void test_a_finalize_behind_many_requests_is_heard(void **state)
{
    (void)state;
    struct node *node = limited_node(INIT);
    struct pmi_client *client = node->clients[0];
    for (int i = 0; i < 1000 && pmi_connection_wants_input(client); i++)
        say(node, 0, ASK);
    say(node, 0, ASK ASK "cmd=finalize\n"); /* what was read before the owner looked */
    assert_int_equal(pmi_connection_state(client), PMI_RUNNING);
    buf_clear(pmi_connection_output(client));
    assert_true(pmi_connection_go_on(client));
    assert_int_equal(pmi_connection_state(client), PMI_FINALIZED);
    node_free(node);
}

static void test_a_client_may_put_only_so_many_bytes(void **state)
{
    (void)state;
    struct node *node = limited_node(INIT);
    char line[2048], value[1001] = "";
    size_t count = 0;
    memset(value, 'v', 1000);
    for (;; count++) {
        snprintf(line, sizeof(line), "cmd=put key=k%zu value=%s\n", count, value);
        say(node, 0, line);
        struct buf *output = pmi_connection_output(node->clients[0]);
        bool good = !strcmp(buf_text(output), PUT_OK);
        if (!good)
            break;
        buf_clear(output);
        for (int again = 0; again < 3 && count < 5000;
             again++) { /* what replaces another costs nothing */
            say(node, 0, line);
            hear(node, 0, PUT_OK);
        }
    }
    hear(node, 0, "cmd=put_result rc=-1 msg=too_much_was_put\n");
    assert_true(count > 15000 && count < 16500);
    assert_true(kvs_bytes(node->kvs) < PMI_PUTS_MAX + 2048);
    say(node, 0, line);
    hear(node, 0, "cmd=put_result rc=-1 msg=too_much_was_put\n");
    assert_int_equal(owner.nlimited, 1);
    assert_string_equal(owner.what,
                        "it has put 16 MiB of keys and values, and one more was refused");
    node_free(node);
}

static void test_attributes_count_towards_the_limit_of_bytes(void **state)
{
    (void)state;
    struct node *node = limited_node(INIT2);
    char body[2048], value[1001] = "";
    size_t count = 0;
    memset(value, 'v', 1000);
    for (; count < 20000 && !owner.nlimited; count++) {
        snprintf(body, sizeof(body), "cmd=info-putnodeattr;key=k%zu;value=%s;", count, value);
        buf_clear(pmi_connection_output(node->clients[0]));
        say_frame(node, 0, body);
    }
    hear_frame(node, 0, "cmd=info-putnodeattr-response;rc=14;errmsg=too much was put;");
    assert_true(count > 15000 && count < 16500);
    node_free(node);
}

static void test_the_number_of_names_and_spawns_that_wait_is_limited(void **state)
{
    (void)state;
    struct node *node = limited_node(INIT2);
    for (int i = 0; i < PMI_ASKS_MAX; i++)
        say_frame(node, 0, "cmd=name-lookup;thrid=1;name=s;");
    hear(node, 0, "");
    for (int i = 0; i < 2; i++) {
        say_frame(node, 0, "cmd=name-lookup;thrid=2;name=s;");
        hear_frame(node, 0,
                   "cmd=name-lookup-response;thrid=2;rc=14;"
                   "errmsg=too many names and spawns wait for an answer;");
    }
    assert_int_equal(owner.nlimited, 1);
    assert_string_equal(owner.what,
                        "64 of its names and spawns wait for an answer, and one more was refused");
    pmi_request_named(owner.requests[--owner.nrequests], false, NULL);
    buf_clear(pmi_connection_output(node->clients[0]));
    say_frame(node, 0, "cmd=name-lookup;thrid=3;name=s;");
    hear(node, 0, "");
    node_free(node);
}

static void test_a_thread_id_has_at_most_64_bytes(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct node *node = limited_node(INIT2);
    char mark[66] = "";
    memset(mark, 't', 64);
    char *body = mem_format("cmd=job-getid;thrid=%s;", mark);
    say_frame(node, 0, body);
    free(body);
    mark[64] = 't';
    body = mem_format("cmd=job-getid;thrid=%s;", mark);
    char *frame = mem_format("%6zu%s", strlen(body), body);
    assert_int_equal(pmi_connection_input(node->clients[0], frame, strlen(frame), &err), -1);
    assert_non_null(strstr(error_text(&err), "a thrid= of more than 64 bytes: \"cmd=job-getid"));
    free(frame), free(body);
    error_clear(&err);
    node_free(node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_client_that_does_not_read_is_not_read),
        cmocka_unit_test(test_a_finalize_behind_many_requests_is_heard),
        cmocka_unit_test(test_a_client_may_put_only_so_many_bytes),
        cmocka_unit_test(test_attributes_count_towards_the_limit_of_bytes),
        cmocka_unit_test(test_the_number_of_names_and_spawns_that_wait_is_limited),
        cmocka_unit_test(test_a_thread_id_has_at_most_64_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

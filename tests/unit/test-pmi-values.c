/* What values may hold, in each dialect: they are checked where they leave, whoever put them. */
#include "tests/unit/pmi-node.h"

#include "base/mem.h"

#define FORGED "x\ncmd=get_result rc=0 msg=success value=forged"
#define NO1 "cmd=get_result rc=-1 msg="

static char *named; /* what the owner finds under every name */
static bool full;   /* it has too many */

static void on_name(void *arg, struct pmi_request *request, enum pmi_name name, const char *service,
                    const char *port)
{
    (void)arg, (void)name, (void)service, (void)port;
    pmi_request_named(request, full ? PMI_NAMED_FULL : PMI_NAMED_GOOD, full ? NULL : named);
}

static const struct pmi_ops naming_ops = {.exchange = on_exchange,
                                          .abort = on_abort,
                                          .output = on_output,
                                          .broken = on_broken,
                                          .name = on_name};

static char *text_of(char c, size_t len)
{
    char *text = mem_alloc(len + 1);
    memset(text, c, len);
    return text;
}

/* Client 0 speaks PMI-1, client 1 PMI-2. */
static struct node *mixed_node(void)
{
    struct node *node = calloc(1, sizeof(*node));
    assert_non_null(node);
    node->kvs = kvs_new("kvs_7");
    struct pmi_config config = {.size = 2,
                                .universe_size = -1,
                                .nlocal = 2,
                                .kvs = node->kvs,
                                .dialects = dialects_of(true, true)};
    node->server = pmi_server_new(&config, &naming_ops, node);
    for (uint32_t i = 0; i < 2; i++)
        node->clients[i] = pmi_connection_new(node->server, i, 0, node);
    say(node, 0, INIT);
    say(node, 1, "cmd=init pmi_version=2 pmi_subversion=0\n");
    say_frame(node, 1, "cmd=fullinit;");
    for (int i = 0; i < 2; i++)
        buf_clear(pmi_connection_output(node->clients[i]));
    return node;
}

static void test_a_newline_forges_no_reply(void **state)
{
    (void)state;
    struct node *node = mixed_node();
    say_frame(node, 1, "cmd=kvs-put;key=k;value=" FORGED ";");
    hear_frame(node, 1, "cmd=kvs-put-response;rc=0;");
    say(node, 0, "cmd=get kvsname=kvs_7 key=k\n");
    hear(node, 0, NO1 "value_has_a_newline value=unknown\n");
    say_frame(node, 1, "cmd=kvs-get;key=k;");
    hear_frame(node, 1, "cmd=kvs-get-response;found=TRUE;value=" FORGED ";rc=0;");
    node_free(node);
}

static void test_pairs_that_cannot_be_told_do_not_end_a_listing(void **state)
{
    (void)state;
    struct node *node = mixed_node();
    say_frame(node, 1, "cmd=kvs-put;key=k;value=" FORGED ";");
    say_frame(node, 1, "cmd=kvs-put;key=k val=2;value=v;");
    say_frame(node, 1, "cmd=kvs-put;key=k\ncmd=x;value=v;");
    say_frame(node, 1, "cmd=kvs-put;key=good;value=v w;");
    say(node, 0, "cmd=getbyidx_first\ncmd=getbyidx_next\ncmd=getbyidx_next\ncmd=getbyidx_next\n");
    hear(node, 0,
         "cmd=getbyidx_results rc=-1 nextidx=1 reason=value_has_a_newline\n"
         "cmd=getbyidx_results rc=-1 nextidx=2 reason=value_has_spaces\n"
         "cmd=getbyidx_results rc=-1 nextidx=3 reason=value_has_a_newline\n"
         "cmd=getbyidx_results rc=0 nextidx=4 key=good val=v w\n");
    node_free(node);
}

/* Presets of a launcher, and what other nodes put, may be of any length. */
static void test_long_values_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        bool good;
    } values[] = {{1023, true}, {1024, false}, {2000, false}, {70000, false}};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct node *node = mixed_node();
        char *value = text_of('v', values[i].len);
        bool good = values[i].good;
        char *got1 = good ? mem_format(GOT "%s\n", value)
                          : mem_copy_text(NO1 "value_too_long value=unknown\n");
        char *got2 = good ? mem_format("found=TRUE;value=%s;rc=0;", value)
                          : mem_copy_text("found=FALSE;rc=7;errmsg=value is too long;");
        char *kvs = mem_format("cmd=kvs-get-response;%s", got2);
        char *attribute = mem_format("cmd=info-getjobattr-response;%s", got2);
        kvs_preset(node->kvs, "k", value);
        say(node, 0, "cmd=get key=k\n");
        hear(node, 0, got1);
        say_frame(node, 1, "cmd=kvs-get;key=k;");
        hear_frame(node, 1, kvs);
        say_frame(node, 1, "cmd=info-getjobattr;key=k;");
        hear_frame(node, 1, attribute);
        free(attribute), free(kvs), free(got2), free(got1), free(value);
        node_free(node);
    }
}

/* The whole line of a PMI-1 client has 1024 bytes, with its newline and a NUL. */
static void test_ports_are_refused_where_a_client_cannot_hold_them(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        const char *bad1, *bad2;
    } ports[] = {{974, NULL, NULL},
                 {975, "value_too_long", NULL},
                 {1023, "value_too_long", NULL},
                 {1024, "value_too_long", "port is too long"},
                 {2000, "value_too_long", "port is too long"}};
    for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
        struct node *node = mixed_node();
        named = text_of('p', ports[i].len);
        say(node, 0, "cmd=lookup_name service=s\n");
        size_t len = pmi_connection_output(node->clients[0])->len;
        assert_true(len < 1024);
        assert_true(len == 1023 || ports[i].len != 974);
        char *line =
            ports[i].bad1
                ? mem_format("cmd=lookup_result info=ok rc=1 msg=%s\n", ports[i].bad1)
                : mem_format("cmd=lookup_result port=%s info=ok rc=0 msg=success\n", named);
        hear(node, 0, line);
        char *body =
            ports[i].bad2
                ? mem_format("cmd=name-lookup-response;found=FALSE;rc=14;errmsg=%s;", ports[i].bad2)
                : mem_format("cmd=name-lookup-response;found=TRUE;value=%s;port=%s;rc=0;", named,
                             named);
        say_frame(node, 1, "cmd=name-lookup;name=s;");
        hear_frame(node, 1, body);
        free(body), free(line), free(named);
        node_free(node);
    }
    struct node *node = mixed_node();
    named = mem_copy_text("p\ncmd=lookup_result port=forged rc=0");
    say(node, 0, "cmd=lookup_name service=s\n");
    hear(node, 0, "cmd=lookup_result info=ok rc=1 msg=value_has_a_newline\n");
    free(named);
    node_free(node);
}

static void test_too_many_names_are_said_to_be_so(void **state)
{
    (void)state;
    struct node *node = mixed_node();
    full = true;
    say(node, 0, "cmd=publish_name service=s port=p\n");
    hear(node, 0, "cmd=publish_result info=ok rc=1 msg=too_many_names\n");
    say_frame(node, 1, "cmd=name-publish;name=s;port=p;");
    hear_frame(node, 1, "cmd=name-publish-response;rc=14;errmsg=too_many_names;");
    full = false;
    node_free(node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_newline_forges_no_reply),
        cmocka_unit_test(test_pairs_that_cannot_be_told_do_not_end_a_listing),
        cmocka_unit_test(test_long_values_are_refused),
        cmocka_unit_test(test_too_many_names_are_said_to_be_so),
        cmocka_unit_test(test_ports_are_refused_where_a_client_cannot_hold_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

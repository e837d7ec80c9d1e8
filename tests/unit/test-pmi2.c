#include "pmi-server/wire/pmi2_frame.h"
#include "tests/unit/pmi-node.h"

#define TEXT_INIT "cmd=init pmi_version=2 pmi_subversion=0\n"
#define TEXT_INIT_OK "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n"
#define FULLINIT "cmd=fullinit;pmirank=0;threaded=FALSE;"

/* Bodies, with '|' between one and the next. */
static const struct {
    const char *in, *out;
    enum pmi_state state;
    const char *error; /* part of the sentence, or NULL */
    bool silent;       /* no fullinit goes before */
} cases[] = {
    {FULLINIT,
     "cmd=fullinit-response;pmi-version=2;pmi-subversion=0;rank=0;size=4;appnum=3;debugged=FALSE;"
     "pmiverbose=FALSE;rc=0;",
     PMI_RUNNING, NULL, true},
    {"cmd=job-getid;", "cmd=job-getid-response;jobid=kvs_7;rc=0;", PMI_RUNNING},
    /* the key-value space */
    {"cmd=kvs-put;key=a;value=b;|cmd=kvs-get;jobid=kvs_7;srcid=-1;key=a;",
     "cmd=kvs-put-response;rc=0;|cmd=kvs-get-response;found=TRUE;value=b;rc=0;", PMI_RUNNING},
    {"cmd=kvs-put;key=a;value=b = c;|cmd=kvs-get;key=a;",
     "cmd=kvs-put-response;rc=0;|cmd=kvs-get-response;found=TRUE;value=b = c;rc=0;", PMI_RUNNING},
    {"cmd=kvs-put;key=a;value=x;;y;;;|cmd=kvs-get;key=a;jobid=;",
     "cmd=kvs-put-response;rc=0;|cmd=kvs-get-response;found=TRUE;value=x;;y;;;rc=0;", PMI_RUNNING},
    {"cmd=kvs-put;key=a;value=;|cmd=kvs-get;key=a;",
     "cmd=kvs-put-response;rc=0;|cmd=kvs-get-response;found=TRUE;value=;rc=0;", PMI_RUNNING},
    {"key=a;value=1;cmd=kvs-put;|srcid=0;key=a;cmd=kvs-get;",
     "cmd=kvs-put-response;rc=0;|cmd=kvs-get-response;found=TRUE;value=1;rc=0;", PMI_RUNNING},
    {"cmd=kvs-get;jobid=kvs_7;srcid=-1;key=b;", "cmd=kvs-get-response;found=FALSE;rc=0;",
     PMI_RUNNING},
    {"cmd=kvs-get;jobid=other;key=b;",
     "cmd=kvs-get-response;rc=3;errmsg=no job of that id is connected;", PMI_RUNNING},
    {"cmd=kvs-get;", "cmd=kvs-get-response;rc=3;errmsg=no key= in the request;", PMI_RUNNING},
    {"cmd=kvs-put;key=a;", "cmd=kvs-put-response;rc=3;errmsg=no value= in the request;",
     PMI_RUNNING},
    {"cmd=kvs-put;key=" K63 ";value=" V1023 ";|cmd=kvs-get;key=" K63 ";",
     "cmd=kvs-put-response;rc=0;|cmd=kvs-get-response;found=TRUE;value=" V1023 ";rc=0;",
     PMI_RUNNING},
    {"cmd=kvs-put;key=" K63 "x;value=1;", "cmd=kvs-put-response;rc=5;errmsg=key is too long;",
     PMI_RUNNING},
    {"cmd=kvs-put;key=a;value=" V1023 "x;|cmd=kvs-get;key=a;",
     "cmd=kvs-put-response;rc=7;errmsg=value is too long;|cmd=kvs-get-response;found=FALSE;rc=0;",
     PMI_RUNNING},
    /* a thread's own; what waits for the fence is answered behind it, or before */
    {"cmd=kvs-put;thrid=0x7f;key=a;value=b;|cmd=kvs-get;thrid=t;;1;key=a;",
     "cmd=kvs-put-response;thrid=0x7f;rc=0;|cmd=kvs-get-response;thrid=t;;1;found=TRUE;value=b;rc="
     "0;",
     PMI_RUNNING},
    {"cmd=kvs-fence;|cmd=kvs-fence;thrid=4;|cmd=job-getid;",
     "cmd=kvs-fence-response;rc=0;|cmd=kvs-fence-response;thrid=4;rc=0;|"
     "cmd=job-getid-response;jobid=kvs_7;rc=0;",
     PMI_RUNNING},
    /* attributes */
    {"cmd=info-getjobattr;key=PMI_process_mapping;",
     "cmd=info-getjobattr-response;found=TRUE;value=(vector,(0,1,4));rc=0;", PMI_RUNNING},
    {"cmd=info-getjobattr;key=universeSize;|cmd=info-getjobattr;key=nothing;",
     "cmd=info-getjobattr-response;found=FALSE;rc=0;|cmd=info-getjobattr-response;found=FALSE;rc="
     "0;",
     PMI_RUNNING},
    {"cmd=info-getjobattr;", "cmd=info-getjobattr-response;rc=3;errmsg=no key= in the request;",
     PMI_RUNNING},
    {"cmd=info-getnodeattr;key=a;wait=FALSE;|cmd=info-putnodeattr;key=a;value=1;|"
     "cmd=info-getnodeattr;key=a;wait=TRUE;|cmd=info-getnodeattr;key=a;",
     "cmd=info-getnodeattr-response;found=FALSE;rc=0;|cmd=info-putnodeattr-response;rc=0;|"
     "cmd=info-getnodeattr-response;found=TRUE;value=1;rc=0;|"
     "cmd=info-getnodeattr-response;found=TRUE;value=1;rc=0;",
     PMI_RUNNING},
    {"cmd=info-getnodeattr;thrid=9;key=a;wait=TRUE;|cmd=info-putnodeattr;key=a;value=1;",
     "cmd=info-putnodeattr-response;rc=0;|"
     "cmd=info-getnodeattr-response;thrid=9;found=TRUE;value=1;rc=0;",
     PMI_RUNNING},
    {"cmd=info-getnodeattr;key=a;wait=TRUE;|cmd=job-getid;", "", PMI_RUNNING},
    /* a ring of one */
    {"cmd=ring;ring-count=1;ring-left=a;ring-right=b;",
     "cmd=ring-response;ring-count=0;ring-left=b;ring-right=a;rc=0;", PMI_RUNNING},
    {"cmd=ring;ring-count=2;ring-left=a;ring-right=b;",
     "cmd=ring-response;rc=3;errmsg=ring-count is not 1;", PMI_RUNNING},
    {"cmd=ring;ring-count=1;ring-left=a;",
     "cmd=ring-response;rc=3;errmsg=no ring-right= in the request;", PMI_RUNNING},
    /* refusals */
    {"cmd=job-connect;jobid=other;|cmd=job-disconnect;jobid=other;",
     "cmd=job-connect-response;rc=14;errmsg=jobs cannot be connected;|"
     "cmd=job-disconnect-response;rc=14;errmsg=jobs cannot be connected;",
     PMI_RUNNING},
    {"cmd=name-publish;name=a;port=b;infokeycount=0;",
     "cmd=name-publish-response;rc=14;errmsg=names are not supported;", PMI_RUNNING},
    {"cmd=name-lookup;thrid=1;name=a;infokeycount=0;",
     "cmd=name-lookup-response;thrid=1;rc=14;errmsg=names are not supported;", PMI_RUNNING},
    {"cmd=name-unpublish;name=a;infokeycount=0;",
     "cmd=name-unpublish-response;rc=14;errmsg=names are not supported;", PMI_RUNNING},
    /* the end */
    {"cmd=finalize;", "cmd=finalize-response;rc=0;", PMI_FINALIZED},
    {"cmd=abort;isworld=TRUE;msg=;", "", PMI_RUNNING},
    {"cmd=finalize;|cmd=abort;isworld=TRUE;msg=;", "cmd=finalize-response;rc=0;", PMI_FINALIZED},
    /* against the protocol */
    {"cmd=frob;a=1;", "", PMI_RUNNING, "unknown PMI-2 command: \"cmd=frob;a=1;\""},
    {"cmd=;", "", PMI_RUNNING, "unknown PMI-2 command"},
    {"a=b;", "", PMI_RUNNING, "no cmd= in a PMI-2 request: \"a=b;\""},
    {"cmd=job-getid", "", PMI_RUNNING, "a malformed PMI-2 request: \"cmd=job-getid\""},
    {"cmd=job-getid;x", "", PMI_RUNNING, "a malformed PMI-2 request"},
    {"cmd=job-getid;=x;", "", PMI_RUNNING, "a malformed PMI-2 request"},
    {"cmd=job-getid;;;", "", PMI_RUNNING, "unknown PMI-2 command: \"cmd=job-getid;;;\""},
    {"cmd=job-getid;y;x=1;", "", PMI_RUNNING, "a malformed PMI-2 request"},
    {FULLINIT, "", PMI_RUNNING, "PMI-2 request for a second time: \"cmd=fullinit;"},
    {"cmd=kvs-fence;", "", PMI_SILENT, "PMI-2 request before fullinit: \"cmd=kvs-fence;\"", true},
    {"cmd=finalize;|cmd=finalize;", "cmd=finalize-response;rc=0;", PMI_FINALIZED,
     "PMI-2 request after finalize"},
};

/* Frames of the bodies, with the length to the left or to the right. */
static struct buf frames(const char *bodies, bool left)
{
    struct buf bytes = BUF_INIT;
    while (*bodies) {
        int len = (int)strcspn(bodies, "|");
        buf_printf(&bytes, left ? "%-6d%.*s" : "%6d%.*s", len, len, bodies);
        bodies += len;
        bodies += *bodies == '|';
    }
    return bytes;
}

static void hear_bodies(struct node *node, int client, const char *bodies)
{
    struct buf expected = frames(bodies, false);
    hear(node, client, buf_text(&expected));
    buf_free(&expected);
}

static void say_bodies(struct node *node, int client, const char *bodies)
{
    struct buf bytes = frames(bodies, true);
    say(node, client, buf_text(&bytes));
    buf_free(&bytes);
}

/* Feed `step` bytes at a time, each piece on the heap so that reading past it shows. */
static int feed(struct pmi_client *client, const struct buf *bytes, size_t step, struct error *err)
{
    int rc = 0;
    for (size_t at = 0; at < bytes->len && !rc; at += step) {
        size_t piece = bytes->len - at < step ? bytes->len - at : step;
        char *copy = malloc(piece);
        assert_non_null(copy);
        memcpy(copy, buf_bytes(bytes) + at, piece);
        rc = pmi_connection_input(client, copy, piece, err);
        free(copy);
    }
    return rc;
}

static struct node *node_speaking(uint32_t first, uint32_t nlocal)
{
    struct node *node = node_new(first, nlocal);
    for (uint32_t i = 0; i < nlocal; i++) {
        say(node, (int)i, TEXT_INIT);
        hear(node, (int)i, TEXT_INIT_OK);
        say_bodies(node, (int)i, FULLINIT);
        buf_clear(pmi_connection_output(node->clients[i]));
    }
    return node;
}

static void run_case(size_t c, size_t step, bool left)
{
    struct error err = ERROR_INIT;
    struct node *node = cases[c].silent ? node_new(0, 1) : node_speaking(0, 1);
    struct buf in = frames(cases[c].in, left);
    node->direct = true;
    if (cases[c].silent) {
        say(node, 0, TEXT_INIT);
        hear(node, 0, TEXT_INIT_OK);
    }
    int rc = feed(node->clients[0], &in, step, &err);
    if (rc != (cases[c].error ? -1 : 0))
        fail_msg("case %zu, \"%s\": %d, %s", c, cases[c].in, rc, error_text(&err));
    hear_bodies(node, 0, cases[c].out);
    assert_int_equal(pmi_connection_state(node->clients[0]), cases[c].state);
    if (cases[c].error && !strstr(error_text(&err), cases[c].error))
        fail_msg("case %zu: \"%s\" is not in: %s", c, cases[c].error, error_text(&err));
    error_clear(&err);
    buf_free(&in);
    node_free(node);
}

static void test_each_request_has_its_reply(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
        for (size_t step = 1; step < 5000; step = step * 3 + 1)
            run_case(c, step, step % 2);
}

static void test_a_length_is_six_characters_of_decimal(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        long length;
    } heads[] = {
        {"     1", 1},  {"1     ", 1},   {"  38  ", 38}, {"000038", 38}, {"999999", 999999},
        {"      ", -1}, {"     0", -1},  {"3 8   ", -1}, {"-38   ", -1}, {"0x38  ", -1},
        {"+38   ", -1}, {"38\n   ", -1}, {"cmd=in", -1},
    };
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        assert_int_equal(pmi2_length(heads[i].head), heads[i].length);
    char head[7] = "";
    pmi2_put_length(head, 113);
    assert_string_equal(head, "   113");
    pmi2_put_length(head, 100000);
    assert_string_equal(head, "100000");
}

static void test_what_is_no_frame_is_refused_with_its_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"cmd=init pmi_version=2 pmi_subversion=0\n",
         "no length of a PMI-2 request (1 to 65530): \"cmd=init pmi_version=2"},
        {"     0cmd", "no length of a PMI-2 request (1 to 65530): \"     0cmd\""},
        {" 65531", "no length of a PMI-2 request"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = ERROR_INIT;
        struct node *node = node_speaking(0, 1);
        assert_int_equal(
            pmi_connection_input(node->clients[0], bad[i].text, strlen(bad[i].text), &err), -1);
        assert_non_null(strstr(error_text(&err), bad[i].error));
        error_clear(&err);
        node_free(node);
    }
}

static void test_a_frame_has_a_limit(void **state)
{
    (void)state;
    struct buf body = BUF_INIT;
    struct node *node = node_speaking(0, 1);
    buf_add_text(&body, "cmd=job-getid;junk=");
    while (body.len < PMI_MAX_REQUEST - PMI2_HEAD - 1)
        buf_add_char(&body, 'j');
    buf_add_char(&body, ';');
    say_bodies(node, 0, buf_text(&body));
    hear_bodies(node, 0, "cmd=job-getid-response;jobid=kvs_7;rc=0;");
    buf_free(&body);
    node_free(node);
}

static void test_a_task_waits_for_its_neighbours_attribute(void **state)
{
    (void)state;
    struct node *node = node_speaking(0, 3);
    say_bodies(node, 0, "cmd=info-getnodeattr;key=a;wait=TRUE;|cmd=kvs-get;key=x;");
    say_bodies(node, 2, "cmd=info-getnodeattr;key=b;wait=TRUE;");
    hear_bodies(node, 0, "");
    say_bodies(node, 1, "cmd=info-putnodeattr;key=a;value=1,2;");
    hear_bodies(node, 0,
                "cmd=info-getnodeattr-response;found=TRUE;value=1,2;rc=0;|"
                "cmd=kvs-get-response;found=FALSE;rc=0;");
    hear_bodies(node, 1, "cmd=info-putnodeattr-response;rc=0;");
    hear_bodies(node, 2, "");
    pmi_server_connection_gone(node->clients[2]);
    say_bodies(node, 1, "cmd=info-putnodeattr;key=b;value=;");
    node_free(node);
}

static void test_a_fence_carries_what_was_put_and_dialects_mix(void **state)
{
    (void)state;
    struct node *node = node_speaking(0, 1), *other = node_running(1, 1);
    struct buf all = BUF_INIT;
    say_bodies(node, 0, "cmd=kvs-put;key=a;value=1;|cmd=kvs-fence;|cmd=kvs-get;key=b;");
    say(other, 0, "cmd=put key=b value=2\ncmd=barrier_in\ncmd=get key=a\n");
    buf_add(&all, buf_bytes(&node->carried), node->carried.len);
    buf_add(&all, buf_bytes(&other->carried), other->carried.len);
    assert_int_equal(node_end_barrier(node, buf_bytes(&all), all.len, NULL), 0);
    assert_int_equal(node_end_barrier(other, buf_bytes(&all), all.len, NULL), 0);
    hear_bodies(node, 0,
                "cmd=kvs-put-response;rc=0;|cmd=kvs-fence-response;rc=0;|"
                "cmd=kvs-get-response;found=TRUE;value=2;rc=0;");
    hear(other, 0, PUT_OK OUT GOT "1\n");
    buf_free(&all);
    node_free(node);
    node_free(other);
}

static void test_a_ring_goes_round_all_nodes(void **state)
{
    (void)state;
    struct node *left = node_speaking(0, 2), *right = node_speaking(2, 2);
    struct buf all = BUF_INIT;
    say_bodies(left, 1, "cmd=ring;ring-count=1;ring-left=l1;ring-right=r1;");
    say_bodies(left, 0, "cmd=ring;ring-count=1;ring-left=l0;ring-right=r0;");
    say_bodies(right, 0, "cmd=ring;ring-count=1;ring-left=l2;ring-right=r2;");
    say_bodies(right, 1, "cmd=ring;thrid=7;ring-count=1;ring-left=l3;ring-right=r3;");
    buf_add(&all, buf_bytes(&right->carried), right->carried.len);
    buf_add(&all, buf_bytes(&left->carried), left->carried.len);
    assert_int_equal(node_end_barrier(left, buf_bytes(&all), all.len - 1, NULL), -1);
    assert_int_equal(node_end_barrier(left, buf_bytes(&all), right->carried.len, NULL), -1);
    assert_int_equal(node_end_barrier(left, buf_bytes(&all), all.len, NULL), 0);
    assert_int_equal(node_end_barrier(right, buf_bytes(&all), all.len, NULL), 0);
    hear_bodies(left, 0, "cmd=ring-response;ring-count=0;ring-left=r3;ring-right=l1;rc=0;");
    hear_bodies(left, 1, "cmd=ring-response;ring-count=1;ring-left=r0;ring-right=l2;rc=0;");
    hear_bodies(right, 0, "cmd=ring-response;ring-count=2;ring-left=r1;ring-right=l3;rc=0;");
    hear_bodies(right, 1,
                "cmd=ring-response;thrid=7;ring-count=3;ring-left=r2;ring-right=l0;rc=0;");
    buf_free(&all);
    node_free(left);
    node_free(right);
}

static void test_abort_is_heard_in_a_fence_and_tells_its_message(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        unsigned naborts;
        int exitcode;
        const char *message;
    } aborts[] = {
        {"cmd=abort;isworld=TRUE;msg=more than = one;", 1, 1, "more than = one"},
        {"cmd=abort;isworld=TRUE;msg=a;;b;", 1, 1, "a;b"},
        {"cmd=abort;exitcode=7;message=later;", 1, 7, "later"},
        {"cmd=abort;isworld=FALSE;msg=mine;", 0, 0, ""},
    };
    for (size_t i = 0; i < sizeof(aborts) / sizeof(aborts[0]); i++) {
        struct node *node = node_speaking(0, 2);
        say_bodies(node, 0, "cmd=kvs-fence;|cmd=job-getid;");
        buf_clear(pmi_connection_output(node->clients[0]));
        say_bodies(node, 1, aborts[i].body);
        assert_int_equal(node->naborts, aborts[i].naborts);
        assert_int_equal(node->exitcode, aborts[i].exitcode);
        assert_string_equal(node->message, aborts[i].message);
        node_free(node);
    }
    struct node *node = node_speaking(0, 2);
    say_bodies(node, 0, "cmd=kvs-fence;");
    say_bodies(node, 0, "cmd=abort;isworld=TRUE;msg=x;");
    assert_int_equal(node->naborts, 1);
    node_free(node);
}

static void test_who_leaves_strands_a_fence_and_a_ring(void **state)
{
    (void)state;
    struct node *node = node_speaking(0, 2);
    say_bodies(node, 0, "cmd=kvs-fence;");
    say_bodies(node, 1, "cmd=finalize;");
    assert_int_equal(node->nstuck, 1);
    assert_int_equal(node->missing, 1);
    node_free(node);
    node = node_speaking(0, 2);
    say_bodies(node, 0, "cmd=ring;ring-count=1;ring-left=l1;ring-right=r1;");
    assert_true(pmi_server_connection_gone(node->clients[1]));
    node_free(node);
}

static void test_what_is_not_served_is_refused_in_the_first_line(void **state)
{
    (void)state;
    static const struct {
        bool pmi1, pmi2;
        const char *said, *heard;
    } offers[] = {
        {true, false, TEXT_INIT, INIT_NO},
        {true, false, INIT, INIT_OK},
        {false, true, INIT, INIT_NO},
        {false, true, TEXT_INIT, TEXT_INIT_OK},
        {false, true, INIT TEXT_INIT, INIT_NO TEXT_INIT_OK},
    };
    assert_null(dialects_of(false, false));
    for (size_t i = 0; i < sizeof(offers) / sizeof(offers[0]); i++) {
        struct node node = {.kvs = kvs_new("kvs_7")};
        struct pmi_config config = {.size = 1,
                                    .nlocal = 1,
                                    .kvs = node.kvs,
                                    .dialects = dialects_of(offers[i].pmi1, offers[i].pmi2)};
        node.server = pmi_server_new(&config, &ops, &node);
        node.clients[0] = pmi_connection_new(node.server, 0, 0, &node);
        say(&node, 0, offers[i].said);
        hear(&node, 0, offers[i].heard);
        pmi_server_free(node.server);
        kvs_free(node.kvs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_request_has_its_reply),
        cmocka_unit_test(test_a_length_is_six_characters_of_decimal),
        cmocka_unit_test(test_what_is_no_frame_is_refused_with_its_text),
        cmocka_unit_test(test_a_frame_has_a_limit),
        cmocka_unit_test(test_a_task_waits_for_its_neighbours_attribute),
        cmocka_unit_test(test_a_fence_carries_what_was_put_and_dialects_mix),
        cmocka_unit_test(test_a_ring_goes_round_all_nodes),
        cmocka_unit_test(test_abort_is_heard_in_a_fence_and_tells_its_message),
        cmocka_unit_test(test_who_leaves_strands_a_fence_and_a_ring),
        cmocka_unit_test(test_what_is_not_served_is_refused_in_the_first_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

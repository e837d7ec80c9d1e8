#include "base/number.h"
#include "pmi-server/wire/pmi1_line.h"
#include "tests/unit/pmi-node.h"

static const struct {
    const char *in, *out;
    enum pmi_state state;
    const char *error; /* part of the sentence, or NULL */
    bool silent;       /* no init goes before */
} cases[] = {
    /* init */
    {INIT, INIT_OK, PMI_RUNNING, NULL, true},
    {"", "", PMI_SILENT, NULL, true},
    {"cmd=init", "", PMI_SILENT, NULL, true}, /* no newline yet */
    {INIT12, INIT12_OK, PMI_RUNNING, NULL, true},
    {"cmd=init pmi_version=1 pmi_subversion=7\n", INIT12_OK, PMI_RUNNING, NULL, true},
    {"cmd=init pmi_version=1 pmi_subversion=0\n", INIT_OK, PMI_RUNNING, NULL, true},
    {"cmd=init pmi_version=3 pmi_subversion=0\n", INIT_NO, PMI_SILENT, NULL, true},
    {"cmd=init pmi_version=3 pmi_subversion=0\n" INIT, INIT_NO INIT_OK, PMI_RUNNING, NULL, true},
    {"cmd=init pmi_version=x\n", INIT_NO, PMI_SILENT, NULL, true},
    {"cmd=init\n", INIT_NO, PMI_SILENT, NULL, true},
    {" pmi_subversion=1\tcmd=init  word pmi_version=1 extra=1 \n", INIT_OK, PMI_RUNNING, NULL,
     true},
    {INIT, INIT_OK, PMI_RUNNING},
    /* what a client asks for at the start */
    {"cmd=get_maxes\n", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n", PMI_RUNNING},
    {"cmd=get_appnum\n", "cmd=appnum appnum=3\n", PMI_RUNNING},
    {"cmd=get_my_kvsname\n", "cmd=my_kvsname kvsname=kvs_7\n", PMI_RUNNING},
    {"cmd=get_my_kvsname\ncmd=get_my_kvsname\n",
     "cmd=my_kvsname kvsname=kvs_7\ncmd=my_kvsname kvsname=kvs_7\n", PMI_RUNNING},
    {"cmd=get_universe_size\n", "cmd=universe_size size=-1\n", PMI_RUNNING},
    {"cmd=get_ranks2hosts\n", "cmd=put_ranks2hosts 0 0\n", PMI_RUNNING},
    /* put and get */
    {"cmd=get kvsname=kvs_7 key=PMI_process_mapping\n", GOT "(vector,(0,1,4))\n", PMI_RUNNING},
    {"cmd=put kvsname=kvs_7 key=a value=b\ncmd=get kvsname=kvs_7 key=a\n", PUT_OK GOT "b\n",
     PMI_RUNNING},
    {"cmd=put key=a value=b\ncmd=get key=a\n", PUT_OK GOT "b\n", PMI_RUNNING},
    {"key=a kvsname=kvs_7 cmd=put value=b\nkey=a cmd=get\n", PUT_OK GOT "b\n", PMI_RUNNING},
    {"cmd=put value=b key=a kvsname=kvs_7\ncmd=get key=a\n", PUT_OK GOT "b\n", PMI_RUNNING},
    {"cmd=put kvsname=kvs_7 key=a value=b = c  d\tcmd=e \ncmd=get key=a\n",
     PUT_OK GOT "b = c  d\tcmd=e \n", PMI_RUNNING},
    {"cmd=put kvsname=kvs_7 key=P0-businesscard "
     "value=description#vm$port#36011$ifname#127.0.0.1$\ncmd=get key=P0-businesscard\n",
     PUT_OK GOT "description#vm$port#36011$ifname#127.0.0.1$\n", PMI_RUNNING},
    {"cmd=put kvsname=kvs_7 key=hostname[3] value=n0\ncmd=get key=hostname[3]\n", PUT_OK GOT "n0\n",
     PMI_RUNNING},
    {"cmd=put kvsname=kvs_7 key= value=\ncmd=get kvsname=kvs_7 key=\n", PUT_OK GOT "\n",
     PMI_RUNNING},
    {"cmd=put key=a value=1\ncmd=put key=a value=22\ncmd=get key=a\n", PUT_OK PUT_OK GOT "22\n",
     PMI_RUNNING},
    {"cmd=get kvsname=kvs_7 key=b\n", "cmd=get_result rc=-1 msg=key_b_not_found value=unknown\n",
     PMI_RUNNING},
    {"cmd=get kvsname=other key=b\n", "cmd=get_result rc=-1 msg=kvs_not_found value=unknown\n",
     PMI_RUNNING},
    {"cmd=put kvsname=other key=b value=c\ncmd=get key=b\n",
     "cmd=put_result rc=-1 msg=kvs_not_found\n"
     "cmd=get_result rc=-1 msg=key_b_not_found value=unknown\n",
     PMI_RUNNING},
    {"cmd=put key=" K63 " value=1\ncmd=get key=" K63 "\n", PUT_OK GOT "1\n", PMI_RUNNING},
    {"cmd=put key=" K63 "x value=1\ncmd=get key=" K63 "x\n",
     "cmd=put_result rc=-1 msg=key_too_long\n"
     "cmd=get_result rc=-1 msg=key_too_long value=unknown\n",
     PMI_RUNNING},
    {"cmd=put key=a value=" V1023 "\ncmd=get key=a\n", PUT_OK GOT V1023 "\n", PMI_RUNNING},
    {"cmd=put key=a value=" V1023 "x\ncmd=get key=a\n",
     "cmd=put_result rc=-1 msg=value_too_long\n"
     "cmd=get_result rc=-1 msg=key_a_not_found value=unknown\n",
     PMI_RUNNING},
    /* barrier, alone; what follows waits for its end */
    {"cmd=barrier_in\n", OUT, PMI_RUNNING},
    {"cmd=put key=a value=b\ncmd=barrier_in\ncmd=get key=a\ncmd=barrier_in\ncmd=barrier_in\n",
     PUT_OK OUT GOT "b\n" OUT OUT, PMI_RUNNING},
    {"cmd=barrier_in group=0,1:77\n",
     "cmd=barrier_out rc=-1 msg=group_barriers_are_not_supported\n", PMI_RUNNING},
    /* PMI 1.2 */
    {INIT12 "cmd=barrier_in\n", INIT12_OK "cmd=barrier_out tag=0\n", PMI_RUNNING, NULL, true},
    {INIT12 "cmd=put key=a value=b\ncmd=get key=a\ncmd=get key=c\n",
     INIT12_OK PUT_OK "cmd=get_result rc=0 msg=success found=TRUE value=b\n"
                      "cmd=get_result rc=-1 msg=key_c_not_found found=FALSE value=unknown\n",
     PMI_RUNNING, NULL, true},
    {INIT12 "cmd=barrier_in group=NODE:5\ncmd=barrier_in group=WORLD:6\ncmd=barrier_in "
            "group=0:7\ncmd=barrier_in group=0,0:7\n",
     INIT12_OK "cmd=barrier_out tag=5\ncmd=barrier_out tag=6\ncmd=barrier_out tag=7\n"
               "cmd=barrier_out tag=7\n",
     PMI_RUNNING, NULL, true},
    {INIT12 "cmd=barrier_in group=0,4:7\n", INIT12_OK, PMI_RUNNING,
     "a bad group: \"cmd=barrier_in group=0,4:7\"", true},
    {INIT12 "cmd=barrier_in group=1,2:7\n", INIT12_OK, PMI_RUNNING, "a group without its asker",
     true},
    {INIT12 "cmd=barrier_in group=0,1\n", INIT12_OK, PMI_RUNNING, "a bad group", true},
    {INIT12 "cmd=barrier_in group=0,:1\n", INIT12_OK, PMI_RUNNING, "a bad group", true},
    {INIT12 "cmd=barrier_in group=:1\n", INIT12_OK, PMI_RUNNING, "a bad group", true},
    {INIT12 "cmd=barrier_in group=0:\n", INIT12_OK, PMI_RUNNING, "a bad group", true},
    {INIT12 "cmd=barrier_in group=0:-1\n", INIT12_OK, PMI_RUNNING, "a bad group", true},
    {INIT12 "cmd=barrier_in group=0:1:2\n", INIT12_OK, PMI_RUNNING, "a bad group", true},
    {INIT12 "cmd=barrier_in group=0:12345678901\n", INIT12_OK, PMI_RUNNING, "a bad group", true},
    {INIT12 "cmd=barrier_in group=WORLD\n", INIT12_OK, PMI_RUNNING, "a bad group", true},
    {INIT12 "cmd=barrier_in group=99999999999999999999:1\n", INIT12_OK, PMI_RUNNING, "a bad group",
     true},
    /* the pairs one by one */
    {"cmd=getbyidx kvsname=kvs_7 idx=0\ncmd=getbyidx kvsname=kvs_7 idx=1\n",
     "cmd=getbyidx_results rc=0 nextidx=1 key=PMI_process_mapping val=(vector,(0,1,4))\n"
     "cmd=getbyidx_results rc=-1 reason=no_more_keyvals\n",
     PMI_RUNNING},
    {"cmd=put key=a value=b\ncmd=getbyidx_first\ncmd=getbyidx_next\ncmd=getbyidx_next\n",
     PUT_OK "cmd=getbyidx_results rc=0 nextidx=1 key=PMI_process_mapping val=(vector,(0,1,4))\n"
            "cmd=getbyidx_results rc=0 nextidx=2 key=a val=b\n"
            "cmd=getbyidx_results rc=-1 reason=no_more_keyvals\n",
     PMI_RUNNING},
    /* refusals */
    {"cmd=create_kvs\n", "cmd=newkvs rc=-1 msg=create_kvs_is_not_supported\n", PMI_RUNNING},
    {"cmd=destroy_kvs kvsname=a\n", "cmd=kvs_destroyed rc=-1 msg=destroy_kvs_is_not_supported\n",
     PMI_RUNNING},
    {"cmd=publish_name service=svc one port=tag#0$\n",
     "cmd=publish_result rc=-1 msg=names_are_not_supported\n", PMI_RUNNING},
    {"cmd=publish_name service=svc port=\n",
     "cmd=publish_result rc=-1 msg=names_are_not_supported\n", PMI_RUNNING},
    {"cmd=unpublish_name service=svc\n", "cmd=unpublish_result rc=-1 msg=names_are_not_supported\n",
     PMI_RUNNING},
    {"cmd=lookup_name service=svc\n", "cmd=lookup_result rc=-1 msg=names_are_not_supported\n",
     PMI_RUNNING},
    /* the end */
    {"cmd=finalize\n", "cmd=finalize_ack\n", PMI_FINALIZED},
    /* an abort has no reply, and nothing counts after it */
    {"cmd=abort\n", "", PMI_RUNNING},
    {"cmd=abort exitcode=7\n", "", PMI_SILENT, NULL, true},
    {"cmd=abort exitcode=7\ncmd=get_appnum\ncmd=frob\n", "", PMI_RUNNING},
    {"cmd=finalize\ncmd=abort exitcode=7\n", "cmd=finalize_ack\n", PMI_FINALIZED},
    /* against the protocol */
    {"cmd=frob a=1\n", "", PMI_RUNNING, "unknown PMI-1 command: \"cmd=frob a=1\""},
    {"cmd=get_maxes\ncmd=\n", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n",
     PMI_RUNNING, "unknown PMI-1 command: \"cmd=\""},
    {"cmd=mput a=b\n", "", PMI_RUNNING, "unknown PMI-1 command"},
    {"\n", "", PMI_RUNNING, "no cmd= in a PMI-1 request: \"\""},
    {"hello world\n", "", PMI_RUNNING, "no cmd= in a PMI-1 request: \"hello world\""},
    {"=x cmd put\n", "", PMI_RUNNING, "no cmd="},
    {"\"\\\x01\xff\t=\n", "", PMI_RUNNING, "\"\\\"\\\\\\x01\\xff\\x09=\""},
    {"GET / HTTP/1.1 " V256 "\n", "", PMI_RUNNING,
     "no cmd= in a PMI-1 request: \"GET / HTTP/1.1 01"},
    {"cmd=put kvsname=kvs_7 value=1\n", "", PMI_RUNNING,
     "no key= in a PMI-1 request: \"cmd=put kvsname=kvs_7 value=1\""},
    {"cmd=put kvsname=kvs_7 key=a\n", "", PMI_RUNNING, "no value="},
    {"cmd=get kvsname=kvs_7\n", "", PMI_RUNNING, "no key="},
    {"a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 cmd=get_maxes\n", "",
     PMI_RUNNING, "no cmd="},
    {"cmd=get_maxes\n", "", PMI_SILENT, "PMI-1 request before cmd=init: \"cmd=get_maxes\"", true},
    {"cmd=put kvsname=kvs_7 key=a value=b\n", "", PMI_SILENT, "before cmd=init", true},
    {"cmd=barrier_in\n", "", PMI_SILENT, "before cmd=init", true},
    {"mcmd=spawn\n", "", PMI_SILENT, "before cmd=init: \"mcmd=spawn\"", true},
    {"cmd=finalize\ncmd=put kvsname=kvs_7 key=a value=b c\n", "cmd=finalize_ack\n", PMI_FINALIZED,
     "PMI-1 request after cmd=finalize: \"cmd=put kvsname=kvs_7 key=a value=b c\""},
    {"cmd=finalize\ncmd=finalize\n", "cmd=finalize_ack\n", PMI_FINALIZED, "after cmd=finalize"},
    {"cmd=finalize\n" INIT, "cmd=finalize_ack\n", PMI_FINALIZED, "after cmd=finalize"},
/* spawn */
#define SPAWN_NO "cmd=spawn_result rc=-1 msg=spawn_is_not_supported\n"
#define BLOCK(total, sofar)                                                                        \
    "mcmd=spawn\nnprocs=2\nexecname=/path/prog\ntotspawns=" #total "\nspawnssofar=" #sofar "\n"
    {BLOCK(1, 1) "endcmd\n", SPAWN_NO, PMI_RUNNING},
    {BLOCK(1, 1) "arg1=-x\narg2=a b\narg3=x=y\narg4=\nargcnt=4\npreput_num=1\n"
                 "preput_key_0=PARENT_ROOT_PORT_NAME\n"
                 "preput_val_0=tag#0$description#vm$port#56807$ifname#127.0.0.1$\n"
                 "info_num=2\ninfo_key_0=wdir\ninfo_val_0=/tmp\ninfo_key_1=host\ninfo_val_1=\n"
                 "endcmd\ncmd=get_appnum\n",
     SPAWN_NO "cmd=appnum appnum=3\n", PMI_RUNNING},
    {BLOCK(2, 1) "endcmd\n" BLOCK(2, 2) "argcnt=0\nendcmd\n" BLOCK(1, 1) "endcmd\n",
     SPAWN_NO SPAWN_NO, PMI_RUNNING},
    {BLOCK(1, 1) "extra=1\nargx=2\nendcmd\n", SPAWN_NO, PMI_RUNNING},
    {BLOCK(2, 1) "endcmd\ncmd=get_appnum\n", "", PMI_RUNNING,
     "mcmd=spawn is missing in a spawn request: \"cmd=get_appnum\""},
    {BLOCK(1, 1) "cmd=get_appnum\nendcmd\n", "", PMI_RUNNING,
     "another command in a spawn request: \"cmd=get_appnum\""},
    {BLOCK(1, 1) "what\n", "", PMI_RUNNING, "a line without '=' in a spawn request: \"what\""},
    {BLOCK(1, 2) "endcmd\n", "", PMI_RUNNING, "totspawns=1 spawnssofar=2, which is out of order"},
    {BLOCK(2, 1) "endcmd\n" BLOCK(3, 2) "endcmd\n", "", PMI_RUNNING, "out of order"},
    {BLOCK(2, 1) "endcmd\n" BLOCK(2, 1) "endcmd\n", "", PMI_RUNNING, "out of order"},
    {BLOCK(1, 1) "nprocs=0\n", "", PMI_RUNNING, "a bad number in a spawn request: \"nprocs=0\""},
    {BLOCK(1, 1) "argcnt=-1\n", "", PMI_RUNNING, "a bad number"},
    {BLOCK(1, 1) "argcnt=99999999999\n", "", PMI_RUNNING, "a bad number"},
    {BLOCK(1, 1) "arg1=a\nargcnt=2\nendcmd\n", "", PMI_RUNNING,
     "says argcnt=2, but has 1 lines of arg*"},
    {BLOCK(1, 1) "info_key_0=a\ninfo_num=1\nendcmd\n", "", PMI_RUNNING,
     "says info_num=1, but has 0 lines of info_val_*"},
    {"mcmd=spawn\nnprocs=1\ntotspawns=1\nspawnssofar=1\nendcmd\n", "", PMI_RUNNING,
     "no execname in a spawn request"},
    {BLOCK(2, 1) "endcmd\nmcmd=spawn\nnprocs=1\ntotspawns=2\nspawnssofar=2\nendcmd\n", "",
     PMI_RUNNING, "no execname in a spawn request"},
    {"mcmd=spawn\nexecname=a\ntotspawns=1\nspawnssofar=1\nendcmd\n", "", PMI_RUNNING,
     "no nprocs in a spawn request"},
};

/* Feed `step` bytes at a time, each piece on the heap so that reading past it shows. */
static int feed(struct pmi_client *client, const char *text, size_t step, struct error *err)
{
    int rc = 0;
    for (size_t at = 0, len = strlen(text); at < len && !rc; at += step) {
        size_t piece = len - at < step ? len - at : step;
        char *copy = malloc(piece);
        assert_non_null(copy);
        memcpy(copy, text + at, piece);
        rc = pmi_connection_input(client, copy, piece, err);
        free(copy);
    }
    return rc;
}

static void run_case(size_t c, size_t step)
{
    struct error err = ERROR_INIT;
    struct node *node = node_new(0, 1);
    node->direct = true;
    if (!cases[c].silent) {
        say(node, 0, INIT);
        hear(node, 0, INIT_OK);
    }
    int rc = feed(node->clients[0], cases[c].in, step, &err);
    if (rc != (cases[c].error ? -1 : 0))
        fail_msg("case %zu, \"%s\": %d, %s", c, cases[c].in, rc, error_text(&err));
    hear(node, 0, cases[c].out);
    assert_int_equal(pmi_connection_state(node->clients[0]), cases[c].state);
    if (cases[c].error && !strstr(error_text(&err), cases[c].error))
        fail_msg("case %zu: \"%s\" is not in: %s", c, cases[c].error, error_text(&err));
    assert_true(rc == 0 || strlen(error_text(&err)) < 256);
    error_clear(&err);
    node_free(node);
}

static void test_each_request_has_its_reply(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
        for (size_t step = 1; step < 5000; step = step * 3 + 1)
            run_case(c, step);
}

static void test_a_nul_is_refused(void **state)
{
    (void)state;
    static const char bytes[] = "cmd=put key=a value=b\0c\n";
    struct error err = ERROR_INIT;
    struct node *node = node_new(0, 1);
    say(node, 0, INIT);
    assert_int_equal(pmi_connection_input(node->clients[0], bytes, sizeof(bytes) - 1, &err), -1);
    assert_non_null(strstr(error_text(&err), "a NUL in a PMI-1 request: \"cmd=put"));
    error_clear(&err);
    node_free(node);
}

/* A line of len bytes, then a newline. */
static int say_long(struct node *node, size_t len, struct error *err)
{
    struct buf line = BUF_INIT;
    buf_add_text(&line, "cmd=get_appnum junk=");
    while (line.len < len)
        buf_add_char(&line, 'j');
    buf_add_char(&line, '\n');
    int rc = pmi_connection_input(node->clients[0], buf_bytes(&line), line.len, err);
    buf_free(&line);
    return rc;
}

static void test_a_line_has_a_limit(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct node *node = node_new(0, 1);
    say(node, 0, INIT);
    hear(node, 0, INIT_OK);
    assert_int_equal(say_long(node, PMI_MAX_REQUEST, &err), 0);
    hear(node, 0, "cmd=appnum appnum=3\n");
    assert_int_equal(say_long(node, PMI_MAX_REQUEST + 1, &err), -1);
    assert_non_null(strstr(error_text(&err), "a line of more than 65536 bytes: \"cmd=get_appnum"));
    hear(node, 0, "");
    error_clear(&err);
    node_free(node);
}

static void test_a_line_without_end_is_refused_in_time(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct node *node = node_new(0, 1);
    size_t len = 0;
    while (!pmi_connection_input(node->clients[0], "x", 1, &err))
        assert_true(++len <= PMI_MAX_REQUEST);
    assert_int_equal(len, PMI_MAX_REQUEST);
    error_clear(&err);
    node_free(node);
}

static void test_nothing_counts_after_a_protocol_error(void **state)
{
    (void)state;
    struct node *node = node_new(0, 1);
    const char *bad = INIT "cmd=frob\ncmd=put key=a value=b\n";
    assert_int_equal(pmi_connection_input(node->clients[0], bad, strlen(bad), NULL), -1);
    say(node, 0, "cmd=put key=a value=b\n");
    assert_null(kvs_get(node->kvs, "a"));
    hear(node, 0, INIT_OK);
    node_free(node);
}

static void test_abort_tells_code_and_message(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int exitcode;
        const char *message;
    } aborts[] = {
        {"cmd=abort\n", 1, "(none)"},
        {"cmd=abort exitcode=7\n", 7, "(none)"},
        {"cmd=abort exitcode=-3 message=abort\n", -3, "abort"},
        {"cmd=abort exitcode=x message=more than one word\n", 1, "more than one word"},
        {"cmd=abort message= exitcode=5\n", 1, " exitcode=5"},
    };
    for (size_t i = 0; i < sizeof(aborts) / sizeof(aborts[0]); i++) {
        struct node *node = node_new(0, 1);
        say(node, 0, INIT);
        hear(node, 0, INIT_OK);
        say(node, 0, aborts[i].line);
        say(node, 0, "cmd=abort exitcode=99\n"); /* once is enough */
        hear(node, 0, "");
        assert_int_equal(node->naborts, 1);
        assert_int_equal(node->exitcode, aborts[i].exitcode);
        assert_string_equal(node->message, aborts[i].message);
        node_free(node);
    }
}

static void test_a_mapping_must_fit_the_clients_buffer(void **state)
{
    (void)state;
    char mapping[701];
    static const struct {
        size_t len;
        bool fits;
    } lengths[] = {{0, false}, {1, true}, {672, true}, {673, true}, {674, false}, {688, false}};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        memset(mapping, 'm', sizeof(mapping));
        mapping[lengths[i].len] = '\0';
        assert_int_equal(pmi_mapping_fits(mapping), lengths[i].fits);
    }
}

static void test_numbers_are_whole_and_bounded(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        int value;
    } numbers[] = {
        {"0", true, 0},
        {"-1", true, -1},
        {"+7", true, 7},
        {"2147483647", true, INT32_MAX},
        {"-2147483648", true, INT32_MIN},
        {"2147483648", false},
        {"00000000001", false},
        {"", false},
        {"-", false},
        {" 1", false},
        {"1 ", false},
        {"1x", false},
        {"0x1", false},
        {"--1", false},
        {"99999999999999999999", false},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        int value = 99;
        assert_int_equal(number_parse_int(numbers[i].text, &value), numbers[i].good);
        assert_int_equal(value, numbers[i].good ? numbers[i].value : 99);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_request_has_its_reply),
        cmocka_unit_test(test_a_nul_is_refused),
        cmocka_unit_test(test_a_line_has_a_limit),
        cmocka_unit_test(test_a_line_without_end_is_refused_in_time),
        cmocka_unit_test(test_nothing_counts_after_a_protocol_error),
        cmocka_unit_test(test_abort_tells_code_and_message),
        cmocka_unit_test(test_a_mapping_must_fit_the_clients_buffer),
        cmocka_unit_test(test_numbers_are_whole_and_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

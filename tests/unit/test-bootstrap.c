#include "tests/unit/unit.h"

#include <string.h>

#include "launcher/tree/bootstrap.h"

static struct bootstrap boot_of(const char *method, const char *ssh, const char *agent)
{
    struct bootstrap boot = {.fanout = 32, .start_timeout = 30, .node_timeout = 10};
    boot.method = (char *)(uintptr_t)method;
    boot.ssh = (char *)(uintptr_t)ssh;
    boot.agent = (char *)(uintptr_t)agent;
    return boot;
}

#define SSH_OPTIONS "-x|-a|-T|-o|BatchMode=yes|-o|LogLevel=DEBUG1|--|"

/* Words are shown with a bar between them. */
static const struct {
    const char *method, *ssh, *agent, *login, *words;
} commands[] = {
    {"ssh", "ssh", "/opt/tpagent", "n1", "ssh|" SSH_OPTIONS "n1|exec '/opt/tpagent'"},
    {"auto", "ssh", "/opt/tpagent", "u@n1", "ssh|" SSH_OPTIONS "u@n1|exec '/opt/tpagent'"},
    {"ssh", " ssh  -p\t2222 ", "/a", "n1", "ssh|-p|2222|" SSH_OPTIONS "n1|exec '/a'"},
    {"ssh", "ssh", "/a b/$x;`c`", "n1", "ssh|" SSH_OPTIONS "n1|exec '/a b/$x;`c`'"},
    {"ssh", "ssh", "/it's", "n1", "ssh|" SSH_OPTIONS "n1|exec '/it'\\''s'"},
    {"ssh", "ssh", "/a", "-oProxyCommand=x", "ssh|" SSH_OPTIONS "-oProxyCommand=x|exec '/a'"},
    {"lxc exec {host} -- {agent}", "ssh", "/a", "n1", "lxc|exec|n1|--|/a"},
    {"docker exec -i {host}", "ssh", "/a b", "n1", "docker|exec|-i|n1|/a b"},
    {"in --at={host}.net  {agent}", "ssh", "/a", "n1", "in|--at=n1.net|/a"},
    {"x {host}{host} {agent},{agent} {other} {", "ssh", "/a", "n", "x|nn|/a,/a|{other}|{"},
    /* what was put in is not looked at again, nor split */
    {"x {host} {agent}", "ssh", "/{host}", "{agent}", "x|{agent}|/{host}"},
    {"x {host}", "ssh", "/a", "n 1", "x|n 1|/a"},
};

static void test_commands_have_these_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        struct error err = ERROR_INIT;
        struct buf shown = BUF_INIT;
        struct bootstrap boot = boot_of(commands[i].method, commands[i].ssh, commands[i].agent);
        char **words = bootstrap_command(&boot, commands[i].login, &err);
        assert_non_null(words);
        for (size_t k = 0; words[k]; k++)
            buf_printf(&shown, "%s%s", k ? "|" : "", words[k]);
        assert_string_equal(buf_text(&shown), commands[i].words);
        assert_null(err.text);
        bootstrap_free_words(words);
        buf_free(&shown);
    }
    bootstrap_free_words(NULL);
}

static void test_a_template_without_host_is_a_wrong_command_line(void **state)
{
    (void)state;
    static const char *const malformed[] = {"",          "rsh",     "SSH",      "ssh -p 22",
                                            "x {agent}", "{hosts}", "x {HOST}", "x { host }"};
    for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        struct error err = ERROR_INIT;
        struct bootstrap boot = boot_of(malformed[i], "ssh", "/a");
        if (bootstrap_command(&boot, "n1", &err))
            fail_msg("\"%s\" was taken", malformed[i]);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_non_null(strstr(error_text(&err), malformed[i]));
        assert_non_null(strstr(error_text(&err), "{host}"));
        error_clear(&err);
    }
}

#define BANNER "OpenSSH_9.2p1 Debian-2, OpenSSL 3.0.9\r\ndebug1: Reading configuration data /x\r\n"
#define CONNECTING "debug1: Connecting to n1 [10.0.0.1] port 22.\r\n"
#define REMOTE "debug1: Remote protocol version 2.0, remote software version OpenSSH_9.2\r\n"
#define AUTHENTICATED "Authenticated to n1 ([10.0.0.1]:22) using \"publickey\".\r\n"

static const struct {
    const char *text;
    enum bootstrap_stage stage;
    const char *words;
} transcripts[] = {
    {"", STAGE_RESOLVE, ""},
    {BANNER "ssh: Could not resolve hostname n1: Name or service not known\r\n", STAGE_RESOLVE,
     "ssh: Could not resolve hostname n1: Name or service not known"},
    {BANNER CONNECTING "debug1: connect to address 10.0.0.1 port 22: Connection refused\r\n"
                       "ssh: connect to host n1 port 22: Connection refused\r\n",
     STAGE_CONNECT, "ssh: connect to host n1 port 22: Connection refused"},
    {"debug1: Executing proxy command: exec nc n1 22\r\nnc: no route\n", STAGE_CONNECT,
     "nc: no route"},
    {BANNER CONNECTING REMOTE "u@n1: Permission denied (publickey).\r\n", STAGE_AUTHENTICATE,
     "u@n1: Permission denied (publickey)."},
    {BANNER CONNECTING REMOTE "Host key verification failed.\r\n", STAGE_AUTHENTICATE,
     "Host key verification failed."},
    {CONNECTING REMOTE
     "Warning: Permanently added 'n1' to the list of known hosts.\r\n" AUTHENTICATED
     "bash: line 1: /a: No such file or directory\n"
     "Transferred: sent 2000, received 3000 bytes, in 0.1 seconds\r\n"
     "Bytes per second: sent 1.0, received 2.0\r\n",
     STAGE_EXEC, "bash: line 1: /a: No such file or directory"},
    {"debug1: Authentication succeeded (publickey).\r\n", STAGE_EXEC, ""},
    {"debug1: mux_client_request_session: master session id: 2\r\n", STAGE_EXEC, ""},
    /* a stage that is behind does not come back */
    {AUTHENTICATED CONNECTING REMOTE, STAGE_EXEC, ""},
    /* several lines for people; empty ones say nothing */
    {"one\n\r\n\ntwo\r\n", STAGE_RESOLVE, "one; two"},
    /* only whole lines, and marks only at their front */
    {"one\ndebug1: Connecting to ", STAGE_RESOLVE, "one"},
    {"see debug1: Connecting to x\n", STAGE_RESOLVE, "see debug1: Connecting to x"},
};

static void check_transcript(size_t i, size_t piece)
{
    struct buf text = BUF_INIT, words = BUF_INIT;
    enum bootstrap_stage stage = STAGE_RESOLVE;
    size_t len = strlen(transcripts[i].text);
    for (size_t at = 0; at < len; at += piece) {
        buf_add(&text, transcripts[i].text + at, piece < len - at ? piece : len - at);
        bootstrap_read_stderr(&text, &stage, &words);
    }
    assert_int_equal(stage, transcripts[i].stage);
    assert_string_equal(buf_text(&words), transcripts[i].words);
    buf_free(&text);
    buf_free(&words);
}

static void test_what_ssh_says_tells_the_stage_and_the_words(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 7, 100000};
    for (size_t i = 0; i < sizeof(transcripts) / sizeof(transcripts[0]); i++)
        for (size_t k = 0; k < 3; k++)
            check_transcript(i, pieces[k]);
}

static void test_a_host_that_never_stops_talking_takes_little_memory(void **state)
{
    (void)state;
    struct buf text = BUF_INIT, words = BUF_INIT;
    enum bootstrap_stage stage = STAGE_RESOLVE;
    for (int i = 0; i < 20000; i++) {
        buf_add_text(&text, i < 10000 ? "blah blah blah\n" : "blah blah blah ");
        bootstrap_read_stderr(&text, &stage, &words);
        assert_true(text.len < 8192 && words.len < 8192);
    }
    assert_true(words.len > 1000);
    buf_free(&text);
    buf_free(&words);
}

static void test_only_ssh_has_something_to_resolve(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        enum bootstrap_stage stage;
    } first[] = {{"auto", STAGE_RESOLVE}, {"ssh", STAGE_RESOLVE}, {"x {host}", STAGE_EXEC}};
    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
        struct bootstrap boot = boot_of(first[i].method, "ssh", "/a");
        assert_int_equal(bootstrap_first_stage(&boot), first[i].stage);
    }
}

static void test_every_stage_has_its_name(void **state)
{
    (void)state;
    static const char *const names[] = {"resolve", "connect", "authenticate",
                                        "exec",    "hello",   "up"};
    for (int stage = STAGE_RESOLVE; stage <= STAGE_UP; stage++)
        assert_string_equal(bootstrap_stage_name((enum bootstrap_stage)stage), names[stage]);
}

static void test_json_carries_all_of_it(void **state)
{
    (void)state;
    struct bootstrap boot = boot_of("x {host}", "ssh -p 1", "/a b"), copy = {0};
    boot.fanout = 7;
    boot.start_timeout = 2.5;
    boot.node_timeout = 40;
    boot.verbose = 2;
    json_t *value = bootstrap_to_json(&boot);
    assert_non_null(value);
    assert_int_equal(bootstrap_from_json(&copy, value, NULL), 0);
    json_decref(value);
    assert_string_equal(copy.method, "x {host}");
    assert_string_equal(copy.ssh, "ssh -p 1");
    assert_string_equal(copy.agent, "/a b");
    assert_int_equal(copy.fanout, 7);
    assert_true(copy.start_timeout == 2.5);
    assert_true(copy.node_timeout == 40);
    assert_int_equal(copy.verbose, 2);
    bootstrap_clear(&copy);
    assert_null(copy.method);
}

#define REST "\"start_timeout\":1, \"node_timeout\":1.5, \"verbose\":0}"

static void test_json_that_lacks_or_bends_something_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"[]", "bootstrap"},
        {"{}", "method"},
        {"{\"method\":\"ssh\",\"ssh\":\"ssh\",\"fanout\":2," REST, "agent"},
        {"{\"method\":7,\"ssh\":\"ssh\",\"agent\":\"a\",\"fanout\":2," REST, "string"},
        {"{\"method\":\"ssh\",\"ssh\":\"ssh\",\"agent\":\"a\",\"fanout\":0," REST, "fan-out 0"},
        {"{\"method\":\"ssh\",\"ssh\":\"ssh\",\"agent\":\"a\",\"fanout\":-3," REST, "fan-out -3"},
        {"{\"method\":\"ssh\",\"ssh\":null,\"agent\":\"a\",\"fanout\":2," REST, "string"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = ERROR_INIT;
        struct bootstrap boot = {0};
        json_t *value = json_loads(bad[i].text, 0, NULL);
        assert_non_null(value);
        assert_int_equal(bootstrap_from_json(&boot, value, &err), -1);
        if (!strstr(error_text(&err), bad[i].says))
            fail_msg("%zu: %s", i, error_text(&err));
        bootstrap_clear(&boot);
        error_clear(&err);
        json_decref(value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands_have_these_words),
        cmocka_unit_test(test_a_template_without_host_is_a_wrong_command_line),
        cmocka_unit_test(test_what_ssh_says_tells_the_stage_and_the_words),
        cmocka_unit_test(test_a_host_that_never_stops_talking_takes_little_memory),
        cmocka_unit_test(test_only_ssh_has_something_to_resolve),
        cmocka_unit_test(test_every_stage_has_its_name),
        cmocka_unit_test(test_json_carries_all_of_it),
        cmocka_unit_test(test_json_that_lacks_or_bends_something_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

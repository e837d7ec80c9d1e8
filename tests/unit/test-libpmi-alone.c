/* The client library with a server that is none of ours, or none: scripted replies, a singleton,
 * mpiexec.hydra. */
#include "tests/unit/libpmi-task.h"

/* A server that answers the i-th line with the i-th reply, whatever it asked, then closes. */
static void serve_script(int fd, const char *const replies[])
{
    char c;
    for (size_t i = 0; replies[i]; i++) {
        ssize_t got;
        while ((got = read(fd, &c, 1)) == 1 && c != '\n')
            ;
        if (got != 1)
            return;
        for (const char *at = replies[i]; *at; at++) /* byte by byte */
            if (send(fd, at, 1, MSG_NOSIGNAL) != 1)
                return;
    }
}

static int run_script(const char *const replies[], int (*run)(void))
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    pid_t pid = task_fork(run, fds[1], 0, 1);
    close(fds[1]);
    serve_script(fds[0], replies);
    close(fds[0]);
    return status_of(pid);
}

/* 0 all is well, 1 a get fails (but all is in step), 2 init fails, 3 the connection is broken. */
static int task_inits_and_gets(void)
{
    int spawned;
    char got[1024];
    if (PMI_Init(&spawned))
        return 2;
    int rc = PMI_KVS_Get("k", "key", got, sizeof(got));
    if (PMI_Finalize())
        return 3;
    if (!rc)
        CHECK(!strcmp(got, "v"));
    return rc ? 1 : 0;
}

#define GREET "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
#define MAXES "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"
#define NAME "cmd=my_kvsname kvsname=k\n"
#define BYE "cmd=finalize_ack\n"

static void test_replies_of_all_kinds_are_survived(void **state)
{
    (void)state;
    static const struct {
        const char *replies[6];
        int status;
    } scripts[] = {
        {{GREET, MAXES, NAME, "cmd=get_result rc=0 msg=success value=v\n", BYE}, 0},
        {{GREET, MAXES, NAME, "cmd=get_result rc=0 found=TRUE value=v\n", BYE}, 0},
        {{GREET, MAXES, NAME, "cmd=get_result value=v rc=0\n", BYE}, 0},
        {{GREET, MAXES, NAME, "cmd=get_result rc=0 value=v found=TRUE\n", BYE}, 0},
        {{GREET, MAXES, NAME, "cmd=get_result value=v\n", "cmd=finalize_ack rc=0\n"}, 0},
        {{"pmi_subversion=2 cmd=response_to_init   pmi_version=1\n", MAXES, NAME,
          "value=v cmd=get_result\n", BYE},
         0},
        {{GREET, MAXES, NAME, "cmd=get_result rc=-1 msg=key_key_not_found value=unknown\n", BYE},
         1},
        {{GREET, MAXES, NAME, "cmd=get_result rc=0\n", BYE}, 1},
        {{GREET, MAXES, NAME, "cmd=get_result rc=x value=v\n", BYE}, 1},
        {{NULL}, 2},
        {{"\n"}, 2},
        {{"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n"}, 2},
        {{"cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n"}, 2},
        {{"cmd=response_to_init rc=0"}, 2},
        {{"cmd=something_else\n"}, 2},
        {{GREET, "cmd=maxes rc=-1\n"}, 2},
        {{GREET, "cmd=maxes kvsname_max=256 keylen_max=0 vallen_max=1024\n", NAME}, 2},
        {{GREET, "cmd=maxes kvsname_max=256 keylen_max=64\n", NAME}, 2},
        {{GREET, "cmd=maxes kvsname_max=3 keylen_max=64 vallen_max=1024\n",
          "cmd=my_kvsname kvsname=kkk\n"},
         2},
        {{GREET, MAXES, "cmd=my_kvsname\n"}, 2},
        {{GREET, MAXES, NAME, "cmd=put_result rc=0\n", BYE}, 3},
        {{GREET, MAXES, NAME, "cmd=get_result rc=0 value=v\n"}, 3},
        {{GREET, MAXES, NAME}, 3},
    };
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        int status = run_script(scripts[i].replies, task_inits_and_gets);
        if (status != scripts[i].status)
            fail_msg("script %zu: %d, not %d", i, status, scripts[i].status);
    }
}

static int task_gets_words(void)
{
    int spawned;
    char got[1024];
    CHECK(PMI_Init(&spawned) == PMI_SUCCESS);
    CHECK(PMI_KVS_Get("k", "key", got, sizeof(got)) == PMI_SUCCESS);
    CHECK(!strcmp(got, "v found=TRUE"));
    return PMI_Finalize();
}

static void test_a_value_that_ends_as_some_replies_do_is_whole(void **state)
{
    (void)state;
    static const char *const replies[] = {
        GREET, MAXES, NAME, "cmd=get_result rc=0 msg=success value=v found=TRUE\n", BYE, NULL};
    assert_int_equal(run_script(replies, task_gets_words), 0);
}

static int task_spawns_and_publishes(void)
{
    int spawned, errors[] = {9, 9, 9}, maxprocs[] = {3};
    const char *cmds[] = {"a"};
    char port[1024];
    CHECK(PMI_Init(&spawned) == PMI_SUCCESS);
    CHECK(PMI_Lookup_name("svc", port) == PMI_SUCCESS && !strcmp(port, "tag#0$"));
    CHECK(PMI_Publish_name("svc", "x") == PMI_SUCCESS);
    /* the scripted server answers each line of the request; the first answer is the reply */
    CHECK(PMI_Spawn_multiple(1, cmds, NULL, maxprocs, NULL, NULL, 0, NULL, errors) == PMI_SUCCESS);
    CHECK(errors[0] == 0 && errors[1] == 4 && errors[2] == 0);
    return 0;
}

static void test_what_another_server_grants_is_taken(void **state)
{
    (void)state;
    static const char *const replies[] = {
        GREET,
        MAXES,
        NAME,
        "cmd=lookup_result port=tag#0$ info=ok rc=0 msg=success\n",
        "cmd=publish_result info=ok rc=0 msg=success\n",
        "cmd=spawn_result rc=0 errcodes=0,4\n",
        NULL,
    };
    assert_int_equal(run_script(replies, task_spawns_and_publishes), 0);
}

static int task_is_alone(void)
{
    int number, ranks[1];
    char name[256], got[1024];
    clear_environment();
    for (int life = 0; life < 2; life++) {
        CHECK(PMI_Init(&number) == PMI_SUCCESS && number == 0);
        CHECK(PMI_Get_rank(&number) == PMI_SUCCESS && number == 0);
        CHECK(PMI_Get_size(&number) == PMI_SUCCESS && number == 1);
        CHECK(PMI_Get_appnum(&number) == PMI_SUCCESS && number == 0);
        CHECK(PMI_Get_universe_size(&number) == PMI_SUCCESS && number == 1);
        CHECK(PMI_Get_clique_size(&number) == PMI_SUCCESS && number == 1);
        CHECK(PMI_Get_clique_ranks(ranks, 1) == PMI_SUCCESS && ranks[0] == 0);
        CHECK(PMI_KVS_Get_my_name(name, sizeof(name)) == PMI_SUCCESS);
        CHECK(PMI_KVS_Get(name, "a", got, sizeof(got)) == PMI_FAIL);
        CHECK(PMI_KVS_Put(name, "a", "1") == PMI_SUCCESS);
        CHECK(PMI_KVS_Put(name, "a", "2") == PMI_SUCCESS);
        CHECK(PMI_KVS_Commit(name) == PMI_SUCCESS && PMI_Barrier() == PMI_SUCCESS);
        CHECK(PMI_KVS_Get(name, "a", got, sizeof(got)) == PMI_SUCCESS && !strcmp(got, "2"));
        CHECK(PMI_Publish_name("svc", "x") == PMI_FAIL && PMI_Unpublish_name("svc") == PMI_FAIL);
        CHECK(PMI_Finalize() == PMI_SUCCESS);
    }
    setenv("PMI_PORT", "localhost:1", 1);
    CHECK(PMI_Init(&number) == PMI_FAIL);
    return 0;
}

static void test_without_a_launcher_a_process_is_alone(void **state)
{
    (void)state;
    assert_int_equal(status_of(task_fork(task_is_alone, -1, 0, 1)), 0);
}

static int task_has_a_bad_environment(void)
{
    static const char *const bad[][2] = {
        {"PMI_FD", "x"},   {"PMI_FD", "-1"},  {"PMI_FD", "1000"},          {"PMI_RANK", ""},
        {"PMI_RANK", "2"}, {"PMI_SIZE", "0"}, {"PMI_SIZE", "99999999999"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        pid_t pid = fork();
        if (!pid) {
            int spawned;
            setenv(bad[i][0], bad[i][1], 1);
            _exit(PMI_Init(&spawned) == PMI_FAIL ? 0 : 1);
        }
        CHECK(status_of(pid) == 0);
    }
    return 0;
}

static void test_a_bad_environment_is_no_singleton(void **state)
{
    (void)state;
    assert_int_equal(status_of(task_fork(task_has_a_bad_environment, 2, 1, 2)), 0);
}

/* The example, under a launcher that is not ours. */
static void test_the_example_runs_under_hydra(void **state)
{
    (void)state;
    char command[4096], line[4096];
    const char *hello = getenv("TPRUN_PMI_HELLO");
    int lines = 0;
    if (!hello)
        hello = "examples/pmi-hello";
    if (access(hello, X_OK) < 0 || system("command -v mpiexec.hydra >/dev/null") != 0) {
        print_message("skipped: needs mpiexec.hydra, and %s built\n", hello);
        skip();
    }
    snprintf(command, sizeof(command), "timeout 60 mpiexec.hydra -n 4 %s 2>&1", hello);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    while (fgets(line, sizeof(line), pipe)) {
        int rank, end = 0;
        if (sscanf(line, "rank %d of 4: left %*s right %*s clique 0,1,2,3%n", &rank, &end) != 1 ||
            !end)
            fail_msg("mpiexec.hydra: %s", line);
        lines++;
    }
    assert_int_equal(pclose(pipe), 0);
    assert_int_equal(lines, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replies_of_all_kinds_are_survived),
        cmocka_unit_test(test_a_value_that_ends_as_some_replies_do_is_whole),
        cmocka_unit_test(test_what_another_server_grants_is_taken),
        cmocka_unit_test(test_without_a_launcher_a_process_is_alone),
        cmocka_unit_test(test_a_bad_environment_is_no_singleton),
        cmocka_unit_test(test_the_example_runs_under_hydra),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

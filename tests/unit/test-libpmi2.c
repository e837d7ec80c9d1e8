/* libpmi2 against the real server, and alone. */
#include "tests/unit/libpmi-program.h"

#include "pmi-server/client/pmi2.h"

struct task_of {
    int spawned, size, rank, appnum;
};

static struct task_of init(void)
{
    struct task_of task = {.size = -1};
    CHECK(PMI2_Init(&task.spawned, &task.size, &task.rank, &task.appnum) == PMI2_SUCCESS);
    return task;
}

static int task_knows_itself(void)
{
    int number = -1;
    char job[256];
    CHECK(PMI2_Initialized() == 0 && PMI2_Job_GetRank(&number) == PMI2_ERR_INIT);
    CHECK(PMI2_KVS_Fence() == PMI2_ERR_INIT && PMI2_Finalize() == PMI2_ERR_INIT);
    CHECK(PMI2_Init(NULL, &number, &number, &number) == PMI2_ERR_INVALID_ARG);
    struct task_of task = init();
    CHECK(task.spawned == 0 && task.size == 3 && task.appnum == task.rank * 10);
    CHECK(task.rank == atoi(getenv("PMI_RANK")));
    task = init();
    CHECK(task.size == 3 && PMI2_Initialized() == 1);
    CHECK(PMI2_Job_GetRank(&number) == PMI2_SUCCESS && number == task.rank);
    CHECK(PMI2_Info_GetSize(&number) == PMI2_SUCCESS && number == 3);
    CHECK(PMI2_Info_GetSize(NULL) == PMI2_ERR_INVALID_ARG);
    CHECK(PMI2_Job_GetId(job, sizeof(job)) == PMI2_SUCCESS && !strcmp(job, "kvs_test"));
    CHECK(PMI2_Job_GetId(job, 4) == PMI2_SUCCESS && !strcmp(job, "kvs"));
    CHECK(PMI2_Job_GetId(job, 0) == PMI2_ERR_INVALID_ARG);
    CHECK(PMI2_Finalize() == PMI2_SUCCESS && PMI2_Initialized() == 0);
    CHECK(PMI2_Init(&number, &number, &number, &number) == PMI2_FAIL); /* it is closed */
    return 0;
}

static void test_a_task_knows_itself(void **state)
{
    (void)state;
    assert_int_equal(run_program(3, NULL, task_knows_itself, 0), -1);
}

static int task_puts_within_bounds(void)
{
    char key[80], value[1100], got[1100];
    int len = -7;
    init();
    CHECK(PMI2_KVS_Put(NULL, "v") == PMI2_ERR_INVALID_KEY);
    CHECK(PMI2_KVS_Put("", "v") == PMI2_ERR_INVALID_KEY);
    CHECK(PMI2_KVS_Put("a b", "v") == PMI2_ERR_INVALID_KEY);
    CHECK(PMI2_KVS_Put("a;b", "v") == PMI2_ERR_INVALID_KEY);
    CHECK(PMI2_KVS_Put("a", NULL) == PMI2_ERR_INVALID_VAL);
    fill(key, 'k', 64);
    CHECK(PMI2_KVS_Put(key, "v") == PMI2_ERR_INVALID_KEY_LENGTH);
    fill(key, 'k', 63);
    fill(value, 'v', 1024);
    CHECK(PMI2_KVS_Put(key, value) == PMI2_ERR_INVALID_VAL_LENGTH);
    fill(value, ';', 1023);
    CHECK(PMI2_KVS_Put(key, value) == PMI2_SUCCESS);
    CHECK(PMI2_KVS_Get(NULL, PMI2_ID_NULL, key, got, 1024, &len) == PMI2_SUCCESS && len == 1023);
    CHECK(!strcmp(got, value));
    CHECK(PMI2_KVS_Get("kvs_test", 0, key, got, 1023, &len) == PMI2_SUCCESS && len == -1023);
    CHECK(strlen(got) == 1022);
    CHECK(PMI2_KVS_Get(NULL, 0, key, got, 0, &len) == PMI2_ERR_INVALID_ARG);
    CHECK(PMI2_KVS_Get("other", 0, key, got, 99, &len) == PMI2_ERR_OTHER);
    CHECK(PMI2_KVS_Get(NULL, 0, "absent", got, 99, &len) == PMI2_FAIL);
    CHECK(PMI2_KVS_Put("s", "two  words; = \t\n rc=1;") == PMI2_SUCCESS);
    CHECK(PMI2_KVS_Get(NULL, 0, "s", got, 1024, &len) == PMI2_SUCCESS);
    CHECK(!strcmp(got, "two  words; = \t\n rc=1;"));
    CHECK(PMI2_KVS_Put("e", "") == PMI2_SUCCESS);
    CHECK(PMI2_KVS_Get(NULL, 0, "e", got, 1, &len) == PMI2_SUCCESS && len == 0 && !*got);
    return PMI2_Finalize();
}

static void test_puts_and_gets_check_their_arguments(void **state)
{
    (void)state;
    run_program(1, NULL, task_puts_within_bounds, 0);
}

static int task_exchanges_cards(void)
{
    char key[32], value[64], got[1024];
    struct task_of task = init();
    int len;
    for (int round = 0; round < 50; round++) {
        snprintf(key, sizeof(key), "card-%d-%d", round, task.rank);
        snprintf(value, sizeof(value), "%d;%d", round, task.rank);
        CHECK(PMI2_KVS_Put(key, value) == PMI2_SUCCESS && PMI2_KVS_Fence() == PMI2_SUCCESS);
        for (int other = 0; other < task.size; other++) {
            snprintf(key, sizeof(key), "card-%d-%d", round, other);
            snprintf(value, sizeof(value), "%d;%d", round, other);
            CHECK(PMI2_KVS_Get(NULL, other, key, got, sizeof(got), &len) == PMI2_SUCCESS);
            CHECK(!strcmp(got, value));
        }
    }
    return PMI2_Finalize();
}

static void test_after_a_fence_all_cards_are_there(void **state)
{
    (void)state;
    run_program(MAX_TASKS, NULL, task_exchanges_cards, 0);
    program_drip = true;
    run_program(3, NULL, task_exchanges_cards, 0);
    program_drip = false;
}

static int task_shares_attributes(void)
{
    char text[1024];
    int found, count, numbers[4];
    struct task_of task = init();
    CHECK(PMI2_Info_GetNodeAttr("none", text, sizeof(text), &found, 0) == PMI2_SUCCESS && !found);
    if (task.rank == task.size - 1)
        CHECK(PMI2_Info_PutNodeAttr("a", "5,-6,7") == PMI2_SUCCESS);
    CHECK(PMI2_Info_GetNodeAttr("a", text, sizeof(text), &found, 1) == PMI2_SUCCESS && found);
    CHECK(!strcmp(text, "5,-6,7"));
    CHECK(PMI2_Info_GetNodeAttrIntArray("a", numbers, 4, &count, &found) == PMI2_SUCCESS);
    CHECK(found && count == 3 && numbers[1] == -6);
    CHECK(PMI2_Info_GetNodeAttrIntArray("a", numbers, 2, &count, &found) == PMI2_SUCCESS);
    CHECK(count == 2);
    CHECK(PMI2_Info_GetJobAttr("PMI_process_mapping", text, sizeof(text), &found) == PMI2_SUCCESS);
    CHECK(found && !strcmp(text, "(vector,(0,1,4))"));
    CHECK(PMI2_Info_GetJobAttrIntArray("universeSize", numbers, 4, &count, &found) == PMI2_SUCCESS);
    CHECK(found && count == 1 && numbers[0] == 64);
    CHECK(PMI2_Info_GetJobAttrIntArray("PMI_process_mapping", numbers, 4, &count, &found) ==
          PMI2_FAIL);
    CHECK(PMI2_Info_GetJobAttr("none", text, sizeof(text), &found) == PMI2_SUCCESS && !found);
    return PMI2_Finalize();
}

static void test_attributes_are_shared_on_the_node(void **state)
{
    (void)state;
    run_program(4, "(vector,(0,1,4))", task_shares_attributes, 0);
}

static int task_stands_in_a_ring(void)
{
    char mine[32], left[32], right[32], expected[32];
    int place, places;
    struct task_of task = init();
    for (int round = 0; round < 3; round++) {
        snprintf(mine, sizeof(mine), "%d of %d", task.rank, round);
        CHECK(PMIX_Ring(mine, &place, &places, left, right, sizeof(left)) == PMI2_SUCCESS);
        CHECK(place == task.rank && places == task.size);
        snprintf(expected, sizeof(expected), "%d of %d", (task.rank + task.size - 1) % task.size,
                 round);
        CHECK(!strcmp(left, expected));
        snprintf(expected, sizeof(expected), "%d of %d", (task.rank + 1) % task.size, round);
        CHECK(!strcmp(right, expected));
    }
    return PMI2_Finalize();
}

static void test_tasks_stand_in_a_ring(void **state)
{
    (void)state;
    run_program(1, NULL, task_stands_in_a_ring, 0);
    run_program(5, NULL, task_stands_in_a_ring, 0);
}

static int task_is_refused(void)
{
    char port[64];
    const char *cmds[] = {"a"}, *args[] = {"x", "y;z"}, **argvs[] = {args};
    int argcs[] = {2}, procs[] = {2}, errors[2] = {0, 0};
    PMI2_Connect_comm_t comm;
    init();
    CHECK(PMI2_Nameserv_publish("svc", NULL, "port") == PMI2_ERR_OTHER);
    CHECK(PMI2_Nameserv_publish("", NULL, "port") == PMI2_ERR_INVALID_ARG);
    CHECK(PMI2_Nameserv_lookup("svc", NULL, port, sizeof(port)) == PMI2_ERR_OTHER);
    CHECK(PMI2_Nameserv_unpublish("svc", NULL) == PMI2_ERR_OTHER);
    CHECK(PMI2_Job_Connect("kvs_other", &comm) == PMI2_ERR_OTHER);
    CHECK(PMI2_Job_Disconnect("kvs_other") == PMI2_ERR_OTHER);
    CHECK(PMI2_Job_Spawn(1, cmds, argcs, argvs, procs, NULL, NULL, 0, NULL, NULL, 0, errors) ==
          PMI2_ERR_OTHER);
    CHECK(errors[0] == PMI2_ERR_OTHER && errors[1] == PMI2_ERR_OTHER);
    procs[0] = 0;
    CHECK(PMI2_Job_Spawn(1, cmds, argcs, argvs, procs, NULL, NULL, 0, NULL, NULL, 0, errors) ==
          PMI2_ERR_INVALID_ARG);
    return PMI2_Finalize();
}

static void test_what_the_launcher_refuses_fails(void **state)
{
    (void)state;
    run_program(1, NULL, task_is_refused, 0);
}

static int task_aborts(void)
{
    init();
    PMI2_Abort(3, NULL);
    return 0;
}

static void test_abort_asks_for_the_end(void **state)
{
    (void)state;
    assert_int_equal(run_program(1, NULL, task_aborts, 3), 1);
}

static int task_alone(void)
{
    char text[32], right[32];
    int found, len, place, places;
    unsetenv("PMI_FD");
    struct task_of task = init();
    CHECK(task.size == 1 && task.rank == 0 && task.appnum == -1 && !task.spawned);
    CHECK(PMI2_KVS_Put("a", "1") == PMI2_SUCCESS && PMI2_KVS_Fence() == PMI2_SUCCESS);
    CHECK(PMI2_KVS_Get(NULL, 0, "a", text, sizeof(text), &len) == PMI2_SUCCESS && len == 1);
    CHECK(PMI2_KVS_Get(NULL, 0, "b", text, sizeof(text), &len) == PMI2_FAIL);
    CHECK(PMI2_Info_PutNodeAttr("n", "2") == PMI2_SUCCESS);
    CHECK(PMI2_Info_GetNodeAttr("n", text, sizeof(text), &found, 1) == PMI2_SUCCESS && found);
    CHECK(PMI2_Info_GetNodeAttr("m", text, sizeof(text), &found, 0) == PMI2_SUCCESS && !found);
    CHECK(PMI2_Info_GetNodeAttr("m", text, sizeof(text), &found, 1) == PMI2_FAIL);
    CHECK(PMI2_Info_GetJobAttr("n", text, sizeof(text), &found) == PMI2_SUCCESS && !found);
    CHECK(PMIX_Ring("me", &place, &places, text, right, sizeof(text)) == PMI2_SUCCESS);
    CHECK(!strcmp(text, "me") && !strcmp(right, "me") && places == 1 && place == 0);
    CHECK(PMI2_Nameserv_publish("svc", NULL, "port") == PMI2_FAIL);
    CHECK(PMI2_Finalize() == PMI2_SUCCESS);
    init();
    CHECK(PMI2_KVS_Get(NULL, 0, "a", text, sizeof(text), &len) == PMI2_FAIL);
    return PMI2_Finalize();
}

static void test_without_a_launcher_a_task_is_alone(void **state)
{
    (void)state;
    run_program(1, NULL, task_alone, 0);
}

/* What a server of bytes says instead of a reply. */
static const char *const bad_replies[] = {
    "",
    "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=1\n",
    "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
    "garbage\n",
#define GOOD "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n"
    GOOD "       ",
    GOOD "abcdef",
    GOOD "     5cmd=x",
    GOOD "     6cmd=x;",
    GOOD "    35cmd=fullinit-response;rc=0;rank=0;x",
    GOOD "    27cmd=fullinit-response;rc=1;",
    GOOD "    27cmd=fullinit-response;rc=0;",
    GOOD "999999cmd"};

static int task_hears_garbage(void)
{
    int number;
    CHECK(PMI2_Init(&number, &number, &number, &number) == PMI2_FAIL);
    CHECK(PMI2_Initialized() == 0);
    return 0;
}

static void test_a_bad_reply_is_a_failed_init(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_replies) / sizeof(bad_replies[0]); i++) {
        int fds[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        pid_t pid = task_fork(task_hears_garbage, fds[1], 0, 1);
        close(fds[1]);
        ssize_t len = (ssize_t)strlen(bad_replies[i]);
        assert_int_equal(send(fds[0], bad_replies[i], (size_t)len, MSG_NOSIGNAL), len);
        shutdown(fds[0], SHUT_WR);
        assert_int_equal(status_of(pid), 0);
        close(fds[0]);
    }
}

static int task_has_a_job(void)
{
    setenv("PMI_JOBID", "12.3", 1);
    return task_hears_garbage();
}

/* What a task says first to a server that takes it no further. */
static void hear_first(int (*run)(void), char said[512])
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    pid_t pid = task_fork(run, fds[1], 0, 1);
    close(fds[1]);
    assert_int_equal(send(fds[0], GOOD, strlen(GOOD), MSG_NOSIGNAL), (ssize_t)strlen(GOOD));
    shutdown(fds[0], SHUT_WR);
    assert_int_equal(status_of(pid), 0);
    ssize_t len = recv(fds[0], said, 511, MSG_WAITALL);
    assert_true(len > 0);
    said[len] = '\0';
    close(fds[0]);
}

static void test_the_job_that_srun_gives_is_told_again(void **state)
{
    (void)state;
    char said[512];
    hear_first(task_has_a_job, said);
    assert_non_null(strstr(said, "cmd=fullinit;pmijobid=12.3;pmirank=0;"));
    hear_first(task_hears_garbage, said);
    assert_non_null(strstr(said, "cmd=fullinit;pmirank=0;"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_task_knows_itself),
        cmocka_unit_test(test_puts_and_gets_check_their_arguments),
        cmocka_unit_test(test_after_a_fence_all_cards_are_there),
        cmocka_unit_test(test_attributes_are_shared_on_the_node),
        cmocka_unit_test(test_tasks_stand_in_a_ring),
        cmocka_unit_test(test_what_the_launcher_refuses_fails),
        cmocka_unit_test(test_abort_asks_for_the_end),
        cmocka_unit_test(test_without_a_launcher_a_task_is_alone),
        cmocka_unit_test(test_a_bad_reply_is_a_failed_init),
        cmocka_unit_test(test_the_job_that_srun_gives_is_told_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

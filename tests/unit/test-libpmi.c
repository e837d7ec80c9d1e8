/* The client library against the real server. */
#include "tests/unit/libpmi-program.h"

#include <pthread.h>

static int task_knows_itself(void)
{
    int number = -1, rank;
    char name[256];
    CHECK(PMI_Initialized(&number) == PMI_SUCCESS && number == 0);
    CHECK(PMI_Get_rank(&rank) == PMI_ERR_INIT && PMI_Barrier() == PMI_ERR_INIT);
    CHECK(PMI_Finalize() == PMI_ERR_INIT);
    CHECK(PMI_Init(NULL) == PMI_ERR_INVALID_ARG);
    CHECK(PMI_Init(&number) == PMI_SUCCESS && number == 0);
    CHECK(PMI_Init(&number) == PMI_SUCCESS);
    CHECK(PMI_Initialized(&number) == PMI_SUCCESS && number == 1);
    CHECK(PMI_Get_size(&number) == PMI_SUCCESS && number == 3);
    CHECK(PMI_Get_size(NULL) == PMI_ERR_INVALID_ARG);
    CHECK(PMI_Get_rank(&rank) == PMI_SUCCESS && rank == atoi(getenv("PMI_RANK")));
    CHECK(PMI_Get_appnum(&number) == PMI_SUCCESS && number == rank * 10);
    CHECK(PMI_Get_universe_size(&number) == PMI_SUCCESS && number == 64);
    CHECK(PMI_KVS_Get_name_length_max(&number) == PMI_SUCCESS && number == 256);
    CHECK(PMI_Get_id_length_max(&number) == PMI_SUCCESS && number == 256);
    CHECK(PMI_KVS_Get_key_length_max(&number) == PMI_SUCCESS && number == 64);
    CHECK(PMI_KVS_Get_value_length_max(&number) == PMI_SUCCESS && number == 1024);
    CHECK(PMI_KVS_Get_my_name(name, 8) == PMI_ERR_INVALID_LENGTH);
    CHECK(PMI_KVS_Get_my_name(NULL, 256) == PMI_ERR_INVALID_ARG);
    CHECK(PMI_KVS_Get_my_name(name, 9) == PMI_SUCCESS && !strcmp(name, "kvs_test"));
    CHECK(PMI_Get_id(name, 256) == PMI_SUCCESS && !strcmp(name, "kvs_test"));
    CHECK(PMI_Get_kvs_domain_id(name, 256) == PMI_SUCCESS);
    CHECK(PMI_Finalize() == PMI_SUCCESS);
    CHECK(PMI_Initialized(&number) == PMI_SUCCESS && number == 0);
    CHECK(PMI_Get_rank(&rank) == PMI_ERR_INIT);
    CHECK(PMI_Init(&number) == PMI_FAIL); /* the connection is closed */
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
    const char *kvs = "kvs_test";
    int spawned;
    CHECK(PMI_Init(&spawned) == PMI_SUCCESS);
    CHECK(PMI_KVS_Put("other", "k", "v") == PMI_ERR_INVALID_KVS);
    CHECK(PMI_KVS_Put(NULL, "k", "v") == PMI_ERR_INVALID_KVS);
    CHECK(PMI_KVS_Put(kvs, NULL, "v") == PMI_ERR_INVALID_KEY);
    CHECK(PMI_KVS_Put(kvs, "", "v") == PMI_ERR_INVALID_KEY);
    CHECK(PMI_KVS_Put(kvs, "a b", "v") == PMI_ERR_INVALID_KEY);
    CHECK(PMI_KVS_Put(kvs, "a=b", "v") == PMI_ERR_INVALID_KEY);
    CHECK(PMI_KVS_Put(kvs, "k", NULL) == PMI_ERR_INVALID_VAL);
    CHECK(PMI_KVS_Put(kvs, "k", "a\ncmd=abort") == PMI_ERR_INVALID_VAL);
    fill(key, 'k', 64);
    CHECK(PMI_KVS_Put(kvs, key, "v") == PMI_ERR_INVALID_KEY_LENGTH);
    fill(key, 'k', 63);
    fill(value, 'v', 1024);
    CHECK(PMI_KVS_Put(kvs, key, value) == PMI_ERR_INVALID_VAL_LENGTH);
    fill(value, 'v', 1023);
    CHECK(PMI_KVS_Put(kvs, key, value) == PMI_SUCCESS);
    CHECK(PMI_KVS_Get(kvs, key, got, 1023) == PMI_ERR_INVALID_LENGTH);
    CHECK(PMI_KVS_Get(kvs, key, got, -1) == PMI_ERR_INVALID_LENGTH);
    CHECK(PMI_KVS_Get(kvs, key, NULL, 1024) == PMI_ERR_INVALID_VAL);
    CHECK(PMI_KVS_Get(kvs, key, got, 1024) == PMI_SUCCESS && !strcmp(got, value));
    CHECK(PMI_KVS_Get(kvs, "absent", got, 1024) == PMI_FAIL);
    CHECK(PMI_KVS_Get("other", key, got, 1024) == PMI_ERR_INVALID_KVS);
    CHECK(PMI_KVS_Put(kvs, "s", "two  words = \t tab rc=1 ") == PMI_SUCCESS);
    CHECK(PMI_KVS_Get(kvs, "s", got, 1024) == PMI_SUCCESS);
    CHECK(!strcmp(got, "two  words = \t tab rc=1 "));
    CHECK(PMI_KVS_Put(kvs, "e", "") == PMI_SUCCESS);
    CHECK(PMI_KVS_Get(kvs, "e", got, 1) == PMI_SUCCESS && !*got);
    CHECK(PMI_KVS_Commit("other") == PMI_ERR_INVALID_ARG);
    CHECK(PMI_KVS_Commit(kvs) == PMI_SUCCESS);
    return PMI_Finalize();
}

static void test_puts_and_gets_check_their_arguments(void **state)
{
    (void)state;
    run_program(1, NULL, task_puts_within_bounds, 0);
}

static int task_exchanges_cards(void)
{
    char key[32], value[64], got[1024];
    int rank, size, spawned;
    CHECK(PMI_Init(&spawned) == PMI_SUCCESS);
    CHECK(!PMI_Get_rank(&rank) && !PMI_Get_size(&size));
    for (int round = 0; round < 50; round++) {
        snprintf(key, sizeof(key), "card-%d-%d", round, rank);
        snprintf(value, sizeof(value), "%d*%d", round, rank);
        CHECK(PMI_KVS_Put("kvs_test", key, value) == PMI_SUCCESS);
        CHECK(PMI_KVS_Commit("kvs_test") == PMI_SUCCESS);
        CHECK(PMI_Barrier() == PMI_SUCCESS);
        for (int other = 0; other < size; other++) {
            snprintf(key, sizeof(key), "card-%d-%d", round, other);
            snprintf(value, sizeof(value), "%d*%d", round, other);
            CHECK(PMI_KVS_Get("kvs_test", key, got, sizeof(got)) == PMI_SUCCESS);
            CHECK(!strcmp(got, value));
        }
    }
    return PMI_Finalize();
}

static void test_after_a_barrier_all_cards_are_there(void **state)
{
    (void)state;
    run_program(MAX_TASKS, NULL, task_exchanges_cards, 0);
    program_drip = true;
    run_program(3, NULL, task_exchanges_cards, 0);
    program_drip = false;
}

/* What the mapping of this run says about each rank: the clique as text. */
static const char *const *expected_cliques;

static int task_checks_clique(void)
{
    int spawned, rank, size, length, ranks[MAX_TASKS];
    char text[64] = "";
    CHECK(PMI_Init(&spawned) == PMI_SUCCESS && !PMI_Get_rank(&rank) && !PMI_Get_size(&size));
    const char *expected = expected_cliques[rank];
    int rc = PMI_Get_clique_size(&length);
    if (!expected) {
        CHECK(rc == PMI_FAIL && PMI_Get_clique_ranks(ranks, MAX_TASKS) == PMI_FAIL);
        return PMI_Finalize();
    }
    CHECK(rc == PMI_SUCCESS && length >= 1 && length <= size);
    CHECK(PMI_Get_clique_ranks(ranks, length - 1) == PMI_ERR_INVALID_LENGTH);
    CHECK(PMI_Get_clique_ranks(NULL, length) == PMI_ERR_INVALID_ARG);
    CHECK(PMI_Get_clique_ranks(ranks, length) == PMI_SUCCESS);
    for (int i = 0; i < length; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d", ranks[i]);
    if (strcmp(text, expected) != 0)
        fprintf(stderr, "rank %d: clique %s, not %s\n", rank, text, expected);
    CHECK(!strcmp(text, expected));
    return PMI_Finalize();
}

static void test_the_clique_is_what_the_mapping_says(void **state)
{
    (void)state;
    static const struct {
        const char *mapping;
        int size;
        const char *cliques[MAX_TASKS]; /* NULL: refused */
    } mappings[] = {
        {NULL, 2, {"0", "1"}}, /* unknown: nobody is known to be near */
        {"", 2, {"0", "1"}},
        {"(vector,(0,1,1))", 1, {"0"}},
        {"(vector,(0,2,2))", 4, {"01", "01", "23", "23"}},
        {"(vector,(0,2,1),(0,2,1))", 4, {"02", "13", "02", "13"}},
        {"(vector,(0,2,1))", 5, {"024", "13", "024", "13", "024"}}, /* begins again */
        {"(vector,(0,1,2),(1,1,1))", 6, {"0134", "0134", "25", "0134", "0134", "25"}},
        {"(vector,(0,2,1),(2,1,2))", 4, {"0", "1", "23", "23"}},
        {"(vector,(5,1,4))", 2, {"01", "01"}},
        {"(vector,(0,4096,256))", 3, {"012", "012", "012"}},
        {"(vector,(0,0,5),(1,1,2))", 2, {"01", "01"}},
        {"(vector,(0,2147483647,2147483647))", 2, {"01", "01"}},
        {"(vector,(2147483647,2147483647,1))", 2, {"0", "1"}},
        /* malformed */
        {"(vector)", 1, {NULL}},
        {"(vector,)", 1, {NULL}},
        {"(vector,(0,0,1))", 1, {NULL}}, /* holds no rank: would never end */
        {"(vector,(0,1,0))", 1, {NULL}},
        {"(vector,(0,1,1)", 1, {NULL}},
        {"(vector,(0,1,1))x", 1, {NULL}},
        {"(vector,(0,1))", 1, {NULL}},
        {"(vector,(0,1,1,1))", 1, {NULL}},
        {"(vector,(0,1,-1))", 1, {NULL}},
        {"(vector,(0,1,x))", 1, {NULL}},
        {"(vector,(0,1,1)(0,1,1))", 1, {NULL}},
        {"(vector,(0,1,2147483648))", 1, {NULL}},
        {"(vector,(0,2147483647,2147483647),(0,2147483647,2147483647),"
         "(0,2147483647,2147483647),(0,2147483647,2147483647),(0,2147483647,2147483647))",
         1,
         {NULL}},
        {"vector,(0,1,1)", 1, {NULL}},
        {"(hector,(0,1,1))", 1, {NULL}},
    };
    for (size_t i = 0; i < sizeof(mappings) / sizeof(mappings[0]); i++) {
        expected_cliques = mappings[i].cliques;
        run_program(mappings[i].size, mappings[i].mapping, task_checks_clique, 0);
    }
}

static int task_tries_dynamic_processes(void)
{
    int spawned, errors[3] = {7, 7, 7}, maxprocs[] = {1, 2}, sizes[] = {1, 0};
    char port[1024], value[] = "/tmp", text[] = "a b", parsed[8];
    const char *first_args[] = {"-x", "a b", "", NULL}, *cmds[] = {"/bin/a", "b"};
    const char **argvs[] = {first_args, NULL};
    PMI_keyval_t info = {"wdir", value}, preput = {"PARENT", text};
    const PMI_keyval_t *infos[] = {&info, NULL};
    CHECK(PMI_Init(&spawned) == PMI_SUCCESS);
    CHECK(PMI_Publish_name("svc", "tag#0$") == PMI_FAIL);
    CHECK(PMI_Publish_name("svc one", "tag#0$") == PMI_ERR_INVALID_ARG);
    CHECK(PMI_Publish_name(NULL, "tag#0$") == PMI_ERR_INVALID_ARG);
    CHECK(PMI_Lookup_name("svc", port) == PMI_FAIL);
    CHECK(PMI_Unpublish_name("svc") == PMI_FAIL);
    CHECK(PMI_Spawn_multiple(2, cmds, argvs, maxprocs, sizes, infos, 1, &preput, errors) ==
          PMI_FAIL);
    CHECK(errors[0] == PMI_FAIL && errors[1] == PMI_FAIL && errors[2] == PMI_FAIL);
    CHECK(PMI_Spawn_multiple(1, cmds, NULL, maxprocs, NULL, NULL, 0, NULL, NULL) == PMI_FAIL);
    CHECK(PMI_Spawn_multiple(0, cmds, NULL, maxprocs, NULL, NULL, 0, NULL, NULL) ==
          PMI_ERR_INVALID_ARG);
    CHECK(PMI_Spawn_multiple(1, cmds, NULL, maxprocs, NULL, NULL, 1, NULL, NULL) ==
          PMI_ERR_INVALID_ARG);
    cmds[0] = "a\nb";
    CHECK(PMI_Spawn_multiple(1, cmds, NULL, maxprocs, NULL, NULL, 0, NULL, NULL) ==
          PMI_ERR_INVALID_ARG);
    CHECK(PMI_KVS_Create(parsed, 8) == PMI_FAIL && PMI_KVS_Destroy("x") == PMI_FAIL);
    CHECK(PMI_KVS_Iter_first("x", parsed, 8, port, 8) == PMI_FAIL);
    CHECK(PMI_KVS_Iter_next("x", parsed, 8, port, 8) == PMI_FAIL);
    CHECK(PMI_Get_options(parsed, errors) == PMI_FAIL && PMI_Free_keyvals(NULL, 0) == PMI_FAIL);
    CHECK(PMI_Parse_option(0, NULL, NULL, NULL, NULL) == PMI_FAIL);
    CHECK(PMI_Args_to_keyval(NULL, NULL, NULL, NULL) == PMI_FAIL);
    return PMI_Finalize(); /* and all is still in step */
}

static void test_refused_dynamic_processes_leave_all_in_step(void **state)
{
    (void)state;
    run_program(2, NULL, task_tries_dynamic_processes, 0);
}

/* What a server would end the program for is not sent. */
static int task_spawns_without_measure(void)
{
    static char line[65536], longer[70000];
    static const char *args[21], **argvs[] = {args};
    const char *cmds[] = {"b"}, *none[] = {""};
    int spawned, error = 7, maxprocs[] = {1};
    char value[8], name[256];
    memset(line, 'x', sizeof(line) - 100);
    memset(longer, 'x', sizeof(longer) - 1);
    CHECK(PMI_Init(&spawned) == PMI_SUCCESS);
    CHECK(PMI_Spawn_multiple(1, none, NULL, maxprocs, NULL, NULL, 0, NULL, &error) ==
          PMI_ERR_INVALID_ARG);
    args[0] = longer;
    CHECK(PMI_Spawn_multiple(1, cmds, argvs, maxprocs, NULL, NULL, 0, NULL, &error) == PMI_FAIL);
    CHECK(error == PMI_FAIL);
    for (int i = 0; i < 20; i++)
        args[i] = line;
    CHECK(PMI_Spawn_multiple(1, cmds, argvs, maxprocs, NULL, NULL, 0, NULL, &error) == PMI_FAIL);
    CHECK(PMI_Publish_name("svc", longer) == PMI_FAIL);
    CHECK(PMI_KVS_Get_my_name(name, sizeof(name)) == PMI_SUCCESS);
    CHECK(PMI_KVS_Put(name, "key", "here") == PMI_SUCCESS);
    CHECK(PMI_KVS_Get(name, "key", value, sizeof(value)) == PMI_SUCCESS);
    CHECK(!strcmp(value, "here"));
    return PMI_Finalize();
}

static void test_a_request_that_is_too_long_is_not_sent(void **state)
{
    (void)state;
    run_program(1, NULL, task_spawns_without_measure, 0);
}

static int task_aborts(void)
{
    int spawned, rank;
    CHECK(PMI_Init(&spawned) == PMI_SUCCESS && !PMI_Get_rank(&rank));
    fclose(stderr);
    return PMI_Abort(13, "enough");
}

static void test_abort_exits_and_tells_the_server(void **state)
{
    (void)state;
    assert_int_equal(run_program(1, NULL, task_aborts, 13), 13);
}

static void *thread_waits(void *arg)
{
    *(int *)arg = PMI_Barrier(); /* for ever: the other task is in none */
    return NULL;
}

static int task_aborts_beside_a_barrier(void)
{
    int spawned, rank, rc;
    pthread_t thread;
    CHECK(PMI_Init(&spawned) == PMI_SUCCESS && !PMI_Get_rank(&rank));
    if (rank == 1)
        return 14;
    CHECK(pthread_create(&thread, NULL, thread_waits, &rc) == 0);
    usleep(100000);
    return PMI_Abort(14, NULL);
}

static void test_abort_does_not_wait_for_another_threads_barrier(void **state)
{
    (void)state;
    assert_int_equal(run_program(2, NULL, task_aborts_beside_a_barrier, 14), 14);
}

static void *thread_gets(void *arg)
{
    char got[1024];
    (void)arg;
    for (int i = 0; i < 500; i++)
        CHECK(!PMI_KVS_Get("kvs_test", "PMI_process_mapping", got, sizeof(got)) &&
              !strcmp(got, "(vector,(0,1,2))"));
    return NULL;
}

static int task_has_threads(void)
{
    int spawned;
    pthread_t threads[4];
    CHECK(PMI_Init(&spawned) == PMI_SUCCESS);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, thread_gets, NULL) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return PMI_Finalize();
}

static void test_threads_take_turns(void **state)
{
    (void)state;
    run_program(2, "(vector,(0,1,2))", task_has_threads, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_task_knows_itself),
        cmocka_unit_test(test_puts_and_gets_check_their_arguments),
        cmocka_unit_test(test_after_a_barrier_all_cards_are_there),
        cmocka_unit_test(test_the_clique_is_what_the_mapping_says),
        cmocka_unit_test(test_refused_dynamic_processes_leave_all_in_step),
        cmocka_unit_test(test_a_request_that_is_too_long_is_not_sent),
        cmocka_unit_test(test_abort_exits_and_tells_the_server),
        cmocka_unit_test(test_abort_does_not_wait_for_another_threads_barrier),
        cmocka_unit_test(test_threads_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

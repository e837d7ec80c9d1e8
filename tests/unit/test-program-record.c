#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/ledger/pid_list.h"
#include "launcher/ledger/program_record.h"
#include "tests/unit/unit.h"

/* Four tasks, two on each of two nodes, in the order of events. */
static const char *const life[] = {
    "{\"timestamp\":100.5,\"name\":\"new\",\"context\":{\"id\":\"7\",\"command\":[\"./"
    "app\",\"x\"]}}",
    "{\"timestamp\":101,\"name\":\"pending\"}",
    "{\"timestamp\":102,\"name\":\"alloc\",\"context\":{\"ntasks\":4,\"nnodes\":2}}",
    "{\"timestamp\":103,\"name\":\"starting\"}",
    "{\"timestamp\":104,\"name\":\"launch\",\"context\":{\"group\":0,\"taskmap\":{\"version\":1,"
    "\"map\":"
    "[[0,2,2,1]]},\"sizes\":[3,1],\"hosts\":\"n[0-1]\",\"kinds\":[{\"nodes\":\"0-1\",\"tasks\":"
    "\"0:1,5:1\",\"cpus\":{\"0\":\"0-1\",\"5\":\"2\"},\"gpus\":\"0:1,1:1\",\"gpu_sets\":{\"1\":"
    "\"3\"}}]}}",
    "{\"timestamp\":105,\"name\":\"tasks-started\",\"context\":{\"group\":0,\"nodes\":\"0-1\","
    "\"pids\":"
    "[\"50-51\",\"90,80\"],\"cpus\":[[\"8-9\",\"3\"]]}}",
    "{\"timestamp\":106,\"name\":\"running\"}",
    "{\"timestamp\":107,\"name\":\"tasks-ended\",\"context\":{\"group\":0,\"ranks\":\"0-1\","
    "\"status\":256,"
    "\"t_end\":[107.5,106.5],\"wall\":[2.5,1.5],\"utime\":[0.5,0.25],\"stime\":[0,0],\"maxrss_"
    "kib\":"
    "[9,8]}}",
    "{\"timestamp\":107,\"name\":\"terminate\",\"context\":{\"grace\":5}}",
    "{\"timestamp\":108,\"name\":\"tasks-ended\",\"context\":{\"group\":0,\"ranks\":\"2-3\","
    "\"status\":15,"
    "\"by\":\"tprun\",\"t_end\":{\"least\":1,\"most\":108}}}",
    "{\"timestamp\":108,\"name\":\"finish\"}",
    "{\"timestamp\":109,\"name\":\"complete\",\"context\":{\"status\":1,\"reason\":\"rank 0: exit "
    "1\\n\"}}",
};
enum { LIFE = sizeof(life) / sizeof(life[0]) };

/* Of the first so many events, and one more, or NULL. */
static struct program_record *read_life(size_t count, const char *more, bool with_tasks)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s\n", life[i]);
    if (more)
        buf_printf(&text, "%s\n", more);
    struct program_record *record = program_record_read(buf_bytes(&text), text.len, with_tasks);
    buf_free(&text);
    return record;
}

static void test_each_event_leads_to_its_state(void **state)
{
    static const char *const states[] = {"empty",    "empty",    "pending", "pending", "starting",
                                         "starting", "starting", "running", "running", "running",
                                         "running",  "running",  "complete"};
    (void)state;
    for (size_t i = 0; i <= LIFE; i++) {
        struct program_record *record = read_life(i, NULL, i % 2);
        assert_string_equal(record_state_name(record->state), states[i]);
        assert_int_equal(record->passed_over, 0);
        assert_int_equal(record->ntasks, i > 4 ? 4 : 0);
        program_record_free(record);
    }
}

static void check_task(const struct program_record *record, uint32_t rank, const char *want)
{
    const struct task_record *task = &record->tasks[rank];
    char *got =
        mem_format("%s %u.%u app %u pid %u cpus %s gpus %s %s %d%s %g-%g",
                   program_record_host(record, rank), task->node, task->local_rank, task->app,
                   task->pid, task->cpus, task->gpus, record_task_state_name(task->state),
                   task->status, task->by_tprun ? " by tprun" : "", task->t_start, task->t_end);
    assert_string_equal(got, want);
    free(got);
}

static void test_where_each_task_ran_and_how_it_ended_is_told(void **state)
{
    struct program_record *record = read_life(LIFE, NULL, true);
    (void)state;
    assert_null(record->problem);
    assert_string_equal(record->id, "7");
    assert_int_equal(record->status, 1);
    assert_string_equal(record->reason, "rank 0: exit 1\n");
    assert_int_equal(record->nnodes, 2);
    check_task(record, 0, "n0 0.0 app 0 pid 50 cpus 0-1 gpus  ended 256 105-107.5");
    check_task(record, 1, "n0 0.1 app 0 pid 51 cpus 2 gpus 3 ended 256 105-106.5");
    check_task(record, 2, "n1 1.0 app 0 pid 90 cpus 0-1 gpus  ended 15 by tprun 105-108");
    check_task(record, 3, "n1 1.1 app 1 pid 80 cpus 8-9 gpus 3 ended 15 by tprun 105-108");
    assert_true(record->tasks[0].is_exact && record->tasks[0].maxrss_kib == 9);
    assert_true(record->tasks[1].utime > 0.24 && record->tasks[1].utime < 0.26);
    assert_null(program_record_host(record, 4));
    program_record_free(record);
}

static void test_a_spawned_group_goes_on_counting_ranks(void **state)
{
    struct program_record *record =
        read_life(7,
                  "{\"timestamp\":1,\"name\":\"launch\",\"context\":{\"group\":1,\"first_rank\":4,"
                  "\"taskmap\":{"
                  "\"version\":1,\"map\":[[0,1,2,1]]},\"hosts\":\"n1\",\"kinds\":[]}}",
                  true);
    (void)state;
    assert_null(record->problem);
    assert_int_equal(record->ntasks, 6);
    assert_int_equal(record->nnodes, 2);
    assert_string_equal(program_record_host(record, 5), "n1");
    assert_int_equal(record->tasks[5].local_rank, 1);
    program_record_free(record);
}

static void test_a_program_whose_manager_was_gone_is_complete_and_lost(void **state)
{
    struct program_record *record = read_life(
        8, "{\"timestamp\":500,\"name\":\"lost\",\"context\":{\"reason\":\"gone\"}}", true);
    (void)state;
    assert_true(record->is_lost && record->state == RECORD_COMPLETE);
    assert_int_equal(record->status, -1);
    assert_string_equal(record_task_state_name(record->tasks[0].state), "ended");
    assert_string_equal(record_task_state_name(record->tasks[3].state), "lost");
    program_record_free(record);
}

static void test_a_program_says_whether_something_may_be_left(void **state)
{
    struct program_record *record = read_life(
        8, "{\"timestamp\":500,\"name\":\"complete\",\"context\":{\"status\":1,\"left\":true}}",
        true);
    (void)state;
    assert_true(record->is_left);
    program_record_free(record);
    record = read_life(LIFE, NULL, true);
    assert_false(record->is_left);
    program_record_free(record);
}

static void test_tasks_of_a_lost_node_are_lost(void **state)
{
    struct program_record *record = read_life(
        7, "{\"timestamp\":1,\"name\":\"nodes-lost\",\"context\":{\"hosts\":\"n1\"}}", true);
    (void)state;
    assert_string_equal(record_task_state_name(record->tasks[1].state), "running");
    assert_string_equal(record_task_state_name(record->tasks[2].state), "lost");
    program_record_free(record);
}

static void test_what_does_not_fit_is_passed_over_and_counted(void **state)
{
    static const char *const bad[] = {
        "{\"timestamp\":1,\"name\":\"later\"}",
        "{\"timestamp\":1,\"name\":\"new\",\"context\":{\"id\":\"8\"}}",
        "no event",
        "{\"timestamp\":1,\"name\":\"launch\"}",
        "{\"timestamp\":1,\"name\":\"launch\",\"context\":{\"group\":0,\"taskmap\":{\"version\":1,"
        "\"map\":[[0,1,1,1]]},\"hosts\":\"n1\"}}",
        "{\"timestamp\":1,\"name\":\"launch\",\"context\":{\"group\":1,\"taskmap\":{\"version\":1,"
        "\"map\":[[0,2,1,1]]},\"hosts\":\"n1\"}}",
        "{\"timestamp\":1,\"name\":\"launch\",\"context\":{\"group\":1,\"taskmap\":{\"version\":1,"
        "\"map\":[[0,1,2097153,2]]},\"hosts\":\"n1\"}}",
        "{\"timestamp\":1,\"name\":\"launch\",\"context\":{\"group\":1,\"taskmap\":{\"version\":1,"
        "\"map\":[[0,1,1,1]]},\"hosts\":\"n1\",\"kinds\":[{\"nodes\":\"0\",\"tasks\":\"0:9\"}]}}",
        "{\"timestamp\":1,\"name\":\"tasks-started\",\"context\":{\"group\":3}}",
        "{\"timestamp\":1,\"name\":\"tasks-started\",\"context\":{\"group\":0,\"nodes\":\"0\","
        "\"pids\":"
        "[]}}",
        "{\"timestamp\":1,\"name\":\"tasks-started\",\"context\":{\"group\":0,\"nodes\":\"0\","
        "\"pids\":"
        "[\"1-99\"]}}",
        "{\"timestamp\":1,\"name\":\"tasks-ended\",\"context\":{\"ranks\":\"4\",\"status\":0}}",
        "{\"timestamp\":1,\"name\":\"tasks-ended\",\"context\":{\"ranks\":\"1\"}}",
        "{\"timestamp\":1,\"name\":\"nodes-lost\"}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct program_record *record = read_life(7, bad[i], true);
        if (record->passed_over != 1 || !record->problem ||
            strncmp(record->problem, "line 8", 6) != 0)
            fail_msg("%s: %zu, %s", bad[i], record->passed_over,
                     record->problem ? record->problem : "no problem");
        program_record_free(record);
    }
    struct program_record *record = read_life(LIFE, life[1], true);
    assert_int_equal(record->passed_over, 1); /* after the end */
    assert_int_equal(record->state, RECORD_COMPLETE);
    program_record_free(record);
}

static void test_a_log_cut_anywhere_gives_a_record(void **state)
{
    struct buf text = BUF_INIT;
    (void)state;
    for (size_t i = 0; i < LIFE; i++)
        buf_printf(&text, "%s\n", life[i]);
    for (size_t len = 0; len <= text.len; len++) {
        struct program_record *record = program_record_read(buf_bytes(&text), len, true);
        assert_int_equal(record->passed_over, 0);
        assert_int_equal(record->state == RECORD_COMPLETE, len == text.len);
        program_record_free(record);
    }
    buf_free(&text);
}

static void put_into(void *arg, size_t i, uint32_t pid)
{
    ((uint32_t *)arg)[i] = pid;
}

static void test_lists_of_process_ids_are_read_as_written(void **state)
{
    static const struct {
        uint32_t pids[5];
        size_t count;
        const char *text;
    } cases[] = {
        {{0}, 0, ""},
        {{7}, 1, "7"},
        {{7, 8, 9}, 3, "7-9"},
        {{9, 8, 7}, 3, "9,8,7"},
        {{0, 0, 1, 2}, 4, "0,0,1-2"},
        {{4, 5, 0, 6, 2147483647}, 5, "4-5,0,6,2147483647"},
    };
    static const char *const bad[] = {"x",   "1,", ",1",  "1-",           "2-1",          "1,2,3",
                                      "1-3", "",   "1;2", "1,2147483648", "0-4294967295", "1 2"};
    uint32_t got[5];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf text = BUF_INIT;
        pid_list_encode(&text, cases[i].pids, cases[i].count);
        assert_string_equal(buf_text(&text), cases[i].text);
        assert_true(pid_list_decode(buf_text(&text), cases[i].count, put_into, got));
        assert_memory_equal(got, cases[i].pids, cases[i].count * sizeof(got[0]));
        buf_free(&text);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (pid_list_decode(bad[i], 2, put_into, got))
            fail_msg("\"%s\" is no list of two", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_event_leads_to_its_state),
        cmocka_unit_test(test_where_each_task_ran_and_how_it_ended_is_told),
        cmocka_unit_test(test_a_spawned_group_goes_on_counting_ranks),
        cmocka_unit_test(test_a_program_whose_manager_was_gone_is_complete_and_lost),
        cmocka_unit_test(test_a_program_says_whether_something_may_be_left),
        cmocka_unit_test(test_tasks_of_a_lost_node_are_lost),
        cmocka_unit_test(test_what_does_not_fit_is_passed_over_and_counted),
        cmocka_unit_test(test_a_log_cut_anywhere_gives_a_record),
        cmocka_unit_test(test_lists_of_process_ids_are_read_as_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

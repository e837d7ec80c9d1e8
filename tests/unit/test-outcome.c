#include <signal.h>
#include <string.h>

#include "affinity/taskmap/taskmap.h"
#include "launcher/program/outcome.h"
#include "tests/unit/unit.h"

#define EXITED(n) ((n) << 8) /* as wait() has it */

/* 16 tasks, four a node. */
static const char *const hosts[] = {"node0", "node1", "node2", "node3"};

struct ended {
    uint64_t time;
    const char *why; /* NULL: something else, text is the line, status the exit status */
    int status;
    const char *text;
    const char *ranks;
    const char *node; /* where ranks is empty */
};

static const struct {
    struct ended ended[4];
    const char *victims;
    int status;
    const char *lines;
} cases[] = {
    /* the first in time decides, whatever was told first */
    {{{20, "exit", EXITED(3), NULL, "1", NULL}, {10, "exit", EXITED(4), NULL, "5", NULL}},
     NULL,
     4,
     "rank 5 on node1: exited with status 4\n1 more task failed after that\n"},
    {{{10, "exit", EXITED(4), NULL, "5", NULL}, {20, "exit", EXITED(3), NULL, "1-2", NULL}},
     NULL,
     4,
     "rank 5 on node1: exited with status 4\n2 more tasks failed after that\n"},
    {{{10, "exit", EXITED(4), NULL, "5", NULL},
      {9, NULL, OUTCOME_TIME_LIMIT, "too late", "", NULL}},
     NULL,
     124,
     "too late\n1 more task failed after that\n"},
    /* ranks of one fate are one line; the earliest of them counts */
    {{{10, "exit", EXITED(3), NULL, "0-1", NULL},
      {11, "exit", EXITED(3), NULL, "4", NULL},
      {12, "exit", EXITED(3), NULL, "2", NULL}},
     NULL,
     3,
     "ranks 0-2,4 on node[0-1]: exited with status 3\n"},
    {{{30, "exit", EXITED(3), NULL, "0", NULL},
      {20, "exit", EXITED(5), NULL, "1", NULL},
      {10, "exit", EXITED(3), NULL, "2", NULL}},
     NULL,
     3,
     "ranks 0,2 on node0: exited with status 3\n1 more task failed after that\n"},
    /* of tasks that could not be started all reasons are told, at one time by rank */
    {{{1, "start", EXITED(127), "no such file", "0", NULL},
      {2, "start", EXITED(126), "not executable", "4", NULL},
      {3, "exit", EXITED(1), NULL, "8", NULL}},
     NULL,
     127,
     "rank 0 on node0: no such file\nrank 4 on node1: not executable\n"
     "1 more task failed after that\n"},
    {{{1, "start", EXITED(126), "not executable", "4", NULL},
      {1, "start", EXITED(127), "no such file", "2-3,12", NULL},
      {1, "start", EXITED(126), "not executable", "8", NULL}},
     NULL,
     127,
     "ranks 2-3,12 on node[0,3]: no such file\nranks 4,8 on node[1-2]: not executable\n"},
    /* every fate in its words, and its status */
    {{{1, "exit", EXITED(255), NULL, "0", NULL}},
     NULL,
     255,
     "rank 0 on node0: exited with status 255\n"},
    {{{1, "signal", SIGKILL, NULL, "12-15", NULL}},
     NULL,
     137,
     "ranks 12-15 on node3: killed by signal 9 (Killed)\n"},
    {{{1, "signal", SIGKILL, "killed by the kernel for lack of memory (cgroup limit 100 MiB)", "3",
       NULL}},
     NULL,
     137,
     "rank 3 on node0: killed by the kernel for lack of memory (cgroup limit 100 MiB)\n"},
    {{{1, "exit", EXITED(137), "killed by the kernel for lack of memory", "3", NULL}},
     NULL,
     137,
     "rank 3 on node0: exited with status 137: a process of it was killed by the kernel for lack "
     "of "
     "memory\n"},
    {{{1, "signal", SIGSEGV | 0x80, NULL, "9", NULL}},
     NULL,
     139,
     "rank 9 on node2: killed by signal 11 (Segmentation fault), core dumped\n"},
    {{{1, "unfinalized", EXITED(0), NULL, "3", NULL}},
     NULL,
     1,
     "rank 3 on node0: exited without finalizing (no MPI_Finalize after MPI_Init)\n"},
    {{{1, "abort", EXITED(6), NULL, "3", NULL}},
     NULL,
     6,
     "rank 3 on node0: aborted the program with code 6\n"},
    /* an abort is never a success */
    {{{1, "abort", EXITED(0), NULL, "3", NULL}},
     NULL,
     1,
     "rank 3 on node0: aborted the program with code 0, which counts as exit status 1\n"},
    /* an abort and the exit that follows it are one end, whichever is told first */
    {{{1, "exit", EXITED(7), NULL, "2", NULL}, {2, "abort", EXITED(7), "", "2", NULL}},
     "0,1,3",
     7,
     "rank 2 on node0: aborted the program with code 7\n3 other tasks were ended by tprun then\n"},
    {{{2, "abort", EXITED(7), "", "2", NULL}, {1, "exit", EXITED(7), NULL, "2", NULL}},
     "0,1,3",
     7,
     "rank 2 on node0: aborted the program with code 7\n3 other tasks were ended by tprun then\n"},
    {{{1, "unfinalized", EXITED(0), NULL, "2", NULL}, {2, "abort", EXITED(0), "", "2", NULL}},
     NULL,
     1,
     "rank 2 on node0: aborted the program with code 0, which counts as exit status 1\n"},
    {{{1, "exit", EXITED(7), NULL, "1,2", NULL}, {2, "abort", EXITED(7), "", "2", NULL}},
     NULL,
     7,
     "rank 1 on node0: exited with status 7\n1 more task failed after that\n"},
    {{{1, "exit", EXITED(6), NULL, "2", NULL}, {2, "abort", EXITED(7), "", "2", NULL}},
     NULL,
     6,
     "rank 2 on node0: exited with status 6\n"},
    {{{1, "aborted", EXITED(0), "aborted by rank 0", "3", NULL}},
     NULL,
     1,
     "rank 3 on node0: aborted by rank 0 with code 0, which counts as exit status 1\n"},
    {{{1, "start", EXITED(127), "./x: no such file", "0-15", NULL}},
     NULL,
     127,
     "ranks 0-15 on node[0-3]: ./x: no such file\n"},
    {{{1, "pmi", EXITED(1), "bad command", "8", NULL}},
     NULL,
     1,
     "rank 8 on node2: PMI: bad command\n"},
    {{{1, "start", EXITED(1), "no memory", "", "2"}}, NULL, 1, "node2: no memory\n"},
    {{{1, NULL, OUTCOME_TIME_LIMIT, "time limit of 2 s reached", "", NULL}},
     "0-15",
     124,
     "time limit of 2 s reached\n16 tasks were ended by tprun then\n"},
    /* victims are counted, not blamed */
    {{{1, "exit", EXITED(3), NULL, "0", NULL}},
     "1",
     3,
     "rank 0 on node0: exited with status 3\n1 other task was ended by tprun then\n"},
    {{{1, "exit", EXITED(3), NULL, "0", NULL}, {2, "signal", SIGABRT, NULL, "7", NULL}},
     "1-6,8-15",
     3,
     "rank 0 on node0: exited with status 3\n1 more task failed after that\n"
     "14 other tasks were ended by tprun then\n"},
};

static void add_end(struct outcome *outcome, uint64_t time, int status, const char *which)
{
    struct idset *ranks = idset_decode(which, NULL), *nodes = idset_decode("0", NULL);
    outcome_task_ended(outcome, time, status & 0x7f ? "signal" : "exit", status, NULL, ranks,
                       nodes);
    idset_free(nodes);
    idset_free(ranks);
}

static void test_an_answer_to_a_signal_of_the_users_is_not_said(void **state)
{
    struct outcome *outcome = outcome_new();
    struct buf lines = BUF_INIT;
    (void)state;
    outcome_set_hosts(outcome, hosts);
    outcome_signal_sent(outcome, SIGTERM);
    add_end(outcome, 1, SIGTERM, "0");
    add_end(outcome, 2, EXITED(143), "1");
    assert_int_equal(outcome_status(outcome, &lines), 143);
    assert_string_equal(buf_text(&lines), "");
    add_end(outcome, 3, EXITED(7), "2");
    add_end(outcome, 4, SIGSEGV, "3");
    assert_int_equal(outcome_status(outcome, &lines), 143);
    assert_string_equal(buf_text(&lines), "rank 2 on node0: exited with status 7\n"
                                          "1 more task failed after that\n");
    buf_free(&lines);
    outcome_free(outcome);
}

static void test_what_has_to_be_said_is_said_after_the_first(void **state)
{
    struct outcome *outcome = outcome_new();
    struct buf lines = BUF_INIT;
    (void)state;
    outcome_set_hosts(outcome, hosts);
    outcome_always(outcome, UINT64_MAX, 1, "node0: cannot end process 1");
    assert_int_equal(outcome_status(outcome, &lines), 1);
    assert_string_equal(buf_text(&lines), "node0: cannot end process 1\n");
    buf_clear(&lines);
    add_end(outcome, 3, EXITED(7), "2");
    assert_int_equal(outcome_status(outcome, &lines), 7);
    assert_string_equal(buf_text(&lines), "rank 2 on node0: exited with status 7\n"
                                          "node0: cannot end process 1\n");
    buf_free(&lines);
    outcome_free(outcome);
}

static void tell_one(struct outcome *outcome, const struct taskmap *map, const struct ended *ended)
{
    if (!ended->why) {
        outcome_other(outcome, ended->time, ended->status, ended->text);
        return;
    }
    struct idset *ranks = idset_decode(ended->ranks, NULL);
    struct idset *nodes = idset_decode(ended->node ? ended->node : "", NULL);
    IDSET_FOREACH(rank, ranks)
    idset_add(nodes, taskmap_node(map, rank));
    outcome_task_ended(outcome, ended->time, ended->why, ended->status, ended->text, ranks, nodes);
    idset_free(nodes);
    idset_free(ranks);
}

static void tell_victims(struct outcome *outcome, const char *text)
{
    struct idset *ranks = idset_decode(text, NULL);
    outcome_killed(outcome, ranks);
    idset_free(ranks);
}

static void check_lines(const struct outcome *outcome, int status, const char *expected)
{
    struct buf lines = BUF_INIT;
    assert_int_equal(outcome_status(outcome, &lines), status);
    assert_string_equal(buf_text(&lines), expected);
    buf_free(&lines);
}

static void test_the_first_bad_end_decides_and_all_are_told_in_few_lines(void **state)
{
    (void)state;
    struct taskmap *map = taskmap_decode("[[0,4,4,1]]", NULL);
    assert_non_null(map);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct outcome *outcome = outcome_new();
        outcome_set_hosts(outcome, hosts);
        for (size_t k = 0; k < 4 && cases[i].ended[k].ranks; k++)
            tell_one(outcome, map, &cases[i].ended[k]);
        if (cases[i].victims)
            tell_victims(outcome, cases[i].victims);
        check_lines(outcome, cases[i].status, cases[i].lines);
        outcome_free(outcome);
    }
    taskmap_free(map);
}

static void test_without_a_bad_end_there_is_nothing_to_say(void **state)
{
    (void)state;
    struct outcome *outcome = outcome_new();
    assert_true(outcome_is_clean(outcome));
    check_lines(outcome, 0, "");
    tell_victims(outcome, "0-3");
    assert_true(outcome_is_clean(outcome));
    outcome_other(outcome, 5, 1, "lost");
    assert_false(outcome_is_clean(outcome));
    outcome_free(outcome);
    outcome_free(NULL);
}

static void test_hosts_are_named_in_the_order_of_nodes_and_each_once(void **state)
{
    (void)state;
    struct taskmap *map = taskmap_decode("0,2;1,3", NULL);
    struct ended ended = {1, "exit", EXITED(2), NULL, "1,3", NULL};
    struct outcome *outcome = outcome_new();
    assert_non_null(map);
    outcome_set_hosts(outcome, hosts);
    tell_one(outcome, map, &ended);
    check_lines(outcome, 2, "ranks 1,3 on node1: exited with status 2\n");
    outcome_free(outcome);
    taskmap_free(map);
}

static void test_victims_told_twice_count_once(void **state)
{
    (void)state;
    struct outcome *outcome = outcome_new();
    outcome_other(outcome, 1, 130, "interrupted");
    tell_victims(outcome, "0-3");
    tell_victims(outcome, "2-5");
    check_lines(outcome, 130, "interrupted\n6 tasks were ended by tprun then\n");
    check_lines(outcome, 130, "interrupted\n6 tasks were ended by tprun then\n");
    outcome_free(outcome);
}

static void test_what_is_told_is_copied(void **state)
{
    (void)state;
    char why[] = "start", text[] = "no room";
    struct outcome *outcome = outcome_new();
    struct idset *none = idset_new(), *node = idset_decode("1", NULL);
    outcome_set_hosts(outcome, hosts);
    outcome_task_ended(outcome, 1, why, EXITED(1), text, none, node);
    idset_free(none);
    idset_free(node);
    why[0] = text[0] = 'X';
    check_lines(outcome, 1, "node1: no room\n");
    outcome_free(outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_answer_to_a_signal_of_the_users_is_not_said),
        cmocka_unit_test(test_what_has_to_be_said_is_said_after_the_first),
        cmocka_unit_test(test_the_first_bad_end_decides_and_all_are_told_in_few_lines),
        cmocka_unit_test(test_without_a_bad_end_there_is_nothing_to_say),
        cmocka_unit_test(test_hosts_are_named_in_the_order_of_nodes_and_each_once),
        cmocka_unit_test(test_victims_told_twice_count_once),
        cmocka_unit_test(test_what_is_told_is_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

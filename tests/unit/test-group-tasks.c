/* The tasks of a group on a node, with pipes that the test holds in place of processes. */
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "launcher/agent/group_tasks.h"
#include "tests/unit/unit.h"

#define FIRST_RANK 4 /* of the program */
#define FIRST_PID 1000001

static void on_frame(void *owner, const struct frame *frame)
{
    (void)owner, (void)frame;
}

static void on_event(void *owner)
{
    (void)owner;
}

static const struct uplink_ops uplink_ops = {on_frame, on_event, on_event};

struct scene { /* two tasks, both of which read stdin */
    struct spec spec;
    struct launch_task what[2];
    uint32_t tree_node[1];
    struct launch launch;
    struct local_services services;
    struct local_tasks shared;
    struct group_tasks *tasks;
    int parent;                  /* the other end of the uplink */
    int to[2], out[2], error[2]; /* the tasks' ends of their pipes */
    int ntaken;                  /* how often a task was said to have taken some */
};

static void on_stdin_written(void *owner)
{
    ((struct scene *)owner)->ntaken++;
}

static void scene_open(struct scene *scene)
{
    int pair[2];
    *scene = (struct scene){.spec = {.input = SPEC_INPUT_ALL}};
    for (uint32_t i = 0; i < 2; i++)
        scene->what[i] = (struct launch_task){.rank = i, .local_rank = i};
    scene->launch = (struct launch){.first_rank = FIRST_RANK,
                                    .spec = &scene->spec,
                                    .ntasks = 2,
                                    .nnodes = 1,
                                    .tree_node = scene->tree_node,
                                    .tasks = scene->what,
                                    .nlocal = 2};
    struct local_services *services = &scene->services;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    scene->parent = pair[1];
    services->loop = ev_default_loop(0);
    services->uplink = uplink_new(services->loop, pair[0], pair[0], &uplink_ops, scene);
    services->outputs = task_outputs_new(services->loop, services->uplink);
    const struct task_termination_config termination = {.loop = services->loop,
                                                        .uplink = services->uplink};
    services->termination = task_termination_new(&termination, NULL, NULL);
    const struct group_pmix_job_config pmix = {.launch = &scene->launch};
    scene->shared = (struct local_tasks){.services = services,
                                         .launch = &scene->launch,
                                         .report = exit_report_new(services->uplink, 0),
                                         .pmix = pmix_job_new(&pmix)};
    scene->tasks = group_tasks_new(&scene->shared, on_stdin_written, scene);
}

static void scene_close(struct scene *scene)
{
    group_tasks_close(scene->tasks);
    pmix_job_free(scene->shared.pmix);
    group_tasks_free(scene->tasks);
    exit_report_free(scene->shared.report);
    task_termination_free(scene->services.termination);
    task_outputs_free(scene->services.outputs);
    uplink_free(scene->services.uplink);
    close(scene->parent);
}

static pid_t start(struct scene *scene, uint32_t number)
{
    int in[2], out[2], error[2];
    assert_int_equal(pipe(in) | pipe(out) | pipe(error), 0);
    scene->to[number] = in[0];
    scene->out[number] = out[1];
    scene->error[number] = error[1];
    const struct task_pipes pipes = {
        .in = in[1], .out = out[0], .err = error[0], .pmi = -1, .terminal = -1};
    group_tasks_started(scene->tasks, number, FIRST_PID + (pid_t)number, &pipes, NULL);
    return FIRST_PID + (pid_t)number;
}

/* All that the task had is closed, as the kernel does; its owner has not heard of it yet. */
static void exits(struct scene *scene, uint32_t number)
{
    close(scene->to[number]);
    close(scene->out[number]);
    close(scene->error[number]);
}

static void test_tasks_that_run_and_those_that_have_not_ended_are_counted(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    assert_int_equal(group_tasks_count(scene.tasks), 2);
    assert_int_equal(group_tasks_running(scene.tasks), 0);
    assert_int_equal(group_tasks_not_ended(scene.tasks), 2);
    pid_t pid = start(&scene, 0);
    assert_int_equal(group_tasks_running(scene.tasks), 1);
    exits(&scene, 0);
    assert_false(group_tasks_reaped(scene.tasks, pid + 1, 0));
    assert_true(group_tasks_reaped(scene.tasks, pid, 0));
    assert_int_equal(group_tasks_running(scene.tasks), 0);
    assert_int_equal(group_tasks_not_ended(scene.tasks), 1);
    assert_false(group_tasks_reaped(scene.tasks, pid, 0));
    scene_close(&scene);
}

static void test_processes_are_named_by_task_also_after_their_end(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    pid_t pid = start(&scene, 0);
    start(&scene, 1);
    exits(&scene, 0);
    exits(&scene, 1);
    group_tasks_reaped(scene.tasks, pid, 0);
    char *pids = group_tasks_pids(scene.tasks);
    assert_string_equal(pids, "1000001-1000002");
    struct task_info *states = group_tasks_states(scene.tasks);
    assert_int_equal(states[0].state, TASK_ENDED);
    assert_int_equal(states[0].pid, 0);
    assert_int_equal(states[1].state, TASK_RUNS);
    assert_int_equal(states[1].pid, pid + 1);
    free(states);
    free(pids);
    scene_close(&scene);
}

static void test_tasks_have_ended_when_the_last_was_reaped_and_its_output_is_read(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    pid_t pid = start(&scene, 0);
    start(&scene, 1);
    assert_int_equal(write(scene.out[1], "last words\n", 11), 11);
    exits(&scene, 0);
    exits(&scene, 1);
    group_tasks_reaped(scene.tasks, pid, 0);
    assert_false(group_tasks_have_ended(scene.tasks));
    group_tasks_reaped(scene.tasks, pid + 1, 0);
    assert_true(group_tasks_have_ended(scene.tasks));
    assert_true(group_tasks_are_settled(scene.tasks));
    assert_true(group_tasks_drain(scene.tasks));
    assert_false(group_tasks_output_is_open(scene.tasks));
    scene_close(&scene);
}

static void test_output_is_open_while_somebody_else_may_write_to_it(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    pid_t pid = start(&scene, 0);
    int kept = dup(scene.out[0]); /* by what the task left behind */
    exits(&scene, 0);
    group_tasks_reaped(scene.tasks, pid, 0);
    assert_true(group_tasks_have_ended(scene.tasks));
    assert_true(group_tasks_output_is_open(scene.tasks));
    close(kept);
    assert_true(group_tasks_drain(scene.tasks));
    assert_false(group_tasks_output_is_open(scene.tasks));
    scene_close(&scene);
}

static void test_tasks_that_are_given_up_count_as_ended(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    start(&scene, 0);
    start(&scene, 1);
    group_tasks_give_up(scene.tasks);
    assert_int_equal(group_tasks_running(scene.tasks), 0);
    assert_int_equal(group_tasks_not_ended(scene.tasks), 0);
    assert_true(group_tasks_have_ended(scene.tasks));
    exits(&scene, 0);
    exits(&scene, 1);
    scene_close(&scene);
}

/* "running; waiting", of these ranks of the program. */
static void assert_added(const struct scene *scene, const char *ranks, bool starting,
                         const char *expected)
{
    struct idset *chosen = ranks ? idset_decode(ranks, NULL) : NULL;
    struct inquiry_answer answer = {.waiting = idset_new()};
    struct buf text = BUF_INIT;
    group_tasks_add(scene->tasks, chosen, starting, &answer);
    for (size_t i = 0; i < answer.ntasks; i++)
        buf_printf(&text, "%s%u", i ? "," : "", answer.tasks[i].rank);
    char *waiting = idset_encode(answer.waiting);
    buf_printf(&text, "; %s", waiting);
    assert_string_equal(buf_text(&text), expected);
    free(waiting);
    buf_free(&text);
    inquiry_answer_clear(&answer);
    idset_free(chosen);
}

static void test_ranks_of_the_program_are_asked_for_that_run_or_wait_for_their_start(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene);
    start(&scene, 0);
    assert_added(&scene, NULL, true, "4; 5");
    assert_added(&scene, NULL, false, "4; ");
    assert_added(&scene, "5-9", true, "; 5");
    assert_added(&scene, "0-3", true, "; ");
    exits(&scene, 0);
    scene_close(&scene);
}

static void test_stdin_is_written_to_the_ranks_that_it_is_for(void **state)
{
    struct scene scene;
    struct idset *second = idset_decode("5", NULL);
    const struct frame frame = {.type = FRAME_STDIN, .bytes = "hello", .len = 5};
    char got[8];
    (void)state;
    scene_open(&scene);
    start(&scene, 0);
    start(&scene, 1);
    group_tasks_on_stdin(scene.tasks, &frame, second);
    group_tasks_close(scene.tasks); /* ends both pipes */
    assert_int_equal(read(scene.to[0], got, sizeof(got)), 0);
    assert_int_equal(read(scene.to[1], got, sizeof(got)), 5);
    assert_memory_equal(got, "hello", 5);
    exits(&scene, 0);
    exits(&scene, 1);
    idset_free(second);
    scene_close(&scene);
}

static void test_a_task_for_which_much_waits_lags_until_it_ends(void **state)
{
    struct scene scene;
    size_t much = 1 << 20; /* more than a pipe takes and a task may lag behind */
    char *bytes = calloc(much, 1);
    struct idset *first = idset_decode("4", NULL), *reading = idset_new(), *lagging = idset_new();
    const struct frame frame = {.type = FRAME_STDIN, .bytes = bytes, .len = much};
    (void)state;
    scene_open(&scene);
    pid_t pid = start(&scene, 0);
    start(&scene, 1);
    group_tasks_on_stdin(scene.tasks, &frame, first);
    group_tasks_add_reading(scene.tasks, NULL, reading, lagging);
    char *still = idset_encode(reading), *late = idset_encode(lagging);
    assert_string_equal(still, "4-5");
    assert_string_equal(late, "4");
    assert_true(group_tasks_lag(scene.tasks, NULL));
    int ntaken = scene.ntaken;
    group_tasks_reaped(scene.tasks, pid, 0);
    assert_int_equal(scene.ntaken, ntaken + 1);
    exits(&scene, 0);
    exits(&scene, 1);
    free(still);
    free(late);
    free(bytes);
    idset_free(first);
    idset_free(reading);
    idset_free(lagging);
    scene_close(&scene);
}

static void test_a_launch_that_is_malformed_has_no_tasks(void **state)
{
    struct local_tasks shared = {0};
    (void)state;
    struct group_tasks *tasks = group_tasks_new(&shared, on_stdin_written, NULL);
    assert_int_equal(group_tasks_count(tasks), 0);
    assert_null(group_tasks_pids(tasks));
    group_tasks_close(tasks);
    group_tasks_free(tasks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tasks_that_run_and_those_that_have_not_ended_are_counted),
        cmocka_unit_test(test_processes_are_named_by_task_also_after_their_end),
        cmocka_unit_test(test_tasks_have_ended_when_the_last_was_reaped_and_its_output_is_read),
        cmocka_unit_test(test_output_is_open_while_somebody_else_may_write_to_it),
        cmocka_unit_test(test_tasks_that_are_given_up_count_as_ended),
        cmocka_unit_test(test_ranks_of_the_program_are_asked_for_that_run_or_wait_for_their_start),
        cmocka_unit_test(test_stdin_is_written_to_the_ranks_that_it_is_for),
        cmocka_unit_test(test_a_task_for_which_much_waits_lags_until_it_ends),
        cmocka_unit_test(test_a_launch_that_is_malformed_has_no_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

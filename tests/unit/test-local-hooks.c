#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/mem.h"
#include "launcher/agent/local_hooks.h"
#include "launcher/protocol/hook_message.h"
#include "tests/unit/false-downlink.h"
#include "tests/unit/scratch-root.h"
#include "tests/unit/unit.h"

enum { HERE = 2 }; /* the number of this node */

/* ---- files that are staged, in place of launcher/agent/local_stage.c ---- */

struct local_stage {
    struct stage_place place;
    bool has[STAGE_NKINDS]; /* root/prolog, root/epilog */
};

const struct stage_place *local_stage_place(const struct local_stage *stage)
{
    return &stage->place;
}

char *local_stage_hook(const struct local_stage *stage, enum stage_kind kind)
{
    return stage->has[kind] ? mem_format("%s/%s", root, stage_kind_word(kind)) : NULL;
}

/* ---- ---- */

static struct parent parent;
static struct downlink below;
static struct local_stage stage;
static struct scratch *scratch;
static struct local_hooks *hooks;

static void open_hooks(bool is_instance)
{
    const struct local_hooks_config config = {.loop = EV_DEFAULT,
                                              .uplink = parent.uplink,
                                              .downlink = &below,
                                              .stage = &stage,
                                              .scratch = scratch,
                                              .is_instance = is_instance};
    hooks = local_hooks_new(&config);
}

static int open_all(void **state)
{
    (void)state;
    parent_open(&parent, HERE);
    stage = (struct local_stage){0};
    scratch = scratch_directory_new(NULL);
    scratch_directory_name(scratch, NULL);
    assert_int_equal(scratch_directory_make(scratch), 0);
    open_hooks(false);
    unlink("log");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    local_hooks_free(hooks);
    scratch_directory_begin_epilog(scratch); /* else the directory stays for it */
    scratch_directory_remove(scratch);
    parent_close(&parent);
    while (waitpid(-1, NULL, 0) > 0)
        continue;
    return 0;
}

/* It writes into the file log what it is called for. */
static void stage_hook(enum stage_kind kind, const char *script)
{
    const char *name = stage_kind_word(kind);
    char *text = mem_format("#!/bin/sh\necho \"$TPRUN_HOOK $OWN\" >>log\n%s\n", script);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
    close(fd);
    stage.has[kind] = true;
    free(text);
}

static void assert_logged(const char *want)
{
    struct buf text = BUF_INIT;
    file_read("log", &text);
    assert_string_equal(buf_text(&text), want);
    buf_free(&text);
}

static void order(enum stage_kind kind)
{
    char path[] = "PATH=/usr/bin:/bin", own[] = "OWN=x", *environment[] = {path, own, NULL};
    const struct hook_order what = {kind, 30, root, environment};
    json_t *value = hook_order_to_json(&what);
    char *text = json_dumps(value, JSON_COMPACT);
    const struct frame frame = {.type = FRAME_HOOK,
                                .flags = kind == STAGE_EPILOG ? FRAME_HOOK_EPILOG : 0,
                                .bytes = text,
                                .len = strlen(text)};
    local_hooks_take(hooks, &frame);
    json_decref(value);
    free(text);
}

/* Wait for the hook that runs. */
static void reap(void)
{
    pid_t pid = waitpid(-1, NULL, 0);
    assert_true(pid > 0);
    assert_true(local_hooks_reaped(hooks, pid));
}

/* The parent is told of a hook: fault NULL: it went well; "none": there is none. */
static void assert_report(enum stage_kind kind, const char *fault, const char *output)
{
    struct hook_report report;
    struct frame frame;
    json_t *value;
    assert_true(parent_hear(&parent, FRAME_HOOK_ENDED, &frame, &value));
    assert_int_equal(hook_report_from_json(&report, value, NULL), 0);
    assert_int_equal(frame.node, HERE);
    assert_int_equal(report.kind, kind);
    const char *is = !report.ran ? "none" : report.fault;
    if (!is != !fault || (is && !strstr(is, fault)))
        fail_msg("fault \"%s\", expected \"%s\"", is ? is : "", fault ? fault : "");
    if (output)
        assert_string_equal(report.output ? report.output : "", output);
    hook_report_clear(&report);
    json_decref(value);
}

static void assert_no_report(void)
{
    struct frame frame;
    json_t *value;
    assert_false(parent_hear(&parent, FRAME_HOOK_ENDED, &frame, &value));
}

/* ---- as the manager says ---- */

static void test_each_is_run_once_and_told_of(void **state)
{
    (void)state;
    stage_hook(STAGE_PROLOG, "echo $PWD $TPRUN_STAGE_DIR");
    stage_hook(STAGE_EPILOG, "echo over; exit 3");
    stage.place.directory = mem_copy_text("/staged");
    order(STAGE_PROLOG);
    assert_no_report();
    assert_false(local_hooks_reaped(hooks, 1));
    reap();
    char *output = mem_format("%s /staged\n", root);
    assert_report(STAGE_PROLOG, NULL, output);
    free(output);
    assert_int_equal(scratch_directory_epilog(scratch), EPILOG_OWED);
    order(STAGE_EPILOG);
    order(STAGE_EPILOG);
    reap();
    assert_report(STAGE_EPILOG, "it ended with exit status 3", "over\n");
    order(STAGE_EPILOG);
    order(STAGE_PROLOG); /* too late */
    assert_no_report();
    assert_true(local_hooks_end(hooks));
    assert_logged("prolog x\nepilog x\n");
    stage_place_clear(&stage.place);
}

static void test_one_that_is_not_there_is_told_of_and_the_epilog_is_owed_all_the_same(void **state)
{
    (void)state;
    stage_hook(STAGE_EPILOG, "");
    order(STAGE_PROLOG);
    assert_report(STAGE_PROLOG, "none", NULL);
    assert_int_equal(scratch_directory_epilog(scratch), EPILOG_OWED);
    order(STAGE_EPILOG);
    reap();
    assert_report(STAGE_EPILOG, NULL, "");
}

static void test_without_a_prolog_before_it_no_epilog_is_run(void **state)
{
    (void)state;
    stage_hook(STAGE_EPILOG, "");
    order(STAGE_EPILOG);
    assert_report(STAGE_EPILOG, "none", NULL);
    assert_true(local_hooks_end(hooks));
    assert_int_equal(access("log", F_OK), -1);
}

static void test_a_prolog_that_cannot_be_run_has_failed(void **state)
{
    (void)state;
    stage.has[STAGE_PROLOG] = true;
    unlink("prolog");
    order(STAGE_PROLOG);
    reap();
    assert_report(STAGE_PROLOG, "No such file or directory", NULL);
}

static void test_an_order_that_is_not_understood_is_answered(void **state)
{
    struct frame frame = {.type = FRAME_HOOK, .bytes = "{}", .len = 2};
    (void)state;
    local_hooks_take(hooks, &frame);
    assert_report(STAGE_PROLOG, "hook", NULL);
    frame.flags = FRAME_HOOK_EPILOG;
    local_hooks_take(hooks, &frame);
    assert_report(STAGE_EPILOG, "hook", NULL);
}

static void test_an_epilog_does_not_wait_for_the_prolog_to_end_by_itself(void **state)
{
    (void)state;
    stage_hook(STAGE_PROLOG, "sleep 3; echo late >>log");
    stage_hook(STAGE_EPILOG, "");
    order(STAGE_PROLOG);
    while (access("log", F_OK) < 0)
        usleep(1000);
    order(STAGE_EPILOG);
    assert_false(local_hooks_end(hooks));
    reap();
    assert_report(STAGE_PROLOG, "it was broken off", NULL);
    assert_no_report();
    reap();
    assert_report(STAGE_EPILOG, NULL, "");
    assert_logged("prolog x\nepilog x\n");
}

/* ---- without it ---- */

static void test_where_the_parent_is_gone_the_end_is_after_the_epilog(void **state)
{
    (void)state;
    stage_hook(STAGE_EPILOG, "");
    order(STAGE_PROLOG);
    uplink_lose(parent.uplink);
    assert_false(local_hooks_end(hooks));
    assert_false(local_hooks_end(hooks));
    reap();
    assert_true(local_hooks_end(hooks));
    assert_logged("epilog x\n");
}

static void test_where_the_agent_was_killed_another_process_runs_what_is_owed_once(void **state)
{
    (void)state;
    stage_hook(STAGE_EPILOG, "");
    assert_true(hooks_grace(scratch, 2) == 2);
    local_hooks_run_owed(scratch);
    assert_int_equal(access("log", F_OK), -1);
    order(STAGE_PROLOG);
    assert_true(hooks_grace(scratch, 2) == 32);
    local_hooks_run_owed(scratch);
    local_hooks_run_owed(scratch);
    assert_logged("epilog x\n");
    assert_true(local_hooks_end(hooks));
}

static void test_it_is_said_where_no_other_process_could(void **state)
{
    struct frame frame;
    json_t *value;
    (void)state;
    stage_hook(STAGE_EPILOG, "");
    assert_int_equal(directory_remove(AT_FDCWD, scratch_directory_chosen(scratch)), 0);
    order(STAGE_PROLOG);
    assert_true(parent_hear(&parent, FRAME_NOTE, &frame, &value));
    assert_true(
        memmem(frame.bytes, frame.len, "/epilog.json: No such file or directory; should ", 48));
    order(STAGE_EPILOG); /* by this one it is run */
    reap();
    assert_logged("epilog x\n");
}

/* ---- of an instance ---- */

static void test_an_epilog_of_an_instance_waits_for_its_programs(void **state)
{
    (void)state;
    local_hooks_free(hooks);
    open_hooks(true);
    stage_hook(STAGE_EPILOG, "");
    order(STAGE_PROLOG);
    assert_report(STAGE_PROLOG, "none", NULL);
    pid_t program = fork();
    if (program == 0) {
        pause();
        _exit(0);
    }
    order(STAGE_EPILOG);
    ev_run(EV_DEFAULT, EVRUN_ONCE); /* one more look */
    assert_int_equal(scratch_directory_epilog(scratch), EPILOG_OWED);
    assert_false(local_hooks_end(hooks));
    kill(program, SIGKILL);
    assert_int_equal(waitpid(program, NULL, 0), program);
    for (int i = 0; i < 100 && scratch_directory_epilog(scratch) == EPILOG_OWED; i++)
        ev_run(EV_DEFAULT, EVRUN_ONCE);
    assert_int_equal(scratch_directory_epilog(scratch), EPILOG_BEGUN);
    reap();
    assert_report(STAGE_EPILOG, NULL, "");
}

#define WITH_HOOKS(test) cmocka_unit_test_setup_teardown(test, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_HOOKS(test_each_is_run_once_and_told_of),
        WITH_HOOKS(test_one_that_is_not_there_is_told_of_and_the_epilog_is_owed_all_the_same),
        WITH_HOOKS(test_without_a_prolog_before_it_no_epilog_is_run),
        WITH_HOOKS(test_a_prolog_that_cannot_be_run_has_failed),
        WITH_HOOKS(test_an_order_that_is_not_understood_is_answered),
        WITH_HOOKS(test_an_epilog_does_not_wait_for_the_prolog_to_end_by_itself),
        WITH_HOOKS(test_where_the_parent_is_gone_the_end_is_after_the_epilog),
        WITH_HOOKS(test_where_the_agent_was_killed_another_process_runs_what_is_owed_once),
        WITH_HOOKS(test_it_is_said_where_no_other_process_could),
        WITH_HOOKS(test_an_epilog_of_an_instance_waits_for_its_programs),
    };
    return cmocka_run_group_tests(tests, root_make_temporary, root_remove);
}

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "launcher/agent/local_stage.h"
#include "tests/unit/false-downlink.h"
#include "tests/unit/scratch-root.h"
#include "tests/unit/unit.h"

enum { HERE = 2 }; /* the number of this node */

#define SUM_OF_ABC "44bc2cf5ad770999" /* xxhsum -H1 */
#define SUM_OF_NOTHING "ef46db3751d8e999"

static struct parent parent;
static struct downlink below;
static struct scratch *scratch;
static struct local_stage *stage;
static uint32_t number; /* of the last staging */

static struct local_stage *new_stage(struct scratch *mine, struct scratch *instance,
                                     bool is_instance)
{
    const struct local_stage_config config = {.uplink = parent.uplink,
                                              .downlink = &below,
                                              .scratch = mine,
                                              .instance = instance,
                                              .is_instance = is_instance};
    return local_stage_new(&config);
}

static int open_stage(void **state)
{
    (void)state;
    parent_open(&parent, HERE);
    below = (struct downlink){0};
    scratch = scratch_directory_new(NULL);
    stage = new_stage(scratch, NULL, false);
    return 0;
}

static int close_stage(void **state)
{
    (void)state;
    local_stage_free(stage);
    scratch_directory_remove(scratch);
    parent_close(&parent);
    buf_free(&below.log);
    return 0;
}

static void take(struct local_stage *at, enum frame_type type, const char *bytes, size_t len)
{
    const struct frame frame = {.type = type, .rank = number, .bytes = bytes, .len = len};
    local_stage_take(at, &frame);
}

/* An order for these nodes: files of three bytes. */
static void order(struct local_stage *at, const char *nodes, const char *const *names)
{
    struct stage_list list = {0};
    struct idset *set = idset_decode(nodes, NULL);
    for (; *names; names++) {
        char *name = (char *)(uintptr_t)*names;
        stage_list_add(&list, &(struct staged_file){
                                  .kind = strcmp(name, "prolog") == 0 ? STAGE_PROLOG : STAGE_FILE,
                                  .name = name,
                                  .path = name,
                                  .mode = 0755,
                                  .size = strcmp(name, "none") == 0 ? 0 : 3});
    }
    json_t *value = stage_order_to_json(&list, set);
    char *text = json_dumps(value, JSON_COMPACT);
    number++;
    take(at, FRAME_STAGE, text, strlen(text));
    free(text);
    json_decref(value);
    stage_list_clear(&list);
    idset_free(set);
}

static void end(struct local_stage *at, const char *text)
{
    take(at, FRAME_STAGE_END, text, strlen(text));
}

/* The bytes of one file, and its sum. */
static void all_come(struct local_stage *at)
{
    take(at, FRAME_STAGE_DATA, "abc", 3);
    end(at, "{\"sums\":[\"" SUM_OF_ABC "\"]}");
}

/* The parent hears this answer, "ready", "done", or what has failed; NULL: none. */
static void assert_answer(const char *want)
{
    struct frame frame;
    json_t *value;
    if (!parent_hear(&parent, FRAME_STAGED, &frame, &value)) {
        assert_null(want);
        return;
    }
    const char *failed = json_string_value(json_object_get(value, "failed"));
    const char *is = failed                                          ? failed
                     : json_is_true(json_object_get(value, "ready")) ? "ready"
                                                                     : "done";
    if (!want || !strstr(is, want))
        fail_msg("answer \"%s\", expected \"%s\"", is, want ? want : "none");
    assert_int_equal(frame.node, HERE);
    assert_int_equal(frame.rank, number);
    json_decref(value);
}

/* For this node alone, which is ready for these files. */
static void order_here(struct local_stage *at, const char *const *names)
{
    order(at, "2", names);
    assert_answer("ready");
}

static bool is_there(const char *name)
{
    const char *above = scratch_directory_chosen(scratch);
    char *path = mem_format("%s/%s", above ? above : "/nowhere", name);
    bool is = access(path, F_OK) == 0;
    free(path);
    return is;
}

/* ---- one staging ---- */

static void test_files_are_found_once_they_are_whole_and_checked(void **state)
{
    struct stat info;
    (void)state;
    order(stage, "0-3", (const char *const[]){"app", "none", "prolog", NULL});
    assert_answer("ready");
    take(stage, FRAME_STAGE_DATA, "ab", 2);
    take(stage, FRAME_STAGE_DATA, "cabc", 4);
    assert_null(local_stage_place(stage)->directory);
    assert_answer(NULL);
    end(stage, "{\"sums\":[\"" SUM_OF_ABC "\",\"" SUM_OF_NOTHING "\",\"" SUM_OF_ABC "\"]}");
    assert_answer("done");
    assert_sent_down(&below, "STAGE@0-3 DATA@0-3 DATA@0-3 END@0-3");
    char *path = stage_place_find(local_stage_place(stage), "app", "/");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0755);
    assert_int_equal(info.st_size, 3);
    free(path);
    path = local_stage_hook(stage, STAGE_PROLOG);
    assert_int_equal(stat(path, &info), 0);
    free(path);
    assert_null(local_stage_hook(stage, STAGE_EPILOG));
}

static void test_files_for_other_nodes_are_only_passed_on(void **state)
{
    (void)state;
    order(stage, "3", (const char *const[]){"app", NULL});
    all_come(stage);
    assert_sent_down(&below, "STAGE@3 DATA@3 END@3");
    assert_answer(NULL);
    assert_null(scratch_directory_chosen(scratch));
}

/* ---- what fails ---- */

static void test_what_fails_is_told_once_and_leaves_nothing(void **state)
{
    static const struct {
        const char *bytes, *end, *says;
    } cases[] = {
        {"abd", "{\"sums\":[\"" SUM_OF_ABC "\",\"" SUM_OF_NOTHING "\"]}",
         "app: what came here is not what was sent"},
        {"ab", "{\"sums\":[\"" SUM_OF_ABC "\",\"" SUM_OF_NOTHING "\"]}",
         "app: what came here is not what was sent"},
        {"abcd", "{\"sums\":[\"" SUM_OF_ABC "\",\"" SUM_OF_NOTHING "\"]}", "than were announced"},
        {"a", "{\"failed\":\"app: cannot stage it\"}", "app: cannot stage it"},
        {"abc", "{\"sums\":[\"" SUM_OF_ABC "\"]}", "sums: must be an array of 2"},
        {"abc", "sums", "expected"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        order_here(stage, (const char *const[]){"app", "none", NULL});
        assert_true(is_there("stage/app"));
        take(stage, FRAME_STAGE_DATA, cases[i].bytes, strlen(cases[i].bytes));
        end(stage, cases[i].end);
        assert_answer(cases[i].says);
        assert_answer(NULL);
        assert_false(is_there("stage/app"));
        assert_false(is_there("stage/none"));
        assert_null(local_stage_place(stage)->directory);
    }
    assert_null(local_stage_hook(stage, STAGE_FILE));
}

static void test_an_order_that_is_not_understood_is_answered(void **state)
{
    (void)state;
    number++;
    take(stage, FRAME_STAGE, "{\"files\":7}", 11);
    assert_answer("files: must be an array");
    take(stage, FRAME_STAGE_DATA, "abc", 3);
    end(stage, "{}");
    assert_answer(NULL);
    assert_sent_down(&below, "");
}

static void test_where_no_directory_can_be_made_that_is_the_answer(void **state)
{
    (void)state;
    setenv("TMPDIR", "/nowhere/at/all", 1);
    order(stage, "2-3", (const char *const[]){"app", NULL});
    setenv("TMPDIR", root, 1);
    assert_answer("cannot make a directory in /nowhere/at/all: No such file or directory");
    take(stage, FRAME_STAGE_DATA, "abc", 3);
    assert_answer(NULL);
    assert_sent_down(&below, "STAGE@2-3 DATA@2-3"); /* for the others */
}

static void test_a_new_order_takes_the_place_of_one_that_was_given_up(void **state)
{
    (void)state;
    order_here(stage, (const char *const[]){"first", NULL});
    take(stage, FRAME_STAGE_DATA, "a", 1);
    order_here(stage, (const char *const[]){"second", NULL});
    assert_false(is_there("stage/first"));
    all_come(stage);
    assert_answer("done");
    assert_true(is_there("stage/second"));
}

/* ---- credit ---- */

static void test_the_parent_may_send_more_once_all_below_have_room(void **state)
{
    static char bytes[65536];
    struct frame frame;
    json_t *value;
    (void)state;
    order(stage, "3", (const char *const[]){"app", NULL});
    below.full = true;
    for (int i = 0; i < 64; i++)
        take(stage, FRAME_STAGE_DATA, bytes, sizeof(bytes));
    assert_false(parent_hear(&parent, FRAME_CREDIT, &frame, &value));
    local_stage_settle(stage);
    assert_false(parent_hear(&parent, FRAME_CREDIT, &frame, &value));
    below.full = false;
    local_stage_settle(stage);
    assert_true(parent_hear(&parent, FRAME_CREDIT, &frame, &value));
    assert_true(frame.rank >= 64 * sizeof(bytes));
    buf_free(&below.log);
}

/* ---- an instance, and a program in it ---- */

static struct scratch *mine; /* the program's; `scratch` is the instance's */
static struct local_stage *instance, *program;

static int open_instance(void **state)
{
    open_stage(state);
    mine = scratch_directory_new(NULL);
    instance = new_stage(scratch, NULL, true);
    return 0;
}

static int close_instance(void **state)
{
    local_stage_free(program);
    local_stage_free(instance);
    program = NULL;
    scratch_directory_remove(mine);
    return close_stage(state);
}

/* Once the instance has its files. */
static void begin_program(void)
{
    program = new_stage(mine, scratch, false);
}

static void test_a_program_finds_the_files_of_its_instance_beside_its_own(void **state)
{
    (void)state;
    order(instance, "2", (const char *const[]){"both", "theirs", "prolog", NULL});
    take(instance, FRAME_STAGE_DATA, "abcabcabc", 9);
    end(instance, "{\"sums\":[\"" SUM_OF_ABC "\",\"" SUM_OF_ABC "\",\"" SUM_OF_ABC "\"]}");
    assert_answer("ready");
    assert_answer("done");
    begin_program();
    assert_string_equal(local_stage_place(program)->directory,
                        local_stage_place(instance)->directory);
    assert_null(local_stage_hook(program, STAGE_PROLOG)); /* that is the instance's own */
    order_here(program, (const char *const[]){"both", "none", NULL});
    take(program, FRAME_STAGE_DATA, "abc", 3);
    end(program, "{\"sums\":[\"" SUM_OF_ABC "\",\"" SUM_OF_NOTHING "\"]}");
    assert_answer("done");
    const char *directory = local_stage_place(program)->directory;
    assert_string_not_equal(directory, local_stage_place(instance)->directory);
    static const char *const names[] = {"both", "none", "theirs"};
    for (size_t i = 0; i < 3; i++) {
        char *path = stage_place_find(local_stage_place(program), names[i], "/");
        assert_non_null(path);
        assert_int_equal(strncmp(path, directory, strlen(directory)), 0);
        assert_int_equal(access(path, F_OK), 0);
        free(path);
    }
}

/* A disk that has become full meanwhile; a directory in their place does as well. */
static void test_what_programs_would_not_find_is_not_staged(void **state)
{
    (void)state;
    order_here(instance, (const char *const[]){"app", NULL});
    char *in_the_way = mem_format("%s/staged.json", scratch_directory_chosen(scratch));
    mkdir(in_the_way, 0700);
    all_come(instance);
    assert_answer("staged.json, by which programs of the instance find files: Is a directory");
    assert_null(local_stage_place(instance)->directory);
    assert_false(is_there("stage/app"));
    rmdir(in_the_way);
    free(in_the_way);
    order_here(instance, (const char *const[]){"app", NULL});
    all_come(instance);
    assert_answer("done");
    begin_program();
    order_here(program, (const char *const[]){"own", NULL});
    in_the_way = mem_format("%s/stage/app", scratch_directory_chosen(mine));
    mkdir(in_the_way, 0700);
    all_come(program);
    assert_answer("stage/app, a file of the instance, to ");
    assert_string_equal(local_stage_place(program)->directory,
                        local_stage_place(instance)->directory);
    rmdir(in_the_way);
    free(in_the_way);
}

/* The manager may not have heard that they are here. */
static void test_what_is_staged_again_has_the_files_of_the_instance_beside_it_still(void **state)
{
    (void)state;
    order(instance, "2", (const char *const[]){"app", NULL});
    all_come(instance);
    begin_program();
    for (int i = 0; i < 2; i++) {
        order(program, "2", (const char *const[]){"own", NULL});
        all_come(program);
        char *path = stage_place_find(local_stage_place(program), "app", "/");
        assert_non_null(path);
        assert_int_equal(access(path, F_OK), 0);
        free(path);
    }
}

#define WITH_STAGE(test) cmocka_unit_test_setup_teardown(test, open_stage, close_stage)
#define WITH_INSTANCE(test) cmocka_unit_test_setup_teardown(test, open_instance, close_instance)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STAGE(test_files_are_found_once_they_are_whole_and_checked),
        WITH_STAGE(test_files_for_other_nodes_are_only_passed_on),
        WITH_STAGE(test_what_fails_is_told_once_and_leaves_nothing),
        WITH_STAGE(test_an_order_that_is_not_understood_is_answered),
        WITH_STAGE(test_where_no_directory_can_be_made_that_is_the_answer),
        WITH_STAGE(test_a_new_order_takes_the_place_of_one_that_was_given_up),
        WITH_STAGE(test_the_parent_may_send_more_once_all_below_have_room),
        WITH_INSTANCE(test_a_program_finds_the_files_of_its_instance_beside_its_own),
        WITH_INSTANCE(test_what_programs_would_not_find_is_not_staged),
        WITH_INSTANCE(test_what_is_staged_again_has_the_files_of_the_instance_beside_it_still),
    };
    return cmocka_run_group_tests(tests, root_make_temporary, root_remove);
}

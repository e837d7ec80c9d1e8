#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/mem.h"
#include "launcher/agent/stage_writer.h"
#include "launcher/protocol/hook_message.h"
#include "launcher/protocol/stage_list.h"
#include "launcher/protocol/stage_source.h"
#include "launcher/spec/spec_build.h"
#include "tests/unit/unit.h"

static char *directory;

static int open_directory(void **state)
{
    char name[] = "/tmp/test-stage.XXXXXX";
    (void)state;
    directory = mem_copy_text(mkdtemp(name));
    return 0;
}

static int close_directory(void **state)
{
    (void)state;
    directory_remove(AT_FDCWD, directory);
    free(directory);
    return 0;
}

static json_t *parse(const char *text)
{
    json_t *value = json_loads(text, 0, NULL);
    if (!value)
        fail_msg("no JSON: %s", text);
    return value;
}

static char *write_file(const char *name, const void *bytes, size_t len, mode_t mode)
{
    char *path = mem_format("%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, bytes, len), len);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
    return path;
}

static void list_add(struct stage_list *list, enum stage_kind kind, const char *name,
                     const char *path, unsigned mode, uint64_t size)
{
    stage_list_add(list, &(struct staged_file){kind, (char *)(uintptr_t)name,
                                               (char *)(uintptr_t)path, mode, size});
}

/* ---- lists ---- */

static void test_a_list_is_read_as_it_was_written(void **state)
{
    struct stage_list list = {0}, again = {0};
    struct idset *nodes = idset_decode("0,2-3", NULL), *read;
    (void)state;
    list_add(&list, STAGE_FILE, "app", "/a/app", 0755, 17);
    list_add(&list, STAGE_FILE, "\xff", "/a/\xff", 0600, 0);
    list_add(&list, STAGE_EPILOG, "epilog", "/e", 0700, 3);
    json_t *value = stage_order_to_json(&list, nodes);
    assert_int_equal(stage_order_from_json(&again, &read, value, NULL), 0);
    assert_int_equal(again.count, 3);
    assert_int_equal(again.size, 20);
    assert_string_equal(again.files[1].name, "\xff");
    assert_string_equal(again.files[0].path, "/a/app");
    assert_int_equal(again.files[0].mode, 0755);
    assert_int_equal(again.files[2].kind, STAGE_EPILOG);
    assert_int_equal(idset_count(read), 3);
    json_decref(value);
    stage_list_clear(&list);
    stage_list_clear(&again);
    idset_free(nodes);
    idset_free(read);
}

static void test_lists_that_cannot_be_are_refused(void **state)
{
#define FILE_OF(name, mode, size)                                                                  \
    "{\"kind\": \"file\", \"name\": " name ", \"path\": \"/x\", \"mode\": " mode                   \
    ", \"size\": " size "}"
    static const struct {
        const char *files, *says;
    } cases[] = {
        {"7", "files: must be an array"},
        {"[7]", "files: 0: kind: must be file, prolog or epilog"},
        {"[{\"kind\": \"folder\"}]", "files: 0: kind: must be"},
        {"[" FILE_OF("\"\"", "0", "0") "]", "is not the name of a file"},
        {"[" FILE_OF("\".\"", "0", "0") "]", "is not the name of a file"},
        {"[" FILE_OF("\"..\"", "0", "0") "]", "is not the name of a file"},
        {"[" FILE_OF("\"a/b\"", "0", "0") "]", "is not the name of a file"},
        {"[" FILE_OF("\"../b\"", "0", "0") "]", "is not the name of a file"},
        {"[" FILE_OF("7", "0", "0") "]", "must be a string"},
        {"[" FILE_OF("\"a\"", "2048", "0") "]", "mode: must be"},
        {"[" FILE_OF("\"a\"", "-1", "0") "]", "mode: must be"},
        {"[" FILE_OF("\"a\"", "\"0\"", "0") "]", "mode: must be"},
        {"[" FILE_OF("\"a\"", "0", "-1") "]", "size: must be"},
        {"[" FILE_OF("\"a\"", "0", "0.5") "]", "size: must be"},
        {"[" FILE_OF("\"a\"", "0", "4611686018427387904") ", " FILE_OF("\"b\"", "0", "1") "]",
         "files: 1: size: must be"},
        {"[" FILE_OF("\"a\"", "0", "1") ", " FILE_OF("\"a\"", "0", "1") "]",
         "files: 1: name: \"a\" stands there twice"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct stage_list list = {0};
        char *text = mem_format("{\"files\": %s}", cases[i].files);
        json_t *value = parse(text);
        free(text);
        assert_int_equal(stage_list_from_json(&list, json_object_get(value, "files"), &err), -1);
        if (!strstr(error_text(&err), cases[i].says))
            fail_msg("%s: \"%s\", expected \"%s\"", cases[i].files, error_text(&err),
                     cases[i].says);
        stage_list_clear(&list);
        json_decref(value);
        error_clear(&err);
    }
}

static void test_sums_are_as_many_as_files(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{}", "sums: must be an array of 2"},
        {"{\"sums\": [\"0123456789abcdef\"]}", "sums: must be an array of 2"},
        {"{\"sums\": [\"0123456789abcdef\", \"0123456789abcde\"]}", "sums: 1: must be 16"},
        {"{\"sums\": [\"0123456789abcdef\", \"0123456789abcdeg\"]}", "sums: 1: must be 16"},
        {"{\"sums\": [\"0123456789abcdef\", 7]}", "sums: 1: must be 16"},
        {"{\"failed\": \"a: it has become shorter\"}", "a: it has become shorter"},
    };
    uint64_t sums[] = {1, UINT64_MAX}, read[2];
    (void)state;
    json_t *value = stage_sums_to_json(sums, 2);
    assert_int_equal(stage_sums_from_json(read, 2, value, NULL), 0);
    assert_int_equal(read[0], 1);
    assert_true(read[1] == UINT64_MAX);
    json_decref(value);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        value = parse(cases[i].text);
        assert_int_equal(stage_sums_from_json(read, 2, value, &err), -1);
        assert_non_null(strstr(error_text(&err), cases[i].says));
        json_decref(value);
        error_clear(&err);
    }
}

static void test_a_path_is_one_text(void **state)
{
    static const struct {
        const char *path, *directory, *whole;
    } cases[] = {
        {"app", "/home/a", "/home/a/app"},
        {"./app", "/home/a", "/home/a/app"},
        {"./b//./app", "/", "/b/app"},
        {"/x/./app", "/home/a", "/x/app"},
        {"../app", "/home/a", "/home/a/../app"},
        {".", "/", "/"},
        {"/", "/a", "/"},
        {"app/", "/a", "/a/app"},
        {".app", "/a", "/a/.app"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *whole = stage_path(cases[i].path, cases[i].directory);
        assert_string_equal(whole, cases[i].whole);
        free(whole);
    }
}

static void test_a_program_is_found_by_its_name_and_by_its_path(void **state)
{
    static const struct {
        const char *program, *found;
    } cases[] = {
        {"app", "/stage/app"},
        {"./solver", "/stage/app"},
        {"/a/b/solver", "/stage/app"},
        {"./b/solver", NULL},
        {"solver", NULL},
        {"/stage/app", NULL},
        {"prolog", NULL},
        {"./app", NULL},
        {"", NULL},
    };
    struct stage_place place = {.directory = mem_copy_text("/stage")};
    (void)state;
    list_add(&place.list, STAGE_PROLOG, "prolog", "/p", 0755, 1);
    list_add(&place.list, STAGE_FILE, "app", "/a/b/solver", 0755, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *found = stage_place_find(&place, cases[i].program, "/a/b");
        if (!found != !cases[i].found || (found && strcmp(found, cases[i].found) != 0))
            fail_msg("%s: %s", cases[i].program, found ? found : "not found");
        free(found);
    }
    stage_place_clear(&place);
    assert_null(stage_place_find(&place, "app", "/a/b"));
}

/* ---- from files to files ---- */

static struct spec *spec_of(const char *const *stage)
{
    struct spec *spec = spec_new();
    for (; *stage; stage++)
        spec_add_stage(spec, *stage);
    return spec;
}

static void test_what_is_no_file_is_refused(void **state)
{
    const struct {
        const char *file, *says;
    } cases[] = {
        {"/nowhere/at/all", "--stage /nowhere/at/all: cannot read it: No such file"},
        {"/", "--stage /: is a directory, and only files are staged"},
        {"/dev/null", "--stage /dev/null: is not a regular file"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct spec *spec = spec_of((const char *const[]){cases[i].file, NULL});
        assert_null(stage_source_open(spec, &err));
        if (!strstr(error_text(&err), cases[i].says))
            fail_msg("%s", error_text(&err));
        error_clear(&err);
        spec_free(spec);
    }
}

static void test_a_file_of_a_directory_that_is_gone_is_no_other_file(void **state)
{
    struct error err = ERROR_INIT;
    struct spec *spec = spec_of((const char *const[]){"bin/sh", NULL});
    char *gone = mem_format("%s/gone", directory), *before = realpath(".", NULL);
    (void)state;
    assert_int_equal(mkdir(gone, 0700) + chdir(gone) + rmdir(gone), 0);
    assert_null(stage_source_open(spec, &err));
    assert_string_equal(error_text(&err), "--stage bin/sh: cannot tell in which directory that is: "
                                          "No such file or directory");
    assert_int_equal(chdir(before), 0);
    error_clear(&err);
    spec_free(spec);
    free(before);
    free(gone);
}

static void test_a_hook_has_to_be_executable(void **state)
{
    struct error err = ERROR_INIT;
    struct spec *spec = spec_new();
    (void)state;
    spec->prolog = write_file("not-executable", "true\n", 5, 0644);
    assert_null(stage_source_open(spec, &err));
    assert_non_null(strstr(error_text(&err), "is not executable: chmod +x makes it so"));
    error_clear(&err);
    spec_free(spec);
}

/* Everything of a source into a writer, in pieces of this size. */
static int copy(struct stage_source *source, struct stage_writer *writer, size_t piece,
                struct error *err)
{
    char bytes[STAGE_CHUNK];
    uint64_t at = 0;
    ssize_t n;
    while ((n = stage_source_read(source, at, bytes, piece, err)) > 0) {
        if (stage_writer_add(writer, bytes, (size_t)n, err) < 0)
            return -1;
        at += (uint64_t)n;
    }
    return (int)n;
}

static void test_files_arrive_with_bytes_and_modes(void **state)
{
    static char large[200000];
    struct error err = ERROR_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof(large); i++)
        large[i] = (char)(i * i >> 3);
    char *paths[] = {write_file("empty", "", 0, 0644),
                     write_file("large", large, sizeof(large), 0755),
                     write_file("small", "abc", 3, 04711), write_file("last", "", 0, 0600)};
    char *renamed = mem_format("%s:other", paths[2]);
    struct spec *spec = spec_of((const char *const[]){paths[0], paths[1], renamed, paths[3], NULL});
    char *there = mem_format("%s/there", directory);
    mkdir(there, 0700);
    struct stage_source *source = stage_source_open(spec, &err);
    assert_non_null(source);
    const struct stage_list *list = stage_source_list(source);
    assert_int_equal(list->size, sizeof(large) + 3);
    for (size_t piece = 1000; piece < sizeof(char[STAGE_CHUNK]); piece += 31111) {
        struct stage_writer *writer = stage_writer_new(list, there, &err);
        if (!writer)
            fail_msg("%s", error_text(&err));
        assert_int_equal(copy(source, writer, piece, &err), 0);
        /* sums of xxhsum -H1 */
        uint64_t sums[4] = {0xef46db3751d8e999, 0, 0x44bc2cf5ad770999, 0xef46db3751d8e999};
        assert_int_equal(stage_writer_end(writer, sums, &err), -1);
        assert_non_null(strstr(error_text(&err), "large: what came here is not what was sent"));
        unsigned long long is;
        assert_int_equal(sscanf(strstr(error_text(&err), "checksum "), "checksum %llx", &is), 1);
        sums[1] = is;
        error_clear(&err);
        assert_int_equal(stage_writer_end(writer, sums, &err), 0);
        stage_writer_keep(writer);
    }
    struct stat info;
    char *copy_of = mem_format("%s/stage/other", there);
    assert_int_equal(stat(copy_of, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0711); /* no copy has somebody else's rights */
    assert_int_equal(info.st_size, 3);
    free(copy_of);
    copy_of = mem_format("%s/stage/large", there);
    char *read_back = mem_alloc(sizeof(large));
    int fd = open(copy_of, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, read_back, sizeof(large)), sizeof(large));
    assert_memory_equal(read_back, large, sizeof(large));
    close(fd);
    free(copy_of);
    free(read_back);
    stage_source_free(source);
    spec_free(spec);
    free(renamed);
    free(there);
    for (size_t i = 0; i < 4; i++)
        free(paths[i]);
}

static void test_more_or_fewer_bytes_than_announced_are_refused(void **state)
{
    struct error err = ERROR_INIT;
    struct stage_list list = {0};
    char *there = mem_format("%s/few", directory);
    uint64_t sum = 0x44bc2cf5ad770999;
    (void)state;
    mkdir(there, 0700);
    list_add(&list, STAGE_FILE, "a", "/a", 0700, 3);
    struct stage_writer *writer = stage_writer_new(&list, there, &err);
    assert_int_equal(stage_writer_add(writer, "ab", 2, &err), 0);
    assert_int_equal(stage_writer_end(writer, &sum, &err), -1);
    error_clear(&err);
    assert_int_equal(stage_writer_add(writer, "c", 1, &err), 0);
    assert_int_equal(stage_writer_end(writer, &sum, &err), 0);
    assert_int_equal(stage_writer_add(writer, "d", 1, &err), -1);
    assert_non_null(strstr(error_text(&err), "than were announced"));
    error_clear(&err);
    stage_writer_free(writer);
    stage_list_clear(&list);
    free(there);
}

static void assert_no_file(const char *name)
{
    char *path = mem_format("%s/%s", directory, name);
    assert_int_equal(access(path, F_OK), -1);
    free(path);
}

static void test_files_that_are_not_complete_take_no_room_any_more(void **state)
{
    struct stage_list list = {0};
    char *there = mem_format("%s/broken", directory);
    (void)state;
    mkdir(there, 0700);
    list_add(&list, STAGE_FILE, "a", "/a", 0700, 3);
    list_add(&list, STAGE_FILE, "b", "/b", 0700, 100000);
    list_add(&list, STAGE_PROLOG, "prolog", "/p", 0700, 100000);
    struct stage_writer *writer = stage_writer_new(&list, there, NULL);
    assert_int_equal(stage_writer_add(writer, "abcdef", 6, NULL), 0);
    stage_writer_free(writer);
    assert_no_file("broken/stage/a");
    assert_no_file("broken/stage/b");
    assert_no_file("broken/prolog");
    stage_list_clear(&list);
    free(there);
}

static void test_a_file_that_needs_more_than_there_is_is_refused_before_it_comes(void **state)
{
    struct error err = ERROR_INIT;
    struct stage_list list = {0};
    char *there = mem_format("%s/full", directory);
    (void)state;
    mkdir(there, 0700);
    list_add(&list, STAGE_FILE, "a", "/a", 0700, (uint64_t)1 << 60);
    assert_null(stage_writer_new(&list, there, &err));
    if (!strstr(error_text(&err), "cannot stage 1 file in /tmp/test-stage.") ||
        !strstr(error_text(&err), "1.049e+06 TiB are needed there, and "))
        fail_msg("%s", error_text(&err));
    error_clear(&err);
    stage_list_clear(&list);
    free(there);
}

static void test_a_file_that_becomes_shorter_is_noticed(void **state)
{
    struct error err = ERROR_INIT;
    char *path = write_file("shrinks", "0123456789", 10, 0644), bytes[10];
    struct spec *spec = spec_of((const char *const[]){path, NULL});
    struct stage_source *source = stage_source_open(spec, &err);
    (void)state;
    assert_int_equal(stage_source_read(source, 0, bytes, 4, &err), 4);
    assert_int_equal(truncate(path, 4), 0);
    assert_int_equal(stage_source_read(source, 4, bytes, 4, &err), -1);
    assert_non_null(strstr(error_text(&err), "it has become shorter while it was read"));
    error_clear(&err);
    stage_source_free(source);
    spec_free(spec);
    free(path);
}

static void test_bytes_that_come_are_kept(void **state)
{
    struct error err = ERROR_INIT;
    struct stage_list list = {0};
    char bytes[8];
    (void)state;
    list_add(&list, STAGE_FILE, "a", "/a", 0700, 3);
    list_add(&list, STAGE_FILE, "b", "/b", 0700, 0);
    list_add(&list, STAGE_FILE, "c", "/c", 0700, 4);
    struct stage_source *source = stage_source_new(&list, &err);
    assert_int_equal(list.count, 0);
    assert_int_equal(stage_source_add(source, "abc01", 5, &err), 0);
    assert_int_equal(stage_source_add(source, "23", 2, &err), 0);
    assert_int_equal(stage_source_add(source, "4", 1, &err), -1);
    error_clear(&err);
    assert_int_equal(stage_source_read(source, 1, bytes, 8, &err), 2); /* of one file */
    assert_memory_equal(bytes, "bc", 2);
    assert_int_equal(stage_source_read(source, 3, bytes, 8, &err), 4);
    assert_memory_equal(bytes, "0123", 4);
    assert_int_equal(stage_source_read(source, 7, bytes, 8, &err), 0);
    assert_int_equal(stage_source_read(source, 0, bytes, 8, &err), 3);
    stage_source_free(source);
}

/* ---- hooks ---- */

static void test_orders_and_reports_of_hooks_are_read_as_they_were_written(void **state)
{
    char first[] = "A=b", second[] = "C=\xff", where[] = "/home/a", output[] = "x\ny\n",
         fault[] = "it ended with exit status 3", *environment[] = {first, second, NULL};
    struct hook_order order = {STAGE_PROLOG, 7.5, where, environment}, read;
    struct hook_report report = {STAGE_EPILOG, true, 0.5, fault, output}, told;
    (void)state;
    json_t *value = hook_order_to_json(&order);
    assert_int_equal(hook_order_from_json(&read, value, NULL), 0);
    assert_int_equal(read.kind, STAGE_PROLOG);
    assert_true(read.timeout == 7.5);
    assert_string_equal(read.directory, "/home/a");
    assert_string_equal(read.environment[1], "C=\xff");
    assert_null(read.environment[2]);
    hook_order_clear(&read);
    json_decref(value);
    value = hook_report_to_json(&report);
    assert_int_equal(hook_report_from_json(&told, value, NULL), 0);
    assert_true(told.ran);
    assert_string_equal(told.fault, report.fault);
    assert_string_equal(told.output, report.output);
    hook_report_clear(&told);
    json_decref(value);
}

static void test_messages_about_hooks_that_cannot_be_are_refused(void **state)
{
    static const char *const orders[] = {
        "{}",
        "[]",
        "{\"hook\": \"file\", \"directory\": \"/\", \"environment\": []}",
        "{\"hook\": \"prolog\", \"environment\": []}",
        "{\"hook\": \"prolog\", \"directory\": \"/\"}",
        "{\"hook\": \"prolog\", \"directory\": 7, \"environment\": []}",
        "{\"hook\": \"prolog\", \"directory\": \"/\", \"environment\": [7]}",
        "{\"hook\": \"prolog\", \"directory\": \"/\", \"environment\": [], \"timeout\": -1}",
        "{\"hook\": \"prolog\", \"directory\": \"/\", \"environment\": [], \"timeout\": \"1\"}"};
    static const char *const reports[] = {"{}", "7", "{\"hook\": \"prolog\", \"seconds\": 1}",
                                          "{\"hook\": \"prolog\", \"ran\": true}",
                                          "{\"hook\": \"x\", \"ran\": true, \"seconds\": 1}"};
    (void)state;
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        struct error err = ERROR_INIT;
        struct hook_order order;
        json_t *value = parse(orders[i]);
        assert_int_equal(hook_order_from_json(&order, value, &err), -1);
        assert_non_null(err.text);
        hook_order_clear(&order);
        json_decref(value);
        error_clear(&err);
    }
    for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
        struct error err = ERROR_INIT;
        struct hook_report report;
        json_t *value = json_loads(reports[i], JSON_DECODE_ANY, NULL);
        assert_int_equal(hook_report_from_json(&report, value, &err), -1);
        assert_non_null(err.text);
        hook_report_clear(&report);
        json_decref(value);
        error_clear(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_list_is_read_as_it_was_written),
        cmocka_unit_test(test_lists_that_cannot_be_are_refused),
        cmocka_unit_test(test_sums_are_as_many_as_files),
        cmocka_unit_test(test_a_path_is_one_text),
        cmocka_unit_test(test_a_program_is_found_by_its_name_and_by_its_path),
        cmocka_unit_test(test_what_is_no_file_is_refused),
        cmocka_unit_test(test_a_file_of_a_directory_that_is_gone_is_no_other_file),
        cmocka_unit_test(test_a_hook_has_to_be_executable),
        cmocka_unit_test(test_files_arrive_with_bytes_and_modes),
        cmocka_unit_test(test_more_or_fewer_bytes_than_announced_are_refused),
        cmocka_unit_test(test_files_that_are_not_complete_take_no_room_any_more),
        cmocka_unit_test(test_a_file_that_needs_more_than_there_is_is_refused_before_it_comes),
        cmocka_unit_test(test_a_file_that_becomes_shorter_is_noticed),
        cmocka_unit_test(test_bytes_that_come_are_kept),
        cmocka_unit_test(test_orders_and_reports_of_hooks_are_read_as_they_were_written),
        cmocka_unit_test(test_messages_about_hooks_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, open_directory, close_directory);
}

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "config.h"
#include "launcher/protocol/program_request.h"
#include "launcher/spec/spec_file.h"
#include "tests/unit/unit.h"

/* A spec that is whole. */
static struct spec *small_spec(void)
{
    struct error err = ERROR_INIT;
    json_t *value = json_pack("{s:i, s:[{s:[s,s]}]}", "version", 1, "parts", "argv", "./app", "x");
    struct spec *spec = spec_from_json(value, &err);
    if (!spec)
        fail_msg("%s", error_text(&err));
    json_decref(value);
    return spec;
}

static json_t *small_request(void)
{
    struct spec *spec = small_spec();
    json_t *value = program_request_to_json(spec, NULL, NULL);
    spec_free(spec);
    return value;
}

static void assert_refused(json_t *value, const char *part)
{
    struct error err = ERROR_INIT;
    assert_null(program_request_take(value, &err));
    assert_non_null(err.text);
    if (!strstr(err.text, part))
        fail_msg("expected \"%s\" in \"%s\"", part, err.text);
    error_clear(&err);
    json_decref(value);
}

static void a_request_is_taken_as_it_was_made(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    setenv("TPRUN_PROGRAM", "17", 1);
    setenv("TPRUN_BATCH", "0123456789abcdef", 1);
    unsetenv("TPRUN_ENCLOSING");
    json_t *value = small_request();
    /* the manager has those of its own program */
    setenv("TPRUN_PROGRAM", "1", 1);
    setenv("TPRUN_ENCLOSING", "2", 1);
    unsetenv("TPRUN_BATCH");
    struct spec *spec = program_request_take(value, &err);
    assert_non_null(spec);
    assert_string_equal(spec->parts[0].argv[1], "x");
    assert_string_equal(getenv("TPRUN_PROGRAM"), "17");
    assert_string_equal(getenv("TPRUN_BATCH"), "0123456789abcdef");
    assert_null(getenv("TPRUN_ENCLOSING"));
    spec_free(spec);
    json_decref(value);
}

static void one_of_another_version_is_refused_by_both_versions(void **state)
{
    json_t *value = small_request();
    (void)state;
    json_object_set_new(value, "version", json_string("0.0.9"));
    assert_refused(value, "the instance runs tprun " PACKAGE_VERSION ", and this is tprun 0.0.9");
}

static void one_that_cannot_be_understood_is_refused(void **state)
{
    json_t *value = small_request();
    (void)state;
    json_object_del(value, "spec");
    assert_refused(value, "expected an object spec");
    value = small_request();
    json_object_set_new(value, "spec", json_string("ls"));
    assert_refused(value, "expected an object spec");
    value = small_request();
    json_object_set_new(value, "version", json_integer(1));
    assert_refused(value, "tprun of another kind");
    assert_refused(json_object(), "tprun of another kind");
    assert_refused(json_array(), "tprun of another kind");
}

/* Whoever asks has no say in any other variable of the manager. */
static void no_other_variable_is_set(void **state)
{
    struct error err = ERROR_INIT;
    json_t *value = small_request();
    (void)state;
    json_object_set_new(value, "variables",
                        json_pack("{s:s, s:i, s:s}", "LD_PRELOAD", "x.so", "TPRUN_PROGRAM", 4,
                                  "TPRUN_INSTANCE_ID", "f1"));
    unsetenv("LD_PRELOAD");
    struct spec *spec = program_request_take(value, &err);
    assert_non_null(spec);
    assert_null(getenv("LD_PRELOAD"));
    assert_null(getenv("TPRUN_PROGRAM"));
    assert_string_equal(getenv("TPRUN_INSTANCE_ID"), "f1");
    spec_free(spec);
    json_decref(value);
}

static void write_file(const char *path, const char *text, size_t len)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* The program that a request with these options is taken for. */
static struct spec *sent(struct spec *spec)
{
    struct error err = ERROR_INIT;
    json_t *value = program_request_to_json(spec, NULL, &err);
    spec_free(spec);
    if (!value)
        fail_msg("%s", error_text(&err));
    spec = program_request_take(value, &err);
    json_decref(value);
    if (!spec)
        fail_msg("%s", error_text(&err));
    return spec;
}

static void files_of_options_come_along(void **state)
{
    struct error err = ERROR_INIT;
    struct buf text = BUF_INIT;
    struct spec *spec = small_spec();
    (void)state;
    write_file("request.hosts", "node1\nn\xff\n", 9);
    spec->hostfile = mem_copy_text("request.hosts");
    spec->report = mem_copy_text("none/report.json"); /* which the front end writes */
    spec = sent(spec);
    unlink("request.hosts");
    assert_true(spec->is_sent);
    assert_int_equal(spec->nfiles, 1);
    assert_int_equal(spec_file_read(spec, "request.hosts", "hostfile", 100, &text, &err), 0);
    assert_string_equal(buf_text(&text), "node1\nn\xff\n");
    assert_int_equal(spec_file_read(spec, "request.hosts", "hostfile x", 5, &text, &err), -1);
    assert_string_equal(err.text, "hostfile x: is larger than 0 MiB, the most that is read");
    buf_free(&text);
    error_clear(&err);
    spec_free(spec);
}

/* One of the manager's host of that name is another file. */
static void what_did_not_come_along_is_not_looked_for(void **state)
{
    struct error err = ERROR_INIT;
    struct buf text = BUF_INIT;
    struct spec *spec = sent(small_spec());
    (void)state;
    write_file("request.hosts", "node1\n", 6);
    assert_int_equal(spec_file_read(spec, "request.hosts", "hostfile x", 100, &text, &err), -1);
    assert_string_equal(err.text, "hostfile x: it did not come along with the request");
    assert_int_equal(text.len, 0);
    spec_free(spec);
    error_clear(&err);
    assert_int_equal(spec_file_read(NULL, "request.hosts", "hostfile x", 100, &text, &err), 0);
    unlink("request.hosts");
    buf_free(&text);
}

static void a_file_that_cannot_be_sent_is_named(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        const char *said;
    } cases[] = {{NULL, 0, "R file request.r: cannot be opened: No such file or directory"},
                 {"{\0}", 3, "R file request.r: not a text file: it contains a zero byte"}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct spec *spec = small_spec();
        spec->resources = mem_copy_text("request.r");
        if (cases[i].text)
            write_file("request.r", cases[i].text, cases[i].len);
        assert_null(program_request_to_json(spec, NULL, &err));
        assert_string_equal(error_text(&err), cases[i].said);
        error_clear(&err);
        spec_free(spec);
        unlink("request.r");
    }
}

static void files_that_are_none_are_refused(void **state)
{
    static const char *const cases[] = {"[1]", "[{}]", "[{\"path\": \"a\"}]",
                                        "[{\"path\": \"a\", \"text\": {\"hex\": \"0\"}}]"};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *value = small_request();
        json_object_set_new(value, "files", json_loads(cases[i], 0, NULL));
        assert_refused(value, "files: ");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_taken_as_it_was_made),
        cmocka_unit_test(one_of_another_version_is_refused_by_both_versions),
        cmocka_unit_test(one_that_cannot_be_understood_is_refused),
        cmocka_unit_test(no_other_variable_is_set),
        cmocka_unit_test(files_of_options_come_along),
        cmocka_unit_test(what_did_not_come_along_is_not_looked_for),
        cmocka_unit_test(a_file_that_cannot_be_sent_is_named),
        cmocka_unit_test(files_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config.h"
#include "launcher/protocol/program_request.h"
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
    json_t *value = program_request_to_json(spec);
    spec_free(spec);
    return value;
}

static void assert_refused(json_t *value, const char *part)
{
    struct error err = ERROR_INIT;
    assert_null(program_request_take(value, "head", &err));
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
    struct spec *spec = program_request_take(value, "head", &err);
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
    struct spec *spec = program_request_take(value, "head", &err);
    assert_non_null(spec);
    assert_null(getenv("LD_PRELOAD"));
    assert_null(getenv("TPRUN_PROGRAM"));
    assert_string_equal(getenv("TPRUN_INSTANCE_ID"), "f1");
    spec_free(spec);
    json_decref(value);
}

/* A file of the same name on another host is another file. */
static void files_must_be_the_same_for_both(void **state)
{
    struct error err = ERROR_INIT;
    struct spec *spec = small_spec();
    (void)state;
    spec->report = mem_copy_text("/tmp/report.json");
    json_t *value = program_request_to_json(spec);
    spec_free(spec);
    assert_int_equal(json_array_size(json_object_get(value, "files")), 1);
    spec = program_request_take(value, "head", &err);
    assert_non_null(spec);
    spec_free(spec);
    json_object_set_new(value, "files", json_pack("[s]", "4 on ef53 1 2"));
    assert_refused(value, "--report: the manager of this instance, on head, does not see /tmp/ of");
}

static void who_says_nothing_of_files_may_name_none(void **state)
{
    struct spec *spec = small_spec();
    (void)state;
    spec->resources = mem_copy_text("none.json");
    json_t *value = program_request_to_json(spec);
    spec_free(spec);
    assert_string_equal(json_string_value(json_array_get(json_object_get(value, "files"), 0)), "");
    json_object_del(value, "files");
    assert_refused(value, "-R: the manager of this instance, on head, does not see none.json of");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_taken_as_it_was_made),
        cmocka_unit_test(one_of_another_version_is_refused_by_both_versions),
        cmocka_unit_test(one_that_cannot_be_understood_is_refused),
        cmocka_unit_test(no_other_variable_is_set),
        cmocka_unit_test(files_must_be_the_same_for_both),
        cmocka_unit_test(who_says_nothing_of_files_may_name_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

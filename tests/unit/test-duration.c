#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "tests/unit/vectors.h"

static void expect_seconds(const char *text, double want)
{
    double seconds = -1;
    struct error err = ERROR_INIT;
    if (duration_decode(text, &seconds, &err) < 0)
        fail_msg("\"%s\": %s", text, error_text(&err));
    if (!(seconds == want || fabs(seconds - want) < 1e-9 * want))
        fail_msg("\"%s\" is %g, not %g", text, seconds, want);
}

static void test_vectors_read_as_their_seconds(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc23_fsd"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "valid"), i, item)
    {
        const json_t *seconds = json_object_get(item, "seconds");
        expect_seconds(vectors_text(item, "in"),
                       json_is_string(seconds) ? INFINITY : json_number_value(seconds));
    }
    json_decref(table);
}

static void expect_refused(const char *text)
{
    double seconds = -1;
    struct error err = ERROR_INIT;
    if (duration_decode(text, &seconds, &err) == 0)
        fail_msg("\"%s\" was taken as %g", text, seconds);
    assert_non_null(strstr(err.text, text));
    assert_true(seconds == -1);
    error_clear(&err);
}

static void test_wrong_vectors_are_refused(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc23_fsd"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "invalid"), i, item)
        expect_refused(vectors_text(item, "in"));
    json_decref(table);
}

static void test_other_bad_texts_are_refused(void **state)
{
    static const char *const bad[] = {" 1",     "1 ",    "+1",    "-0",   "-inf",  "NaN",
                                      "nan(1)", "inf s", "infms", "1,5s", "1ss",   "1sm",
                                      "m",      "ms",    ".",     "1e",   "0x",    "--1",
                                      "1 h",    "1\n",   "1d1h",  "1us",  "1e400", "1e308d"};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        expect_refused(bad[i]);
}

static void test_durations_have_one_canonical_text(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{0, "0s"},      {0.002, "2ms"}, {0.25, "250ms"},  {1.5, "1.5s"}, {59, "59s"},
                 {60, "1m"},     {90, "90s"},    {3600, "1h"},     {5400, "90m"}, {86400, "1d"},
                 {432000, "5d"}, {90000, "25h"}, {INFINITY, "inf"}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = duration_encode(cases[i].seconds);
        assert_string_equal(text, cases[i].text);
        expect_seconds(text, cases[i].seconds);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_read_as_their_seconds),
        cmocka_unit_test(test_wrong_vectors_are_refused),
        cmocka_unit_test(test_other_bad_texts_are_refused),
        cmocka_unit_test(test_durations_have_one_canonical_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

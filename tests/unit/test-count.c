#include <string.h>

#include "affinity/shape/count.h"
#include "tests/unit/vectors.h"

static struct count read_count(const char *text)
{
    struct error err = ERROR_INIT;
    struct count count;
    if (count_decode(text, strlen(text), &count, &err) < 0)
        fail_msg("%s: %s", text, error_text(&err));
    return count;
}

static void expect_same(const struct count *a, const struct count *b)
{
    assert_int_equal(a->min, b->min);
    assert_int_equal(a->max, b->max);
    const char left = a->operator, right = b->operator;
    assert_int_equal(left, right);
    assert_int_equal(a->operand, b->operand);
    assert_int_equal(!a->set, !b->set);
    if (a->set)
        assert_true(idset_equal(a->set, b->set));
}

/* Through text and through JSON it comes back as it was. */
static void expect_forms(const struct count *count)
{
    struct count again;
    char *text = count_encode(count);
    assert_int_equal(count_decode(text, strlen(text), &again, NULL), 0);
    expect_same(count, &again);
    count_clear(&again);
    json_t *value = count_to_json(count);
    assert_int_equal(count_from_json(value, &again, NULL), 0);
    expect_same(count, &again);
    count_clear(&again);
    again = count_copy(count);
    expect_same(count, &again);
    count_clear(&again);
    json_decref(value);
    free(text);
}

/* The values below 300, by asking for each number whether it is the largest up to itself. */
static void expect_values(const struct count *count, json_t *values)
{
    size_t next = 0;
    uint32_t best = 0;
    for (uint32_t n = 1; n <= 300; n++) {
        if ((uint32_t)json_integer_value(json_array_get(values, next)) == n) {
            best = n;
            next++;
        }
        assert_int_equal(count_within(count, n), best);
    }
    assert_int_equal(next, json_array_size(values));
    assert_int_equal(count_within(count, UINT64_MAX), best);
}

static void expect_vector(json_t *item)
{
    struct count count = read_count(vectors_text(item, "in"));
    json_t *values = json_object_get(item, "values"), *same = json_object_get(item, "same_as");
    if (values)
        expect_values(&count, values);
    if (json_object_get(item, "min")) {
        assert_int_equal(count.min, json_integer_value(json_object_get(item, "min")));
        assert_int_equal(count.max, COUNT_UNBOUNDED);
    }
    if (same) {
        char *text = count_encode(&count);
        assert_string_equal(text, json_string_value(same));
        free(text);
    }
    expect_forms(&count);
    count_clear(&count);
}

static void test_vectors_have_the_values_of_the_rfc(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc45_range"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "valid"), i, item) expect_vector(item);
    json_decref(table);
}

static void test_wrong_vectors_are_refused(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc45_range"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "invalid"), i, item)
    {
        struct error err = ERROR_INIT;
        struct count count;
        const char *text = vectors_text(item, "in");
        if (count_decode(text, strlen(text), &count, &err) == 0)
            fail_msg("%s is taken", text);
        assert_non_null(err.text);
        error_clear(&err);
    }
    json_decref(table);
}

static const struct {
    const char *text, *part;
} bad[] = {
    {"", "\"\": missing number"},
    {"[]", "missing number"},
    {"0", "a count must be at least 1"},
    {"0,2", "a count must be at least 1"},
    {"01", "leading zero"},
    {"2147483648", "larger than 2147483647"},
    {"1-99999999999999999999", "larger than 2147483647"},
    {"4,", "\"\" is an empty element"},
    {"3,2", "\"2\" does not ascend"},
    {"[[4]]", "missing number"},
    {"[[1,2]]", "two pairs of brackets"},
    {"[4", "missing number"},
    {"4]", "not a number, a range or a set"},
    {"4 ", "not a number"},
    {"3-2", "the maximum is below the minimum"},
    {"2++", "unexpected text after the range"},
    {"2+:", "missing number"},
    {"2+:2:", "missing operator"},
    {"2+:2:%", "the operator of a range must be +, * or ^"},
    {"2+:1:^", "at least 2"},
    {"1+:2:^", "must begin at 2"},
    {"2+:2:*3", "unexpected text after the range"},
    {"four", "missing number"},
};

static void test_wrong_counts_are_refused_with_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct error err = ERROR_INIT;
        struct count count;
        assert_int_equal(count_decode(bad[i].text, strlen(bad[i].text), &count, &err), -1);
        if (!strstr(error_text(&err), bad[i].part))
            fail_msg("\"%s\": %s", bad[i].text, error_text(&err));
        assert_int_equal(count.min, 0);
        error_clear(&err);
    }
}

static const struct {
    const char *json, *text; /* NULL: refused */
} json_counts[] = {
    {"4", "4"},
    {"\"4\"", "4"},
    {"\"4,9\"", "4,9"},
    {"\"4,5,6\"", "4-6"},
    {"\"4,5-6\"", "4-6"},
    {"\"[2-6:2]\"", "2-6:2"},
    {"{\"min\": 2}", "2+"},
    {"{\"min\": 2, \"max\": 8}", "2-8"},
    {"{\"min\": 2, \"max\": 2}", "2"},
    {"{\"min\": 2, \"max\": 8, \"operator\": \"*\", \"operand\": 2}", "2-8:2:*"},
    {"{\"min\": 2, \"operator\": \"+\", \"operand\": 1}", "2+"},
    {"{\"min\": 2, \"operator\": \"+\"}", NULL},
    {"{\"min\": 2, \"operand\": 1}", NULL},
    {"{\"max\": 2}", NULL},
    {"{\"min\": 3, \"max\": 2}", NULL},
    {"{\"min\": 3, \"most\": 4}", NULL},
    {"{\"min\": \"3\"}", NULL},
    {"{\"min\": 1, \"operator\": \"^\", \"operand\": 2}", NULL},
    {"{\"min\": 1, \"operator\": \"++\", \"operand\": 2}", NULL},
    {"{}", NULL},
    {"0", NULL},
    {"-1", NULL},
    {"2147483648", NULL},
    {"2.0", NULL},
    {"true", NULL},
    {"null", NULL},
    {"[1]", NULL},
    {"\"1\\u0000\"", NULL},
};

static void expect_json_count(const char *json, const char *text)
{
    struct error err = ERROR_INIT;
    struct count count;
    json_t *value = json_loads(json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_non_null(value);
    int rc = count_from_json(value, &count, &err);
    if ((rc == 0) != (text != NULL) || (rc < 0) != (err.text != NULL))
        fail_msg("%s: %s", json, error_text(&err));
    if (text) {
        char *got = count_encode(&count);
        assert_string_equal(got, text);
        free(got);
        expect_forms(&count);
    }
    count_clear(&count);
    error_clear(&err);
    json_decref(value);
}

static void test_json_counts_are_those_of_rfc_14(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(json_counts) / sizeof(*json_counts); i++)
        expect_json_count(json_counts[i].json, json_counts[i].text);
}

static const struct {
    const char *text;
    uint64_t limit;
    uint32_t within;
} limits[] = {
    {"4", 3, 0},
    {"4", 4, 4},
    {"4", UINT64_MAX, 4},
    {"2+", UINT64_MAX, COUNT_MAX},
    {"3+:2", 8, 7},
    {"3-2147483647:2147483647", UINT64_MAX, 3},
    {"1+:2:*", UINT64_MAX, 1u << 30},
    {"2+:2147483647:^", UINT64_MAX, 2},
    {"2+:2:^", UINT64_MAX, 65536},
    {"46341+:2:^", UINT64_MAX, 46341},
    {"46340+:2:^", UINT64_MAX, 2147395600},
    {"4,9,16-20", 18, 18},
    {"4,9,16-20", 15, 9},
    {"4,9,16-20", 3, 0},
    {"4,9,16-20", 99, 20},
};

static void test_the_largest_value_up_to_a_limit_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        struct count count = read_count(limits[i].text);
        assert_int_equal(count_within(&count, limits[i].limit), limits[i].within);
        expect_forms(&count);
        count_clear(&count);
    }
    struct count none = {0};
    assert_int_equal(count_within(&none, 9), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_have_the_values_of_the_rfc),
        cmocka_unit_test(test_wrong_vectors_are_refused),
        cmocka_unit_test(test_wrong_counts_are_refused_with_what_is_wrong),
        cmocka_unit_test(test_json_counts_are_those_of_rfc_14),
        cmocka_unit_test(test_the_largest_value_up_to_a_limit_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <stdlib.h>
#include <string.h>

#include "affinity/sets/idset.h"
#include "tests/unit/vectors.h"

static struct idset *read_set(const char *text)
{
    struct error err = ERROR_INIT;
    struct idset *set = idset_decode(text, &err);
    if (!set)
        fail_msg("\"%s\": %s", text, error_text(&err));
    return set;
}

static void expect_text(struct idset *set, const char *text)
{
    char *got = idset_encode(set);
    assert_string_equal(got, text);
    free(got);
    idset_free(set);
}

static void test_vectors_decode_to_their_ids(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc22_idset"), *item;
    size_t i, j;
    json_array_foreach(vectors_list(table, "valid"), i, item)
    {
        struct idset *set = read_set(vectors_text(item, "in"));
        json_t *ids = json_object_get(item, "ids");
        assert_int_equal(idset_count(set), json_array_size(ids));
        uint32_t id = idset_first(set);
        for (j = 0; j < json_array_size(ids); j++, id = idset_next(set, id))
            assert_int_equal(id, json_integer_value(json_array_get(ids, j)));
        assert_int_equal(id, IDSET_NONE);
        expect_text(set, vectors_text(item, "ranged"));
    }
    json_decref(table);
}

static void expect_refused(const char *text)
{
    struct error err = ERROR_INIT;
    struct idset *set = idset_decode(text, &err);
    if (set)
        fail_msg("\"%s\" was taken", text);
    assert_non_null(err.text);
    assert_null(strchr(err.text, '\n'));
    error_clear(&err);
}

static void test_wrong_vectors_are_refused(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc22_idset"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "invalid"), i, item)
        expect_refused(vectors_text(item, "in"));
    json_array_foreach(vectors_list(table, "disputed"), i, item)
        expect_refused(vectors_text(item, "in"));
    json_decref(table);
}

static void test_other_bad_texts_are_refused(void **state)
{
    static const char *const bad[] = {",",
                                      "1-",
                                      "-",
                                      "--",
                                      "1--2",
                                      "1,-2",
                                      "[",
                                      "]",
                                      "[1",
                                      "1]",
                                      "[[1]]",
                                      "[1]]",
                                      "[]1",
                                      "[1],[2]",
                                      "1 ",
                                      "1, 2",
                                      "1\n",
                                      "\n",
                                      "0x1",
                                      "1.0",
                                      "1e3",
                                      "00",
                                      "0-00",
                                      "3-1",
                                      "1,1",
                                      "1-5,5",
                                      "4294967295",
                                      "4294967297",
                                      "0-4294967296",
                                      "18446744073709551616",
                                      "99999999999999999999999999999999",
                                      "0-2147483648",
                                      "1-2147483647-3",
                                      "\xff",
                                      "[,]",
                                      "1;2"};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        expect_refused(bad[i]);
}

static void test_a_refusal_names_the_element(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    assert_null(idset_decode("0-3,x7,9", &err));
    assert_non_null(strstr(err.text, "\"x7\""));
    assert_non_null(strstr(err.text, "\"0-3,x7,9\""));
    error_clear(&err);
}

static void test_the_largest_id_is_2_to_the_31_less_1(void **state)
{
    (void)state;
    struct idset *set = read_set("0-2147483647");
    assert_int_equal(idset_count(set), (size_t)1 << 31);
    assert_int_equal(idset_last(set), IDSET_MAX);
    assert_int_equal(idset_next(set, IDSET_MAX), IDSET_NONE);
    idset_add(set, IDSET_NONE);
    idset_remove(set, IDSET_MAX);
    assert_false(idset_has(set, IDSET_MAX));
    expect_text(set, "0-2147483646");
}

static void test_adding_joins_what_touches(void **state)
{
    static const struct {
        const char *before;
        uint32_t first, last;
        const char *after;
    } cases[] = {
        {"", 0, 0, "0"},          {"0", 1, 1, "0-1"},
        {"1", 0, 0, "0-1"},       {"0,2", 1, 1, "0-2"},
        {"0,4", 2, 2, "0,2,4"},   {"1-3,7-9", 2, 8, "1-9"},
        {"1,3,5,7", 0, 9, "0-9"}, {"5-6", 1, 3, "1-3,5-6"},
        {"5-6", 1, 4, "1-6"},     {"1-9", 3, 4, "1-9"},
        {"7", 0, 3, "0-3,7"},     {"0-3", 2147483647, 4294967295u, "0-3,2147483647"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct idset *set = read_set(cases[i].before);
        idset_add_range(set, cases[i].first, cases[i].last);
        expect_text(set, cases[i].after);
    }
}

static void test_removing_splits_ranges(void **state)
{
    static const struct {
        const char *before;
        uint32_t id;
        const char *after;
    } cases[] = {
        {"", 3, ""},       {"3", 3, ""},      {"1-3", 1, "2-3"},         {"1-3", 3, "1-2"},
        {"1-3", 2, "1,3"}, {"1-3", 4, "1-3"}, {"0,5-9", 7, "0,5-6,8-9"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct idset *set = read_set(cases[i].before);
        idset_remove(set, cases[i].id);
        expect_text(set, cases[i].after);
    }
}

static void test_set_operations_agree_with_a_bitmap(void **state)
{
    (void)state;
    srand(5);
    for (int round = 0; round < 2000; round++) {
        struct idset *a = idset_new(), *b = idset_new(), *set[3];
        uint64_t x = 0, y = 0;
        for (int i = 0; i < 24; i++) {
            uint32_t id = (uint32_t)(rand() % 64);
            uint32_t last = id + (uint32_t)(rand() % 4);
            last = last > 63 ? 63 : last;
            idset_add_range(i & 1 ? a : b, id, last);
            for (; id <= last; id++)
                *(i & 1 ? &x : &y) |= (uint64_t)1 << id;
            uint32_t gone = (uint32_t)(rand() % 64);
            idset_remove(i & 1 ? a : b, gone);
            *(i & 1 ? &x : &y) &= ~((uint64_t)1 << gone);
        }
        const uint64_t want[3] = {x | y, x & ~y, x & y};
        set[0] = idset_union(a, b);
        set[1] = idset_subtract(a, b);
        set[2] = idset_intersect(a, b);
        for (int k = 0; k < 3; k++) {
            uint64_t got = 0;
            IDSET_FOREACH(id, set[k])
            got |= (uint64_t)1 << id;
            assert_true(got == want[k]);
            char *text = idset_encode(set[k]);
            struct idset *again = read_set(text);
            assert_true(idset_equal(again, set[k]));
            assert_true(idset_within(set[k], again));
            idset_free(again);
            free(text);
        }
        assert_int_equal(idset_within(a, b), (x & ~y) == 0);
        assert_int_equal(idset_equal(a, b), x == y);
        for (int k = 0; k < 3; k++)
            idset_free(set[k]);
        idset_free(a);
        idset_free(b);
    }
}

static void test_a_copy_is_a_set_of_its_own(void **state)
{
    (void)state;
    struct idset *set = read_set("0-3,7"), *copy = idset_copy(set), *none = idset_new();
    idset_remove(set, 2);
    expect_text(set, "0-1,3,7");
    expect_text(copy, "0-3,7");
    assert_true(idset_empty(none));
    assert_int_equal(idset_first(none), IDSET_NONE);
    assert_int_equal(idset_last(none), IDSET_NONE);
    expect_text(idset_copy(none), "");
    idset_free(none);
    idset_free(NULL);
}

static void test_a_million_holes_take_linear_time(void **state)
{
    (void)state;
    struct idset *set = idset_new();
    for (uint32_t id = 0; id < 2000000; id += 2)
        idset_add(set, id);
    char *text = idset_encode(set);
    struct idset *again = read_set(text);
    assert_true(idset_equal(set, again));
    assert_int_equal(idset_count(again), 1000000);
    free(text);
    idset_free(set);
    idset_free(again);
}

/* A small random set; also without any id. */
static struct idset *some_set(unsigned *seed)
{
    struct idset *set = idset_new();
    for (int n = rand_r(seed) % 6; n > 0; n--) {
        uint32_t first = (uint32_t)rand_r(seed) % 64;
        idset_add_range(set, first, first + (uint32_t)rand_r(seed) % 8);
    }
    return set;
}

static void check_in_place(void (*change)(struct idset *, const struct idset *),
                           struct idset *(*make)(const struct idset *, const struct idset *),
                           const struct idset *a, const struct idset *b)
{
    struct idset *set = idset_copy(a), *right = make(a, b);
    change(set, b);
    assert_true(idset_equal(set, right));
    idset_add(set, 200); /* it is a set as before */
    assert_true(idset_has(set, 200));
    idset_free(set);
    idset_free(right);
}

static void test_a_set_is_there_until_its_last_owner_frees_it(void **state)
{
    struct idset *set = idset_decode("0-3,7", NULL), *other = idset_ref(set);
    (void)state;
    idset_free(set);
    struct idset *copy = idset_copy(other); /* which anybody may change */
    idset_add(copy, 5);
    assert_int_equal(idset_count(other), 5);
    assert_int_equal(idset_count(copy), 6);
    idset_free(other);
    idset_free(copy);
}

static void test_operations_in_place_agree_with_those_that_make_a_set(void **state)
{
    unsigned seed = 46;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct idset *a = some_set(&seed), *b = some_set(&seed);
        check_in_place(idset_add_set, idset_union, a, b);
        check_in_place(idset_remove_set, idset_subtract, a, b);
        check_in_place(idset_keep_set, idset_intersect, a, b);
        check_in_place(idset_add_set, idset_union, a, NULL);
        check_in_place(idset_remove_set, idset_subtract, a, NULL);
        check_in_place(idset_keep_set, idset_intersect, a, NULL);
        assert_true((idset_hash(1, a) == idset_hash(1, b)) == idset_equal(a, b));
        idset_free(a);
        idset_free(b);
    }
}

static void test_a_set_may_be_added_to_and_removed_from_itself(void **state)
{
    struct idset *set = idset_decode("1-3,9", NULL);
    (void)state;
    idset_add_set(set, set);
    idset_keep_set(set, set);
    assert_int_equal(idset_count(set), 4);
    idset_remove_set(set, set);
    assert_true(idset_empty(set));
    idset_free(set);
}

static void test_null_is_the_empty_set(void **state)
{
    struct idset *empty = idset_new(), *some = idset_decode("3-4", NULL);
    uint32_t first, last;
    size_t at = 0;
    (void)state;
    struct idset *made[] = {idset_copy(NULL), idset_union(NULL, NULL), idset_intersect(some, NULL),
                            idset_subtract(NULL, some)};
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        assert_true(idset_equal(made[i], NULL));
        assert_true(idset_equal(NULL, made[i]));
        idset_free(made[i]);
    }
    assert_true(idset_equal(NULL, NULL));
    assert_false(idset_equal(NULL, some));
    assert_true(idset_empty(NULL));
    assert_int_equal(idset_count(NULL), 0);
    assert_false(idset_has(NULL, 0));
    assert_int_equal(idset_first(NULL), IDSET_NONE);
    assert_int_equal(idset_last(NULL), IDSET_NONE);
    assert_int_equal(idset_next(NULL, 0), IDSET_NONE);
    assert_false(idset_range(NULL, &at, &first, &last));
    assert_true(idset_within(NULL, some));
    assert_false(idset_within(some, NULL));
    assert_int_equal(idset_count_both(some, NULL), 0);
    assert_true(idset_hash(7, NULL) == idset_hash(7, empty));
    char *text = idset_encode(NULL);
    assert_string_equal(text, "");
    free(text);
    idset_free(empty);
    idset_free(some);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_decode_to_their_ids),
        cmocka_unit_test(test_wrong_vectors_are_refused),
        cmocka_unit_test(test_other_bad_texts_are_refused),
        cmocka_unit_test(test_a_refusal_names_the_element),
        cmocka_unit_test(test_the_largest_id_is_2_to_the_31_less_1),
        cmocka_unit_test(test_adding_joins_what_touches),
        cmocka_unit_test(test_removing_splits_ranges),
        cmocka_unit_test(test_set_operations_agree_with_a_bitmap),
        cmocka_unit_test(test_a_copy_is_a_set_of_its_own),
        cmocka_unit_test(test_a_set_is_there_until_its_last_owner_frees_it),
        cmocka_unit_test(test_operations_in_place_agree_with_those_that_make_a_set),
        cmocka_unit_test(test_a_set_may_be_added_to_and_removed_from_itself),
        cmocka_unit_test(test_null_is_the_empty_set),
        cmocka_unit_test(test_a_million_holes_take_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

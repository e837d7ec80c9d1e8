#include "base/search.h"
#include "tests/unit/unit.h"

struct list {
    const uint32_t *values;
    uint32_t wanted;
    unsigned asked;
};

static bool is_smaller(const void *arg, size_t index)
{
    struct list *list = (struct list *)(uintptr_t)arg;
    list->asked++;
    return list->values[index] < list->wanted;
}

static void test_the_first_value_that_is_not_smaller_is_found(void **state)
{
    static const uint32_t values[] = {1, 3, 3, 3, 7, 9};
    static const struct {
        uint32_t wanted;
        size_t n, found;
    } cases[] = {{0, 6, 0}, {1, 6, 0}, {2, 6, 1},  {3, 6, 1}, {4, 6, 4},
                 {9, 6, 5}, {9, 5, 5}, {10, 6, 6}, {3, 1, 1}, {0, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct list list = {values, cases[i].wanted, 0};
        assert_int_equal(search_first(cases[i].n, is_smaller, &list), cases[i].found);
    }
}

static void test_a_search_asks_no_more_than_logarithmically_often(void **state)
{
    static uint32_t values[1024];
    (void)state;
    for (uint32_t i = 0; i < 1024; i++)
        values[i] = i;
    for (uint32_t i = 0; i <= 1024; i++) {
        struct list list = {values, i, 0};
        assert_int_equal(search_first(1024, is_smaller, &list), i);
        assert_true(list.asked <= 11);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_value_that_is_not_smaller_is_found),
        cmocka_unit_test(test_a_search_asks_no_more_than_logarithmically_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

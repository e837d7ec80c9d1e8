#include <stdlib.h>

#include "base/array.h"
#include "tests/unit/unit.h"

static void test_every_element_finds_a_place_behind_those_before(void **state)
{
    uint32_t *list = NULL;
    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        list = array_grow(list, i, sizeof(*list));
        list[i] = i * 3;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(list[i], i * 3);
    free(list);
}

/* With a sanitizer a place that is not there would be found. */
static void test_an_array_that_lost_elements_grows_again(void **state)
{
    uint64_t *list = NULL;
    size_t count = 0;
    (void)state;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 37; i++) {
            list = array_grow(list, count, sizeof(*list));
            list[count++] = (uint64_t)round;
        }
        count = (size_t)round * 7 % 40 % (count + 1);
    }
    free(list);
}

static void test_an_array_moves_only_when_it_is_full(void **state)
{
    static const size_t full[] = {0, 4, 8, 16, 32, 64}, others[] = {1, 2, 3, 5, 7, 9, 31, 33, 63};
    (void)state;
    for (size_t i = 0; i < sizeof(full) / sizeof(full[0]); i++)
        assert_true(array_is_full(full[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(array_is_full(others[i]));
}

static void test_a_reserve_is_kept_while_the_array_is_emptied(void **state)
{
    size_t capacity = 0;
    (void)state;
    uint32_t *list = array_reserve(NULL, &capacity, 0, sizeof(*list));
    assert_null(list);
    list = array_reserve(list, &capacity, 100, sizeof(*list));
    assert_true(capacity >= 100);
    size_t before = capacity;
    for (size_t count = 0; count <= 100; count++)
        assert_ptr_equal(array_reserve(list, &capacity, count, sizeof(*list)), list);
    assert_int_equal(capacity, before);
    list = array_reserve(list, &capacity, before + 1, sizeof(*list));
    assert_true(capacity > before);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_element_finds_a_place_behind_those_before),
        cmocka_unit_test(test_an_array_that_lost_elements_grows_again),
        cmocka_unit_test(test_an_array_moves_only_when_it_is_full),
        cmocka_unit_test(test_a_reserve_is_kept_while_the_array_is_emptied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/hash_table.h"
#include "tests/unit/unit.h"

#define MANY 10000u

struct wanted {
    const uint32_t *things;
    uint32_t thing;
};

static bool is_wanted(uint32_t number, const void *arg)
{
    const struct wanted *wanted = arg;
    return wanted->things[number] == wanted->thing;
}

static uint32_t number_of(struct hash_table *table, uint32_t *things, uint32_t thing, uint64_t hash)
{
    struct wanted wanted = {things, thing};
    uint32_t count = table->count, number = hash_table_number(table, hash, is_wanted, &wanted);
    if (number == count)
        things[number] = thing;
    return number;
}

static void test_things_are_numbered_as_they_come_and_found_again(void **state)
{
    static uint32_t things[MANY];
    struct hash_table table = {.count = 0};
    (void)state;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < MANY; i++)
            assert_int_equal(number_of(&table, things, i * 7, hash_table_hash(0, i * 7)), i);
    assert_int_equal(table.count, MANY);
    hash_table_free(&table);
    assert_int_equal(table.count, 0);
}

static void test_things_of_one_hash_are_told_apart(void **state)
{
    uint32_t things[200];
    struct hash_table table = {.count = 0};
    (void)state;
    for (uint32_t i = 0; i < 400; i++)
        assert_int_equal(number_of(&table, things, i % 200, 46), i % 200);
    hash_table_free(&table);
}

static void test_the_order_of_parts_counts_in_a_hash(void **state)
{
    (void)state;
    assert_true(hash_table_hash(hash_table_hash(0, 1), 2) !=
                hash_table_hash(hash_table_hash(0, 2), 1));
    assert_true(hash_table_hash(0, 1) != hash_table_hash(0, 1ull << 32));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_things_are_numbered_as_they_come_and_found_again),
        cmocka_unit_test(test_things_of_one_hash_are_told_apart),
        cmocka_unit_test(test_the_order_of_parts_counts_in_a_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/hash_table.h"
#include "tests/unit/unit.h"

#include <string.h>

#define MANY 10000u

static bool is_equal(const void *owner, uint32_t number, const void *thing)
{
    return ((const uint32_t *)owner)[number] == *(const uint32_t *)thing;
}

static uint32_t number_of(struct hash_table *table, uint32_t *things, uint32_t thing, uint64_t hash)
{
    uint32_t count = table->count;
    uint32_t number = hash_table_intern(table, hash, is_equal, things, &thing);
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

static void test_what_was_never_interned_is_not_found(void **state)
{
    static uint32_t things[MANY];
    struct hash_table table = {.count = 0};
    uint32_t thing = 3;
    (void)state;
    assert_int_equal(hash_table_find(&table, 1, is_equal, things, &thing), HASH_TABLE_NONE);
    hash_table_reserve(&table, 100);
    size_t size = table.size;
    for (uint32_t i = 0; i < 100; i++)
        number_of(&table, things, 2 * i, hash_table_hash(0, 2 * i));
    assert_int_equal(table.size, size);
    for (uint32_t i = 0; i < 200; i++)
        assert_int_equal(hash_table_find(&table, hash_table_hash(0, i), is_equal, things, &i),
                         i % 2 ? HASH_TABLE_NONE : i / 2);
    assert_int_equal(table.count, 100);
    hash_table_free(&table);
}

/* As its owner does it. */
static void take_out(struct hash_table *table, uint32_t *things, uint32_t number, uint32_t mask)
{
    uint32_t last = table->count - 1;
    hash_table_remove(table, number, hash_table_hash(0, things[number] & mask),
                      hash_table_hash(0, things[last] & mask));
    things[number] = things[last];
}

/* With few hashes, so that many things stand behind each other, and with one for each. */
static void test_what_is_removed_is_not_found_and_all_else_is(void **state)
{
    static uint32_t things[MANY];
    static bool there[MANY];
    const uint32_t masks[] = {UINT32_MAX, 15, 0};
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        uint32_t many = masks[m] == UINT32_MAX ? MANY : 200, random = 1;
        struct hash_table table = {.count = 0};
        memset(there, 0, sizeof(there));
        for (int step = 0; step < 40000; step++) {
            random = random * 1103515245u + 12345u;
            uint32_t thing = (random >> 8) % many;
            uint64_t hash = hash_table_hash(0, thing & masks[m]);
            uint32_t number = hash_table_find(&table, hash, is_equal, things, &thing);
            assert_int_equal(number != HASH_TABLE_NONE, there[thing]);
            if (there[thing])
                take_out(&table, things, number, masks[m]);
            else
                number_of(&table, things, thing, hash);
            there[thing] = !there[thing];
        }
        for (uint32_t thing = 0; thing < many; thing++) {
            uint32_t number = hash_table_find(&table, hash_table_hash(0, thing & masks[m]),
                                              is_equal, things, &thing);
            assert_int_equal(number != HASH_TABLE_NONE, there[thing]);
            assert_true(!there[thing] || things[number] == thing);
        }
        hash_table_free(&table);
    }
}

static const char *text_of(const void *owner, uint32_t number)
{
    return ((const char *const *)owner)[number];
}

static void test_texts_are_interned_by_their_bytes(void **state)
{
    const char *texts[] = {"", "a", "b", "ab", "ba", "a "};
    struct hash_table table = {.count = 0};
    (void)state;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 6; i++)
            assert_int_equal(hash_table_intern_text(&table, texts[i], text_of, texts), i);
    assert_int_equal(hash_table_find_text(&table, "ba", text_of, texts), 4);
    assert_int_equal(hash_table_find_text(&table, "c", text_of, texts), HASH_TABLE_NONE);
    assert_true(hash_table_hash_text("ab") == hash_table_hash_bytes("abc", 2));
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
        cmocka_unit_test(test_what_was_never_interned_is_not_found),
        cmocka_unit_test(test_what_is_removed_is_not_found_and_all_else_is),
        cmocka_unit_test(test_texts_are_interned_by_their_bytes),
        cmocka_unit_test(test_the_order_of_parts_counts_in_a_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

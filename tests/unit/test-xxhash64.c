#include <stdlib.h>
#include <string.h>

#include "base/xxhash64.h"
#include "tests/unit/unit.h"

static uint64_t sum(const void *bytes, size_t len)
{
    struct xxhash64 hash;
    xxhash64_begin(&hash);
    xxhash64_add(&hash, bytes, len);
    return xxhash64_value(&hash);
}

/* As xxhsum -H1 prints them. */
static void test_known_sums(void **state)
{
    static const struct {
        const char *text;
        uint64_t sum;
    } cases[] = {
        {"", 0xef46db3751d8e999},
        {"a", 0xd24ec4f1a98c6e5b},
        {"abc", 0x44bc2cf5ad770999},
        {"The quick brown fox jumps over the lazy dog", 0x0b242d361fda71bc},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(sum(cases[i].text, strlen(cases[i].text)), cases[i].sum);
}

static void test_it_does_not_matter_in_which_pieces_bytes_come(void **state)
{
    unsigned char bytes[200];
    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 37);
    for (size_t len = 0; len <= sizeof(bytes); len++) {
        for (size_t piece = 1; piece <= 67; piece += 3) {
            struct xxhash64 hash;
            xxhash64_begin(&hash);
            for (size_t at = 0; at < len; at += piece)
                xxhash64_add(&hash, bytes + at, len - at < piece ? len - at : piece);
            assert_int_equal(xxhash64_value(&hash), sum(bytes, len));
        }
    }
}

static void test_each_bit_matters(void **state)
{
    unsigned char bytes[77] = {0};
    uint64_t whole = sum(bytes, sizeof(bytes));
    (void)state;
    for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_not_equal(sum(bytes, sizeof(bytes)), whole);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_sums),
        cmocka_unit_test(test_it_does_not_matter_in_which_pieces_bytes_come),
        cmocka_unit_test(test_each_bit_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

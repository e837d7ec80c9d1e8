#include <stdio.h>
#include <string.h>

#include "pmi-server/pmi/kvs.h"
#include "tests/unit/unit.h"

/* An exchange that is over as soon as it begins. */
static void take_fresh(struct kvs *kvs, struct buf *out)
{
    kvs_published(kvs, kvs_pack_fresh(kvs, out));
}

static void test_what_was_put_is_got(void **state)
{
    (void)state;
    struct kvs *kvs = kvs_new("kvs_1");
    assert_string_equal(kvs_name(kvs), "kvs_1");
    assert_null(kvs_get(kvs, "a"));
    kvs_put(kvs, "a", "1");
    kvs_put(kvs, "", "empty key");
    kvs_preset(kvs, "b", "");
    assert_string_equal(kvs_get(kvs, "a"), "1");
    assert_string_equal(kvs_get(kvs, ""), "empty key");
    assert_string_equal(kvs_get(kvs, "b"), "");
    assert_null(kvs_get(kvs, "ab"));
    assert_int_equal(kvs_count(kvs), 3);
    kvs_free(kvs);
}

static void test_a_second_put_replaces_the_value(void **state)
{
    (void)state;
    static const char *const values[] = {"1", "a longer one", "", "same length!", "x"};
    struct kvs *kvs = kvs_new("k");
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        kvs_put(kvs, "key", values[i]);
        assert_string_equal(kvs_get(kvs, "key"), values[i]);
        assert_int_equal(kvs_count(kvs), 1);
    }
    kvs_free(kvs);
}

static void test_many_keys_are_kept_in_order(void **state)
{
    (void)state;
    char key[32], value[32];
    const char *at_key, *at_value;
    struct kvs *kvs = kvs_new("k");
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof(key), "key-%d", i);
        snprintf(value, sizeof(value), "value-%d", i * 7);
        kvs_put(kvs, key, value);
    }
    assert_int_equal(kvs_count(kvs), 5000);
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof(key), "key-%d", i);
        snprintf(value, sizeof(value), "value-%d", i * 7);
        assert_string_equal(kvs_get(kvs, key), value);
        assert_true(kvs_at(kvs, (size_t)i, &at_key, &at_value));
        assert_string_equal(at_key, key);
        assert_string_equal(at_value, value);
    }
    assert_false(kvs_at(kvs, 5000, &at_key, &at_value));
    kvs_free(kvs);
}

static void test_fresh_pairs_travel_once_and_presets_never(void **state)
{
    (void)state;
    struct buf packed = BUF_INIT;
    struct kvs *from = kvs_new("k"), *to = kvs_new("k");
    kvs_preset(from, "preset", "p");
    kvs_put(from, "a", "1");
    kvs_put(from, "a", "2");
    kvs_put(from, "b", "with space");
    take_fresh(from, &packed);
    assert_int_equal(kvs_merge(to, buf_bytes(&packed), packed.len, NULL), 0);
    assert_int_equal(kvs_count(to), 2);
    assert_string_equal(kvs_get(to, "a"), "2");
    assert_string_equal(kvs_get(to, "b"), "with space");

    buf_clear(&packed);
    take_fresh(from, &packed);
    assert_int_equal(packed.len, 0);
    take_fresh(to, &packed); /* merged pairs are not fresh */
    assert_int_equal(packed.len, 0);
    kvs_put(from, "a", "3");
    take_fresh(from, &packed);
    assert_int_equal(kvs_merge(to, buf_bytes(&packed), packed.len, NULL), 0);
    assert_string_equal(kvs_get(to, "a"), "3");
    buf_free(&packed);
    kvs_free(from);
    kvs_free(to);
}

static void test_packed_sets_concatenate(void **state)
{
    (void)state;
    char value[1200];
    struct buf packed = BUF_INIT;
    struct kvs *all = kvs_new("k");
    memset(value, 'v', sizeof(value));
    for (int node = 0; node < 8; node++) {
        char key[32];
        struct kvs *one = kvs_new("k");
        value[node * 170] = '\0'; /* lengths of one and of two bytes, longest last */
        snprintf(key, sizeof(key), "node-%d", node);
        kvs_put(one, key, value);
        value[node * 170] = 'v';
        take_fresh(one, &packed);
        kvs_free(one);
    }
    assert_int_equal(kvs_merge(all, buf_bytes(&packed), packed.len, NULL), 0);
    assert_int_equal(kvs_count(all), 8);
    assert_int_equal(strlen(kvs_get(all, "node-0")), 0);
    assert_int_equal(strlen(kvs_get(all, "node-1")), 170);
    assert_int_equal(strlen(kvs_get(all, "node-7")), 7 * 170);
    buf_free(&packed);
    kvs_free(all);
}

static void test_a_put_after_the_exchange_began_is_newer(void **state)
{
    (void)state;
    struct buf packed = BUF_INIT;
    struct kvs *kvs = kvs_new("k");
    kvs_put(kvs, "a", "old");
    uint32_t stamp = kvs_pack_fresh(kvs, &packed);
    kvs_put(kvs, "a", "new");
    kvs_published(kvs, stamp);
    assert_int_equal(kvs_merge(kvs, buf_bytes(&packed), packed.len, NULL), 0);
    assert_string_equal(kvs_get(kvs, "a"), "new");
    buf_clear(&packed);
    take_fresh(kvs, &packed);
    assert_int_not_equal(packed.len, 0);
    buf_free(&packed);
    kvs_free(kvs);
}

static void test_pairs_are_fresh_until_an_exchange_is_over(void **state)
{
    (void)state;
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct kvs *kvs = kvs_new("k");
    kvs_put(kvs, "a", "1");
    uint32_t one = kvs_pack_fresh(kvs, &first);
    kvs_put(kvs, "b", "2");
    uint32_t two = kvs_pack_fresh(kvs, &second); /* beside the first */
    assert_int_equal(first.len, 4);
    assert_int_equal(second.len, 8);
    kvs_published(kvs, one);
    buf_clear(&second);
    kvs_pack_fresh(kvs, &second);
    assert_int_equal(second.len, 4);
    kvs_published(kvs, two);
    buf_clear(&second);
    kvs_pack_fresh(kvs, &second);
    assert_int_equal(second.len, 0);
    buf_free(&first);
    buf_free(&second);
    kvs_free(kvs);
}

static void test_malformed_packed_sets_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        size_t kept; /* pairs before the bad place */
        const char *says;
    } cases[] = {
        {"", 0, 0, NULL},
        {"\1a\1b", 4, 1, NULL},
        {"\0\0", 2, 1, NULL},
        {"\x81\0a\1b", 5, 1, NULL}, /* a length with a needless byte */
        {"\1a", 2, 0, "cut off"},
        {"\1", 1, 0, "longer than what is left"},
        {"\1a\5b", 4, 0, "longer than what is left"},
        {"\1a\1b\1", 5, 1, "longer than what is left"},
        {"\x80", 1, 0, "cut off"},
        {"\xff\xff\xff\xff\x0f", 5, 0, "longer than what is left"},
        {"\xff\xff\xff\xff\xff\xff", 6, 0, "more than 32 bits"},
        {"\1\0\1b", 4, 0, "NUL at byte 1 of 4"},
        {"\1a\3b\0c", 6, 0, "NUL at byte 3 of 6"},
        {"\1a\1b\2a\0\1c", 9, 1, "NUL"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct kvs *kvs = kvs_new("k");
        int rc = kvs_merge(kvs, cases[i].bytes, cases[i].len, &err);
        assert_int_equal(rc, cases[i].says ? -1 : 0);
        assert_int_equal(kvs_count(kvs), cases[i].kept);
        if (cases[i].says)
            assert_non_null(strstr(error_text(&err), cases[i].says));
        error_clear(&err);
        kvs_free(kvs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_put_is_got),
        cmocka_unit_test(test_a_second_put_replaces_the_value),
        cmocka_unit_test(test_many_keys_are_kept_in_order),
        cmocka_unit_test(test_fresh_pairs_travel_once_and_presets_never),
        cmocka_unit_test(test_packed_sets_concatenate),
        cmocka_unit_test(test_a_put_after_the_exchange_began_is_newer),
        cmocka_unit_test(test_pairs_are_fresh_until_an_exchange_is_over),
        cmocka_unit_test(test_malformed_packed_sets_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static void test_an_empty_buf_is_an_empty_text(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT;
    assert_string_equal(buf_text(&buf), "");
    assert_non_null(buf_bytes(&buf));
    buf_add(&buf, NULL, 0);
    assert_int_equal(buf.len, 0);
    char *text = buf_take_text(&buf);
    assert_string_equal(text, "");
    free(text);
    buf_free(&buf);
}

static void test_what_is_added_stands_in_order(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT;
    buf_add(&buf, "ab\0c", 4);
    buf_add_char(&buf, 'd');
    buf_add_text(&buf, "ef");
    buf_printf(&buf, "%d-%s", 12, "x");
    assert_int_equal(buf.len, 11);
    assert_memory_equal(buf_bytes(&buf), "ab\0cdef12-x", 12);
    buf_clear(&buf);
    assert_string_equal(buf_text(&buf), "");
    buf_free(&buf);
    assert_null(buf.data);
}

static void test_long_formats_are_whole(void **state)
{
    (void)state;
    char word[1000];
    struct buf buf = BUF_INIT;
    memset(word, 'w', sizeof(word));
    for (size_t len = 250; len < 260; len++) {
        buf_clear(&buf);
        buf_printf(&buf, "<%.*s>", (int)len, word);
        assert_int_equal(buf.len, len + 2);
        assert_int_equal(strlen(buf_text(&buf)), len + 2);
        assert_int_equal(buf_text(&buf)[len + 1], '>');
    }
    buf_free(&buf);
}

static void test_consumed_bytes_leave_from_the_front(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT;
    buf_add_text(&buf, "hello world");
    buf_consume(&buf, 6);
    assert_string_equal(buf_text(&buf), "world");
    buf_add_text(&buf, "!");
    assert_string_equal(buf_text(&buf), "world!");
    char *text = buf_take_text(&buf);
    assert_string_equal(text, "world!");
    free(text);
    assert_int_equal(buf.len, 0);
    buf_add_text(&buf, "new");
    buf_consume(&buf, 3);
    assert_string_equal(buf_text(&buf), "");
    buf_free(&buf);
}

static void test_memory_stays_small_while_bytes_flow_through(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT;
    unsigned char piece[997], in = 0, out = 0;
    for (int round = 0; round < 20000; round++) {
        for (size_t i = 0; i < sizeof(piece); i++)
            piece[i] = in++;
        buf_add(&buf, piece, sizeof(piece));
        size_t take = buf.len > 3000 ? buf.len - (size_t)(round % 1500) : (size_t)(round % 700);
        take = take > buf.len ? buf.len : take;
        for (size_t i = 0; i < take; i++)
            if ((unsigned char)buf_bytes(&buf)[i] != out++)
                fail_msg("byte %zu of round %d", i, round);
        buf_consume(&buf, take);
    }
    assert_true(buf.room <= 32768);
    buf_free(&buf);
}

static void test_a_reservation_counts_only_once_it_is_filled(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT;
    for (int i = 0; i < 100; i++) {
        char *room = buf_reserve(&buf, 1000);
        memset(room, 'a', 1000);
        assert_int_equal(buf.len, (size_t)i * 3);
        buf_added(&buf, 3);
    }
    assert_int_equal(strlen(buf_text(&buf)), 300);
    buf_free(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_buf_is_an_empty_text),
        cmocka_unit_test(test_what_is_added_stands_in_order),
        cmocka_unit_test(test_long_formats_are_whole),
        cmocka_unit_test(test_consumed_bytes_leave_from_the_front),
        cmocka_unit_test(test_memory_stays_small_while_bytes_flow_through),
        cmocka_unit_test(test_a_reservation_counts_only_once_it_is_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

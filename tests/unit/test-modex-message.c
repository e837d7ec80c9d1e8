/* What hosts of openpmix post to each other, with and without openpmix. */
#include <string.h>

#include "pmi-server/protocol/modex_message.h"
#include "tests/unit/unit.h"

#define ASK(head) "A12345678rankwait" head

static void malformed_messages_are_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
    } cases[] = {
        {"", 0},
        {"A", 1},
        {"A12345678", 9},
        {ASK("\0\0\0"), 20},               /* cut in its last field */
        {ASK("\1\0\0\0"), 21},             /* no key of that length */
        {ASK("\377\377\377\377k"), 22},    /* nor of that */
        {ASK("\2\0\0\0k\0"), 23},          /* a zero byte in the key */
        {ASK("\0\0\0\0x"), 22},            /* bytes after it */
        {"R12345678", 9},                  /* an answer without a status */
        {"R12345678sta", 12},              /* cut in it */
        {"B12345678rankwait\0\0\0\0", 21}, /* no such kind */
        {"\0"
         "12345678rankwait\0\0\0\0",
         21},
    };
    struct modex_message message;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(modex_message_read(&message, cases[i].bytes, cases[i].len), -1);
}

static void a_key_has_at_most_511_bytes(void **state)
{
    (void)state;
    for (size_t len = MODEX_MESSAGE_KEY_MAX; len <= MODEX_MESSAGE_KEY_MAX + 1; len++) {
        struct buf buf = BUF_INIT;
        struct modex_message message;
        buf_add(&buf, "A12345678rankwait", 17);
        for (int shift = 0; shift < 32; shift += 8)
            buf_add_char(&buf, (char)(len >> shift));
        for (size_t i = 0; i < len; i++)
            buf_add_char(&buf, 'k');
        int rc = modex_message_read(&message, buf_bytes(&buf), buf.len);
        assert_int_equal(rc, len > MODEX_MESSAGE_KEY_MAX ? -1 : 0);
        assert_int_equal(strlen(message.key), rc ? 0 : len);
        buf_free(&buf);
    }
}

static void what_was_written_is_read(void **state)
{
    const struct modex_message ask = {MODEX_MESSAGE_ASK, 1ull << 40, .rank = 3, .wait = 2000,
                                      .key = "card"};
    const struct modex_message found = {MODEX_MESSAGE_ANSWER, 9, .status = -46, .bytes = "a\0b",
                                        .len = 3};
    struct modex_message read;
    struct buf out = BUF_INIT;
    (void)state;
    modex_message_write(&out, &ask);
    assert_int_equal(modex_message_read(&read, buf_bytes(&out), out.len), 0);
    assert_true(read.kind == MODEX_MESSAGE_ASK && read.token == ask.token);
    assert_true(read.rank == 3 && read.wait == 2000);
    assert_string_equal(read.key, "card");
    buf_consume(&out, out.len);
    modex_message_write(&out, &found);
    assert_int_equal(modex_message_read(&read, buf_bytes(&out), out.len), 0);
    assert_true(read.kind == MODEX_MESSAGE_ANSWER && read.token == 9 && read.status == -46);
    assert_int_equal(read.len, 3);
    assert_memory_equal(read.bytes, "a\0b", 3);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_messages_are_refused),
        cmocka_unit_test(a_key_has_at_most_511_bytes),
        cmocka_unit_test(what_was_written_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

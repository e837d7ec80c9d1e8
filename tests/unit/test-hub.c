/* The hub, and what is said to it and by it. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/hub/hub.h"
#include "pmi-server/hub/talk.h"

static void fields_come_back_as_they_were_put(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    size_t len;
    packet_put_u8(&out, 200);
    packet_put_u32(&out, 4000000000u);
    packet_put_u64(&out, 1ull << 63 | 5);
    packet_put_text(&out, "text");
    packet_put_text(&out, NULL);
    packet_put_bytes(&out, "a\0b", 3);
    packet_put_u32(&out, 2);
    packet_put_u8(&out, 1);
    packet_put_u8(&out, 2);
    struct packet in = packet_of(buf_bytes(&out), out.len);
    assert_int_equal(packet_u8(&in), 200);
    assert_true(packet_u32(&in) == 4000000000u);
    assert_true(packet_u64(&in) == (1ull << 63 | 5));
    char *text = packet_text(&in), *none = packet_text(&in);
    assert_string_equal(text, "text");
    assert_string_equal(none, "");
    const void *bytes = packet_bytes(&in, &len);
    assert_int_equal(len, 3);
    assert_memory_equal(bytes, "a\0b", 3);
    assert_int_equal(packet_count(&in, 1), 2);
    assert_false(packet_ends(&in));
    assert_int_equal(packet_u8(&in) + packet_u8(&in), 3);
    assert_true(packet_ends(&in));
    free(text);
    free(none);
    buf_free(&out);
}

static void what_is_cut_short_is_bad_from_then_on(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    packet_put_u32(&out, 5);
    buf_add(&out, "four", 4);
    struct packet in = packet_of(buf_bytes(&out), out.len);
    char *text = packet_text(&in);
    assert_string_equal(text, "");
    assert_int_equal(packet_u8(&in), 0);
    assert_false(packet_ends(&in));
    free(text);
    in = packet_of("\2\0\0\0a", 6);
    text = packet_text(&in); /* a zero byte in it */
    assert_false(packet_ends(&in));
    free(text);
    in = packet_of("\3\0\0\0ab", 6);
    assert_int_equal(packet_count(&in, 1), 0);
    assert_true(in.bad);
    buf_free(&out);
}

static void tell(void *arg, uint32_t node, const void *bytes, size_t len)
{
    (void)arg, (void)node, (void)bytes, (void)len;
    fail();
}

static const struct hub_ops ops = {tell};

static void a_hub_refuses_what_is_malformed(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
    } bad[] = {
        {"", 0},
        {"\0", 1},
        {"\377\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 17}, /* no such kind */
        {"\0\0\0\0\0\0\0\0\0\5\0\0\0job", 16},        /* a name cut short */
        {"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0x", 18},  /* something behind it */
    };
    struct hub *hub = hub_new(&ops, NULL);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct error err = ERROR_INIT;
        assert_int_equal(hub_take(hub, 3, bad[i].bytes, bad[i].len, &err), -1);
        assert_string_equal(error_text(&err), "a malformed message of the PMIx host of node 3");
        error_clear(&err);
    }
    hub_free(hub);
}

static void a_question_that_is_unknown_is_forgotten(void **state)
{
    (void)state;
    struct hub *hub = hub_new(&ops, NULL);
    struct buf out = BUF_INIT;
    talk_put_up(&out, HUB_FORGET, 7, "job", 1);
    assert_int_equal(hub_take(hub, 0, buf_bytes(&out), out.len, NULL), 0);
    buf_free(&out);
    hub_free(hub);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_back_as_they_were_put),
        cmocka_unit_test(what_is_cut_short_is_bad_from_then_on),
        cmocka_unit_test(a_hub_refuses_what_is_malformed),
        cmocka_unit_test(a_question_that_is_unknown_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/tree/frame.h"

static void add_frame(struct buf *out, const struct frame *frame)
{
    unsigned char header[FRAME_HEADER];
    frame_encode_header(frame, header);
    buf_add(out, header, FRAME_HEADER);
    if (frame->len)
        buf_add(out, frame->bytes, frame->len);
}

static const struct frame samples[] = {
    {FRAME_PING, 0, 0, 0, 0, "12345678", 8},
    {FRAME_OUTPUT, FRAME_STDERR | FRAME_UNFINISHED, 7, 4711, 3, "a line", 6},
    {FRAME_OUTPUT, 0, 0, 0, 0, "a\0b", 3},
    {FRAME_SIGNAL, 15, FRAME_ALL, FRAME_ALL, FRAME_ALL, "", 0},
    {FRAME_CREDIT, 0xffff, 0x12345678, 0x89abcdef, 0x76543210, "", 0},
    {FRAME_END, 0, 0, 0, 0, "{}", 2},
};
#define NSAMPLES (sizeof(samples) / sizeof(samples[0]))

static void check_same(const struct frame *got, const struct frame *want)
{
    assert_int_equal(got->type, want->type);
    assert_int_equal(got->flags, want->flags);
    assert_int_equal(got->node, want->node);
    assert_int_equal(got->rank, want->rank);
    assert_int_equal(got->group, want->group);
    assert_int_equal(got->len, want->len);
    assert_memory_equal(got->bytes, want->bytes, want->len);
}

static void test_what_was_encoded_is_decoded(void **state)
{
    struct buf in = BUF_INIT;
    (void)state;
    for (size_t i = 0; i < NSAMPLES; i++) {
        struct frame frame;
        add_frame(&in, &samples[i]);
        assert_int_equal(frame_decode(&in, &frame, NULL), 1);
        check_same(&frame, &samples[i]);
        buf_consume(&in, FRAME_HEADER + frame.len);
        assert_int_equal(in.len, 0);
    }
    buf_free(&in);
}

static void test_every_type_travels(void **state)
{
    (void)state;
    for (int type = 1; type < FRAME_NTYPES; type++) {
        struct buf in = BUF_INIT;
        struct frame sent = {.type = (enum frame_type)type}, frame;
        add_frame(&in, &sent);
        assert_int_equal(frame_decode(&in, &frame, NULL), 1);
        assert_int_equal(frame.type, type);
        buf_free(&in);
    }
}

static void test_the_header_is_little_endian_on_every_machine(void **state)
{
    static const unsigned char expect[FRAME_HEADER] = {
        4,    3,    2,    1,    FRAME_OUTPUT, 0,    2,    1,    0x44, 0x33,
        0x22, 0x11, 0x88, 0x77, 0x66,         0x55, 0xcc, 0xbb, 0xaa, 0x99};
    unsigned char header[FRAME_HEADER];
    struct frame frame = {FRAME_OUTPUT, 0x0102, 0x11223344, 0x55667788,
                          0x99aabbcc,   NULL,   0x01020304};
    (void)state;
    frame_encode_header(&frame, header);
    assert_memory_equal(header, expect, FRAME_HEADER);
}

static void test_numbers_are_little_endian_on_every_machine(void **state)
{
    unsigned char bytes[8];
    (void)state;
    frame_put_u64(bytes, 0x0102030405060708u);
    assert_memory_equal(bytes, "\x08\x07\x06\x05\x04\x03\x02\x01", 8);
    assert_true(frame_get_u64(bytes) == 0x0102030405060708u);
}

/* A reader that gets one byte at a time. */
static void test_split_input_waits_for_the_whole_frame(void **state)
{
    struct buf all = BUF_INIT, in = BUF_INIT;
    size_t seen = 0;
    (void)state;
    for (size_t i = 0; i < NSAMPLES; i++)
        add_frame(&all, &samples[i]);
    for (size_t i = 0; i < all.len; i++) {
        struct frame frame;
        buf_add(&in, buf_bytes(&all) + i, 1);
        if (frame_decode(&in, &frame, NULL) == 0)
            continue;
        check_same(&frame, &samples[seen++]);
        assert_int_equal(in.len, FRAME_HEADER + frame.len);
        buf_consume(&in, in.len);
    }
    assert_int_equal(seen, NSAMPLES);
    assert_int_equal(in.len, 0);
    buf_free(&all);
    buf_free(&in);
}

static void test_several_frames_come_in_order(void **state)
{
    struct buf in = BUF_INIT;
    struct frame frame;
    (void)state;
    for (size_t i = 0; i < NSAMPLES; i++)
        add_frame(&in, &samples[i]);
    for (size_t i = 0; i < NSAMPLES; i++) {
        assert_int_equal(frame_decode(&in, &frame, NULL), 1);
        check_same(&frame, &samples[i]);
        buf_consume(&in, FRAME_HEADER + frame.len);
    }
    assert_int_equal(frame_decode(&in, &frame, NULL), 0);
    buf_free(&in);
}

static const struct {
    unsigned char header[FRAME_HEADER];
    const char *words;
} refusals[] = {
    {{0}, "unknown type 0"},
    {{0, 0, 0, 0, FRAME_NTYPES}, "unknown type"},
    {{0, 0, 0, 0, 0xff, 0xff}, "unknown type 65535"},
    {{0, 0, 0, 0, FRAME_PING, 1}, "unknown type 257"},
    {{1, 0, 0, 4, FRAME_OUTPUT}, "frame of 67108865 bytes"},
    {{0xff, 0xff, 0xff, 0xff, FRAME_OUTPUT}, "frame of 4294967295 bytes"},
    {"SSH-2.0-OpenSSH", "unknown type"},
};

/* Before any of the payload is there: nobody waits for, or makes room for, what cannot be. */
static void test_what_is_no_frame_is_refused_from_its_header(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct buf in = BUF_INIT;
        struct error err = ERROR_INIT;
        struct frame frame;
        buf_add(&in, refusals[i].header, FRAME_HEADER);
        if (frame_decode(&in, &frame, &err) != -1)
            fail_msg("case %zu was taken", i);
        if (!strstr(error_text(&err), refusals[i].words))
            fail_msg("case %zu: %s", i, error_text(&err));
        error_clear(&err);
        assert_int_equal(frame_decode(&in, &frame, NULL), -1);
        buf_free(&in);
    }
}

static void test_the_longest_frame_is_allowed(void **state)
{
    struct buf in = BUF_INIT;
    struct frame sent = {.type = FRAME_LAUNCH, .len = FRAME_MAX}, frame;
    unsigned char header[FRAME_HEADER];
    (void)state;
    frame_encode_header(&sent, header);
    buf_add(&in, header, FRAME_HEADER);
    assert_int_equal(frame_decode(&in, &frame, NULL), 0);
    memset(buf_reserve(&in, FRAME_MAX), 'x', FRAME_MAX);
    buf_added(&in, FRAME_MAX - 1);
    assert_int_equal(frame_decode(&in, &frame, NULL), 0);
    buf_added(&in, 1);
    assert_int_equal(frame_decode(&in, &frame, NULL), 1);
    assert_int_equal(frame.len, FRAME_MAX);
    buf_free(&in);
}

static void test_a_json_payload_is_read(void **state)
{
    struct error err = ERROR_INIT;
    static const char text[] = "{\"ranks\":\"0-3\"}trailing bytes of the next frame";
    struct frame frame = {.type = FRAME_ENDED, .bytes = text, .len = 15};
    json_t *value = frame_json(&frame, &err);
    (void)state;
    assert_non_null(value);
    assert_string_equal(json_string_value(json_object_get(value, "ranks")), "0-3");
    json_decref(value);
}

static void test_bad_json_is_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
    } cases[] = {{"", 0},         {"{", 1},        {"{}x", 3},           {"{\"a\":}", 6},
                 {"\xff\xfe", 2}, {"nothing", 7},  {"[1,2", 4},          {"{}\0", 3},
                 {"7", 1},        {"\"text\"", 6}, {"[\"\xc3\x28\"]", 6}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct frame frame = {.type = FRAME_HELLO, .bytes = cases[i].bytes, .len = cases[i].len};
        if (frame_json(&frame, &err))
            fail_msg("case %zu was taken", i);
        if (!strstr(error_text(&err), "frame of type"))
            fail_msg("case %zu: %s", i, error_text(&err));
        error_clear(&err);
    }
}

/* Deeper than any reader of ours would go: the parser has to give up, not the stack. */
static void test_deeply_nested_json_is_refused(void **state)
{
    struct buf text = BUF_INIT;
    (void)state;
    for (int i = 0; i < 1000000; i++)
        buf_add_char(&text, '[');
    struct frame frame = {.type = FRAME_HELLO, .bytes = buf_bytes(&text), .len = text.len};
    assert_null(frame_json(&frame, NULL));
    buf_free(&text);
}

static void test_bulk_is_what_tasks_write_and_read_and_what_comes_after_it(void **state)
{
    static const enum frame_type bulk[] = {
        FRAME_STDIN, FRAME_STDIN_END, FRAME_STDIN_CHOOSE, FRAME_OUTPUT,     FRAME_DONE,
        FRAME_END,   FRAME_SENT,      FRAME_STAGE,        FRAME_STAGE_DATA, FRAME_STAGE_END};
    int count = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(bulk) / sizeof(bulk[0]); i++)
        assert_true(frame_is_bulk(bulk[i]));
    for (int type = 1; type < FRAME_NTYPES; type++)
        count += frame_is_bulk((enum frame_type)type);
    assert_int_equal(count, sizeof(bulk) / sizeof(bulk[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_encoded_is_decoded),
        cmocka_unit_test(test_every_type_travels),
        cmocka_unit_test(test_the_header_is_little_endian_on_every_machine),
        cmocka_unit_test(test_numbers_are_little_endian_on_every_machine),
        cmocka_unit_test(test_split_input_waits_for_the_whole_frame),
        cmocka_unit_test(test_several_frames_come_in_order),
        cmocka_unit_test(test_what_is_no_frame_is_refused_from_its_header),
        cmocka_unit_test(test_the_longest_frame_is_allowed),
        cmocka_unit_test(test_a_json_payload_is_read),
        cmocka_unit_test(test_bad_json_is_refused),
        cmocka_unit_test(test_deeply_nested_json_is_refused),
        cmocka_unit_test(test_bulk_is_what_tasks_write_and_read_and_what_comes_after_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tests/unit/unit.h"

#include <string.h>

#include "launcher/tree/frame.h"

static void put_frame(struct buf *out, const struct frame *frame)
{
    unsigned char header[FRAME_HEADER];
    frame_encode_header(frame, header);
    buf_add(out, header, sizeof(header));
    buf_add(out, frame->bytes, frame->len);
}

static void check_same(const struct frame *got, const struct frame *expected)
{
    assert_int_equal(got->type, expected->type);
    assert_int_equal(got->flags, expected->flags);
    assert_int_equal(got->node, expected->node);
    assert_int_equal(got->rank, expected->rank);
    assert_int_equal(got->len, expected->len);
    if (expected->len)
        assert_memory_equal(got->bytes, expected->bytes, expected->len);
}

static const struct frame samples[] = {
    {FRAME_PING, 0, 0, 0, "12345678", 8},
    {FRAME_OUTPUT, FRAME_STDERR | FRAME_UNFINISHED, 3, 70000, "a\0b\nc", 5},
    {FRAME_SIGNAL, 0xffff, FRAME_ALL, FRAME_ALL, NULL, 0},
    {FRAME_CREDIT, 0, 1, 0x12345678, NULL, 0},
    {FRAME_END, 0x8001, 0x80000000, 1, "{}", 2},
};
#define NSAMPLES (sizeof(samples) / sizeof(samples[0]))

static void test_what_is_encoded_is_decoded_again(void **state)
{
    (void)state;
    struct buf in = BUF_INIT;
    struct frame frame;
    for (size_t i = 0; i < NSAMPLES; i++)
        put_frame(&in, &samples[i]);
    for (size_t i = 0; i < NSAMPLES; i++) {
        assert_int_equal(frame_decode(&in, &frame, NULL), 1);
        check_same(&frame, &samples[i]);
        buf_consume(&in, FRAME_HEADER + frame.len);
    }
    assert_int_equal(in.len, 0);
    assert_int_equal(frame_decode(&in, &frame, NULL), 0);
    buf_free(&in);
}

static void test_a_header_is_little_endian_on_every_machine(void **state)
{
    (void)state;
    static const unsigned char expected[FRAME_HEADER] = {
        0x03, 0x02, 0x01, 0, FRAME_OUTPUT, 0, 0xbb, 0xaa, 4, 3, 2, 1, 8, 7, 6, 5};
    unsigned char header[FRAME_HEADER];
    struct frame frame = {FRAME_OUTPUT, 0xaabb, 0x01020304, 0x05060708, NULL, 0x010203};
    frame_encode_header(&frame, header);
    assert_memory_equal(header, expected, FRAME_HEADER);
}

static void test_a_number_of_64_bits_is_little_endian_too(void **state)
{
    (void)state;
    static const unsigned char expected[] = {8, 7, 6, 5, 4, 3, 2, 0xf1};
    unsigned char bytes[8];
    frame_put_u64(bytes, 0xf102030405060708u);
    assert_memory_equal(bytes, expected, 8);
    assert_true(frame_get_u64(bytes) == 0xf102030405060708u);
}

static void test_frames_may_arrive_byte_by_byte(void **state)
{
    (void)state;
    struct buf all = BUF_INIT, in = BUF_INIT;
    struct frame frame;
    size_t seen = 0, expected_at = 0;
    for (size_t i = 0; i < NSAMPLES; i++)
        put_frame(&all, &samples[i]);
    expected_at = FRAME_HEADER + samples[0].len;
    for (size_t at = 0; at < all.len; at++) {
        buf_add_char(&in, buf_bytes(&all)[at]);
        int rc = frame_decode(&in, &frame, NULL);
        assert_int_equal(rc, at + 1 == expected_at);
        if (!rc)
            continue;
        check_same(&frame, &samples[seen]);
        buf_consume(&in, FRAME_HEADER + frame.len);
        if (++seen < NSAMPLES)
            expected_at += FRAME_HEADER + samples[seen].len;
    }
    assert_int_equal(seen, NSAMPLES);
    buf_free(&in);
    buf_free(&all);
}

/* type and length as they stand in the header */
static const struct {
    uint32_t len;
    uint16_t type;
    int rc;
    const char *says;
} headers[] = {
    {0, 0, -1, "unknown type 0"},
    {0, FRAME_NTYPES, -1, "unknown type"},
    {0, 0xffff, -1, "unknown type 65535"},
    {0x20485353, 0x2d32, -1, "unknown type"},
    {FRAME_MAX + 1, FRAME_NOTE, -1, "at most 67108864"},
    {UINT32_MAX, FRAME_NOTE, -1, "4294967295 bytes"},
    {FRAME_MAX, FRAME_NOTE, 0, NULL},
    {1, FRAME_NTYPES - 1, 0, NULL},
    {0, FRAME_NTYPES - 1, 1, NULL},
};

static void test_unknown_types_and_long_frames_are_refused_by_their_header(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        struct error err = ERROR_INIT;
        struct buf in = BUF_INIT;
        struct frame frame = {.type = (enum frame_type)headers[i].type, .len = headers[i].len};
        unsigned char header[FRAME_HEADER];
        frame_encode_header(&frame, header);
        buf_add(&in, header, FRAME_HEADER - 1);
        assert_int_equal(frame_decode(&in, &frame, &err), 0);
        buf_add(&in, header + FRAME_HEADER - 1, 1);
        assert_int_equal(frame_decode(&in, &frame, &err), headers[i].rc);
        if (headers[i].says && !strstr(error_text(&err), headers[i].says))
            fail_msg("%zu: %s", i, error_text(&err));
        if (!headers[i].says)
            assert_null(err.text);
        error_clear(&err);
        buf_free(&in);
    }
}

static const struct {
    const char *bytes;
    size_t len;
} bad_json[] = {{"", 0},         {"{", 1},          {"{}x", 3},   {"\xff\xfe", 2},
                {"{\"a\":}", 6}, {"[\"\xff\"]", 5}, {"{} \0", 4}, {"nul", 3}};

static void test_a_payload_that_is_no_json_is_refused_with_a_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_json) / sizeof(bad_json[0]); i++) {
        struct error err = ERROR_INIT;
        struct frame frame = {.type = FRAME_HELLO, .bytes = bad_json[i].bytes};
        frame.len = bad_json[i].len;
        json_t *value = frame_json(&frame, &err);
        if (value)
            fail_msg("%zu was taken", i);
        assert_non_null(err.text);
        assert_non_null(strstr(err.text, "frame of type"));
        error_clear(&err);
    }
}

static void test_json_ends_where_the_payload_does(void **state)
{
    (void)state;
    struct frame frame = {.type = FRAME_HELLO, .bytes = "{\"a\": 7}garbage", .len = 8};
    json_t *value = frame_json(&frame, NULL);
    assert_non_null(value);
    assert_int_equal(json_integer_value(json_object_get(value, "a")), 7);
    json_decref(value);
}

static void test_only_what_grows_with_output_and_input_is_bulk(void **state)
{
    (void)state;
    static const enum frame_type bulk[] = {FRAME_STDIN, FRAME_STDIN_END, FRAME_OUTPUT, FRAME_DONE,
                                           FRAME_END};
    for (int type = 1; type < FRAME_NTYPES; type++) {
        int expected = 0;
        for (size_t i = 0; i < sizeof(bulk) / sizeof(bulk[0]); i++)
            expected |= (int)bulk[i] == type;
        assert_int_equal(frame_is_bulk((enum frame_type)type), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_encoded_is_decoded_again),
        cmocka_unit_test(test_a_header_is_little_endian_on_every_machine),
        cmocka_unit_test(test_a_number_of_64_bits_is_little_endian_too),
        cmocka_unit_test(test_frames_may_arrive_byte_by_byte),
        cmocka_unit_test(test_unknown_types_and_long_frames_are_refused_by_their_header),
        cmocka_unit_test(test_a_payload_that_is_no_json_is_refused_with_a_sentence),
        cmocka_unit_test(test_json_ends_where_the_payload_does),
        cmocka_unit_test(test_only_what_grows_with_output_and_input_is_bulk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

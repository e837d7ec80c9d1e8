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

/* ---- what tasks write ---- */

struct heard { /* by one node */
    unsigned answers, outputs;
    enum hub_status status; /* of the last answer */
    uint64_t lost;
    struct hub_proc from;
    unsigned channel;
    char bytes[64];
    size_t len, total;
    unsigned pushes;
    uint64_t number; /* of the last push */
};

static void hear(void *arg, uint32_t node, const void *bytes, size_t len)
{
    struct heard *heard = (struct heard *)arg + node;
    struct talk_down talk;
    assert_int_equal(talk_read_down(&talk, bytes, len), 0);
    if (talk.kind == ORDER_ANSWER) {
        heard->answers++;
        heard->status = talk.status;
        return;
    }
    if (talk.kind == ORDER_PUSH) {
        heard->pushes++;
        heard->number = packet_u64(&talk.rest);
        return;
    }
    assert_int_equal(talk.kind, ORDER_OUTPUT);
    heard->outputs++;
    heard->lost += packet_u64(&talk.rest);
    free(heard->from.job);
    heard->from = talk_proc(&talk.rest);
    heard->channel = packet_u8(&talk.rest);
    const void *text = packet_bytes(&talk.rest, &heard->len);
    memcpy(heard->bytes, text, heard->len < sizeof(heard->bytes) ? heard->len : 0);
    heard->total += heard->len;
    assert_true(packet_ends(&talk.rest));
}

static const struct hub_ops hearing = {hear};

static struct hub *hub_with_job(struct heard heard[2])
{
    static const uint32_t nodes[] = {0, 1};
    memset(heard, 0, 2 * sizeof(*heard));
    struct hub *hub = hub_new(&hearing, heard);
    struct taskmap *map = taskmap_decode("[[0,2,2,1]]", NULL);
    hub_add(hub, &(struct hub_job){"job", map, nodes});
    taskmap_free(map);
    return hub;
}

static void hub_done(struct hub *hub, struct heard heard[2])
{
    free(heard[0].from.job);
    free(heard[1].from.job);
    hub_free(hub);
}

static int pull(struct hub *hub, uint32_t node, unsigned channels, const char *job, uint32_t rank)
{
    struct buf out = BUF_INIT;
    talk_put_up(&out, HUB_PULL, 7, "server", node);
    packet_put_u8(&out, (uint8_t)channels);
    packet_put_u32(&out, 1);
    talk_put_proc(&out, job, rank);
    int rc = hub_take(hub, node, buf_bytes(&out), out.len, NULL);
    buf_free(&out);
    return rc;
}

static int say(struct hub *hub, uint32_t node, enum hub_kind kind, uint64_t bytes)
{
    struct buf out = BUF_INIT;
    talk_put_up(&out, kind, 0, "server", node);
    if (kind == HUB_TAKEN)
        packet_put_u64(&out, bytes);
    int rc = hub_take(hub, node, buf_bytes(&out), out.len, NULL);
    buf_free(&out);
    return rc;
}

static void a_node_hears_what_it_pulls_and_once(void **state)
{
    (void)state;
    struct heard heard[2];
    struct hub *hub = hub_with_job(heard);
    assert_false(hub_is_pulled(hub));
    assert_int_equal(pull(hub, 1, HUB_STDOUT, "job", HUB_ALL), 0);
    assert_int_equal(pull(hub, 1, HUB_STDOUT | HUB_STDERR, "job", 3), 0);
    assert_int_equal(heard[1].answers, 2);
    assert_int_equal(heard[1].status, HUB_OK);
    assert_true(hub_is_pulled(hub));
    hub_output(hub, "job", 3, HUB_STDOUT, "three\n", 6);
    assert_int_equal(heard[1].outputs, 1);
    assert_int_equal(heard[1].from.rank, 3);
    assert_string_equal(heard[1].from.job, "job");
    assert_int_equal(heard[1].channel, HUB_STDOUT);
    assert_memory_equal(heard[1].bytes, "three\n", 6);
    hub_output(hub, "job", 3, HUB_STDERR, "err", 3);
    hub_output(hub, "job", 2, HUB_STDERR, "err", 3); /* not pulled */
    hub_output(hub, "other", 3, HUB_STDOUT, "o", 1); /* nor this */
    assert_int_equal(heard[1].outputs, 2);
    assert_int_equal(heard[0].outputs, 0);
    assert_int_equal(say(hub, 1, HUB_UNPULL, 0), 0);
    assert_false(hub_is_pulled(hub));
    hub_output(hub, "job", 3, HUB_STDOUT, "more", 4);
    assert_int_equal(heard[1].outputs, 2);
    hub_done(hub, heard);
}

static void what_cannot_be_pulled_is_refused(void **state)
{
    (void)state;
    struct heard heard[2];
    struct hub *hub = hub_with_job(heard);
    static const struct {
        const char *job;
        uint32_t rank;
        unsigned channels;
        enum hub_status status;
    } rows[] = {{"other", 0, HUB_STDOUT, HUB_NOT_FOUND},
                {"job", 4, HUB_STDOUT, HUB_BAD},
                {"job", 0, 0, HUB_BAD}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_int_equal(pull(hub, 0, rows[i].channels, rows[i].job, rows[i].rank), 0);
        assert_int_equal(heard[0].status, rows[i].status);
    }
    assert_int_equal(pull(hub, 0, 4, "job", 0), -1); /* no such channel */
    assert_int_equal(say(hub, 0, HUB_TAKEN, 1), -1); /* nothing was sent */
    for (unsigned i = 0; i < HUB_PULLS; i++)
        assert_int_equal(pull(hub, 0, HUB_STDOUT, "job", 0), 0);
    assert_int_equal(heard[0].status, HUB_OK);
    assert_int_equal(pull(hub, 0, HUB_STDOUT, "job", 0), 0);
    assert_int_equal(heard[0].status, HUB_NOT_PERMITTED);
    hub_done(hub, heard);
}

static void who_does_not_keep_up_loses_and_is_told_how_much(void **state)
{
    (void)state;
    static char many[1 << 16];
    struct heard heard[2];
    struct hub *hub = hub_with_job(heard);
    pull(hub, 0, HUB_STDOUT, "job", HUB_ALL);
    pull(hub, 1, HUB_STDOUT, "job", HUB_ALL);
    for (size_t sent = 0; sent < HUB_WINDOW + 10 * sizeof(many); sent += sizeof(many)) {
        hub_output(hub, "job", 0, HUB_STDOUT, many, sizeof(many));
        assert_int_equal(say(hub, 1, HUB_TAKEN, sizeof(many)), 0);
    }
    assert_true(heard[0].total == HUB_WINDOW);
    assert_true(heard[0].lost == sizeof(many)); /* that it begins is told at once */
    assert_true(heard[1].total == HUB_WINDOW + 10 * sizeof(many));
    assert_true(heard[1].lost == 0);
    assert_int_equal(say(hub, 0, HUB_TAKEN, HUB_WINDOW), 0);
    assert_true(heard[0].lost == 10 * sizeof(many));
    hub_output(hub, "job", 0, HUB_STDOUT, "again", 5);
    assert_true(heard[0].total == HUB_WINDOW + 5);
    assert_true(heard[0].lost == 10 * sizeof(many));
    hub_done(hub, heard);
}

/* ---- what tasks read ---- */

static int push(struct hub *hub, uint32_t node, const char *job, uint32_t rank, size_t len)
{
    static const char bytes[HUB_PUSH_MAX + 1];
    struct buf out = BUF_INIT;
    talk_put_up(&out, HUB_PUSH, 7, "tool", 0);
    packet_put_u32(&out, 1);
    talk_put_proc(&out, job, rank);
    packet_put_u8(&out, 0);
    packet_put_bytes(&out, bytes, len);
    int rc = hub_take(hub, node, buf_bytes(&out), out.len, NULL);
    buf_free(&out);
    return rc;
}

static int pushed(struct hub *hub, uint32_t node, uint64_t number, enum hub_status status)
{
    struct buf out = BUF_INIT;
    talk_put_up(&out, HUB_PUSHED, 0, "server", node);
    packet_put_u64(&out, number);
    packet_put_u8(&out, (uint8_t)status);
    int rc = hub_take(hub, node, buf_bytes(&out), out.len, NULL);
    buf_free(&out);
    return rc;
}

static void a_push_is_done_when_all_its_nodes_have_it(void **state)
{
    (void)state;
    struct heard heard[2];
    struct hub *hub = hub_with_job(heard);
    assert_int_equal(push(hub, 1, "job", HUB_ALL, 10), 0);
    assert_int_equal(heard[0].pushes + heard[1].pushes, 2);
    assert_int_equal(pushed(hub, 0, heard[0].number, HUB_OK), 0);
    assert_int_equal(heard[1].answers, 0);
    assert_int_equal(pushed(hub, 0, heard[0].number, HUB_OK), -1); /* it said that already */
    assert_int_equal(pushed(hub, 1, heard[1].number, HUB_OK), 0);
    assert_int_equal(heard[1].answers, 1);
    assert_int_equal(heard[1].status, HUB_OK);
    assert_int_equal(push(hub, 1, "job", 0, 0), 0);
    assert_int_equal(heard[0].pushes, 2);
    assert_int_equal(heard[1].pushes, 1);
    assert_int_equal(pushed(hub, 0, heard[0].number, HUB_NOT_PERMITTED), 0);
    assert_int_equal(heard[1].status, HUB_NOT_PERMITTED);
    hub_done(hub, heard);
}

static void a_push_to_nobody_or_of_too_much_is_refused(void **state)
{
    (void)state;
    struct heard heard[2];
    struct hub *hub = hub_with_job(heard);
    assert_int_equal(push(hub, 0, "other", 0, 1), 0);
    assert_int_equal(heard[0].status, HUB_NOT_FOUND);
    assert_int_equal(push(hub, 0, "job", 4, 1), 0);
    assert_int_equal(heard[0].status, HUB_BAD);
    assert_int_equal(push(hub, 0, "job", 0, HUB_PUSH_MAX + 1), -1);
    assert_int_equal(pushed(hub, 0, 1, HUB_OK), -1); /* there is none */
    for (unsigned i = 0; i < HUB_PUSHES; i++)
        assert_int_equal(push(hub, 0, "job", 0, HUB_PUSH_MAX), 0);
    assert_int_equal(heard[0].pushes, HUB_PUSHES);
    assert_int_equal(push(hub, 0, "job", 0, 1), 0);
    assert_int_equal(heard[0].pushes, HUB_PUSHES);
    assert_int_equal(heard[0].status, HUB_NOT_PERMITTED);
    hub_done(hub, heard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_back_as_they_were_put),
        cmocka_unit_test(what_is_cut_short_is_bad_from_then_on),
        cmocka_unit_test(a_hub_refuses_what_is_malformed),
        cmocka_unit_test(a_question_that_is_unknown_is_forgotten),
        cmocka_unit_test(a_node_hears_what_it_pulls_and_once),
        cmocka_unit_test(what_cannot_be_pulled_is_refused),
        cmocka_unit_test(who_does_not_keep_up_loses_and_is_told_how_much),
        cmocka_unit_test(a_push_is_done_when_all_its_nodes_have_it),
        cmocka_unit_test(a_push_to_nobody_or_of_too_much_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

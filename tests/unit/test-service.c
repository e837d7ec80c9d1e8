/* The hub, and what is said to it and by it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/protocol/message.h"
#include "pmi-server/service/service.h"
#include "tests/unit/unit.h"

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

/* ---- events, deaths, control ---- */

struct said { /* what the hub told hosts: "NODE:" and the message */
    unsigned count;
    uint32_t nodes[16];
    struct buf bytes[16];
};

static void keep(void *arg, uint32_t node, const void *bytes, size_t len)
{
    struct said *said = arg;
    assert_uint_in_range(said->count, 0, 15);
    said->nodes[said->count] = node;
    buf_add(&said->bytes[said->count++], bytes, len);
}

static const struct hub_ops keeping = {keep};

static void said_clear(struct said *said)
{
    for (unsigned i = 0; i < said->count; i++)
        buf_free(&said->bytes[i]);
    said->count = 0;
}

/* Nodes that were told, in order. */
static void check_said(const struct said *said, enum hub_order kind, const char *nodes)
{
    struct buf text = BUF_INIT;
    for (unsigned i = 0; i < said->count; i++) {
        struct talk_down talk;
        assert_int_equal(talk_read_down(&talk, buf_bytes(&said->bytes[i]), said->bytes[i].len), 0);
        if (talk.kind == kind)
            buf_printf(&text, "%s%u", text.len ? "," : "", said->nodes[i]);
    }
    assert_string_equal(buf_text(&text), nodes);
    buf_free(&text);
}

/* "first": ranks 0-1 on 5, 2-3 on 6; "second": one each on 6 and 7. */
static struct hub *two_jobs(struct said *said)
{
    struct hub *hub = hub_new(&keeping, said);
    struct taskmap *first = taskmap_new(), *second = taskmap_new();
    for (uint32_t i = 0; i < 2; i++) {
        taskmap_append(first, i, 2);
        taskmap_append(second, i, 1);
    }
    hub_add(hub,
            &(struct hub_job){.name = "first", .map = first, .node = (const uint32_t[]){5, 6}});
    hub_add(hub,
            &(struct hub_job){.name = "second", .map = second, .node = (const uint32_t[]){6, 7}});
    taskmap_free(first);
    taskmap_free(second);
    return hub;
}

static int take_up(struct hub *hub, uint32_t node, struct buf *message)
{
    int rc = hub_take(hub, node, buf_bytes(message), message->len, NULL);
    buf_free(message);
    return rc;
}

static int notify(struct hub *hub, uint32_t node, enum hub_reach reach, const char *job,
                  uint32_t rank)
{
    struct buf out = BUF_INIT;
    talk_put_up(&out, HUB_NOTIFY, 0, "first", 0);
    packet_put_u8(&out, (uint8_t)reach);
    packet_put_u32(&out, job ? 1 : 0);
    if (job)
        talk_put_proc(&out, job, rank);
    packet_put_bytes(&out, "event", 5);
    return take_up(hub, node, &out);
}

static void an_event_goes_to_the_nodes_that_it_concerns_but_its_own(void **state)
{
    (void)state;
    static const struct {
        uint32_t node;
        enum hub_reach reach;
        const char *job;
        uint32_t rank;
        const char *told;
    } cases[] = {
        {5, HUB_REACH_JOB, NULL, 0, "6"},           {6, HUB_REACH_JOB, NULL, 0, "5"},
        {5, HUB_REACH_PROGRAM, NULL, 0, "6,7"},     {5, HUB_REACH_SOME, "second", 1, "7"},
        {5, HUB_REACH_SOME, "first", HUB_ALL, "6"}, {5, HUB_REACH_SOME, "first", 1, ""},
        {5, HUB_REACH_SOME, "first", 4, ""},        {5, HUB_REACH_SOME, "third", HUB_ALL, ""},
        {5, HUB_REACH_SOME, NULL, 0, ""},
    };
    struct said said = {0};
    struct hub *hub = two_jobs(&said);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(notify(hub, cases[i].node, cases[i].reach, cases[i].job, cases[i].rank),
                         0);
        check_said(&said, ORDER_NOTIFY, cases[i].told);
        said_clear(&said);
    }
    assert_int_equal(notify(hub, 5, HUB_NREACHES, NULL, 0), -1);
    hub_free(hub);
}

static int die(struct hub *hub, uint32_t node, const char *job, uint32_t rank)
{
    struct buf out = BUF_INIT;
    struct hub_death death = {.how = HUB_SIGNALED, .code = 9, .goes_on = true};
    talk_put_up(&out, HUB_DIED, 0, job, rank);
    talk_put_death(&out, &death);
    return take_up(hub, node, &out);
}

static void a_death_is_told_once_to_the_nodes_of_its_job(void **state)
{
    (void)state;
    struct said said = {0};
    struct hub *hub = two_jobs(&said);
    assert_int_equal(die(hub, 6, "first", 2), 0);
    assert_int_equal(die(hub, 6, "first", 2), 0);
    assert_int_equal(die(hub, 6, "first", 1), 0); /* not there */
    assert_int_equal(die(hub, 6, "third", 0), 0);
    check_said(&said, ORDER_DIED, "5,6");
    struct talk_down talk;
    talk_read_down(&talk, buf_bytes(&said.bytes[0]), said.bytes[0].len);
    char *name = packet_text(&talk.rest);
    struct hub_death death = talk_death(&talk.rest);
    death.ranks = talk_ranks(&talk.rest);
    assert_string_equal(name, "first");
    assert_int_equal(death.how, HUB_SIGNALED);
    assert_int_equal(death.code, 9);
    assert_true(death.goes_on);
    assert_int_equal(idset_count(death.ranks), 1);
    assert_true(idset_has(death.ranks, 2));
    free(name);
    idset_free(death.ranks);
    said_clear(&said);
    hub_free(hub);
}

static void who_is_connected_hears_of_deaths_too(void **state)
{
    (void)state;
    struct said said = {0};
    struct hub *hub = two_jobs(&said);
    struct taskmap *map = taskmap_new();
    taskmap_append(map, 0, 1);
    hub_add(hub,
            &(struct hub_job){
                .name = "child", .map = map, .node = (const uint32_t[]){8}, .spawner = "second"});
    assert_int_equal(die(hub, 8, "child", 0), 0);
    check_said(&said, ORDER_DIED, "6,7,8");
    said_clear(&said);
    assert_int_equal(die(hub, 5, "first", 0), 0);
    check_said(&said, ORDER_DIED, "5,6");
    said_clear(&said);
    hub_remove(hub, "child");
    assert_int_equal(die(hub, 7, "second", 1), 0);
    check_said(&said, ORDER_DIED, "6,7");
    taskmap_free(map);
    said_clear(&said);
    hub_free(hub);
}

/* All of both jobs. */
static void gather(struct hub *hub, enum hub_gathering operation)
{
    for (uint32_t node = 5; node <= 7; node++) {
        struct buf out = BUF_INIT;
        talk_put_up(&out, HUB_GATHER, node, node == 5 ? "first" : "second", 0);
        packet_put_u8(&out, (uint8_t)operation);
        packet_put_u8(&out, 0);
        packet_put_text(&out, NULL);
        packet_put_bytes(&out, "", 0);
        packet_put_u32(&out, 2);
        packet_put_text(&out, "first");
        packet_put_text(&out, NULL);
        packet_put_text(&out, "second");
        packet_put_text(&out, NULL);
        assert_int_equal(take_up(hub, node, &out), 0);
    }
}

static void who_connects_hears_of_deaths_until_it_disconnects(void **state)
{
    (void)state;
    struct said said = {0};
    struct hub *hub = two_jobs(&said);
    gather(hub, GATHER_CONNECT);
    check_said(&said, ORDER_ANSWER, "5,6,7");
    said_clear(&said);
    assert_int_equal(die(hub, 7, "second", 1), 0);
    check_said(&said, ORDER_DIED, "5,6,7");
    said_clear(&said);
    hub_free(hub);
    hub = two_jobs(&said);
    gather(hub, GATHER_CONNECT);
    gather(hub, GATHER_DISCONNECT);
    said_clear(&said);
    assert_int_equal(die(hub, 7, "second", 1), 0);
    check_said(&said, ORDER_DIED, "6,7");
    said_clear(&said);
    hub_free(hub);
}

static void a_node_that_is_lost_takes_tasks_of_all_jobs_along(void **state)
{
    (void)state;
    struct said said = {0};
    struct hub *hub = two_jobs(&said);
    struct idset *lost = idset_decode("6", NULL);
    hub_lost(hub, lost);
    hub_lost(hub, lost);
    assert_int_equal(said.count, 2);
    check_said(&said, ORDER_DIED, "7,5");
    idset_free(lost);
    said_clear(&said);
    hub_free(hub);
}

static int control(struct hub *hub, uint32_t action, const char *job, uint32_t rank)
{
    struct buf out = BUF_INIT;
    talk_put_up(&out, HUB_CONTROL, 3, "first", 0);
    packet_put_u8(&out, (uint8_t)action);
    packet_put_u32(&out, 10);
    packet_put_u32(&out, job ? 2 : 0);
    for (int i = 0; job && i < 2; i++)
        talk_put_proc(&out, job, rank);
    return take_up(hub, 5, &out);
}

static enum hub_status answer_of(const struct said *said)
{
    struct talk_down talk;
    assert_true(said->count > 0);
    const struct buf *last = &said->bytes[said->count - 1];
    assert_int_equal(talk_read_down(&talk, buf_bytes(last), last->len), 0);
    assert_int_equal(talk.kind, ORDER_ANSWER);
    assert_int_equal(talk.token, 3);
    return talk.status;
}

static void what_is_to_be_done_to_tasks_goes_to_their_nodes(void **state)
{
    (void)state;
    static const struct {
        const char *job;
        uint32_t rank;
        enum hub_status status;
        const char *told;
    } cases[] = {
        {"first", HUB_ALL, HUB_OK, "5,6"}, {"second", 1, HUB_OK, "7"},
        {"first", 4, HUB_NOT_FOUND, ""},   {"third", HUB_ALL, HUB_NOT_FOUND, ""},
        {"", HUB_ALL, HUB_NOT_FOUND, ""},  {NULL, 0, HUB_OK, "6,7,5,6"}, /* nobody: all */
    };
    struct said said = {0};
    struct hub *hub = two_jobs(&said);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(control(hub, HUB_SIGNAL, cases[i].job, cases[i].rank), 0);
        assert_int_equal(answer_of(&said), cases[i].status);
        check_said(&said, ORDER_CONTROL, cases[i].told);
        said_clear(&said);
    }
    assert_int_equal(control(hub, HUB_NACTIONS, "first", 0), -1);
    hub_free(hub);
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
        cmocka_unit_test(an_event_goes_to_the_nodes_that_it_concerns_but_its_own),
        cmocka_unit_test(a_death_is_told_once_to_the_nodes_of_its_job),
        cmocka_unit_test(who_is_connected_hears_of_deaths_too),
        cmocka_unit_test(who_connects_hears_of_deaths_until_it_disconnects),
        cmocka_unit_test(a_node_that_is_lost_takes_tasks_of_all_jobs_along),
        cmocka_unit_test(what_is_to_be_done_to_tasks_goes_to_their_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The service, and what is said to it and by it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/protocol/message.h"
#include "pmi-server/service/iof.h"
#include "pmi-server/service/service.h"
#include "tests/unit/unit.h"

static void fields_come_back_as_they_were_put(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    size_t len;
    pack_put_u8(&out, 200);
    pack_put_u32(&out, 4000000000u);
    pack_put_u64(&out, 1ull << 63 | 5);
    pack_put_text(&out, "text");
    pack_put_text(&out, NULL);
    pack_put_bytes(&out, "a\0b", 3);
    pack_put_u32(&out, 2);
    pack_put_u8(&out, 1);
    pack_put_u8(&out, 2);
    struct pack in = pack_of(buf_bytes(&out), out.len);
    assert_int_equal(pack_u8(&in), 200);
    assert_true(pack_u32(&in) == 4000000000u);
    assert_true(pack_u64(&in) == (1ull << 63 | 5));
    char *text = pack_get_text(&in), *none = pack_get_text(&in);
    assert_string_equal(text, "text");
    assert_string_equal(none, "");
    const void *bytes = pack_bytes(&in, &len);
    assert_int_equal(len, 3);
    assert_memory_equal(bytes, "a\0b", 3);
    assert_int_equal(pack_count(&in, 1), 2);
    assert_false(pack_ends(&in));
    assert_int_equal(pack_u8(&in) + pack_u8(&in), 3);
    assert_true(pack_ends(&in));
    free(text);
    free(none);
    buf_free(&out);
}

static void a_message_that_is_cut_short_is_bad_from_there_on(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    pack_put_u32(&out, 5);
    buf_add(&out, "four", 4);
    struct pack in = pack_of(buf_bytes(&out), out.len);
    char *text = pack_get_text(&in);
    assert_string_equal(text, "");
    assert_int_equal(pack_u8(&in), 0);
    assert_false(pack_ends(&in));
    free(text);
    in = pack_of("\2\0\0\0a", 6);
    text = pack_get_text(&in); /* a zero byte in it */
    assert_false(pack_ends(&in));
    free(text);
    in = pack_of("\3\0\0\0ab", 6);
    assert_int_equal(pack_count(&in, 1), 0);
    assert_true(in.bad);
    buf_free(&out);
}

static void tell(void *arg, uint32_t node, const void *bytes, size_t len)
{
    (void)arg, (void)node, (void)bytes, (void)len;
    fail();
}

static const struct pmi_service_ops ops = {tell};

static void the_service_refuses_malformed_messages(void **state)
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
    struct pmi_service *service = pmi_service_new(&ops, NULL);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct error err = ERROR_INIT;
        assert_int_equal(pmi_service_take(service, 3, bad[i].bytes, bad[i].len, &err), -1);
        assert_string_equal(error_text(&err), "a malformed message of the PMIx host of node 3");
        error_clear(&err);
    }
    pmi_service_free(service);
}

static void a_question_that_is_unknown_is_forgotten(void **state)
{
    (void)state;
    struct pmi_service *service = pmi_service_new(&ops, NULL);
    struct buf out = BUF_INIT;
    message_put_up(&out, REQUEST_FORGET, 7, "job", 1);
    assert_int_equal(pmi_service_take(service, 0, buf_bytes(&out), out.len, NULL), 0);
    buf_free(&out);
    pmi_service_free(service);
}

/* ---- what tasks write ---- */

struct heard { /* by one node */
    unsigned answers, outputs;
    enum reply_status status; /* of the last answer */
    uint64_t lost;
    struct process_name from;
    unsigned channel;
    char bytes[64];
    size_t len, total;
    unsigned pushes;
    uint64_t number; /* of the last push */
};

static void hear(void *arg, uint32_t node, const void *bytes, size_t len)
{
    struct heard *heard = (struct heard *)arg + node;
    struct message_down talk;
    assert_int_equal(message_read_down(&talk, bytes, len), 0);
    if (talk.kind == ORDER_ANSWER) {
        heard->answers++;
        heard->status = talk.status;
        return;
    }
    if (talk.kind == ORDER_PUSH) {
        heard->pushes++;
        heard->number = pack_u64(&talk.rest);
        return;
    }
    assert_int_equal(talk.kind, ORDER_OUTPUT);
    heard->outputs++;
    heard->lost += pack_u64(&talk.rest);
    free(heard->from.job);
    heard->from = message_proc(&talk.rest);
    heard->channel = pack_u8(&talk.rest);
    const void *text = pack_bytes(&talk.rest, &heard->len);
    memcpy(heard->bytes, text, heard->len < sizeof(heard->bytes) ? heard->len : 0);
    heard->total += heard->len;
    assert_true(pack_ends(&talk.rest));
}

static const struct pmi_service_ops hearing = {hear};

static struct pmi_service *pmi_service_with_job(struct heard heard[2])
{
    static const uint32_t nodes[] = {0, 1};
    memset(heard, 0, 2 * sizeof(*heard));
    struct pmi_service *service = pmi_service_new(&hearing, heard);
    struct taskmap *map = taskmap_decode("[[0,2,2,1]]", NULL);
    pmi_service_add(service, &(struct namespace_facts){"job", map, nodes});
    taskmap_free(map);
    return service;
}

static void pmi_service_done(struct pmi_service *service, struct heard heard[2])
{
    free(heard[0].from.job);
    free(heard[1].from.job);
    pmi_service_free(service);
}

static int pull(struct pmi_service *service, uint32_t node, unsigned channels, const char *job,
                uint32_t rank)
{
    struct buf out = BUF_INIT;
    message_put_up(&out, REQUEST_PULL, 7, "server", node);
    pack_put_u8(&out, (uint8_t)channels);
    pack_put_u32(&out, 1);
    message_put_proc(&out, job, rank);
    int rc = pmi_service_take(service, node, buf_bytes(&out), out.len, NULL);
    buf_free(&out);
    return rc;
}

static int say(struct pmi_service *service, uint32_t node, enum service_request kind,
               uint64_t bytes)
{
    struct buf out = BUF_INIT;
    message_put_up(&out, kind, 0, "server", node);
    if (kind == REQUEST_TAKEN)
        pack_put_u64(&out, bytes);
    int rc = pmi_service_take(service, node, buf_bytes(&out), out.len, NULL);
    buf_free(&out);
    return rc;
}

static void a_node_hears_what_it_pulls_and_once(void **state)
{
    (void)state;
    struct heard heard[2];
    struct pmi_service *service = pmi_service_with_job(heard);
    assert_false(pmi_service_is_pulled(service));
    assert_int_equal(pull(service, 1, CHANNEL_STDOUT, "job", SERVICE_ALL), 0);
    assert_int_equal(pull(service, 1, CHANNEL_STDOUT | CHANNEL_STDERR, "job", 3), 0);
    assert_int_equal(heard[1].answers, 2);
    assert_int_equal(heard[1].status, REPLY_OK);
    assert_true(pmi_service_is_pulled(service));
    pmi_service_output(service, "job", 3, CHANNEL_STDOUT, "three\n", 6);
    assert_int_equal(heard[1].outputs, 1);
    assert_int_equal(heard[1].from.rank, 3);
    assert_string_equal(heard[1].from.job, "job");
    assert_int_equal(heard[1].channel, CHANNEL_STDOUT);
    assert_memory_equal(heard[1].bytes, "three\n", 6);
    pmi_service_output(service, "job", 3, CHANNEL_STDERR, "err", 3);
    pmi_service_output(service, "job", 2, CHANNEL_STDERR, "err", 3); /* not pulled */
    pmi_service_output(service, "other", 3, CHANNEL_STDOUT, "o", 1); /* nor this */
    assert_int_equal(heard[1].outputs, 2);
    assert_int_equal(heard[0].outputs, 0);
    assert_int_equal(say(service, 1, REQUEST_UNPULL, 0), 0);
    assert_false(pmi_service_is_pulled(service));
    pmi_service_output(service, "job", 3, CHANNEL_STDOUT, "more", 4);
    assert_int_equal(heard[1].outputs, 2);
    pmi_service_done(service, heard);
}

static void what_cannot_be_pulled_is_refused(void **state)
{
    (void)state;
    struct heard heard[2];
    struct pmi_service *service = pmi_service_with_job(heard);
    static const struct {
        const char *job;
        uint32_t rank;
        unsigned channels;
        enum reply_status status;
    } rows[] = {{"other", 0, CHANNEL_STDOUT, REPLY_NOT_FOUND},
                {"job", 4, CHANNEL_STDOUT, REPLY_BAD},
                {"job", 0, 0, REPLY_BAD}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_int_equal(pull(service, 0, rows[i].channels, rows[i].job, rows[i].rank), 0);
        assert_int_equal(heard[0].status, rows[i].status);
    }
    assert_int_equal(pull(service, 0, 4, "job", 0), -1);     /* no such channel */
    assert_int_equal(say(service, 0, REQUEST_TAKEN, 1), -1); /* nothing was sent */
    for (unsigned i = 0; i < SERVICE_PULLS; i++)
        assert_int_equal(pull(service, 0, CHANNEL_STDOUT, "job", 0), 0);
    assert_int_equal(heard[0].status, REPLY_OK);
    assert_int_equal(pull(service, 0, CHANNEL_STDOUT, "job", 0), 0);
    assert_int_equal(heard[0].status, REPLY_NOT_PERMITTED);
    pmi_service_done(service, heard);
}

static void who_does_not_keep_up_loses_and_is_told_how_much(void **state)
{
    (void)state;
    static char many[1 << 16];
    struct heard heard[2];
    struct pmi_service *service = pmi_service_with_job(heard);
    pull(service, 0, CHANNEL_STDOUT, "job", SERVICE_ALL);
    pull(service, 1, CHANNEL_STDOUT, "job", SERVICE_ALL);
    for (size_t sent = 0; sent < SERVICE_WINDOW + 10 * sizeof(many); sent += sizeof(many)) {
        pmi_service_output(service, "job", 0, CHANNEL_STDOUT, many, sizeof(many));
        assert_int_equal(say(service, 1, REQUEST_TAKEN, sizeof(many)), 0);
    }
    assert_true(heard[0].total == SERVICE_WINDOW);
    assert_true(heard[0].lost == sizeof(many)); /* that it begins is told at once */
    assert_true(heard[1].total == SERVICE_WINDOW + 10 * sizeof(many));
    assert_true(heard[1].lost == 0);
    assert_int_equal(say(service, 0, REQUEST_TAKEN, SERVICE_WINDOW), 0);
    assert_true(heard[0].lost == 10 * sizeof(many));
    pmi_service_output(service, "job", 0, CHANNEL_STDOUT, "again", 5);
    assert_true(heard[0].total == SERVICE_WINDOW + 5);
    assert_true(heard[0].lost == 10 * sizeof(many));
    pmi_service_done(service, heard);
}

/* ---- what tasks read ---- */

static int push(struct pmi_service *service, uint32_t node, const char *job, uint32_t rank,
                size_t len)
{
    static const char bytes[SERVICE_PUSH_MAX + 1];
    struct buf out = BUF_INIT;
    message_put_up(&out, REQUEST_PUSH, 7, "tool", 0);
    pack_put_u32(&out, 1);
    message_put_proc(&out, job, rank);
    pack_put_u8(&out, 0);
    pack_put_bytes(&out, bytes, len);
    int rc = pmi_service_take(service, node, buf_bytes(&out), out.len, NULL);
    buf_free(&out);
    return rc;
}

static int pushed(struct pmi_service *service, uint32_t node, uint64_t number,
                  enum reply_status status)
{
    struct buf out = BUF_INIT;
    message_put_up(&out, REQUEST_PUSHED, 0, "server", node);
    pack_put_u64(&out, number);
    pack_put_u8(&out, (uint8_t)status);
    int rc = pmi_service_take(service, node, buf_bytes(&out), out.len, NULL);
    buf_free(&out);
    return rc;
}

static void a_push_is_done_when_all_its_nodes_have_it(void **state)
{
    (void)state;
    struct heard heard[2];
    struct pmi_service *service = pmi_service_with_job(heard);
    assert_int_equal(push(service, 1, "job", SERVICE_ALL, 10), 0);
    assert_int_equal(heard[0].pushes + heard[1].pushes, 2);
    assert_int_equal(pushed(service, 0, heard[0].number, REPLY_OK), 0);
    assert_int_equal(heard[1].answers, 0);
    assert_int_equal(pushed(service, 0, heard[0].number, REPLY_OK), -1); /* it said that already */
    assert_int_equal(pushed(service, 1, heard[1].number, REPLY_OK), 0);
    assert_int_equal(heard[1].answers, 1);
    assert_int_equal(heard[1].status, REPLY_OK);
    assert_int_equal(push(service, 1, "job", 0, 0), 0);
    assert_int_equal(heard[0].pushes, 2);
    assert_int_equal(heard[1].pushes, 1);
    assert_int_equal(pushed(service, 0, heard[0].number, REPLY_NOT_PERMITTED), 0);
    assert_int_equal(heard[1].status, REPLY_NOT_PERMITTED);
    pmi_service_done(service, heard);
}

static void a_push_to_nobody_or_of_too_much_is_refused(void **state)
{
    (void)state;
    struct heard heard[2];
    struct pmi_service *service = pmi_service_with_job(heard);
    assert_int_equal(push(service, 0, "other", 0, 1), 0);
    assert_int_equal(heard[0].status, REPLY_NOT_FOUND);
    assert_int_equal(push(service, 0, "job", 4, 1), 0);
    assert_int_equal(heard[0].status, REPLY_BAD);
    assert_int_equal(push(service, 0, "job", 0, SERVICE_PUSH_MAX + 1), -1);
    assert_int_equal(pushed(service, 0, 1, REPLY_OK), -1); /* there is none */
    for (unsigned i = 0; i < SERVICE_PUSHES; i++)
        assert_int_equal(push(service, 0, "job", 0, SERVICE_PUSH_MAX), 0);
    assert_int_equal(heard[0].pushes, SERVICE_PUSHES);
    assert_int_equal(push(service, 0, "job", 0, 1), 0);
    assert_int_equal(heard[0].pushes, SERVICE_PUSHES);
    assert_int_equal(heard[0].status, REPLY_NOT_PERMITTED);
    pmi_service_done(service, heard);
}

/* ---- events, deaths, control ---- */

struct said { /* what the service told hosts: "NODE:" and the message */
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

static const struct pmi_service_ops keeping = {keep};

static void said_clear(struct said *said)
{
    for (unsigned i = 0; i < said->count; i++)
        buf_free(&said->bytes[i]);
    said->count = 0;
}

/* Nodes that were told, in order. */
static void check_said(const struct said *said, enum order_kind kind, const char *nodes)
{
    struct buf text = BUF_INIT;
    for (unsigned i = 0; i < said->count; i++) {
        struct message_down talk;
        assert_int_equal(message_read_down(&talk, buf_bytes(&said->bytes[i]), said->bytes[i].len),
                         0);
        if (talk.kind == kind)
            buf_printf(&text, "%s%u", text.len ? "," : "", said->nodes[i]);
    }
    assert_string_equal(buf_text(&text), nodes);
    buf_free(&text);
}

/* "first": ranks 0-1 on 5, 2-3 on 6; "second": one each on 6 and 7. */
static struct pmi_service *two_jobs(struct said *said)
{
    struct pmi_service *service = pmi_service_new(&keeping, said);
    struct taskmap *first = taskmap_new(), *second = taskmap_new();
    for (uint32_t i = 0; i < 2; i++) {
        taskmap_append(first, i, 2);
        taskmap_append(second, i, 1);
    }
    pmi_service_add(service, &(struct namespace_facts){
                                 .name = "first", .map = first, .node = (const uint32_t[]){5, 6}});
    pmi_service_add(service, &(struct namespace_facts){.name = "second",
                                                       .map = second,
                                                       .node = (const uint32_t[]){6, 7}});
    taskmap_free(first);
    taskmap_free(second);
    return service;
}

static int take_up(struct pmi_service *service, uint32_t node, struct buf *message)
{
    int rc = pmi_service_take(service, node, buf_bytes(message), message->len, NULL);
    buf_free(message);
    return rc;
}

static int notify(struct pmi_service *service, uint32_t node, enum event_reach reach,
                  const char *job, uint32_t rank)
{
    struct buf out = BUF_INIT;
    message_put_up(&out, REQUEST_NOTIFY, 0, "first", 0);
    pack_put_u8(&out, (uint8_t)reach);
    pack_put_u32(&out, job ? 1 : 0);
    if (job)
        message_put_proc(&out, job, rank);
    pack_put_bytes(&out, "event", 5);
    return take_up(service, node, &out);
}

static void an_event_goes_to_the_nodes_that_it_concerns_but_its_own(void **state)
{
    (void)state;
    static const struct {
        uint32_t node;
        enum event_reach reach;
        const char *job;
        uint32_t rank;
        const char *told;
    } cases[] = {
        {5, REACH_JOB, NULL, 0, "6"},
        {6, REACH_JOB, NULL, 0, "5"},
        {5, REACH_PROGRAM, NULL, 0, "6,7"},
        {5, REACH_SOME, "second", 1, "7"},
        {5, REACH_SOME, "first", SERVICE_ALL, "6"},
        {5, REACH_SOME, "first", 1, ""},
        {5, REACH_SOME, "first", 4, ""},
        {5, REACH_SOME, "third", SERVICE_ALL, ""},
        {5, REACH_SOME, NULL, 0, ""},
    };
    struct said said = {0};
    struct pmi_service *service = two_jobs(&said);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(
            notify(service, cases[i].node, cases[i].reach, cases[i].job, cases[i].rank), 0);
        check_said(&said, ORDER_NOTIFY, cases[i].told);
        said_clear(&said);
    }
    assert_int_equal(notify(service, 5, REACH_NREACHES, NULL, 0), -1);
    pmi_service_free(service);
}

static int die(struct pmi_service *service, uint32_t node, const char *job, uint32_t rank)
{
    struct buf out = BUF_INIT;
    struct termination death = {.how = ENDED_SIGNALED, .code = 9, .goes_on = true};
    message_put_up(&out, REQUEST_DIED, 0, job, rank);
    message_put_death(&out, &death);
    return take_up(service, node, &out);
}

static void a_death_is_told_once_to_the_nodes_of_its_job(void **state)
{
    (void)state;
    struct said said = {0};
    struct pmi_service *service = two_jobs(&said);
    assert_int_equal(die(service, 6, "first", 2), 0);
    assert_int_equal(die(service, 6, "first", 2), 0);
    assert_int_equal(die(service, 6, "first", 1), 0); /* not there */
    assert_int_equal(die(service, 6, "third", 0), 0);
    check_said(&said, ORDER_DIED, "5,6");
    struct message_down talk;
    message_read_down(&talk, buf_bytes(&said.bytes[0]), said.bytes[0].len);
    char *name = pack_get_text(&talk.rest);
    struct termination death = message_death(&talk.rest);
    death.ranks = message_ranks(&talk.rest);
    assert_string_equal(name, "first");
    assert_int_equal(death.how, ENDED_SIGNALED);
    assert_int_equal(death.code, 9);
    assert_true(death.goes_on);
    assert_int_equal(idset_count(death.ranks), 1);
    assert_true(idset_has(death.ranks, 2));
    free(name);
    idset_free(death.ranks);
    said_clear(&said);
    pmi_service_free(service);
}

static void a_connected_job_hears_of_deaths_of_the_other(void **state)
{
    (void)state;
    struct said said = {0};
    struct pmi_service *service = two_jobs(&said);
    struct taskmap *map = taskmap_new();
    taskmap_append(map, 0, 1);
    pmi_service_add(service, &(struct namespace_facts){.name = "child",
                                                       .map = map,
                                                       .node = (const uint32_t[]){8},
                                                       .spawner = "second"});
    assert_int_equal(die(service, 8, "child", 0), 0);
    check_said(&said, ORDER_DIED, "6,7,8");
    said_clear(&said);
    assert_int_equal(die(service, 5, "first", 0), 0);
    check_said(&said, ORDER_DIED, "5,6");
    said_clear(&said);
    pmi_service_remove(service, "child");
    assert_int_equal(die(service, 7, "second", 1), 0);
    check_said(&said, ORDER_DIED, "6,7");
    taskmap_free(map);
    said_clear(&said);
    pmi_service_free(service);
}

/* All of both jobs. */
static void gather(struct pmi_service *service, enum collective_kind operation)
{
    for (uint32_t node = 5; node <= 7; node++) {
        struct buf out = BUF_INIT;
        message_put_up(&out, REQUEST_GATHER, node, node == 5 ? "first" : "second", 0);
        pack_put_u8(&out, (uint8_t)operation);
        pack_put_u8(&out, 0);
        pack_put_text(&out, NULL);
        pack_put_bytes(&out, "", 0);
        pack_put_u32(&out, 2);
        pack_put_text(&out, "first");
        pack_put_text(&out, NULL);
        pack_put_text(&out, "second");
        pack_put_text(&out, NULL);
        assert_int_equal(take_up(service, node, &out), 0);
    }
}

static void who_connects_hears_of_deaths_until_it_disconnects(void **state)
{
    (void)state;
    struct said said = {0};
    struct pmi_service *service = two_jobs(&said);
    gather(service, COLLECTIVE_CONNECT);
    check_said(&said, ORDER_ANSWER, "5,6,7");
    said_clear(&said);
    assert_int_equal(die(service, 7, "second", 1), 0);
    check_said(&said, ORDER_DIED, "5,6,7");
    said_clear(&said);
    pmi_service_free(service);
    service = two_jobs(&said);
    gather(service, COLLECTIVE_CONNECT);
    gather(service, COLLECTIVE_DISCONNECT);
    said_clear(&said);
    assert_int_equal(die(service, 7, "second", 1), 0);
    check_said(&said, ORDER_DIED, "6,7");
    said_clear(&said);
    pmi_service_free(service);
}

static void a_node_that_is_lost_takes_tasks_of_all_jobs_along(void **state)
{
    (void)state;
    struct said said = {0};
    struct pmi_service *service = two_jobs(&said);
    struct idset *lost = idset_decode("6", NULL);
    pmi_service_lost(service, lost);
    pmi_service_lost(service, lost);
    assert_int_equal(said.count, 2);
    check_said(&said, ORDER_DIED, "7,5");
    idset_free(lost);
    said_clear(&said);
    pmi_service_free(service);
}

static int control(struct pmi_service *service, uint32_t action, const char *job, uint32_t rank)
{
    struct buf out = BUF_INIT;
    message_put_up(&out, REQUEST_CONTROL, 3, "first", 0);
    pack_put_u8(&out, (uint8_t)action);
    pack_put_u32(&out, 10);
    pack_put_u32(&out, job ? 2 : 0);
    for (int i = 0; job && i < 2; i++)
        message_put_proc(&out, job, rank);
    return take_up(service, 5, &out);
}

static enum reply_status answer_of(const struct said *said)
{
    struct message_down talk;
    assert_true(said->count > 0);
    const struct buf *last = &said->bytes[said->count - 1];
    assert_int_equal(message_read_down(&talk, buf_bytes(last), last->len), 0);
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
        enum reply_status status;
        const char *told;
    } cases[] = {
        {"first", SERVICE_ALL, REPLY_OK, "5,6"}, {"second", 1, REPLY_OK, "7"},
        {"first", 4, REPLY_NOT_FOUND, ""},       {"third", SERVICE_ALL, REPLY_NOT_FOUND, ""},
        {"", SERVICE_ALL, REPLY_NOT_FOUND, ""},  {NULL, 0, REPLY_OK, "6,7,5,6"}, /* nobody: all */
    };
    struct said said = {0};
    struct pmi_service *service = two_jobs(&said);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(control(service, CONTROL_SIGNAL, cases[i].job, cases[i].rank), 0);
        assert_int_equal(answer_of(&said), cases[i].status);
        check_said(&said, ORDER_CONTROL, cases[i].told);
        said_clear(&said);
    }
    assert_int_equal(control(service, CONTROL_NACTIONS, "first", 0), -1);
    pmi_service_free(service);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_back_as_they_were_put),
        cmocka_unit_test(a_message_that_is_cut_short_is_bad_from_there_on),
        cmocka_unit_test(the_service_refuses_malformed_messages),
        cmocka_unit_test(a_question_that_is_unknown_is_forgotten),
        cmocka_unit_test(a_node_hears_what_it_pulls_and_once),
        cmocka_unit_test(what_cannot_be_pulled_is_refused),
        cmocka_unit_test(who_does_not_keep_up_loses_and_is_told_how_much),
        cmocka_unit_test(a_push_is_done_when_all_its_nodes_have_it),
        cmocka_unit_test(a_push_to_nobody_or_of_too_much_is_refused),
        cmocka_unit_test(an_event_goes_to_the_nodes_that_it_concerns_but_its_own),
        cmocka_unit_test(a_death_is_told_once_to_the_nodes_of_its_job),
        cmocka_unit_test(a_connected_job_hears_of_deaths_of_the_other),
        cmocka_unit_test(who_connects_hears_of_deaths_until_it_disconnects),
        cmocka_unit_test(a_node_that_is_lost_takes_tasks_of_all_jobs_along),
        cmocka_unit_test(what_is_to_be_done_to_tasks_goes_to_their_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

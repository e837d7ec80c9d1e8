/* What tasks publish, look up and withdraw through the service; two jobs on three nodes. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/protocol/message.h"
#include "pmi-server/service/name_store.h"
#include "pmi-server/service/publish_lookup.h"
#include "pmi-server/service/service.h"
#include "tests/unit/unit.h"

/* Job "a": ranks 0 and 1 on node 5, 2 and 3 on node 6. Job "b": rank 0 on node 6, 1 on node 7. */
static struct pmi_service *service;
static struct buf said; /* a line for each answer */

/* "NODE:TOKEN STATUS KEY=VALUE(JOB.RANK) ..." */
static void tell(void *arg, uint32_t node, const void *bytes, size_t len)
{
    struct message_down talk;
    (void)arg;
    assert_int_equal(message_read_down(&talk, bytes, len), 0);
    assert_int_equal(talk.kind, ORDER_ANSWER);
    buf_printf(&said, "%u:%u %d", node, (unsigned)talk.token, (int)talk.status);
    uint32_t count = talk.rest.left ? pack_count(&talk.rest, 17) : 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t vlen;
        char *key = pack_get_text(&talk.rest);
        struct process_name proc = message_proc(&talk.rest);
        uint8_t text = pack_u8(&talk.rest);
        const char *value = pack_bytes(&talk.rest, &vlen);
        buf_printf(&said, " %s%s%.*s(%s.%d)", key, text ? "=" : "~", (int)vlen, value, proc.job,
                   (int)proc.rank);
        free(key);
        free(proc.job);
    }
    assert_true(pack_ends(&talk.rest));
    buf_add_char(&said, '\n');
}

static const struct pmi_service_ops ops = {tell};

static void add_job(const char *name, const uint32_t *tasks, const uint32_t *nodes)
{
    struct taskmap *map = taskmap_new();
    taskmap_append(map, 0, tasks[0]);
    taskmap_append(map, 1, tasks[1]);
    pmi_service_add(service, &(struct namespace_facts){name, map, nodes});
    taskmap_free(map);
}

static int set_up(void **state)
{
    (void)state;
    service = pmi_service_new(&ops, NULL);
    add_job("a", (const uint32_t[]){2, 2}, (const uint32_t[]){5, 6});
    add_job("b", (const uint32_t[]){1, 1}, (const uint32_t[]){6, 7});
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pmi_service_free(service);
    buf_free(&said);
    return 0;
}

/* ---- what tasks say: "a2" is rank 2 of job "a" ---- */

static uint32_t node_of(const char *who)
{
    return *who == 'a' ? 5 + (who[1] > '1') : 6 + (who[1] > '0');
}

static struct buf begin(enum service_request kind, uint64_t token, const char *who)
{
    struct buf out = BUF_INIT;
    message_put_up(&out, kind, token, (const char[]){*who, 0}, (uint32_t)(who[1] - '0'));
    return out;
}

static void take(const char *who, struct buf *message)
{
    struct error err = ERROR_INIT;
    int rc = pmi_service_take(service, node_of(who), buf_bytes(message), message->len, &err);
    if (rc)
        fail_msg("%s", error_text(&err));
    buf_free(message);
}

static void put_words(struct buf *out, const char *words, bool pairs)
{
    uint32_t count = *words != 0;
    for (const char *at = words; (at = strchr(at, ' ')); at++)
        count++;
    pack_put_u32(out, count);
    for (; count; count--) {
        size_t len = strcspn(words, " "), key = pairs ? strcspn(words, "=~") : len;
        pack_put_bytes(out, words, key);
        if (pairs) {
            pack_put_u8(out, words[key] == '=');
            pack_put_bytes(out, words + key + 1, len - key - 1);
        }
        words += len + 1;
    }
}

static uint64_t tokens;

/* "KEY=VALUE ...", with ~ for what is no text. */
static void publish(const char *who, enum publish_range range, enum publish_persistence until,
                    const char *pairs)
{
    struct buf out = begin(REQUEST_PUBLISH, ++tokens, who);
    pack_put_u8(&out, range);
    pack_put_u8(&out, until);
    put_words(&out, pairs, true);
    take(who, &out);
}

static void lookup(const char *who, enum publish_range range, uint32_t wanted, const char *keys)
{
    struct buf out = begin(REQUEST_LOOKUP, ++tokens, who);
    pack_put_u8(&out, range);
    pack_put_u32(&out, wanted);
    put_words(&out, keys, false);
    take(who, &out);
}

static void unpublish(const char *who, uint8_t range, const char *keys)
{
    struct buf out = begin(REQUEST_UNPUBLISH, ++tokens, who);
    pack_put_u8(&out, range);
    put_words(&out, keys, false);
    take(who, &out);
}

static void leave(const char *who)
{
    struct buf out = begin(REQUEST_FINALIZED, 0, who);
    take(who, &out);
}

/* The answers since the last look, without node and token of the last question. */
static void hear(const char *want)
{
    char head[32], *text = buf_take_text(&said);
    snprintf(head, sizeof(head), ":%u ", (unsigned)tokens);
    char *at = strstr(text, head);
    const char *have = at && at == strchr(text, ':') ? at + strlen(head) : text;
    assert_string_equal(have, want);
    free(text);
}

#define OK "0\n"
#define NOT_FOUND "1\n"
#define EXISTS "3\n"

/* ---- tests ---- */

static void what_is_published_is_found_with_who_has_published_it(void **state)
{
    (void)state;
    publish("a2", RANGE_ALL, PERSIST_END, "one=1 two~\1\2");
    hear(OK);
    lookup("b1", RANGE_ALL, 0, "one two");
    hear("0 one=1(a.2) two~\1\2(a.2)\n");
    lookup("b1", RANGE_ALL, 0, "three one");
    hear("0 one=1(a.2)\n");
    lookup("b1", RANGE_ALL, 0, "three");
    hear(NOT_FOUND);
    lookup("b1", RANGE_ALL, 0, "");
    hear(NOT_FOUND);
}

static void a_range_says_who_finds_it(void **state)
{
    static const struct {
        enum publish_range range;
        const char *finders; /* of all six tasks; rank 2 of "a" publishes */
    } cases[] = {{RANGE_TASK, "a2"},
                 {RANGE_NODE, "a2 a3 b0"},
                 {RANGE_JOB, "a0 a1 a2 a3"},
                 {RANGE_ALL, "a0 a1 a2 a3 b0 b1"}};
    static const char *const tasks[] = {"a0", "a1", "a2", "a3", "b0", "b1"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        publish("a2", cases[i].range, PERSIST_END, "k=v");
        hear(OK);
        for (size_t t = 0; t < 6; t++) { /* and in which it looks, who has published it */
            lookup(tasks[t], RANGE_ALL, 0, "k");
            hear(strstr(cases[i].finders, tasks[t]) ? "0 k=v(a.2)\n" : NOT_FOUND);
        }
        unpublish("a2", RANGE_NRANGES, "k");
        hear(OK);
        publish("a2", RANGE_ALL, PERSIST_END, "k=v");
        hear(OK);
        for (size_t t = 0; t < 6; t++) {
            lookup(tasks[t], cases[i].range, 0, "k");
            hear(strstr(cases[i].finders, tasks[t]) ? "0 k=v(a.2)\n" : NOT_FOUND);
        }
        unpublish("a2", RANGE_ALL, "");
        hear(OK);
    }
}

static void a_key_is_there_once_in_a_range_and_the_closest_is_found(void **state)
{
    (void)state;
    publish("a0", RANGE_ALL, PERSIST_END, "k=all");
    hear(OK);
    publish("b0", RANGE_ALL, PERSIST_END, "other=1 k=2");
    hear(EXISTS);
    lookup("b0", RANGE_ALL, 0, "other"); /* all or nothing */
    hear(NOT_FOUND);
    publish("b0", RANGE_JOB, PERSIST_END, "k=b");
    hear(OK);
    publish("a0", RANGE_JOB, PERSIST_END, "k=a");
    hear(OK);
    publish("a3", RANGE_JOB, PERSIST_END, "k=again");
    hear(EXISTS);
    publish("a1", RANGE_TASK, PERSIST_END, "k=mine");
    hear(OK);
    publish("a0", RANGE_JOB, PERSIST_END, "x=1 x=2");
    hear(EXISTS);
    lookup("a1", RANGE_ALL, 0, "k");
    hear("0 k=mine(a.1)\n");
    lookup("a2", RANGE_ALL, 0, "k");
    hear("0 k=a(a.0)\n");
    lookup("b1", RANGE_ALL, 0, "k");
    hear("0 k=b(b.0)\n");
}

static void only_who_has_published_it_withdraws_it(void **state)
{
    (void)state;
    publish("a0", RANGE_ALL, PERSIST_END, "x=1 y=2 z=3");
    publish("a1", RANGE_ALL, PERSIST_END, "w=4");
    buf_clear(&said);
    unpublish("b0", RANGE_NRANGES, "x");
    hear("5\n"); /* REPLY_NOT_PERMITTED */
    unpublish("a0", RANGE_NRANGES, "q");
    hear(NOT_FOUND);
    unpublish("a0", RANGE_JOB, "x"); /* it is not in this range */
    hear("5\n");
    unpublish("a0", RANGE_ALL, "x q");
    hear("7\n"); /* REPLY_PARTLY */
    unpublish("a0", RANGE_NRANGES, "y");
    hear(OK);
    unpublish("a0", RANGE_NRANGES, "");
    hear(OK);
    lookup("b0", RANGE_ALL, 0, "x y z w");
    hear("0 w=4(a.1)\n");
}

static void a_name_lasts_as_long_as_was_said(void **state)
{
    (void)state;
    publish("a0", RANGE_ALL, PERSIST_READ, "read=1");
    publish("a0", RANGE_ALL, PERSIST_TASK, "task=2");
    publish("a1", RANGE_ALL, PERSIST_TASK, "task1=3");
    publish("a0", RANGE_ALL, PERSIST_JOB, "job=4");
    publish("a0", RANGE_ALL, PERSIST_END, "end=5");
    publish("b0", RANGE_ALL, PERSIST_JOB, "b=6");
    buf_clear(&said);
    lookup("b1", RANGE_ALL, 0, "read task task1 job end b");
    hear("0 read=1(a.0) task=2(a.0) task1=3(a.1) job=4(a.0) end=5(a.0) b=6(b.0)\n");
    leave("a0");
    lookup("b1", RANGE_ALL, 0, "read task task1 job end b");
    hear("0 task1=3(a.1) job=4(a.0) end=5(a.0) b=6(b.0)\n");
    pmi_service_remove(service, "a");
    lookup("b1", RANGE_ALL, 0, "read task task1 job end b");
    hear("0 end=5(a.0) b=6(b.0)\n");
}

static void who_waits_is_answered_when_there_is_enough(void **state)
{
    (void)state;
    lookup("b0", RANGE_ALL, UINT32_MAX, "x y"); /* all */
    lookup("b1", RANGE_ALL, 1, "y z");
    lookup("a0", RANGE_JOB, UINT32_MAX, "y");
    hear("");
    publish("b1", RANGE_ALL, PERSIST_END, "q=0");
    hear(OK);
    publish("b0", RANGE_ALL, PERSIST_END, "y=1");
    char *text = buf_take_text(&said);
    assert_non_null(strstr(text, " 0 y=1(b.0)\n"));
    assert_null(strchr(strchr(text, '(') + 1, '('));
    free(text);
    publish("b1", RANGE_ALL, PERSIST_END, "x=2");
    text = buf_take_text(&said);
    assert_non_null(strstr(text, " 0 x=2(b.1) y=1(b.0)\n"));
    free(text);
    publish("a1", RANGE_JOB, PERSIST_END, "y=3");
    text = buf_take_text(&said);
    assert_non_null(strstr(text, " 0 y=3(a.1)\n"));
    free(text);
}

static void what_is_read_once_goes_to_who_waits_longest(void **state)
{
    (void)state;
    lookup("b0", RANGE_ALL, 1, "k");
    uint64_t first = tokens;
    lookup("b1", RANGE_ALL, 1, "k");
    publish("a0", RANGE_ALL, PERSIST_READ, "k=1");
    char *text = buf_take_text(&said),
         *want = mem_format("6:%u 0 k=1(a.0)\n5:%u 0\n", (unsigned)first, (unsigned)tokens);
    assert_string_equal(text, want);
    free(text);
    free(want);
    publish("a0", RANGE_ALL, PERSIST_READ, "k=2");
    text = buf_take_text(&said);
    want = mem_format("7:%u 0 k=2(a.0)\n5:%u 0\n", (unsigned)first + 1, (unsigned)tokens);
    assert_string_equal(text, want);
    free(text);
    free(want);
}

static void nobody_is_answered_who_gave_up_or_is_gone(void **state)
{
    (void)state;
    lookup("b0", RANGE_ALL, 1, "k");
    struct buf out = begin(REQUEST_FORGET, tokens, "b0");
    take("b0", &out);
    lookup("b1", RANGE_ALL, 1, "k");
    leave("b1");
    lookup("b0", RANGE_ALL, 1, "k");
    pmi_service_remove(service, "b");
    hear("");
    publish("a0", RANGE_ALL, PERSIST_END, "k=1");
    hear(OK);
}

static void a_task_that_is_not_there_is_told(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    message_put_up(&out, REQUEST_UNPUBLISH, ++tokens, "b", 0); /* which is on node 6 */
    pack_put_u8(&out, 0);
    pack_put_u32(&out, 0);
    take("b1", &out);
    hear("4\n"); /* REPLY_BAD */
}

static void there_is_an_end_to_names_and_to_waiting(void **state)
{
    (void)state;
    char *most = mem_alloc(SERVICE_NAMES_BYTES + 8), pairs[32];
    memcpy(most, "k=", 2);
    memset(most + 2, 'x', SERVICE_NAMES_BYTES);
    publish("a0", RANGE_ALL, PERSIST_END, most);
    hear("8\n"); /* REPLY_FULL */
    most[2 + SERVICE_NAMES_BYTES - 1] = 0;
    publish("a0", RANGE_ALL, PERSIST_END, most);
    hear(OK);
    publish("a0", RANGE_ALL, PERSIST_END, "l=");
    hear("8\n");
    unpublish("a0", RANGE_ALL, "");
    buf_clear(&said);
    for (unsigned i = 0; i < SERVICE_NAMES_MAX; i++) {
        snprintf(pairs, sizeof(pairs), "k%u=", i);
        publish("a0", RANGE_ALL, PERSIST_END, pairs);
    }
    buf_clear(&said);
    publish("a1", RANGE_ALL, PERSIST_END, "l=");
    hear("8\n");
    for (unsigned i = 0; i < SERVICE_LOOKUPS_MAX; i++)
        lookup("a0", RANGE_ALL, 1, "never");
    hear("");
    lookup("a0", RANGE_ALL, 1, "never");
    hear("8\n");
    lookup("a1", RANGE_ALL, 1, "never");
    hear("");
    char *keys = malloc(40 * 2001); /* of 80,000 bytes: more than may wait */
    assert_non_null(keys);
    memset(keys, 'k', 40 * 2001);
    for (int i = 1; i < 40; i++)
        keys[i * 2001 - 1] = ' ';
    keys[40 * 2001 - 1] = '\0';
    lookup("a1", RANGE_ALL, 1, keys);
    hear("8\n");
    lookup("a1", RANGE_ALL, 0, keys); /* which does not wait */
    hear("1\n");
    free(keys);
    free(most);
}

static void names_of_pmi_are_texts_for_all(void **state)
{
    (void)state;
    char *text = NULL;
    assert_int_equal(pmi_service_publish_text(service, "a", "svc", "port"), REPLY_OK);
    assert_int_equal(pmi_service_publish_text(service, "b", "svc", "again"), REPLY_EXISTS);
    lookup("b1", RANGE_ALL, 0, "svc");
    hear("0 svc=port(a.-1)\n");
    publish("a0", RANGE_ALL, PERSIST_READ, "theirs=1 bytes~2");
    unpublish("a0", RANGE_NRANGES, "svc");
    buf_clear(&said);
    assert_int_equal(pmi_service_unpublish_text(service, "theirs"), REPLY_NOT_FOUND);
    assert_int_equal(pmi_service_lookup_text(service, "b", "bytes", &text), REPLY_UNSUPPORTED);
    assert_int_equal(pmi_service_lookup_text(service, "b", "theirs", &text), REPLY_OK);
    assert_string_equal(text, "1");
    free(text);
    assert_int_equal(pmi_service_lookup_text(service, "b", "theirs", &text), REPLY_NOT_FOUND);
    assert_int_equal(pmi_service_lookup_text(service, "b", "svc", &text), REPLY_OK);
    assert_string_equal(text, "port");
    free(text);
    assert_int_equal(pmi_service_unpublish_text(service, "svc"), REPLY_OK);
    assert_int_equal(pmi_service_lookup_text(service, "b", "svc", &text), REPLY_NOT_FOUND);
}

/* ---- other programs ---- */

static struct {
    struct published_name *names; /* of others */
    bool refuses, read;           /* to show; names of this one have been read by another */
    int shown, watched;
    size_t fresh;
} other;

static int show(void *arg, size_t fresh)
{
    (void)arg;
    other.shown++;
    other.fresh = fresh;
    return fresh && other.refuses;
}

static const struct published_name *others(void *arg)
{
    (void)arg;
    return other.names;
}

static bool take_one(void *arg, const struct published_name *name)
{
    (void)arg, (void)name;
    return !other.read;
}

static bool kept(void *arg, const struct published_name *name)
{
    (void)arg, (void)name;
    return !other.read;
}

static void watch(void *arg, bool on)
{
    (void)arg;
    other.watched += on ? 1 : -1;
}

static const struct pmi_service_names_ops names_ops = {show, others, take_one, kept, watch};

static struct published_name *other_name(const char *key, const char *value,
                                         enum publish_persistence until)
{
    struct published_name *name = pmi_service_name_new(key, value, strlen(value));
    name->text = true;
    name->job = mem_copy_text("far");
    name->range = RANGE_ALL;
    name->until = until;
    name->next = other.names;
    return other.names = name;
}

static int set_up_other(void **state)
{
    memset(&other, 0, sizeof(other));
    set_up(state);
    pmi_service_names_use(service, &names_ops, NULL);
    return 0;
}

static int tear_down_other(void **state)
{
    tear_down(state);
    assert_int_equal(other.watched, 0);
    pmi_service_names_free(other.names);
    return 0;
}

static void only_what_all_find_is_shown_to_other_programs(void **state)
{
    (void)state;
    publish("a0", RANGE_JOB, PERSIST_JOB, "x=1");
    assert_int_equal(other.shown, 0);
    publish("a0", RANGE_ALL, PERSIST_JOB, "y=1 z=2");
    assert_int_equal(other.shown, 1);
    assert_int_equal(other.fresh, 2);
    unpublish("a0", RANGE_NRANGES, "x");
    assert_int_equal(other.shown, 1);
    pmi_service_remove(service, "a");
    assert_int_equal(other.shown, 2);
    assert_int_equal(other.fresh, 0);
    other.refuses = true;
    buf_clear(&said);
    publish("b0", RANGE_ALL, PERSIST_JOB, "y=1 z=2");
    hear(EXISTS);
    assert_null(pmi_service_names(service));
}

static void names_of_other_programs_are_found_where_there_is_no_own(void **state)
{
    (void)state;
    char *text;
    other_name("k", "theirs", PERSIST_END);
    lookup("a0", RANGE_ALL, 0, "k");
    hear("0 k=theirs(far.0)\n");
    lookup("a0", RANGE_JOB, 0, "k");
    hear(NOT_FOUND);
    assert_int_equal(pmi_service_lookup_text(service, "a", "k", &text), REPLY_OK);
    assert_string_equal(text, "theirs");
    free(text);
    publish("a0", RANGE_NODE, PERSIST_END, "k=ours");
    hear(OK);
    lookup("a0", RANGE_ALL, 0, "k");
    hear("0 k=ours(a.0)\n");
}

static void who_waits_sees_what_other_programs_publish(void **state)
{
    (void)state;
    lookup("a0", RANGE_JOB, 1, "k");
    assert_int_equal(other.watched, 0);
    lookup("a1", RANGE_ALL, 1, "k");
    assert_int_equal(other.watched, 1);
    pmi_service_names_changed(service);
    hear("");
    other_name("k", "late", PERSIST_END);
    pmi_service_names_changed(service);
    hear("0 k=late(far.0)\n");
    assert_int_equal(other.watched, 0);
}

static void what_another_program_has_read_is_gone(void **state)
{
    (void)state;
    publish("a0", RANGE_ALL, PERSIST_READ, "k=1");
    hear(OK);
    publish("a0", RANGE_ALL, PERSIST_READ, "k=2");
    hear(EXISTS);
    other.read = true;
    publish("a0", RANGE_ALL, PERSIST_READ, "k=3");
    hear(OK);
    lookup("a1", RANGE_ALL, 0, "k");
    hear(NOT_FOUND);
    other_name("far", "1", PERSIST_READ);
    lookup("a1", RANGE_ALL, 0, "far");
    hear(NOT_FOUND);
    lookup("a1", RANGE_ALL, 1, "far"); /* it waits for the next */
    hear("");
    other.read = false;
    pmi_service_names_changed(service);
    hear("0 far=1(far.0)\n");
}

/* ---- malformed ---- */

static void malformed_questions_about_names_are_refused(void **state)
{
    static const struct {
        enum service_request kind;
        const char *bytes;
        size_t len;
    } bad[] = {
        {REQUEST_PUBLISH, "", 0},
        {REQUEST_PUBLISH, "\3\0\0\0\0\0", 6},                       /* nothing */
        {REQUEST_PUBLISH, "\4\0\1\0\0\0\1\0\0\0k\0\0\0\0\0", 16},   /* no such range */
        {REQUEST_PUBLISH, "\3\4\1\0\0\0\1\0\0\0k\0\0\0\0\0", 16},   /* nor end */
        {REQUEST_PUBLISH, "\3\0\1\0\0\0\0\0\0\0\0\0\0\0\0", 15},    /* no key */
        {REQUEST_PUBLISH, "\3\0\2\0\0\0\1\0\0\0k\0\0\0\0\0", 16},   /* the second is missing */
        {REQUEST_PUBLISH, "\3\0\1\0\0\0\1\0\0\0k\1\1\0\0\0\0", 17}, /* a zero byte in a text */
        {REQUEST_PUBLISH, "\3\0\1\0\0\0\1\0\0\0k\0\0\0\0\0x", 17},  /* something behind it */
        {REQUEST_LOOKUP, "\3\0\0\0\0\1\0\0\0", 9},                  /* no key */
        {REQUEST_LOOKUP, "\4\0\0\0\0\0\0\0\0", 9},                  /* no such range */
        {REQUEST_UNPUBLISH, "\5\0\0\0\0", 5},                       /* no such range */
        {REQUEST_UNPUBLISH, "\3\1\0\0\0\2\0\0\0k", 10},             /* cut short */
        {REQUEST_FINALIZED, "x", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct buf out = begin(bad[i].kind, 1, "a0");
        buf_add(&out, bad[i].bytes, bad[i].len);
        if (pmi_service_take(service, 5, buf_bytes(&out), out.len, NULL) == 0)
            fail_msg("case %zu was taken", i);
        buf_free(&out);
    }
    hear("");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define TEST_OTHER(name) cmocka_unit_test_setup_teardown(name, set_up_other, tear_down_other)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_published_is_found_with_who_has_published_it),
        TEST(a_range_says_who_finds_it),
        TEST(a_key_is_there_once_in_a_range_and_the_closest_is_found),
        TEST(only_who_has_published_it_withdraws_it),
        TEST(a_name_lasts_as_long_as_was_said),
        TEST(who_waits_is_answered_when_there_is_enough),
        TEST(what_is_read_once_goes_to_who_waits_longest),
        TEST(nobody_is_answered_who_gave_up_or_is_gone),
        TEST(a_task_that_is_not_there_is_told),
        TEST(there_is_an_end_to_names_and_to_waiting),
        TEST(names_of_pmi_are_texts_for_all),
        TEST_OTHER(only_what_all_find_is_shown_to_other_programs),
        TEST_OTHER(names_of_other_programs_are_found_where_there_is_no_own),
        TEST_OTHER(who_waits_sees_what_other_programs_publish),
        TEST_OTHER(what_another_program_has_read_is_gone),
        TEST(malformed_questions_about_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

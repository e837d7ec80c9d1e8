/* The service: what members of several jobs do together, and what hosts are told of other jobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/protocol/message.h"
#include "pmi-server/protocol/namespace_info.h"
#include "pmi-server/service/service.h"
#include "tests/unit/unit.h"

#define TOLD_MAX 4096

/* ---- what the service says ---- */

static struct told {
    uint32_t node;
    struct message_down talk;
    char *bytes;
} told[TOLD_MAX];
static size_t ntold;

static void tell(void *arg, uint32_t node, const void *bytes, size_t len)
{
    (void)arg;
    assert_true(ntold < TOLD_MAX);
    struct told *one = &told[ntold++];
    one->node = node;
    one->bytes = memcpy(mem_alloc(len + 1), bytes, len);
    assert_int_equal(message_read_down(&one->talk, one->bytes, len), 0);
}

static const struct pmi_service_ops ops = {tell};

static void told_clear(void)
{
    while (ntold)
        free(told[--ntold].bytes);
}

/* What was said to a node is one answer: to this question, with this status. */
static struct pack answer_of(uint32_t node, uint64_t token, enum reply_status status)
{
    for (size_t i = 0; i < ntold; i++)
        if (told[i].node == node && told[i].talk.token == token) {
            assert_int_equal(told[i].talk.kind, ORDER_ANSWER);
            assert_int_equal(told[i].talk.status, status);
            return told[i].talk.rest;
        }
    fail_msg("node %u was told nothing", node);
    return pack_of("", 0);
}

/* ---- what hosts say ---- */

struct part {
    const char *job, *ranks;
};

struct question {
    uint8_t operation, broken;
    uint64_t token;
    const char *key, *bytes;
    uint32_t count; /* that it says to have */
};

static struct buf gather_message(const struct question *question, const struct part *parts,
                                 uint32_t nparts)
{
    struct buf out = BUF_INIT;
    message_put_up(&out, REQUEST_GATHER, question->token, "a", 0);
    pack_put_u8(&out, question->operation);
    pack_put_u8(&out, question->broken);
    pack_put_text(&out, question->key);
    pack_put_text(&out, question->bytes);
    pack_put_u32(&out, question->count);
    for (uint32_t i = 0; i < nparts; i++) {
        pack_put_text(&out, parts[i].job);
        pack_put_text(&out, parts[i].ranks);
    }
    return out;
}

static int take(struct pmi_service *service, uint32_t node, struct buf *message)
{
    int rc = pmi_service_take(service, node, buf_bytes(message), message->len, NULL);
    buf_free(message);
    return rc;
}

static void gather(struct pmi_service *service, uint32_t node, uint64_t token, const char *key,
                   const char *bytes, const struct part *parts, uint32_t nparts)
{
    const struct question question = {COLLECTIVE_CONNECT, 0, token, key, bytes, nparts};
    struct buf message = gather_message(&question, parts, nparts);
    assert_int_equal(take(service, node, &message), 0);
}

static void forget(struct pmi_service *service, uint32_t node, uint64_t token)
{
    struct buf message = BUF_INIT;
    message_put_up(&message, REQUEST_FORGET, token, "a", 0);
    assert_int_equal(take(service, node, &message), 0);
}

/* ---- two jobs on three nodes: a is 4 tasks on 0 and 1, b is 4 tasks on 1 and 2 ---- */

static void add(struct pmi_service *service, const char *name, uint32_t first_node)
{
    static const char *const hosts[] = {"n0", "n1", "n2"};
    static char *const argv[] = {(char *)"program", (char *)"an argument", NULL};
    const uint32_t nodes[] = {first_node, first_node + 1};
    const struct namespace_app apps[] = {{0, 1, argv, "/tmp"}, {1, 3, NULL, "/"}};
    struct taskmap *map = taskmap_new();
    taskmap_append(map, 0, 2);
    taskmap_append(map, 1, 2);
    const struct namespace_facts job = {.name = name,
                                        .map = map,
                                        .node = nodes,
                                        .hosts = hosts + first_node,
                                        .spawner = "spawner",
                                        .spawner_rank = 7,
                                        .session = 3,
                                        .universe_size = -1,
                                        .apps = apps,
                                        .napps = 2,
                                        .map_by = "slot",
                                        .bind_to = "core"};
    pmi_service_add(service, &job);
    taskmap_free(map);
}

static int setup(void **state)
{
    struct pmi_service *service = pmi_service_new(&ops, NULL);
    add(service, "a", 0);
    add(service, "b", 1);
    *state = service;
    return 0;
}

static int teardown(void **state)
{
    pmi_service_free(*state);
    told_clear();
    return 0;
}

static const struct part everybody[] = {{"a", ""}, {"b", ""}};
static const struct part two[] = {{"a", "0"}, {"b", "3"}}; /* nodes 0 and 2 */

static uint64_t check_gathered(uint32_t node, uint64_t token, const char *bytes)
{
    struct pack rest = answer_of(node, token, REPLY_OK);
    uint64_t number = pack_u64(&rest);
    char *text = pack_get_text(&rest);
    assert_true(pack_ends(&rest));
    assert_string_equal(text, bytes);
    free(text);
    return number;
}

/* ---- gatherings ---- */

static void all_are_answered_once_every_node_with_a_member_has_asked(void **state)
{
    struct pmi_service *service = *state;
    gather(service, 0, 1, "", "zero,", everybody, 2);
    gather(service, 2, 1, "", "two,", everybody, 2);
    assert_int_equal(ntold, 0);
    gather(service, 1, 9, "", "one,", everybody, 2);
    assert_int_equal(ntold, 3);
    uint64_t number = check_gathered(0, 1, "zero,two,one,");
    assert_true(number > 0);
    assert_true(check_gathered(1, 9, "zero,two,one,") == number);
    assert_true(check_gathered(2, 1, "zero,two,one,") == number);
}

static void nodes_that_have_no_member_are_not_waited_for(void **state)
{
    gather(*state, 0, 1, "", "", two, 2);
    gather(*state, 2, 1, "", "", two, 2);
    assert_int_equal(ntold, 2);
    told_clear();
    gather(*state, 1, 1, "", "", two, 2); /* nor heard */
    answer_of(1, 1, REPLY_BAD);
}

static void disconnect(struct pmi_service *service, uint32_t node, uint64_t token,
                       const char *bytes)
{
    const struct question question = {COLLECTIVE_DISCONNECT, 0, token, "", bytes, 2};
    struct buf message = gather_message(&question, two, 2);
    assert_int_equal(take(service, node, &message), 0);
}

static void several_go_on_at_once_and_repeated_ones_follow_each_other(void **state)
{
    static const struct part others[] = {{"a", "0-1"}, {"b", "3"}};
    gather(*state, 0, 1, "", "first,", two, 2);
    gather(*state, 0, 2, "", "second,", two, 2);
    gather(*state, 0, 3, "key", "keyed,", two, 2);
    gather(*state, 0, 4, "", "others,", others, 2);
    disconnect(*state, 0, 5, "operation,");
    assert_int_equal(ntold, 0);
    gather(*state, 2, 1, "key", "x", two, 2);
    gather(*state, 2, 2, "", "x", two, 2);
    gather(*state, 2, 3, "", "y", two, 2);
    gather(*state, 2, 4, "", "x", others, 2);
    disconnect(*state, 2, 5, "x");
    assert_int_equal(ntold, 10);
    uint64_t first = check_gathered(0, 1, "first,x");
    assert_true(first != check_gathered(0, 2, "second,y"));
    check_gathered(0, 3, "keyed,x");
    check_gathered(0, 4, "others,x");
    check_gathered(0, 5, "operation,x");
    assert_true(first == check_gathered(2, 2, "first,x"));
}

static void all_ranks_of_a_job_are_the_same_as_each_of_them(void **state)
{
    static const struct part listed[] = {{"a", "0-3"}, {"b", "0-3"}};
    gather(*state, 0, 1, "", "", everybody, 2);
    gather(*state, 1, 1, "", "", listed, 2);
    gather(*state, 2, 1, "", "", everybody, 2);
    assert_int_equal(ntold, 3);
}

static void who_does_not_exist_takes_no_part(void **state)
{
    static const struct part cases[][2] = {
        {{"a", "0"}, {"c", ""}}, {{"a", "4"}, {"b", ""}}, {{"a", "0"}, {"b", "0-2147483647"}}};
    for (uint32_t i = 0; i < 3; i++) {
        gather(*state, 0, i + 1, "", "", cases[i], 2);
        answer_of(0, i + 1, REPLY_NOT_FOUND);
    }
    assert_int_equal(ntold, 3);
}

static void a_job_that_is_over_ends_what_waits_for_it(void **state)
{
    static const struct part only_a[] = {{"a", ""}};
    gather(*state, 0, 1, "", "", everybody, 2);
    gather(*state, 2, 1, "", "", everybody, 2);
    gather(*state, 0, 2, "", "", two, 2);
    gather(*state, 0, 3, "", "", only_a, 1);
    pmi_service_remove(*state, "b");
    assert_int_equal(ntold, 3);
    answer_of(0, 1, REPLY_GONE);
    answer_of(2, 1, REPLY_GONE);
    answer_of(0, 2, REPLY_GONE);
    gather(*state, 1, 1, "", "", everybody, 2);
    answer_of(1, 1, REPLY_NOT_FOUND);
    gather(*state, 1, 2, "", "", only_a, 1); /* goes on */
    check_gathered(0, 3, "");
}

static void destruct(struct pmi_service *service, uint32_t node, uint64_t token, const char *key,
                     const struct part *parts)
{
    const struct question question = {COLLECTIVE_DESTRUCT, 0, token, key, "", 2};
    struct buf message = gather_message(&question, parts, 2);
    assert_int_equal(take(service, node, &message), 0);
}

/* openpmix 5.0 lets members go on before others have asked. */
static void a_job_that_has_entered_a_destruct_may_be_over_before_others_do(void **state)
{
    destruct(*state, 2, 1, "g", two);
    destruct(*state, 2, 2, "h", two);
    destruct(*state, 2, 3, "all", everybody); /* node 1 has some of b, and has not asked */
    pmi_service_remove(*state, "b");
    assert_int_equal(ntold, 1);
    answer_of(2, 3, REPLY_GONE);
    destruct(*state, 0, 1, "other", two);
    answer_of(0, 1, REPLY_NOT_FOUND);
    gather(*state, 0, 2, "g", "", two, 2); /* a destruct alone */
    answer_of(0, 2, REPLY_NOT_FOUND);
    destruct(*state, 0, 3, "g", two);
    check_gathered(0, 3, "");
    destruct(*state, 0, 4, "g", two); /* and once */
    answer_of(0, 4, REPLY_NOT_FOUND);
    pmi_service_ended(*state, "a", 0); /* who was to ask for the last one */
    answer_of(2, 2, REPLY_GONE);
    destruct(*state, 0, 5, "h", two);
    answer_of(0, 5, REPLY_GONE);
}

static void what_waits_for_who_is_over_goes_with_the_hub(void **state)
{
    destruct(*state, 2, 1, "g", two);
    pmi_service_remove(*state, "b");
    assert_int_equal(ntold, 0);
}

static void a_task_that_is_over_ends_what_waits_for_its_node(void **state)
{
    gather(*state, 0, 1, "", "", everybody, 2);
    gather(*state, 1, 1, "", "", everybody, 2);
    pmi_service_ended(*state, "a", 3); /* its node has asked */
    pmi_service_ended(*state, "a", 4);
    pmi_service_ended(*state, "c", 0);
    assert_int_equal(ntold, 0);
    pmi_service_ended(*state, "b", 3);
    assert_int_equal(ntold, 2);
    answer_of(0, 1, REPLY_GONE);
    answer_of(1, 1, REPLY_GONE);
    gather(*state, 2, 1, "", "", everybody, 2);
    answer_of(2, 1, REPLY_GONE);
}

static void a_node_that_has_lost_a_member_ends_it_for_all(void **state)
{
    const struct question question = {COLLECTIVE_CONNECT, 1, 1, "", "", 2};
    struct buf message = gather_message(&question, two, 2);
    gather(*state, 0, 1, "", "zero", two, 2);
    assert_int_equal(take(*state, 2, &message), 0);
    answer_of(0, 1, REPLY_GONE);
    answer_of(2, 1, REPLY_GONE);
}

static void who_waits_no_more_ends_it_for_the_others(void **state)
{
    gather(*state, 0, 1, "", "", everybody, 2);
    gather(*state, 1, 5, "", "", everybody, 2);
    forget(*state, 0, 5); /* not its own */
    assert_int_equal(ntold, 0);
    forget(*state, 0, 1);
    assert_int_equal(ntold, 1);
    answer_of(1, 5, REPLY_TIMEOUT);
    forget(*state, 0, 1);
    forget(*state, 1, 5);
    assert_int_equal(ntold, 1);
}

static void a_host_waits_for_so_many_and_no_more(void **state)
{
    char key[16];
    for (uint32_t i = 0; i <= SERVICE_GATHERS_MAX; i++) {
        snprintf(key, sizeof(key), "%u", i);
        assert_int_equal(ntold, 0);
        gather(*state, 0, i + 1, key, "", two, 2);
    }
    answer_of(0, SERVICE_GATHERS_MAX + 1, REPLY_FULL);
    gather(*state, 2, 1, "0", "", two, 2); /* of another host */
    assert_int_equal(ntold, 3);
}

static void more_bytes_than_one_message_can_have_are_refused_to_all(void **state)
{
    size_t len = SERVICE_BYTES_MAX / 2 + 1;
    char *bytes = memset(mem_alloc(len + 1), 'x', len);
    gather(*state, 0, 1, "", bytes, two, 2);
    gather(*state, 2, 1, "", bytes, two, 2);
    answer_of(0, 1, REPLY_FULL);
    answer_of(2, 1, REPLY_FULL);
    free(bytes);
}

static void a_question_that_is_malformed_is_nobodys(void **state)
{
    static const struct {
        struct question question;
        struct part parts[2];
        const char *behind;
    } cases[] = {
        {{COLLECTIVE_NKINDS, 0, 1, "", "", 2}, {{"a", ""}, {"b", ""}}, ""},
        {{0, 2, 1, "", "", 2}, {{"a", ""}, {"b", ""}}, ""},
        {{0, 0, 0, "", "", 2}, {{"a", ""}, {"b", ""}}, ""},   /* no answer is wanted */
        {{0, 0, 1, "", "", 0}, {{"a", ""}, {"b", ""}}, ""},   /* of nobody */
        {{0, 0, 1, "", "", 2}, {{"b", ""}, {"a", ""}}, ""},   /* not by name */
        {{0, 0, 1, "", "", 2}, {{"a", "0"}, {"a", "1"}}, ""}, /* twice */
        {{0, 0, 1, "", "", 2}, {{"a", "1-0"}, {"b", ""}}, ""},
        {{0, 0, 1, "", "", 2}, {{"a", "x"}, {"b", ""}}, ""},
        {{0, 0, 1, "", "", 2}, {{"a", "2147483648"}, {"b", ""}}, ""},
        {{0, 0, 1, "", "", 2}, {{"a", "0"}, {"b", ""}}, "x"}, /* something behind it */
        {{0, 0, 1, "", "", 3}, {{"a", "0"}, {"b", ""}}, ""},  /* fewer than it says */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf message = gather_message(&cases[i].question, cases[i].parts, 2);
        buf_add_text(&message, cases[i].behind);
        assert_int_equal(take(*state, 0, &message), -1);
    }
    assert_int_equal(ntold, 0);
}

/* ---- groups ---- */

struct led { /* a question about the group "g" */
    uint32_t node;
    uint64_t token;
    uint8_t broken;
    const char *bytes;
    struct part leads; /* no job: it follows */
    uint32_t leaders;
    struct part adds; /* no job: nobody */
};

static void put_part(struct buf *out, const struct part *part)
{
    pack_put_u32(out, part->job != NULL);
    if (!part->job)
        return;
    pack_put_text(out, part->job);
    pack_put_text(out, part->ranks);
}

static int ask_group(struct pmi_service *service, const struct led *led)
{
    struct buf out = BUF_INIT;
    message_put_up(&out, REQUEST_GATHER, led->token, "a", 0);
    pack_put_u8(&out, COLLECTIVE_GROUP);
    pack_put_u8(&out, led->broken);
    pack_put_text(&out, "g");
    pack_put_text(&out, led->bytes);
    put_part(&out, &led->leads);
    pack_put_u32(&out, led->leaders);
    put_part(&out, &led->adds);
    return take(service, led->node, &out);
}

/* None is answered before the last one has asked. */
static void ask_groups(struct pmi_service *service, const struct led *led, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(ntold, 0);
        assert_int_equal(ask_group(service, &led[i]), 0);
    }
    assert_int_equal(ntold, count);
}

/* "job: ranks" of each. */
static uint64_t check_group(uint32_t node, uint64_t token, const char *bytes, const char *members)
{
    struct pack rest = answer_of(node, token, REPLY_OK);
    struct buf all = BUF_INIT;
    uint64_t number = pack_u64(&rest);
    char *text = pack_get_text(&rest);
    for (uint32_t count = pack_count(&rest, 8); count; count--) {
        char *job = pack_get_text(&rest), *ranks = pack_get_text(&rest);
        buf_printf(&all, "%s:%s ", job, ranks);
        free(job);
        free(ranks);
    }
    assert_true(pack_ends(&rest));
    assert_string_equal(text, bytes);
    assert_string_equal(buf_text(&all), members);
    buf_free(&all);
    free(text);
    return number;
}

static void a_group_is_complete_with_all_that_lead_and_all_that_they_add(void **state)
{
    static const struct led led[] = {
        {1, 1, 0, "b1,", {0}, 0, {0}}, /* who follows may be the first */
        {0, 1, 0, "a0,", {"a", "0"}, 2, {"a", "1"}},
        {2, 1, 0, "b3,", {"b", "3"}, 2, {"b", "0-1"}},
        {1, 2, 0, "b0,", {0}, 0, {0}},
        {0, 2, 0, "a1,", {0}, 0, {0}},
    };
    ask_groups(*state, led, 5);
    uint64_t number = check_group(0, 1, "b1,a0,b3,b0,a1,", "a:0-1 b:0-1,3 ");
    assert_true(number > 0);
    assert_true(check_group(1, 1, "b1,a0,b3,b0,a1,", "a:0-1 b:0-1,3 ") == number);
    assert_true(check_group(2, 1, "b1,a0,b3,b0,a1,", "a:0-1 b:0-1,3 ") == number);
    check_group(0, 2, "", ""); /* it was told */
    check_group(1, 2, "", "");
}

static void leaders_that_are_listed_ask_once_a_node(void **state)
{
    static const struct led led[] = {
        {0, 1, 0, "0,", {"a", ""}, 0, {0}},
        {2, 7, 0, "f,", {0}, 0, {0}},
        {1, 1, 0, "1,", {"a", ""}, 0, {"b", "3"}},
    };
    ask_groups(*state, led, 3);
    check_group(0, 1, "0,f,1,", "a: b:3 ");
    check_group(1, 1, "0,f,1,", "a: b:3 ");
    check_group(2, 7, "0,f,1,", "a: b:3 ");
}

/* As when a leader adds all of its job. */
static void who_leads_and_is_added_is_not_waited_for_twice(void **state)
{
    static const struct led led[] = {
        {0, 1, 0, "", {"a", "0"}, 1, {"a", ""}},
        {0, 2, 0, "", {0}, 0, {0}},
        {1, 1, 0, "", {0}, 0, {0}},
        {1, 2, 0, "", {0}, 0, {0}},
    };
    ask_groups(*state, led, 4);
    check_group(1, 1, "", "a: ");
}

static void what_is_wrong_with_one_of_a_group_is_told_to_all(void **state)
{
    static const struct {
        struct led last;
        enum reply_status status;
    } cases[] = {
        {{2, 1, 0, "", {"b", "3"}, 2, {"b", "4"}}, REPLY_NOT_FOUND},
        {{2, 1, 0, "", {"b", "3"}, 2, {"c", ""}}, REPLY_NOT_FOUND},
        {{2, 1, 0, "", {"c", "3"}, 2, {0}}, REPLY_NOT_FOUND},
        {{2, 1, 0, "", {"b", "3"}, 3, {0}}, REPLY_BAD}, /* the other one says two */
        {{2, 1, 0, "", {"b", "3"}, 0, {0}}, REPLY_BAD},
        {{2, 1, 0, "", {"a", "0"}, 2, {0}}, REPLY_BAD}, /* which is elsewhere */
        {{2, 1, 1, "", {"b", "3"}, 2, {0}}, REPLY_GONE},
        {{2, 1, 1, "", {0}, 0, {0}}, REPLY_GONE}, /* it is not to be */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct led led[] = {
            {1, 1, 0, "", {0}, 0, {0}}, {0, 1, 0, "", {"a", "0"}, 2, {"a", "1"}}, cases[i].last};
        ask_groups(*state, led, 3);
        for (uint32_t node = 0; node < 3; node++)
            answer_of(node, 1, cases[i].status);
        told_clear();
    }
}

static void more_cannot_lead_a_group_than_they_say(void **state)
{
    static const struct led led[] = {{0, 1, 0, "", {"a", "0"}, 1, {"a", "1"}},
                                     {2, 1, 0, "", {"b", "3"}, 1, {0}}};
    ask_groups(*state, led, 2);
    answer_of(0, 1, REPLY_BAD);
    answer_of(2, 1, REPLY_BAD);
}

static void a_group_ends_with_a_task_that_was_to_follow(void **state)
{
    static const struct led leader = {0, 1, 0, "", {"a", "0"}, 1, {"b", "0"}};
    assert_int_equal(ask_group(*state, &leader), 0);
    pmi_service_ended(*state, "b", 1);
    pmi_service_ended(*state, "a", 0); /* which has asked */
    assert_int_equal(ntold, 0);
    pmi_service_ended(*state, "b", 0);
    answer_of(0, 1, REPLY_GONE);
    told_clear();
    const struct led again = {0, 2, 0, "", {"a", "1"}, 1, {"b", "2"}};
    assert_int_equal(ask_group(*state, &again), 0);
    pmi_service_remove(*state, "b");
    answer_of(0, 2, REPLY_GONE);
}

static void who_follows_says_nothing_of_others(void **state)
{
    static const struct led cases[] = {
        {0, 1, 0, "", {0}, 1, {0}}, {0, 1, 0, "", {0}, 0, {"a", "0"}}, {0, 0, 0, "", {0}, 0, {0}}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(ask_group(*state, &cases[i]), -1);
    assert_int_equal(ntold, 0);
}

/* ---- descriptions ---- */

static void describe(struct pmi_service *service, uint32_t node, uint64_t token, const char *one,
                     const char *other)
{
    struct buf message = BUF_INIT;
    message_put_up(&message, REQUEST_DESCRIBE, token, "a", 0);
    pack_put_u32(&message, other ? 2 : 1);
    pack_put_text(&message, one);
    if (other)
        pack_put_text(&message, other);
    assert_int_equal(take(service, node, &message), 0);
}

static void check_description(struct pack *rest, const char *name, const char *host)
{
    struct namespace_info *description = namespace_info_read(rest);
    assert_non_null(description);
    const struct namespace_facts *job = &description->job;
    assert_string_equal(job->name, name);
    assert_string_equal(job->hosts[0], host);
    assert_string_equal(job->spawner, "spawner");
    assert_int_equal(job->spawner_rank, 7);
    assert_int_equal(job->session, 3);
    assert_int_equal(job->universe_size, -1);
    assert_int_equal(job->map->ntasks, 4);
    assert_int_equal(taskmap_node(job->map, 2), 1);
    assert_int_equal(job->napps, 2);
    assert_int_equal(job->apps[1].first_rank, 1);
    assert_int_equal(job->apps[1].ntasks, 3);
    assert_string_equal(job->apps[0].directory, "/tmp");
    assert_string_equal(job->apps[0].argv[1], "an argument");
    assert_null(job->apps[0].argv[2]);
    assert_null(job->apps[1].argv[0]);
    assert_string_equal(job->map_by, "slot");
    assert_null(job->rank_by);
    assert_string_equal(job->bind_to, "core");
    namespace_info_free(description);
}

static void jobs_are_described_to_who_asks(void **state)
{
    describe(*state, 0, 1, "b", "a");
    struct pack rest = answer_of(0, 1, REPLY_OK);
    check_description(&rest, "b", "n1");
    check_description(&rest, "a", "n0");
    assert_true(pack_ends(&rest));
    describe(*state, 0, 2, "b", "c");
    answer_of(0, 2, REPLY_NOT_FOUND);
}

static void who_was_told_of_a_job_is_told_of_its_end(void **state)
{
    describe(*state, 0, 1, "b", NULL);
    describe(*state, 0, 2, "b", NULL);
    describe(*state, 1, 1, "a", NULL);
    told_clear();
    pmi_service_remove(*state, "b");
    assert_int_equal(ntold, 1);
    assert_int_equal(told[0].node, 0);
    assert_int_equal(told[0].talk.kind, ORDER_REMOVED);
    char *name = pack_get_text(&told[0].talk.rest);
    assert_string_equal(name, "b");
    free(name);
}

static void a_job_without_hosts_is_not_described(void **state)
{
    struct taskmap *map = taskmap_new();
    taskmap_append(map, 0, 1);
    const struct namespace_facts job = {.name = "c", .map = map, .node = (const uint32_t[]){0}};
    pmi_service_add(*state, &job);
    describe(*state, 0, 1, "c", NULL);
    answer_of(0, 1, REPLY_NOT_FOUND);
    taskmap_free(map);
}

static void a_description_that_is_cut_anywhere_is_malformed(void **state)
{
    describe(*state, 0, 1, "b", NULL);
    struct pack whole = answer_of(0, 1, REPLY_OK);
    for (size_t len = 0; len < whole.left; len++) {
        struct pack in = pack_of(whole.at, len);
        assert_null(namespace_info_read(&in));
    }
}

static void a_description_is_of_a_job_with_a_name_and_tasks(void **state)
{
    struct taskmap *map = taskmap_new(), *none = taskmap_new();
    struct buf out = BUF_INIT;
    (void)state;
    taskmap_append(map, 0, 1);
    struct namespace_facts job = {
        .name = "c", .map = map, .hosts = (const char *const[]){"n0", "n1"}, .universe_size = -1};
    namespace_info_put(&out, &job);
    struct pack in = pack_of(buf_bytes(&out), out.len);
    struct namespace_info *good = namespace_info_read(&in);
    assert_non_null(good);
    namespace_info_free(good);
    taskmap_append(map, 1, 1);
    buf_clear(&out);
    job.map = none;
    namespace_info_put(&out, &job); /* of no task */
    in = pack_of(buf_bytes(&out), out.len);
    assert_null(namespace_info_read(&in));
    job.map = map;
    job.name = "";
    buf_clear(&out);
    namespace_info_put(&out, &job);
    in = pack_of(buf_bytes(&out), out.len);
    assert_null(namespace_info_read(&in));
    taskmap_free(map);
    taskmap_free(none);
    buf_free(&out);
}

/* ---- what tasks of other jobs have put ---- */

static void modex(struct pmi_service *service, uint32_t node, uint64_t token, const char *job,
                  uint32_t rank)
{
    struct buf message = BUF_INIT;
    message_put_up(&message, REQUEST_MODEX, token, "a", 0);
    message_put_proc(&message, job, rank);
    pack_put_u32(&message, 2000);
    pack_put_text(&message, "key");
    assert_int_equal(take(service, node, &message), 0);
}

static int found(struct pmi_service *service, uint32_t node, uint64_t number, uint8_t status)
{
    struct buf message = BUF_INIT;
    message_put_up(&message, REQUEST_FOUND, 0, "b", 3);
    pack_put_u64(&message, number);
    pack_put_u8(&message, status);
    pack_put_text(&message, "what it has put");
    return take(service, node, &message);
}

/* The only thing that was said is an order to this node. */
static uint64_t ordered(uint32_t node, const char *job, uint32_t rank)
{
    assert_int_equal(ntold, 1);
    assert_int_equal(told[0].node, node);
    assert_int_equal(told[0].talk.kind, ORDER_MODEX);
    uint64_t number = pack_u64(&told[0].talk.rest);
    struct process_name proc = message_proc(&told[0].talk.rest);
    assert_int_equal(pack_u32(&told[0].talk.rest), 2000);
    char *key = pack_get_text(&told[0].talk.rest);
    assert_string_equal(key, "key");
    free(key);
    assert_true(pack_ends(&told[0].talk.rest));
    assert_string_equal(proc.job, job);
    assert_int_equal(proc.rank, rank);
    free(proc.job);
    told_clear();
    return number;
}

static void what_a_task_has_put_is_asked_of_its_node(void **state)
{
    modex(*state, 0, 4, "b", 3);
    uint64_t number = ordered(2, "b", 3);
    assert_int_equal(found(*state, 1, number, REPLY_OK), 0); /* not its node */
    assert_int_equal(found(*state, 2, number + 1, REPLY_OK), 0);
    assert_int_equal(ntold, 0);
    assert_int_equal(found(*state, 2, number, REPLY_OK), 0);
    struct pack rest = answer_of(0, 4, REPLY_OK);
    char *text = pack_get_text(&rest);
    assert_string_equal(text, "what it has put");
    free(text);
    assert_int_equal(found(*state, 2, number, REPLY_OK), 0); /* once */
    assert_int_equal(ntold, 1);
    assert_int_equal(found(*state, 2, number, REPLY_NSTATUS), -1);
}

static void who_is_nowhere_has_put_nothing(void **state)
{
    modex(*state, 0, 1, "c", 0);
    modex(*state, 0, 2, "b", 4);
    modex(*state, 0, 3, "b", SERVICE_ALL);
    for (uint64_t token = 1; token <= 3; token++)
        answer_of(0, token, REPLY_NOT_FOUND);
}

static void what_is_asked_of_a_job_that_ends_is_answered(void **state)
{
    modex(*state, 0, 1, "b", 0);
    modex(*state, 0, 2, "a", 3);
    modex(*state, 0, 3, "b", 3);
    told_clear();
    forget(*state, 0, 3);
    pmi_service_remove(*state, "b");
    assert_int_equal(ntold, 1);
    answer_of(0, 1, REPLY_GONE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(all_are_answered_once_every_node_with_a_member_has_asked),
        TEST(nodes_that_have_no_member_are_not_waited_for),
        TEST(several_go_on_at_once_and_repeated_ones_follow_each_other),
        TEST(all_ranks_of_a_job_are_the_same_as_each_of_them),
        TEST(who_does_not_exist_takes_no_part),
        TEST(a_job_that_is_over_ends_what_waits_for_it),
        TEST(a_job_that_has_entered_a_destruct_may_be_over_before_others_do),
        TEST(what_waits_for_who_is_over_goes_with_the_hub),
        TEST(a_task_that_is_over_ends_what_waits_for_its_node),
        TEST(a_node_that_has_lost_a_member_ends_it_for_all),
        TEST(who_waits_no_more_ends_it_for_the_others),
        TEST(a_host_waits_for_so_many_and_no_more),
        TEST(more_bytes_than_one_message_can_have_are_refused_to_all),
        TEST(a_question_that_is_malformed_is_nobodys),
        TEST(a_group_is_complete_with_all_that_lead_and_all_that_they_add),
        TEST(leaders_that_are_listed_ask_once_a_node),
        TEST(who_leads_and_is_added_is_not_waited_for_twice),
        TEST(what_is_wrong_with_one_of_a_group_is_told_to_all),
        TEST(more_cannot_lead_a_group_than_they_say),
        TEST(a_group_ends_with_a_task_that_was_to_follow),
        TEST(who_follows_says_nothing_of_others),
        TEST(jobs_are_described_to_who_asks),
        TEST(who_was_told_of_a_job_is_told_of_its_end),
        TEST(a_job_without_hosts_is_not_described),
        TEST(a_description_that_is_cut_anywhere_is_malformed),
        TEST(a_description_is_of_a_job_with_a_name_and_tasks),
        TEST(what_a_task_has_put_is_asked_of_its_node),
        TEST(who_is_nowhere_has_put_nothing),
        TEST(what_is_asked_of_a_job_that_ends_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

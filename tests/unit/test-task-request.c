#include <stdlib.h>
#include <string.h>

#include "launcher/protocol/task_request.h"
#include "tests/unit/unit.h"

/* Nobody writes to it. */
static char *text(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

/* As it is on the wire. */
static json_t *travel(json_t *value)
{
    char *wire = json_dumps(value, JSON_COMPACT);
    assert_non_null(wire);
    json_decref(value);
    value = json_loads(wire, JSON_ALLOW_NUL, NULL);
    free(wire);
    assert_non_null(value);
    return value;
}

static void check_pairs(const struct pair *got, size_t ngot, const struct pair *want, size_t nwant)
{
    assert_int_equal(ngot, nwant);
    for (size_t i = 0; i < nwant; i++) {
        assert_string_equal(got[i].key, want[i].key);
        assert_string_equal(got[i].value, want[i].value);
    }
}

static void test_a_spawn_arrives_as_it_was_asked(void **state)
{
    char *one[] = {text("./a b"), text(""), text("x=y"), text("\xff\n"), NULL};
    char *two[] = {text("/bin/c"), NULL};
    struct pair info[] = {
        {text("wdir"), text("/tmp")}, {text(""), text("")}, {text("k"), text("caf\xe9")}};
    struct pair preput[] = {{text("PORT"), text("tag#0$ = 1")}};
    struct task_request_block blocks[] = {{one, 3, info, 3}, {two, 1, NULL, 0}};
    struct task_request ask = {TASK_REQUEST_SPAWN, 2, blocks, 2, preput, 1, NULL, NULL}, got;
    struct error err = ERROR_INIT;
    (void)state;
    json_t *value = travel(task_request_to_json(&ask));
    assert_int_equal(task_request_from_json(&got, value, &err), 0);
    json_decref(value);
    assert_int_equal(got.kind, TASK_REQUEST_SPAWN);
    assert_int_equal(got.app, 2);
    assert_int_equal(got.nblocks, 2);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(got.blocks[0].argv[i], one[i]);
    assert_null(got.blocks[0].argv[4]);
    assert_int_equal(got.blocks[0].ntasks, 3);
    check_pairs(got.blocks[0].info, got.blocks[0].ninfo, info, 3);
    assert_string_equal(got.blocks[1].argv[0], "/bin/c");
    assert_int_equal(got.blocks[1].ninfo, 0);
    check_pairs(got.preput, got.npreput, preput, 1);
    task_request_clear(&got);
}

static void test_names_arrive_as_they_were_asked(void **state)
{
    static const enum task_request_kind kinds[] = {TASK_REQUEST_PUBLISH, TASK_REQUEST_LOOKUP,
                                                   TASK_REQUEST_UNPUBLISH};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct task_request ask = {kinds[i],           0, NULL, 0, NULL, 0, text("a \"name\""),
                                   i ? NULL : text("")};
        struct task_request got;
        json_t *value = travel(task_request_to_json(&ask));
        assert_int_equal(task_request_from_json(&got, value, NULL), 0);
        json_decref(value);
        assert_int_equal(got.kind, kinds[i]);
        assert_string_equal(got.name, ask.name);
        assert_true(!got.port == !ask.port);
        task_request_clear(&got);
    }
}

static const struct {
    const char *text;
    const char *words;
} bad[] = {
    {"[]", "no such question"},
    {"{}", "no such question"},
    {"{\"ask\":\"dance\"}", "no such question"},
    {"{\"ask\":1}", "no such question"},
    {"{\"ask\":\"spawn\"}", "blocks must be"},
    {"{\"ask\":\"spawn\",\"blocks\":{}}", "blocks must be"},
    {"{\"ask\":\"spawn\",\"blocks\":[]}", "blocks must be"},
    {"{\"ask\":\"spawn\",\"blocks\":[7]}", "block 0: a block"},
    {"{\"ask\":\"spawn\",\"blocks\":[{}]}", "block 0: argv must begin"},
    {"{\"ask\":\"spawn\",\"blocks\":[{\"argv\":[],\"ntasks\":1}]}", "argv must begin"},
    {"{\"ask\":\"spawn\",\"blocks\":[{\"argv\":[\"\"],\"ntasks\":1}]}", "argv must begin"},
    {"{\"ask\":\"spawn\",\"blocks\":[{\"argv\":[1],\"ntasks\":1}]}", "argv"},
    {"{\"ask\":\"spawn\",\"blocks\":[{\"argv\":[\"a\\u0000b\"],\"ntasks\":1}]}", "zero byte"},
    {"{\"ask\":\"spawn\",\"blocks\":[{\"argv\":[\"a\"]}]}", "ntasks must be 1"},
    {"{\"ask\":\"spawn\",\"blocks\":[{\"argv\":[\"a\"],\"ntasks\":0}]}", "ntasks"},
    {"{\"ask\":\"spawn\",\"blocks\":[{\"argv\":[\"a\"],\"ntasks\":-1}]}", "ntasks"},
    {"{\"ask\":\"spawn\",\"blocks\":[{\"argv\":[\"a\"],\"ntasks\":4294967297}]}", "ntasks"},
    {"{\"ask\":\"spawn\",\"blocks\":[{\"argv\":[\"a\"],\"ntasks\":1,\"more\":1}]}", "more"},
    {"{\"ask\":\"spawn\",\"blocks\":[{\"argv\":[\"a\"],\"ntasks\":1,\"info\":1}]}",
     "info: must be"},
    {"{\"ask\":\"spawn\",\"blocks\":[{\"argv\":[\"a\"],\"ntasks\":1,\"info\":[[\"a\"]]}]}",
     "info: a pair"},
    {"{\"ask\":\"spawn\",\"blocks\":[{\"argv\":[\"a\"],\"ntasks\":1,\"info\":[[\"a\",1]]}]}",
     "info: must be"},
    {"{\"ask\":\"spawn\",\"blocks\":[{\"argv\":[\"a\"],\"ntasks\":1}],\"preput\":[1]}",
     "preput: a pair"},
    {"{\"ask\":\"spawn\",\"app\":-1,\"blocks\":[{\"argv\":[\"a\"],\"ntasks\":1}]}", "app must be"},
    {"{\"ask\":\"spawn\",\"app\":\"0\",\"blocks\":[{\"argv\":[\"a\"],\"ntasks\":1}]}",
     "app must be"},
    {"{\"ask\":\"lookup\"}", "name is missing"},
    {"{\"ask\":\"lookup\",\"name\":1}", "name: must be"},
    {"{\"ask\":\"publish\",\"name\":\"n\"}", "port is missing"},
};

static void test_what_nobody_can_ask_is_refused_with_the_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = ERROR_INIT;
        struct task_request ask;
        json_t *value = json_loads(bad[i].text, JSON_ALLOW_NUL, NULL);
        assert_non_null(value);
        if (task_request_from_json(&ask, value, &err) != -1)
            fail_msg("case %zu was taken", i);
        if (!strstr(error_text(&err), bad[i].words))
            fail_msg("case %zu: %s", i, error_text(&err));
        error_clear(&err);
        json_decref(value);
    }
}

static void test_an_answer_arrives(void **state)
{
    struct task_answer answers[] = {{text("no \xff room"), NULL, 0},
                                    {NULL, text(""), 0},
                                    {NULL, NULL, 7},
                                    {.refusal = text("full"), .full = true}};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct task_answer got;
        json_t *value = travel(task_answer_to_json(&answers[i]));
        assert_int_equal(task_answer_from_json(&got, value, NULL), 0);
        json_decref(value);
        assert_true(!got.refusal == !answers[i].refusal && !got.port == !answers[i].port);
        if (got.refusal)
            assert_string_equal(got.refusal, answers[i].refusal);
        assert_int_equal(got.group, answers[i].group);
        assert_int_equal(got.full, answers[i].full);
        task_answer_clear(&got);
    }
}

static void test_an_answer_tells_which_tasks_failed_and_how(void **state)
{
    struct idset *some = idset_decode("1-2", NULL), *more = idset_decode("5", NULL);
    struct task_answer answer = {.refusal = text("no")}, got;
    (void)state;
    task_answer_fail(&answer, 127, some);
    task_answer_fail(&answer, 126, more);
    task_answer_fail(&answer, 127, more);
    json_t *value = travel(task_answer_to_json(&answer));
    assert_int_equal(task_answer_from_json(&got, value, NULL), 0);
    json_decref(value);
    assert_int_equal(got.nfailed, 2);
    static const struct {
        uint32_t code;
        const char *ranks;
    } want[] = {{127, "1-2,5"}, {126, "5"}};
    for (size_t i = 0; i < 2; i++) {
        char *ranks = idset_encode(got.failed[i].ranks);
        assert_int_equal(got.failed[i].code, want[i].code);
        assert_string_equal(ranks, want[i].ranks);
        free(ranks);
    }
    answer.refusal = NULL;
    task_answer_clear(&answer);
    task_answer_clear(&got);
    idset_free(some);
    idset_free(more);
}

static void test_who_is_dead_is_asked_and_answered(void **state)
{
    static const char *const sets[] = {"", "0,3-5"};
    struct task_request ask = {.kind = TASK_REQUEST_DEAD, .app = 1, .rank = 2}, asked;
    (void)state;
    json_t *value = travel(task_request_to_json(&ask));
    assert_int_equal(task_request_from_json(&asked, value, NULL), 0);
    json_decref(value);
    assert_int_equal(asked.kind, TASK_REQUEST_DEAD);
    task_request_clear(&asked);
    for (size_t i = 0; i < 2; i++) {
        struct task_answer answer = {.dead = idset_decode(sets[i], NULL)}, got;
        value = travel(task_answer_to_json(&answer));
        assert_int_equal(task_answer_from_json(&got, value, NULL), 0);
        json_decref(value);
        assert_true(idset_equal(got.dead, answer.dead));
        task_answer_clear(&answer);
        task_answer_clear(&got);
    }
}

static void test_a_malformed_answer_is_refused(void **state)
{
    static const char *const texts[] = {"[]",
                                        "{\"port\":1}",
                                        "{\"group\":\"x\"}",
                                        "{\"group\":-1}",
                                        "{\"refusal\":[]}",
                                        "{\"failed\":7}",
                                        "{\"failed\":[7]}",
                                        "{\"failed\":[[0,\"1\"]]}",
                                        "{\"failed\":[[256,\"1\"]]}",
                                        "{\"failed\":[[1]]}",
                                        "{\"failed\":[[1,\"2-1\"]]}",
                                        "{\"dead\":[1]}",
                                        "{\"dead\":\"2-1\"}"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct error err = ERROR_INIT;
        struct task_answer answer;
        json_t *value = json_loads(texts[i], 0, NULL);
        if (task_answer_from_json(&answer, value, &err) != -1 || !err.text)
            fail_msg("case %zu was taken", i);
        error_clear(&err);
        json_decref(value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_spawn_arrives_as_it_was_asked),
        cmocka_unit_test(test_names_arrive_as_they_were_asked),
        cmocka_unit_test(test_what_nobody_can_ask_is_refused_with_the_reason),
        cmocka_unit_test(test_an_answer_arrives),
        cmocka_unit_test(test_an_answer_tells_which_tasks_failed_and_how),
        cmocka_unit_test(test_who_is_dead_is_asked_and_answered),
        cmocka_unit_test(test_a_malformed_answer_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

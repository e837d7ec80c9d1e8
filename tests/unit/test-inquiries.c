#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/program/inquiries.h"
#include "launcher/protocol/input_choice.h"
#include "tests/unit/unit.h"

/* What was sent, and what came of it: "0:0-1 1:2 silent 3". */
struct world {
    struct ev_loop *loop;
    struct inquiries *inquiries;
    char *sent; /* JSON of the last question */
    uint32_t number;
    struct buf results;
};

static void on_send(void *arg, const struct idset *nodes, const struct frame *frame)
{
    struct world *world = arg;
    (void)nodes;
    assert_int_equal(frame->type, FRAME_INQUIRY);
    free(world->sent);
    world->sent = mem_copy_text_n(frame->bytes, frame->len);
    world->number = frame->rank;
}

static void on_done(void *owner, struct inquiry_result *result)
{
    struct world *world = owner;
    for (size_t i = 0; i < result->nnodes; i++) {
        buf_printf(&world->results, "%u:", result->nodes[i].node);
        for (size_t j = 0; j < result->nodes[i].answer.ntasks; j++)
            buf_printf(&world->results, "%s%u", j ? "," : "",
                       result->nodes[i].answer.tasks[j].rank);
        buf_add_text(&world->results, " ");
    }
    char *silent = idset_encode(result->silent);
    buf_printf(&world->results, "silent %s;", silent);
    free(silent);
}

/* ---- the payloads ---- */

static void check_same_json(json_t *value, const char *text)
{
    char *got = json_dumps(value, JSON_COMPACT);
    assert_string_equal(got, text);
    free(got);
    json_decref(value);
}

static void test_a_question_about_stdin_and_its_answer_are_read_as_they_were_written(void **state)
{
    static const char question[] = "{\"nodes\":\"1\",\"ranks\":\"0-3\",\"stdin\":true}";
    static const char said[] =
        "{\"ranks\":\"0-1\",\"waiting\":\"2\",\"reading\":\"1-2\",\"lagging\":\"1\"}";
    json_t *value = json_loads(question, 0, NULL);
    struct inquiry inquiry;
    struct inquiry_answer answer;
    (void)state;
    assert_int_equal(inquiry_from_json(&inquiry, value, NULL), 0);
    assert_true(inquiry.about_stdin);
    check_same_json(inquiry_to_json(&inquiry), question);
    inquiry_clear(&inquiry);
    json_decref(value);
    value = json_loads(said, 0, NULL);
    assert_int_equal(inquiry_answer_from_json(&answer, value, NULL), 0);
    check_same_json(inquiry_answer_to_json(&answer, false), said);
    inquiry_answer_clear(&answer);
    json_decref(value);
}

static void test_a_choice_of_ranks_is_read_as_it_was_written_or_refused(void **state)
{
    static const char good[] = "{\"ranks\":\"0-3\",\"nodes\":\"1\"}";
    static const char *const bad[] = {"{}", "[]", "{\"ranks\":\"0\"}",
                                      "{\"ranks\":\"0\",\"nodes\":1}",
                                      "{\"ranks\":\"x\",\"nodes\":\"0\"}"};
    json_t *value = json_loads(good, 0, NULL);
    struct input_choice choice;
    (void)state;
    assert_int_equal(input_choice_from_json(&choice, value, NULL), 0);
    check_same_json(input_choice_to_json(&choice), good);
    input_choice_clear(&choice);
    json_decref(value);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = ERROR_INIT;
        value = json_loads(bad[i], 0, NULL);
        assert_int_equal(input_choice_from_json(&choice, value, &err), -1);
        assert_non_null(err.text);
        input_choice_clear(&choice);
        error_clear(&err);
        json_decref(value);
    }
}

static int setup(void **state)
{
    struct world *world = mem_alloc(sizeof(*world));
    world->loop = ev_loop_new(0);
    world->inquiries = inquiries_new(world->loop, on_send, world);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    inquiries_free(world->inquiries);
    ev_loop_destroy(world->loop);
    buf_free(&world->results);
    free(world->sent);
    free(world);
    return 0;
}

static void ask(struct world *world, const char *nodes, double patience)
{
    struct inquiry inquiry = {.nodes = idset_decode(nodes, NULL), .signal = 10};
    inquiries_ask(world->inquiries, &inquiry, patience, on_done, world);
    inquiry_clear(&inquiry);
}

static void answer(struct world *world, uint32_t node, const char *text)
{
    struct frame frame = {.type = FRAME_INQUIRY_ANSWER, .node = node, .rank = world->number};
    json_t *value = json_loads(text, 0, NULL);
    assert_non_null(value);
    inquiries_answer(world->inquiries, &frame, value);
    json_decref(value);
}

static void lose(struct world *world, const char *text)
{
    struct idset *nodes = idset_decode(text, NULL);
    inquiries_lost(world->inquiries, nodes);
    idset_free(nodes);
}

/* The loop runs until nothing is waited for. */
static void check(struct world *world, const char *results)
{
    ev_run(world->loop, 0);
    assert_string_equal(buf_text(&world->results), results);
}

static void test_all_nodes_answer(void **state)
{
    struct world *world = *state;
    ask(world, "0-1", 60);
    assert_string_equal(world->sent, "{\"nodes\":\"0-1\",\"signal\":10}");
    answer(world, 1, "{\"ranks\":\"2-3\"}");
    assert_string_equal(buf_text(&world->results), "");
    answer(world, 0, "{\"ranks\":\"0-1\"}");
    check(world, "0:0,1 1:2,3 silent ;");
}

static void test_who_does_not_answer_in_time_is_named(void **state)
{
    struct world *world = *state;
    ask(world, "0-2", 0.01);
    answer(world, 1, "{\"ranks\":\"1\"}");
    check(world, "1:1 silent 0,2;");
}

static void test_who_is_lost_is_not_waited_for(void **state)
{
    struct world *world = *state;
    ask(world, "0-1", 60);
    lose(world, "1,5");
    answer(world, 0, "{\"ranks\":\"\"}");
    check(world, "0: silent 1;");
}

static void test_a_second_answer_and_one_of_a_node_that_was_not_asked_are_passed_over(void **state)
{
    struct world *world = *state;
    ask(world, "0-1", 60);
    answer(world, 0, "{\"ranks\":\"0\"}");
    answer(world, 0, "{\"ranks\":\"7\"}");
    answer(world, 4, "{\"ranks\":\"7\"}");
    world->number += 5;
    answer(world, 1, "{\"ranks\":\"7\"}");
    world->number -= 5;
    answer(world, 1, "{\"ranks\":\"1\"}");
    check(world, "0:0 1:1 silent ;");
}

static void test_a_malformed_answer_is_none(void **state)
{
    struct world *world = *state;
    ask(world, "0-1", 60);
    answer(world, 0, "{\"ranks\":\"0\",\"pids\":[1,2]}");
    answer(world, 1, "{\"ranks\":\"1\"}");
    check(world, "1:1 silent 0;");
}

static void test_a_question_to_nobody_is_answered_from_the_loop(void **state)
{
    struct world *world = *state;
    ask(world, "", 60);
    assert_string_equal(buf_text(&world->results), "");
    check(world, "silent ;");
}

static void test_questions_that_are_open_at_the_end_are_answered(void **state)
{
    struct world *world = *state;
    ask(world, "0", 60);
    ask(world, "1", 60);
    inquiries_settle(world->inquiries);
    check(world, "silent 0;silent 1;");
    ask(world, "2", 60);
    inquiries_free(world->inquiries);
    world->inquiries = NULL;
    check(world, "silent 0;silent 1;silent 2;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_question_about_stdin_and_its_answer_are_read_as_they_were_written),
        cmocka_unit_test(test_a_choice_of_ranks_is_read_as_it_was_written_or_refused),
        cmocka_unit_test_setup_teardown(test_all_nodes_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_who_does_not_answer_in_time_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(test_who_is_lost_is_not_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_a_second_answer_and_one_of_a_node_that_was_not_asked_are_passed_over, setup,
            teardown),
        cmocka_unit_test_setup_teardown(test_a_malformed_answer_is_none, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_question_to_nobody_is_answered_from_the_loop, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_questions_that_are_open_at_the_end_are_answered, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

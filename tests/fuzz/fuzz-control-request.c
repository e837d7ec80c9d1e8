/* What a process says to a manager's control socket, and what a manager answers: what is taken is written again as
 * the same, what is not has a sentence. */
#include <string.h>

#include "launcher/protocol/control_answer.h"
#include "launcher/protocol/control_request.h"
#include "launcher/protocol/input_choice.h"
#include "launcher/protocol/inquiry.h"
#include "launcher/tree/frame.h"
#include "tests/fuzz/fuzz.h"

static void check_same(json_t *once, json_t *twice)
{
    check(json_equal(once, twice));
    json_decref(once);
    json_decref(twice);
}

static void check_request(const json_t *value)
{
    struct error err = ERROR_INIT;
    struct control_request request, again;
    if (control_request_from_json(&request, value, &err) == 0) {
        json_t *once = control_request_to_json(&request);
        check(control_request_from_json(&again, once, NULL) == 0);
        check_same(once, control_request_to_json(&again));
        control_request_clear(&again);
    } else {
        check(err.text);
    }
    control_request_clear(&request);
    error_clear(&err);
}

static void check_answer(const json_t *value)
{
    struct error err = ERROR_INIT;
    struct control_answer answer, again;
    if (control_answer_from_json(&answer, value, &err) == 0) {
        json_t *once = control_answer_to_json(&answer);
        if (control_answer_from_json(&again, once, NULL) == 0)
            check_same(once, control_answer_to_json(&again));
        else
            json_decref(once); /* of a node that named ranks and nothing else */
        control_answer_clear(&again);
    } else {
        check(err.text);
    }
    control_answer_clear(&answer);
    error_clear(&err);
}

static void check_inquiry(const json_t *value)
{
    struct error err = ERROR_INIT;
    struct inquiry inquiry, again;
    if (inquiry_from_json(&inquiry, value, &err) == 0) {
        json_t *once = inquiry_to_json(&inquiry);
        check(inquiry_from_json(&again, once, NULL) == 0);
        check_same(once, inquiry_to_json(&again));
        inquiry_clear(&again);
    } else {
        check(err.text);
    }
    inquiry_clear(&inquiry);
    error_clear(&err);
}

static void check_choice(const json_t *value)
{
    struct error err = ERROR_INIT;
    struct input_choice choice, again;
    if (input_choice_from_json(&choice, value, &err) == 0) {
        json_t *once = input_choice_to_json(&choice);
        check(input_choice_from_json(&again, once, NULL) == 0);
        check_same(once, input_choice_to_json(&again));
        input_choice_clear(&again);
    } else {
        check(err.text);
    }
    input_choice_clear(&choice);
    error_clear(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct frame frame = {.type = FRAME_CONTROL, .bytes = data, .len = size};
    json_t *value = frame_json(&frame, NULL);
    if (!value)
        return 0;
    check_request(value);
    check_answer(value);
    check_inquiry(value);
    check_choice(value);
    json_decref(value);
    return 0;
}

/* What a process says to the socket of an instance, which any of the user's may do: what is taken is written again as a
 * program, what is not has a sentence. */
#include <stdlib.h>

#include "launcher/protocol/program_request.h"
#include "launcher/tree/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_request(const json_t *value)
{
    struct error err = ERROR_INIT;
    struct spec *spec = program_request_take(value, &err);
    check(spec || err.text);
    if (spec) {
        json_t *again = spec_to_json(spec);
        check(again);
        json_decref(again);
    }
    spec_free(spec);
    error_clear(&err);
}

/* Of this version, which is what bytes hardly ever are. */
static void check_spec(json_t *spec)
{
    struct spec *none = spec_new();
    json_t *value = program_request_to_json(none, NULL, NULL);
    spec_free(none);
    json_object_set(value, "spec", spec);
    check_request(value);
    json_decref(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct frame frame = {.type = FRAME_PROGRAM, .bytes = data, .len = size};
    json_t *value = frame_json(&frame, NULL);
    if (value) {
        check_request(value);
        check_spec(value);
    }
    json_decref(value);
    return 0;
}

/* What a process says to the socket of an instance, which any of the user's may do: what is taken is written again as a
 * program, what is not has a sentence. */
#include "launcher/protocol/program_request.h"
#include "tests/fuzz/request.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct frame frame = {.type = FRAME_PROGRAM, .bytes = data, .len = size};
    struct spec *none = spec_new();
    request_check(&frame, program_request_to_json(none, NULL, NULL), "spec", check_request);
    spec_free(none);
    return 0;
}

/* What a process says to the socket of an instance, which any of the user's may do: a command that is taken is the same
 * when it is written again, and what is not taken has a sentence. */
#include "launcher/protocol/remote_command_request.h"
#include "tests/fuzz/request.h"

static void check_request(const json_t *value)
{
    struct error err = ERROR_INIT;
    struct remote_command_request request, same;
    int rc = remote_command_request_take(&request, value, &err);
    check((rc == 0) == !err.text);
    if (rc == 0) {
        json_t *again = remote_command_request_to_json(&request);
        check(remote_command_request_take(&same, again, &err) == 0);
        json_t *third = remote_command_request_to_json(&same);
        check(json_equal(again, third));
        json_decref(again);
        json_decref(third);
        remote_command_request_clear(&same);
    }
    remote_command_request_clear(&request);
    error_clear(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct frame frame = {.type = FRAME_COMMAND, .bytes = data, .len = size};
    const struct remote_command_request none = {0};
    request_check(&frame, remote_command_request_to_json(&none), "command", check_request);
    return 0;
}

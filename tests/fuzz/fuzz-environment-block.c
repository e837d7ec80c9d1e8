/* What a process says to the socket of an instance: JSON with an environment behind it. */
#include <stdlib.h>
#include <string.h>

#include "base/string_list.h"
#include "launcher/protocol/environment_block.h"
#include "tests/fuzz/fuzz.h"

/* What was taken is written as it came, but for the blanks of the JSON. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    struct frame frame = {.type = FRAME_PROGRAM, .bytes = data, .len = size};
    char **environment = NULL;
    json_t *value = environment_block_read(&frame, &environment, &err);
    check(value ? environment && !err.text : !environment && err.text);
    if (value) {
        struct buf again = BUF_INIT;
        environment_block_write(&again, value, environment);
        size_t text = strnlen((const char *)data, size), ours = strlen(buf_text(&again));
        check((size - text ?: 1) == again.len - ours);
        check(memcmp(data + text, buf_bytes(&again) + ours, size - text) == 0);
        buf_free(&again);
    }
    string_list_free(environment);
    json_decref(value);
    error_clear(&err);
    return 0;
}

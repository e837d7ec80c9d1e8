/* What another host of openpmix posts: what is taken lies inside what came, and is written as the same
 * bytes. */
#include <string.h>

#include "pmi-server/protocol/modex_message.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct modex_message message;
    struct buf out = BUF_INIT;
    if (modex_message_read(&message, data, size) < 0)
        return 0;
    check(strlen(message.key) <= MODEX_MESSAGE_KEY_MAX);
    check(message.len == 0 || (const uint8_t *)message.bytes + message.len == data + size);
    modex_message_write(&out, &message);
    check(out.len == size && !memcmp(buf_bytes(&out), data, size));
    buf_free(&out);
    return 0;
}

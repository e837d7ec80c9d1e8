/* An environment as bytes behind the JSON of a message. */
#include "launcher/protocol/environment_block.h"

#include <string.h>

#include "base/string_list.h"
#include "base/text.h"

static int add_text(const char *text, size_t len, void *message)
{
    buf_add(message, text, len);
    return 0;
}

void environment_block_write(struct buf *message, const json_t *value, char *const *environment)
{
    json_dump_callback(value, add_text, message, JSON_COMPACT);
    buf_add_char(message, '\0');
    for (; environment && *environment; environment++)
        buf_add(message, *environment, strlen(*environment) + 1);
}

static int read_variables(const char *at, const char *end, struct string_list *entries,
                          struct error *err)
{
    while (at < end) {
        const char *close = memchr(at, '\0', (size_t)(end - at));
        if (!close)
            return error_set(err, "environment: its last variable is cut off");
        if (*at == '=' || !strchr(at, '='))
            return error_set(err, "environment: %s is not NAME=VALUE",
                             excerpt(at, strlen(at)).text);
        string_list_add_copy(entries, at);
        at = close + 1;
    }
    return 0;
}

json_t *environment_block_read(const struct frame *frame, char ***environment, struct error *err)
{
    const char *bytes = (const char *)frame->bytes, *end = bytes + frame->len;
    const char *close = memchr(bytes, '\0', frame->len);
    struct string_list entries = {0};
    struct frame message = *frame;
    message.len = close ? (size_t)(close - bytes) : frame->len;
    json_t *value = frame_json(&message, err);
    if (value && close && read_variables(close + 1, end, &entries, err) < 0) {
        json_decref(value);
        value = NULL;
    }
    if (value)
        *environment = string_list_take(&entries);
    string_list_clear(&entries);
    return value;
}

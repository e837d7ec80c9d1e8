/* Posts of openpmix's hosts, written and read. */
#include "pmi-server/protocol/modex_message.h"

#include <string.h>

#include "base/pack.h"

void modex_message_write(struct buf *out, const struct modex_message *message)
{
    pack_put_u8(out, (uint8_t)message->kind);
    pack_put_u64(out, message->token);
    if (message->kind == MODEX_MESSAGE_ASK) {
        pack_put_u32(out, message->rank);
        pack_put_u32(out, message->wait);
        pack_put_text(out, message->key);
        return;
    }
    pack_put_u32(out, (uint32_t)message->status);
    buf_add(out, message->bytes, message->len);
}

int modex_message_read(struct modex_message *message, const void *bytes, size_t len)
{
    struct pack in = pack_of(bytes, len);
    *message = (struct modex_message){.kind = pack_u8(&in)};
    message->token = pack_u64(&in);
    if (message->kind == MODEX_MESSAGE_ASK) {
        message->rank = pack_u32(&in);
        message->wait = pack_u32(&in);
        const char *key = pack_bytes(&in, &len);
        if (len > MODEX_MESSAGE_KEY_MAX || memchr(key, 0, len))
            return -1;
        memcpy(message->key, key, len); /* and a zero byte, as all of it was */
        return pack_ends(&in) ? 0 : -1;
    }
    message->status = (int32_t)pack_u32(&in);
    message->bytes = in.at;
    message->len = in.left;
    return message->kind == MODEX_MESSAGE_ANSWER && !in.bad ? 0 : -1;
}

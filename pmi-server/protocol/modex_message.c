#include "pmi-server/protocol/modex_message.h"

#include <string.h>

#include "base/pack.h"

void message_write(struct buf *out, const struct message *message)
{
    packet_put_u8(out, (uint8_t)message->kind);
    packet_put_u64(out, message->token);
    if (message->kind == MESSAGE_ASK) {
        packet_put_u32(out, message->rank);
        packet_put_u32(out, message->wait);
        packet_put_text(out, message->key);
        return;
    }
    packet_put_u32(out, (uint32_t)message->status);
    buf_add(out, message->bytes, message->len);
}

static void read_key(struct packet *in, char *key)
{
    size_t len;
    const char *bytes = packet_bytes(in, &len);
    if (len > MESSAGE_KEY_MAX || memchr(bytes, 0, len)) {
        in->bad = true;
        len = 0;
    }
    memcpy(key, bytes, len);
    key[len] = '\0';
}

int message_read(struct message *message, const void *bytes, size_t len)
{
    struct packet in = packet_of(bytes, len);
    *message = (struct message){.kind = packet_u8(&in), .token = packet_u64(&in)};
    if (message->kind == MESSAGE_ASK) {
        message->rank = packet_u32(&in);
        message->wait = packet_u32(&in);
        read_key(&in, message->key);
        return packet_ends(&in) ? 0 : -1;
    }
    message->status = (int32_t)packet_u32(&in);
    message->bytes = in.at;
    message->len = in.left;
    return message->kind == MESSAGE_ANSWER && !in.bad ? 0 : -1;
}

#include "pmi-server/hub/talk.h"

#include <stdlib.h>
#include <string.h>

void talk_put_proc(struct buf *out, const char *job, uint32_t rank)
{
    packet_put_text(out, job);
    packet_put_u32(out, rank);
}

struct hub_proc talk_proc(struct packet *in)
{
    struct hub_proc proc = {packet_text(in), 0};
    proc.rank = packet_u32(in);
    if (strlen(proc.job) > HUB_NAME_MAX)
        in->bad = true;
    return proc;
}

void talk_put_up(struct buf *out, enum hub_kind kind, uint64_t token, const char *job,
                 uint32_t rank)
{
    packet_put_u8(out, (uint8_t)kind);
    packet_put_u64(out, token);
    talk_put_proc(out, job, rank);
}

void talk_put_down(struct buf *out, enum hub_order kind, uint64_t token, enum hub_status status)
{
    packet_put_u8(out, (uint8_t)kind);
    packet_put_u64(out, token);
    packet_put_u8(out, (uint8_t)status);
}

int talk_read_up(struct talk_up *talk, const void *bytes, size_t len)
{
    struct packet in = packet_of(bytes, len);
    uint8_t kind = packet_u8(&in);
    talk->token = packet_u64(&in);
    talk->from = talk_proc(&in);
    if (in.bad || kind >= HUB_NKINDS) {
        free(talk->from.job);
        return -1;
    }
    talk->kind = kind;
    talk->rest = in;
    return 0;
}

int talk_read_down(struct talk_down *talk, const void *bytes, size_t len)
{
    struct packet in = packet_of(bytes, len);
    uint8_t kind = packet_u8(&in);
    talk->token = packet_u64(&in);
    uint8_t status = packet_u8(&in);
    if (in.bad || kind >= ORDER_NKINDS || status >= HUB_NSTATUS)
        return -1;
    talk->kind = kind;
    talk->status = status;
    talk->rest = in;
    return 0;
}

#include "pmi-server/protocol/message.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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

struct hub_proc *talk_procs(struct packet *in, uint32_t *count)
{
    uint32_t n = packet_count(in, 8);
    struct hub_proc *procs = mem_array(n, sizeof(*procs));
    for (uint32_t i = 0; i < n; i++)
        procs[i] = talk_proc(in);
    *count = n;
    if (!in->bad)
        return procs;
    talk_free_procs(procs, n);
    *count = 0;
    return NULL;
}

void talk_free_procs(struct hub_proc *procs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(procs[i].job);
    free(procs);
}

void talk_put_ranks(struct buf *out, const struct idset *ranks)
{
    char *text = idset_encode(ranks);
    packet_put_text(out, text);
    free(text);
}

struct idset *talk_ranks(struct packet *in)
{
    char *text = packet_text(in);
    struct idset *ranks = idset_decode(text, NULL);
    free(text);
    in->bad |= !ranks || idset_empty(ranks);
    return ranks ? ranks : idset_new();
}

void talk_put_death(struct buf *out, const struct hub_death *death)
{
    packet_put_u8(out, (uint8_t)death->how);
    packet_put_u32(out, death->code);
    packet_put_u8(out, death->goes_on);
}

struct hub_death talk_death(struct packet *in)
{
    struct hub_death death = {.how = packet_u8(in)};
    death.code = packet_u32(in);
    death.goes_on = packet_u8(in) != 0;
    in->bad |= death.how >= HUB_NENDS;
    return death;
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

/* What hosts and the service say to each other: the fields that all or several messages have. */
#include "pmi-server/protocol/message.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void message_put_proc(struct buf *out, const char *job, uint32_t rank)
{
    pack_put_text(out, job);
    pack_put_u32(out, rank);
}

struct process_name message_proc(struct pack *in)
{
    struct process_name proc = {pack_get_text(in), 0};
    proc.rank = pack_u32(in);
    if (strlen(proc.job) > SERVICE_NAME_MAX)
        in->bad = true;
    return proc;
}

struct process_name *message_procs(struct pack *in, uint32_t *count)
{
    uint32_t n = pack_count(in, 8);
    struct process_name *procs = mem_array(n, sizeof(*procs));
    for (uint32_t i = 0; i < n; i++)
        procs[i] = message_proc(in);
    *count = n;
    if (!in->bad)
        return procs;
    message_free_procs(procs, n);
    *count = 0;
    return NULL;
}

void message_free_procs(struct process_name *procs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(procs[i].job);
    free(procs);
}

void message_put_ranks(struct buf *out, const struct idset *ranks)
{
    char *text = idset_encode(ranks);
    pack_put_text(out, text);
    free(text);
}

struct idset *message_ranks(struct pack *in)
{
    char *text = pack_get_text(in);
    struct idset *ranks = idset_decode(text, NULL);
    free(text);
    in->bad |= !ranks || idset_empty(ranks);
    return ranks ? ranks : idset_new();
}

void message_put_death(struct buf *out, const struct termination *death)
{
    pack_put_u8(out, (uint8_t)death->how);
    pack_put_u32(out, death->code);
    pack_put_u8(out, death->goes_on);
}

struct termination message_death(struct pack *in)
{
    struct termination death = {.how = pack_u8(in)};
    death.code = pack_u32(in);
    death.goes_on = pack_u8(in) != 0;
    in->bad |= death.how >= ENDED_NENDS;
    return death;
}

void message_put_up(struct buf *out, enum service_request kind, uint64_t token, const char *job,
                    uint32_t rank)
{
    pack_put_u8(out, (uint8_t)kind);
    pack_put_u64(out, token);
    message_put_proc(out, job, rank);
}

void message_put_down(struct buf *out, enum order_kind kind, uint64_t token,
                      enum reply_status status)
{
    pack_put_u8(out, (uint8_t)kind);
    pack_put_u64(out, token);
    pack_put_u8(out, (uint8_t)status);
}

int message_read_up(struct message_up *talk, const void *bytes, size_t len)
{
    struct pack in = pack_of(bytes, len);
    uint8_t kind = pack_u8(&in);
    talk->token = pack_u64(&in);
    talk->from = message_proc(&in);
    if (in.bad || kind >= REQUEST_NKINDS) {
        free(talk->from.job);
        return -1;
    }
    talk->kind = kind;
    talk->rest = in;
    return 0;
}

int message_read_down(struct message_down *talk, const void *bytes, size_t len)
{
    struct pack in = pack_of(bytes, len);
    uint8_t kind = pack_u8(&in);
    talk->token = pack_u64(&in);
    uint8_t status = pack_u8(&in);
    if (in.bad || kind >= ORDER_NKINDS || status >= REPLY_NSTATUS)
        return -1;
    talk->kind = kind;
    talk->status = status;
    talk->rest = in;
    return 0;
}

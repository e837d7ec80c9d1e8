#include "pmi-server/protocol/task_states.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pack.h"
#include "pmi-server/protocol/message.h"

void tasks_put(struct buf *out, const struct hub_task *tasks, uint32_t count)
{
    packet_put_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        packet_put_u32(out, tasks[i].rank);
        packet_put_u32(out, tasks[i].pid);
        packet_put_u8(out, (uint8_t)tasks[i].state);
        packet_put_u32(out, (uint32_t)tasks[i].status);
    }
}

struct hub_task *tasks_read(struct packet *in, uint32_t *count)
{
    *count = packet_count(in, HUB_TASK_BYTES);
    struct hub_task *tasks = *count ? mem_array(*count, sizeof(*tasks)) : NULL;
    for (uint32_t i = 0; i < *count; i++) {
        tasks[i].rank = packet_u32(in);
        tasks[i].pid = packet_u32(in);
        uint8_t state = packet_u8(in);
        tasks[i].state = (enum hub_task_state)state;
        tasks[i].status = (int)packet_u32(in);
        if (state >= HUB_TASK_NSTATES)
            in->bad = true;
    }
    if (!in->bad)
        return tasks;
    free(tasks);
    *count = 0;
    return NULL;
}

bool tasks_wanted(const void *bytes, size_t len, uint64_t *number, char **job)
{
    struct talk_down talk;
    if (talk_read_down(&talk, bytes, len) < 0 || talk.kind != ORDER_TASKS)
        return false;
    *number = packet_u64(&talk.rest);
    *job = packet_text(&talk.rest);
    if (packet_ends(&talk.rest))
        return true;
    free(*job);
    return false;
}

void tasks_put_answer(struct buf *out, uint64_t number, const char *job,
                      const struct hub_task *tasks, uint32_t count)
{
    talk_put_up(out, HUB_TASKS, 0, job, HUB_ALL);
    packet_put_u64(out, number);
    packet_put_text(out, job);
    tasks_put(out, tasks, count);
}

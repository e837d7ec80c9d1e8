/* Tables of tasks: written by nodes, passed on by the service, read by hosts. */
#include "pmi-server/protocol/task_states.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pack.h"
#include "pmi-server/protocol/message.h"

void task_states_put(struct buf *out, const struct task_info *tasks, uint32_t count)
{
    pack_put_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        pack_put_u32(out, tasks[i].rank);
        pack_put_u32(out, tasks[i].pid);
        pack_put_u8(out, (uint8_t)tasks[i].state);
        pack_put_u32(out, (uint32_t)tasks[i].status);
    }
}

struct task_info *task_states_read(struct pack *in, uint32_t *count)
{
    *count = pack_count(in, SERVICE_TASK_BYTES);
    struct task_info *tasks = *count ? mem_array(*count, sizeof(*tasks)) : NULL;
    for (uint32_t i = 0; i < *count; i++) {
        tasks[i].rank = pack_u32(in);
        tasks[i].pid = pack_u32(in);
        uint8_t state = pack_u8(in);
        tasks[i].state = (enum task_state)state;
        tasks[i].status = (int)pack_u32(in);
        if (state >= TASK_NSTATES)
            in->bad = true;
    }
    if (!in->bad)
        return tasks;
    free(tasks);
    *count = 0;
    return NULL;
}

bool task_states_wanted(const void *bytes, size_t len, uint64_t *number, char **job)
{
    struct message_down talk;
    if (message_read_down(&talk, bytes, len) < 0 || talk.kind != ORDER_TASKS)
        return false;
    *number = pack_u64(&talk.rest);
    *job = pack_get_text(&talk.rest);
    if (pack_ends(&talk.rest))
        return true;
    free(*job);
    return false;
}

void task_states_put_answer(struct buf *out, uint64_t number, const char *job,
                            const struct task_info *tasks, uint32_t count)
{
    message_put_up(out, REQUEST_TASKS, 0, job, SERVICE_ALL);
    pack_put_u64(out, number);
    pack_put_text(out, job);
    task_states_put(out, tasks, count);
}

/* What is told upwards: how tasks ended, and that it is over. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/agent/internal.h"

void exit_report_send(struct agent *agent, const struct frame *frame)
{
    if (agent->parent)
        link_send(agent->parent, frame);
}

void exit_report_note(struct agent *agent, const char *fmt, ...)
{
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    struct frame frame = {
        .type = FRAME_NOTE, .node = agent->node, .bytes = buf_bytes(&text), .len = text.len};
    exit_report_send(agent, &frame);
    buf_free(&text);
}

static void send_ended(struct group *group, const struct idset *ranks, uint64_t at, const char *why,
                       int status, const char *text)
{
    char *set = idset_encode(ranks);
    json_t *value = json_pack("{s:s, s:s, s:i}", "ranks", set, "why", why, "status", status);
    if (text)
        json_object_set_new(value, "text", frame_text(text));
    char *json = json_dumps(value, JSON_COMPACT);
    struct buf payload = BUF_INIT;
    unsigned char time[8];
    frame_put_u64(time, at);
    buf_add(&payload, time, sizeof(time));
    buf_add_text(&payload, json ? json : "{}");
    struct frame frame = {.type = FRAME_ENDED,
                          .node = group->agent->node,
                          .group = group->number,
                          .bytes = buf_bytes(&payload),
                          .len = payload.len};
    exit_report_send(group->agent, &frame);
    buf_free(&payload);
    free(json);
    json_decref(value);
    free(set);
}

void exit_report_ended(struct group *group, const struct idset *ranks, const char *why, int status,
                       const char *text)
{
    send_ended(group, ranks, clock_monotonic_ns(), why, status, text);
}

void exit_report_ended_task(const struct task *task, const char *why, int status, const char *text)
{
    struct idset *one = idset_new();
    idset_add(one, task_rank(task));
    send_ended(task->group, one, task->ended_at, why, status, text);
    idset_free(one);
}

void exit_report_ended_rank(struct group *group, uint32_t rank, const char *why, int status,
                            const char *text)
{
    struct idset *one = idset_new();
    idset_add(one, rank);
    exit_report_ended(group, one, why, status, text);
    idset_free(one);
}

/* Ranks of one fate are one set. */
void exit_report_add(struct group *group, int status, bool victim, const struct idset *ranks)
{
    for (size_t i = 0; i < group->nends; i++) {
        struct end_set *end = &group->ends[i];
        if (end->status != status || end->victim != victim)
            continue;
        struct idset *both = idset_union(end->ranks, ranks);
        idset_free(end->ranks);
        end->ranks = both;
        return;
    }
    group->ends = mem_resize(group->ends, group->nends + 1, sizeof(*group->ends));
    group->ends[group->nends++] = (struct end_set){status, victim, idset_copy(ranks)};
}

void exit_report_add_rank(struct group *group, int status, bool victim, uint32_t rank)
{
    for (size_t i = 0; i < group->nends; i++) {
        if (group->ends[i].status == status && group->ends[i].victim == victim) {
            idset_add(group->ends[i].ranks, rank);
            return;
        }
    }
    struct idset *one = idset_new();
    idset_add(one, rank);
    exit_report_add(group, status, victim, one);
    idset_free(one);
}

/* Of those below. */
static void report_silent(struct group *group, const char *text)
{
    struct idset *ranks = text ? idset_decode(text, NULL) : NULL;
    struct idset *both = ranks ? idset_union(group->silent, ranks) : NULL;
    idset_free(ranks);
    if (!both)
        return;
    idset_free(group->silent);
    group->silent = both;
}

void exit_report_merge(struct group *group, const struct frame *frame)
{
    json_t *value = frame_json(frame, NULL), *end;
    size_t i;
    struct idset *nodes =
        idset_decode(json_string_value(json_object_get(value, "nodes")) ?: "", NULL);
    json_array_foreach(json_object_get(value, "ends"), i, end)
    {
        int status, victim;
        const char *text;
        if (json_unpack(end, "[i, b, s]", &status, &victim, &text) < 0)
            continue;
        struct idset *ranks = idset_decode(text, NULL);
        if (ranks)
            exit_report_add(group, status, victim, ranks);
        idset_free(ranks);
    }
    report_silent(group, json_string_value(json_object_get(value, "silent")));
    if (nodes)
        group_without(group, nodes);
    idset_free(nodes);
    json_decref(value);
}

/* A frame of JSON about this group; takes the value. */
static void report_json(struct group *group, enum frame_type type, json_t *value)
{
    struct agent *agent = group->agent;
    char *text = json_dumps(value, JSON_COMPACT);
    struct frame frame = {.type = type,
                          .node = agent->node,
                          .group = group->number,
                          .bytes = text,
                          .len = text ? strlen(text) : 0};
    exit_report_send(agent, &frame);
    json_decref(value);
    free(text);
}

void exit_report_done(struct group *group)
{
    json_t *ends = json_array();
    struct idset *nodes = idset_copy(group->nodes);
    idset_add(nodes, group->agent->node);
    for (size_t i = 0; i < group->nends; i++) {
        char *ranks = idset_encode(group->ends[i].ranks);
        json_array_append_new(
            ends, json_pack("[i, b, s]", group->ends[i].status, group->ends[i].victim, ranks));
        free(ranks);
    }
    char *set = idset_encode(nodes), *silent = idset_encode(group->silent);
    report_json(group, FRAME_DONE,
                json_pack("{s:o, s:s, s:s}", "ends", ends, "nodes", set, "silent", silent));
    free(silent);
    free(set);
    idset_free(nodes);
}

void exit_report_prepared(struct group *group, json_t *failed, json_t *mpis)
{
    report_json(group, FRAME_PREPARED, json_pack("{s:o*, s:o*}", "failed", failed, "mpis", mpis));
}

void exit_report_running(struct agent *agent, uint32_t count, bool first)
{
    struct frame frame = {.type = FRAME_RUNNING,
                          .flags = first ? FRAME_RUNNING_FIRST : 0,
                          .node = agent->node,
                          .rank = count};
    exit_report_send(agent, &frame);
}

void exit_report_survivors(struct agent *agent, const char *text)
{
    struct frame frame = {
        .type = FRAME_SURVIVORS, .node = agent->node, .bytes = text, .len = strlen(text)};
    exit_report_send(agent, &frame);
}

void exit_report_started(struct group *group, json_t *failed, json_t *bindings)
{
    report_json(group, FRAME_STARTED,
                json_pack("{s:o*, s:o*}", "bindings", bindings, "failed", failed));
}

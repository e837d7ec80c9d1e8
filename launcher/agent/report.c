/* What is told upwards: how tasks ended, and that it is over. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/agent/state.h"

void report_send(struct agent *agent, const struct frame *frame)
{
    if (agent->parent)
        link_send(agent->parent, frame);
}

void report_ended(struct agent *agent, const struct idset *ranks, const char *why, int status,
                  const char *text)
{
    char *set = idset_encode(ranks);
    json_t *value = json_pack("{s:s, s:s, s:i}", "ranks", set, "why", why, "status", status);
    if (text)
        json_object_set_new(value, "text", frame_text(text));
    char *json = json_dumps(value, JSON_COMPACT);
    struct buf payload = BUF_INIT;
    unsigned char time[8];
    frame_put_u64(time, link_clock());
    buf_add(&payload, time, sizeof(time));
    buf_add_text(&payload, json ? json : "{}");
    struct frame frame = {
        .type = FRAME_ENDED, .node = agent->node, .bytes = buf_bytes(&payload), .len = payload.len};
    report_send(agent, &frame);
    buf_free(&payload);
    free(json);
    json_decref(value);
    free(set);
}

/* Ranks of one fate are one set. */
void report_add(struct agent *agent, int status, bool victim, const struct idset *ranks)
{
    for (size_t i = 0; i < agent->nends; i++) {
        struct end_set *end = &agent->ends[i];
        if (end->status != status || end->victim != victim)
            continue;
        struct idset *both = idset_union(end->ranks, ranks);
        idset_free(end->ranks);
        end->ranks = both;
        return;
    }
    agent->ends = mem_resize(agent->ends, agent->nends + 1, sizeof(*agent->ends));
    agent->ends[agent->nends++] = (struct end_set){status, victim, idset_copy(ranks)};
}

void report_add_rank(struct agent *agent, int status, bool victim, uint32_t rank)
{
    for (size_t i = 0; i < agent->nends; i++) {
        if (agent->ends[i].status == status && agent->ends[i].victim == victim) {
            idset_add(agent->ends[i].ranks, rank);
            return;
        }
    }
    struct idset *one = idset_new();
    idset_add(one, rank);
    report_add(agent, status, victim, one);
    idset_free(one);
}

void report_merge(struct agent *agent, const struct frame *frame)
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
            report_add(agent, status, victim, ranks);
        idset_free(ranks);
    }
    if (nodes && agent->below) {
        struct idset *left = idset_subtract(agent->below, nodes);
        idset_free(agent->below);
        agent->below = left;
    }
    idset_free(nodes);
    json_decref(value);
}

void report_done(struct agent *agent)
{
    json_t *ends = json_array();
    struct idset *nodes = idset_new();
    idset_add(nodes, agent->node);
    size_t count;
    if (agent->tree && tree_pids(agent->tree, &count) && count)
        tree_add_nodes(agent->tree, nodes);
    for (size_t i = 0; i < agent->nends; i++) {
        char *ranks = idset_encode(agent->ends[i].ranks);
        json_array_append_new(
            ends, json_pack("[i, b, s]", agent->ends[i].status, agent->ends[i].victim, ranks));
        free(ranks);
    }
    char *set = idset_encode(nodes);
    json_t *value = json_pack("{s:o, s:s}", "ends", ends, "nodes", set);
    if (agent->parent)
        link_send_json(agent->parent, FRAME_DONE, agent->node, 0, value);
    json_decref(value);
    free(set);
    idset_free(nodes);
    agent->told = true;
}

void report_started(struct agent *agent, json_t *bindings)
{
    json_t *started = bindings ? json_pack("{s:o}", "bindings", bindings) : json_object();
    if (agent->parent)
        link_send_json(agent->parent, FRAME_STARTED, agent->node, 0, started);
    json_decref(started);
}

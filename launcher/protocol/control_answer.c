/* Answers of a manager, written and read. */
#include "launcher/protocol/control_answer.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "launcher/tree/frame.h"

/* ---- made ---- */

void control_answer_refuse(struct control_answer *answer, int status, const char *fmt, ...)
{
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    free(answer->error);
    answer->error = buf_take_text(&text);
    answer->status = status;
}

void control_answer_miss(struct control_answer *answer, struct idset *ranks, const char *why)
{
    if (idset_empty(ranks)) {
        idset_free(ranks);
        return;
    }
    answer->missed = array_grow(answer->missed, answer->nmissed, sizeof(*answer->missed));
    answer->missed[answer->nmissed++] = (struct control_missed){ranks, mem_copy_text(why)};
}

struct control_node *control_answer_add_node(struct control_answer *answer, const char *host)
{
    answer->nodes = array_grow(answer->nodes, answer->nnodes, sizeof(*answer->nodes));
    struct control_node *node = &answer->nodes[answer->nnodes++];
    *node = (struct control_node){.host = mem_copy_text(host)};
    return node;
}

/* ---- written ---- */

json_t *control_answer_to_json(const struct control_answer *answer)
{
    json_t *value = json_pack("{s:i}", "status", answer->status);
    if (answer->error)
        json_object_set_new(value, "error", frame_text(answer->error));
    if (answer->reached)
        json_object_set_new(value, "reached", idset_to_json(answer->reached));
    json_t *missed = json_array(), *nodes = json_array();
    for (size_t i = 0; i < answer->nmissed; i++)
        json_array_append_new(missed, json_pack("[o, o]", idset_to_json(answer->missed[i].ranks),
                                                frame_text(answer->missed[i].why)));
    for (size_t i = 0; i < answer->nnodes; i++) {
        json_t *node = inquiry_answer_to_json(&answer->nodes[i].tasks, true);
        json_object_set_new(node, "host", frame_text(answer->nodes[i].host));
        json_array_append_new(nodes, node);
    }
    if (answer->nmissed)
        json_object_set(value, "missed", missed);
    if (answer->nnodes)
        json_object_set(value, "nodes", nodes);
    if (answer->silent)
        json_object_set_new(value, "silent", frame_text(answer->silent));
    json_decref(missed);
    json_decref(nodes);
    return value;
}

/* ---- read ---- */

static int read_missed(struct control_answer *answer, const json_t *list, struct error *err)
{
    size_t i;
    json_t *pair;
    json_array_foreach(list, i, pair)
    {
        const char *ranks = json_string_value(json_array_get(pair, 0));
        const char *why = json_string_value(json_array_get(pair, 1));
        struct idset *set = ranks && why ? idset_decode(ranks, NULL) : NULL;
        if (!set)
            return error_set(err, "missed: expected pairs of ranks and a text");
        control_answer_miss(answer, set, why);
    }
    return 0;
}

static int read_node_tasks(struct control_answer *answer, const json_t *list, struct error *err)
{
    size_t i;
    json_t *value;
    json_array_foreach(list, i, value)
    {
        const char *host = json_string_value(json_object_get(value, "host"));
        if (!host)
            return error_set(err, "nodes: missing host");
        struct control_node *node = control_answer_add_node(answer, host);
        if (inquiry_answer_from_json(&node->tasks, value, err) < 0)
            return error_prefix(err, "nodes");
    }
    return 0;
}

int control_answer_from_json(struct control_answer *answer, const json_t *value, struct error *err)
{
    const json_t *status = json_object_get(value, "status");
    const char *reached = json_string_value(json_object_get(value, "reached"));
    const char *error = json_string_value(json_object_get(value, "error"));
    json_int_t number = json_integer_value(status);
    *answer = (struct control_answer){0};
    if (!json_is_integer(status) || number < 0 || number > 255)
        return error_set(err, "status: expected a number from 0 to 255");
    if (number && !error)
        return error_set(err, "missing error");
    answer->status = (int)number;
    answer->error = mem_copy_text(error);
    answer->silent = mem_copy_text(json_string_value(json_object_get(value, "silent")));
    if (reached && !(answer->reached = idset_decode(reached, err)))
        return error_prefix(err, "reached");
    if (read_missed(answer, json_object_get(value, "missed"), err) < 0)
        return -1;
    return read_node_tasks(answer, json_object_get(value, "nodes"), err);
}

void control_answer_clear(struct control_answer *answer)
{
    for (size_t i = 0; i < answer->nmissed; i++) {
        idset_free(answer->missed[i].ranks);
        free(answer->missed[i].why);
    }
    for (size_t i = 0; i < answer->nnodes; i++) {
        free(answer->nodes[i].host);
        inquiry_answer_clear(&answer->nodes[i].tasks);
    }
    idset_free(answer->reached);
    free(answer->missed);
    free(answer->nodes);
    free(answer->silent);
    free(answer->error);
    *answer = (struct control_answer){0};
}

/* Frames of agents, checked before the program acts on them: a table of rules by frame type. */
#include "launcher/protocol/frame_check.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/sets/idset.h"
#include "base/mem.h"
#include "launcher/protocol/hook_message.h"
#include "launcher/tree/bootstrap.h"

#define CPUS_MAX (1u << 20) /* no kernel has processors with higher numbers */
#define TIME_BYTES 8        /* before the JSON of FRAME_ENDED */

/* ---- fields ---- */

static int check_number(json_int_t number, uint32_t count, const char *what, struct error *err)
{
    if (number >= 0 && number < count)
        return 0;
    return error_set(err, "%s %" JSON_INTEGER_FORMAT " of %u", what, number, count);
}

/* A set of numbers below `count`; it may be empty. */
static int check_set(const json_t *value, uint32_t count, const char *what, struct error *err)
{
    const char *text = json_string_value(value);
    struct idset *set = text ? idset_decode(text, err) : NULL;
    if (!set)
        return text ? -1 : error_set(err, "%s are missing", what);
    int rc = idset_empty(set) ? 0 : check_number(idset_last(set), count, what, err);
    idset_free(set);
    return rc;
}

static int check_texts(const json_t *value, const char *const *keys, struct error *err)
{
    for (; *keys; keys++)
        if (!json_is_string(json_object_get(value, *keys)))
            return error_set(err, "%s is missing", *keys);
    return 0;
}

/* Each element of a list has such a set at that place; the list may be missing. */
static int check_sets(const json_t *list, size_t place, uint32_t count, const char *what,
                      struct error *err)
{
    size_t i;
    json_t *element;
    if (list && !json_is_array(list))
        return error_set(err, "%s are not in a list", what);
    json_array_foreach(list, i, element)
    {
        if (check_set(json_array_get(element, place), count, what, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- frames ---- */

static int check_unreached(const json_t *value, const struct frame_check_limits *limits,
                           struct error *err)
{
    const json_t *node = json_object_get(value, "node"), *stage = json_object_get(value, "stage");
    if (!json_is_integer(node) || !json_is_integer(stage) ||
        !json_is_number(json_object_get(value, "elapsed")))
        return error_set(err, "node, stage or elapsed is missing");
    if (check_number(json_integer_value(node), limits->nnodes, "node", err) < 0 ||
        check_number(json_integer_value(stage), STAGE_UP, "stage", err) < 0 ||
        check_texts(value, (const char *const[]){"host", "text", NULL}, err) < 0)
        return -1;
    return check_set(json_object_get(value, "nodes"), limits->nnodes, "nodes", err);
}

static int check_lost(const json_t *value, const struct frame_check_limits *limits,
                      struct error *err)
{
    if (check_texts(value, (const char *const[]){"host", "text", NULL}, err) < 0)
        return -1;
    return check_set(json_object_get(value, "nodes"), limits->nnodes, "nodes", err);
}

static int check_ended(const json_t *value, const struct frame_check_limits *limits,
                       struct error *err)
{
    if (!json_is_integer(json_object_get(value, "status")))
        return error_set(err, "status is missing");
    if (check_texts(value, (const char *const[]){"why", NULL}, err) < 0)
        return -1;
    return check_set(json_object_get(value, "ranks"), limits->nranks, "ranks", err);
}

static int check_done(const json_t *value, const struct frame_check_limits *limits,
                      struct error *err)
{
    const json_t *silent = json_object_get(value, "silent");
    if (check_set(json_object_get(value, "nodes"), limits->nnodes, "nodes", err) < 0 ||
        check_sets(json_object_get(value, "ends"), 2, limits->nranks, "ranks", err) < 0)
        return -1;
    return silent ? check_set(silent, limits->nranks, "silent ranks", err) : 0;
}

static int check_prepared(const json_t *value, const struct frame_check_limits *limits,
                          struct error *err)
{
    return check_sets(json_object_get(value, "failed"), 2, limits->nranks, "ranks", err);
}

static int check_started(const json_t *value, const struct frame_check_limits *limits,
                         struct error *err)
{
    const json_t *bindings = json_object_get(value, "bindings");
    if (check_sets(json_object_get(value, "failed"), 2, limits->nranks, "ranks", err) < 0 ||
        check_sets(bindings, 0, CPUS_MAX, "processors", err) < 0)
        return -1;
    return check_sets(bindings, 1, limits->nranks, "ranks", err);
}

static int check_ask(const json_t *value, const struct frame_check_limits *limits,
                     struct error *err)
{
    const json_t *rank = json_object_get(value, "rank");
    return limits->has_group && rank
               ? check_number(json_integer_value(rank), limits->group_nranks, "rank", err)
               : 0;
}

static int check_inquiry_answer(const json_t *value, const struct frame_check_limits *limits,
                                struct error *err)
{
    static const char *const sets[] = {"waiting", "reading", "lagging"};
    if (check_set(json_object_get(value, "ranks"), limits->nranks, "ranks", err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        const json_t *set = json_object_get(value, sets[i]);
        char *what = set ? mem_format("%s ranks", sets[i]) : NULL;
        int rc = set ? check_set(set, limits->nranks, what, err) : 0;
        free(what);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static int check_stdin_gone(const json_t *value, const struct frame_check_limits *limits,
                            struct error *err)
{
    return check_set(json_object_get(value, "ranks"), limits->nranks, "ranks", err);
}

static int check_staged(const json_t *value, const struct frame_check_limits *limits,
                        struct error *err)
{
    const json_t *failed = json_object_get(value, "failed");
    (void)limits;
    if (json_is_string(failed) || json_is_true(json_object_get(value, "ready")) ||
        json_is_true(json_object_get(value, "done")))
        return 0;
    return error_set(err, "ready, done or failed is missing");
}

static int check_hook_ended(const json_t *value, const struct frame_check_limits *limits,
                            struct error *err)
{
    struct hook_report report;
    (void)limits;
    int rc = hook_report_from_json(&report, value, err);
    hook_report_clear(&report);
    return rc;
}

/* What `rank` of the header is. */
enum header_rank { RANK_FREE, RANK_OF_PROGRAM, COUNT_OF_RANKS, RANK_OF_GROUP, NODE_OF_GROUP };

static const struct {
    enum header_rank rank;
    size_t least; /* bytes */
    size_t head;  /* of them before the JSON */
    bool empty;   /* there may be no JSON */
    int (*check)(const json_t *value, const struct frame_check_limits *limits, struct error *err);
} rules[FRAME_NTYPES] = {
    [FRAME_OUTPUT] = {.rank = RANK_OF_PROGRAM},
    [FRAME_RUNNING] = {.rank = COUNT_OF_RANKS},
    [FRAME_MISSING] = {.rank = RANK_OF_GROUP, .least = 8},
    [FRAME_POST] = {.rank = NODE_OF_GROUP},
    [FRAME_FENCE_UP] = {.least = 8},
    [FRAME_UNREACHED] = {.check = check_unreached},
    [FRAME_LOST] = {.check = check_lost},
    [FRAME_ENDED] = {.least = TIME_BYTES, .head = TIME_BYTES, .check = check_ended},
    [FRAME_DONE] = {.check = check_done},
    [FRAME_PREPARED] = {.check = check_prepared},
    [FRAME_STARTED] = {.empty = true, .check = check_started},
    [FRAME_ASK] = {.check = check_ask},
    [FRAME_INQUIRY_ANSWER] = {.check = check_inquiry_answer},
    [FRAME_STDIN_GONE] = {.check = check_stdin_gone},
    [FRAME_STAGED] = {.check = check_staged},
    [FRAME_HOOK_ENDED] = {.check = check_hook_ended},
};

static int check_header(const struct frame *frame, const struct frame_check_limits *limits,
                        struct error *err)
{
    enum header_rank rank = rules[frame->type].rank;
    if (frame->len < rules[frame->type].least)
        return error_set(err, "%zu bytes", frame->len);
    if (check_number(frame->node, limits->nnodes, "node", err) < 0)
        return -1;
    if (rank == RANK_OF_PROGRAM)
        return check_number(frame->rank, limits->nranks, "rank", err);
    if (rank == COUNT_OF_RANKS && frame->rank > limits->nranks)
        return error_set(err, "%u tasks of %u", frame->rank, limits->nranks);
    if (rank == RANK_FREE || rank == COUNT_OF_RANKS || !limits->has_group)
        return 0;
    return rank == RANK_OF_GROUP ? check_number(frame->rank, limits->group_nranks, "rank", err)
                                 : check_number(frame->rank, limits->group_nnodes, "node", err);
}

static int read_json(const struct frame *frame, const struct frame_check_limits *limits,
                     json_t **value, struct error *err)
{
    struct frame text = *frame;
    size_t head = rules[frame->type].head;
    if (rules[frame->type].empty && !frame->len)
        return 0;
    text.bytes = (const char *)frame->bytes + head;
    text.len -= head;
    *value = frame_json(&text, err);
    if (*value && !json_is_object(*value))
        error_set(err, "it is not an object");
    else if (*value && rules[frame->type].check(*value, limits, err) == 0)
        return 0;
    json_decref(*value);
    *value = NULL;
    return -1;
}

int frame_check_read(const struct frame *frame, const struct frame_check_limits *limits,
                     json_t **value, struct error *err)
{
    *value = NULL;
    if (check_header(frame, limits, err) == 0 &&
        (!rules[frame->type].check || read_json(frame, limits, value, err) == 0))
        return 0;
    return error_prefix(err, "its agent sent a malformed message (type %d)", frame->type);
}

/* What a task asks its program for, and the answer, as JSON: for spawn_and_names.c of the agent and
 * task_requests.c of the program. */
#include "launcher/protocol/task_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/spec/field.h"
#include "launcher/spec/spec.h"

static const char *const kinds[TASK_REQUEST_NKINDS] = {"spawn", "publish", "lookup", "unpublish",
                                                       "dead"};

static const struct field block_fields[] = {
    {"argv", &field_list, offsetof(struct task_request_block, argv), NULL, NULL, 0},
    {"ntasks", &field_number, offsetof(struct task_request_block, ntasks), NULL, NULL, 0},
    {0}};

/* ---- writing ---- */

json_t *task_request_to_json(const struct task_request *ask)
{
    json_t *value = json_pack("{s:s, s:I}", "ask", kinds[ask->kind], "app", (json_int_t)ask->app);
    if (ask->rank)
        json_object_set_new(value, "rank", json_integer(ask->rank));
    if (ask->aloud)
        json_object_set_new(value, "aloud", json_true());
    if (ask->name)
        json_object_set_new(value, "name", text_to_json(ask->name));
    if (ask->port)
        json_object_set_new(value, "port", text_to_json(ask->port));
    if (ask->kind != TASK_REQUEST_SPAWN)
        return value;
    json_t *blocks = json_array();
    for (size_t i = 0; i < ask->nblocks; i++) {
        const struct task_request_block *block = &ask->blocks[i];
        json_t *fields = fields_to_json(block, block_fields);
        json_object_set_new(fields, "info", pairs_to_json(block->info, block->ninfo));
        json_array_append_new(blocks, fields);
    }
    json_object_set_new(value, "blocks", blocks);
    json_object_set_new(value, "preput", pairs_to_json(ask->preput, ask->npreput));
    return value;
}

/* ---- reading ---- */

static int read_block(struct task_request_block *block, const json_t *value, struct error *err)
{
    if (!json_is_object(value))
        return error_set(err, "a block of a spawn is not an object");
    if (fields_from_json(block, block_fields, value, "info", err) < 0 ||
        pairs_from_json(&block->info, &block->ninfo, json_object_get(value, "info"), "info", err) <
            0)
        return -1;
    if (!block->argv || !block->argv[0] || !block->argv[0][0])
        return error_set(err, "argv must begin with a program");
    return block->ntasks ? 0 : error_set(err, "ntasks must be 1 or more");
}

static int read_blocks(struct task_request *ask, const json_t *list, struct error *err)
{
    size_t count = json_array_size(list);
    if (!count || count > TASK_REQUEST_MAX_BLOCKS)
        return error_set(err, "blocks must be an array of 1 to %u", TASK_REQUEST_MAX_BLOCKS);
    ask->blocks = mem_array(count, sizeof(*ask->blocks));
    ask->nblocks = count;
    for (size_t i = 0; i < count; i++)
        if (read_block(&ask->blocks[i], json_array_get(list, i), err) < 0)
            return error_prefix(err, "block %zu", i);
    return 0;
}

static int read_text(char **text, const json_t *object, const char *key, struct error *err)
{
    const json_t *value = json_object_get(object, key);
    if (!value)
        return 0;
    *text = text_from_json(value, err);
    return *text ? 0 : error_prefix(err, "%s", key);
}

static int task_request_read_number(uint32_t *number, const json_t *object, const char *key,
                                    struct error *err)
{
    const json_t *value = json_object_get(object, key);
    json_int_t n = json_integer_value(value);
    if (value && (!json_is_integer(value) || n < 0 || n > INT32_MAX))
        return error_set(err, "%s must be a number from 0 to %d", key, INT32_MAX);
    *number = (uint32_t)n;
    return 0;
}

static int read_ask(struct task_request *ask, const json_t *value, struct error *err)
{
    const char *word = json_string_value(json_object_get(value, "ask"));
    int kind = 0;
    while (word && kind < TASK_REQUEST_NKINDS && strcmp(word, kinds[kind]) != 0)
        kind++;
    if (!word || kind == TASK_REQUEST_NKINDS)
        return error_set(err, "there is no such question");
    ask->kind = (enum task_request_kind)kind;
    ask->aloud = json_is_true(json_object_get(value, "aloud"));
    if (task_request_read_number(&ask->app, value, "app", err) < 0 ||
        task_request_read_number(&ask->rank, value, "rank", err) < 0 ||
        read_text(&ask->name, value, "name", err) < 0 ||
        read_text(&ask->port, value, "port", err) < 0)
        return -1;
    if (kind == TASK_REQUEST_SPAWN)
        return read_blocks(ask, json_object_get(value, "blocks"), err) < 0
                   ? -1
                   : pairs_from_json(&ask->preput, &ask->npreput, json_object_get(value, "preput"),
                                     "preput", err);
    if (!ask->name && kind != TASK_REQUEST_DEAD)
        return error_set(err, "name is missing");
    return kind == TASK_REQUEST_PUBLISH && !ask->port ? error_set(err, "port is missing") : 0;
}

int task_request_from_json(struct task_request *ask, const json_t *value, struct error *err)
{
    *ask = (struct task_request){0};
    if (read_ask(ask, value, err) == 0)
        return 0;
    task_request_clear(ask);
    return error_prefix(err, "a task's question");
}

void task_request_clear(struct task_request *ask)
{
    for (size_t i = 0; i < ask->nblocks; i++) {
        string_list_free(ask->blocks[i].argv);
        pairs_free(ask->blocks[i].info, ask->blocks[i].ninfo);
    }
    free(ask->blocks);
    pairs_free(ask->preput, ask->npreput);
    free(ask->name);
    free(ask->port);
    *ask = (struct task_request){0};
}

/* ---- the answer ---- */

void task_answer_fail(struct task_answer *answer, uint32_t code, const struct idset *ranks)
{
    size_t i = 0;
    while (i < answer->nfailed && answer->failed[i].code != code)
        i++;
    if (i == answer->nfailed) {
        answer->failed = array_grow(answer->failed, answer->nfailed++, sizeof(*answer->failed));
        answer->failed[i] = (struct task_answer_failure){code, idset_copy(ranks)};
        return;
    }
    idset_add_set(answer->failed[i].ranks, ranks);
}

static json_t *ranks_to_json(const struct idset *ranks)
{
    char *text = idset_encode(ranks);
    json_t *value = json_string(text);
    free(text);
    return value;
}

static int read_failed(struct task_answer *answer, const json_t *list, struct error *err)
{
    size_t i;
    json_t *pair;
    if (list && (!json_is_array(list) || json_array_size(list) > TASK_REQUEST_MAX_CODE))
        return error_set(err, "failed must be an array of at most %d", TASK_REQUEST_MAX_CODE);
    json_array_foreach(list, i, pair)
    {
        json_int_t code = json_integer_value(json_array_get(pair, 0));
        const char *text = json_string_value(json_array_get(pair, 1));
        if (!text || code < 1 || code > TASK_REQUEST_MAX_CODE)
            return error_set(err, "failed must be pairs of a code from 1 to %d and ranks",
                             TASK_REQUEST_MAX_CODE);
        struct idset *ranks = idset_decode(text, err);
        if (!ranks)
            return error_prefix(err, "failed");
        task_answer_fail(answer, (uint32_t)code, ranks);
        idset_free(ranks);
    }
    return 0;
}

json_t *task_answer_to_json(const struct task_answer *answer)
{
    json_t *value = json_object();
    if (answer->refusal)
        json_object_set_new(value, "refusal", text_to_json(answer->refusal));
    if (answer->port)
        json_object_set_new(value, "port", text_to_json(answer->port));
    if (answer->group)
        json_object_set_new(value, "group", json_integer(answer->group));
    if (answer->bad)
        json_object_set_new(value, "bad", json_true());
    if (answer->full)
        json_object_set_new(value, "full", json_true());
    json_t *list = answer->nfailed ? json_array() : NULL;
    for (size_t i = 0; i < answer->nfailed; i++) {
        json_t *ranks = ranks_to_json(answer->failed[i].ranks);
        json_array_append_new(list, json_pack("[i, o]", (int)answer->failed[i].code, ranks));
    }
    if (list)
        json_object_set_new(value, "failed", list);
    if (answer->dead)
        json_object_set_new(value, "dead", ranks_to_json(answer->dead));
    return value;
}

static int read_dead(struct task_answer *answer, const json_t *value, struct error *err)
{
    const char *text = json_string_value(value);
    if (!value)
        return 0;
    if (!text)
        return error_set(err, "dead must be ranks");
    answer->dead = idset_decode(text, err);
    return answer->dead ? 0 : error_prefix(err, "dead");
}

int task_answer_from_json(struct task_answer *answer, const json_t *value, struct error *err)
{
    *answer = (struct task_answer){.bad = json_is_true(json_object_get(value, "bad")),
                                   .full = json_is_true(json_object_get(value, "full"))};
    if (json_is_object(value) && read_text(&answer->refusal, value, "refusal", err) == 0 &&
        read_text(&answer->port, value, "port", err) == 0 &&
        task_request_read_number(&answer->group, value, "group", err) == 0 &&
        read_failed(answer, json_object_get(value, "failed"), err) == 0 &&
        read_dead(answer, json_object_get(value, "dead"), err) == 0)
        return 0;
    task_answer_clear(answer);
    return error_prefix(err, "an answer to a task");
}

void task_answer_clear(struct task_answer *answer)
{
    free(answer->refusal);
    free(answer->port);
    for (size_t i = 0; i < answer->nfailed; i++)
        idset_free(answer->failed[i].ranks);
    free(answer->failed);
    idset_free(answer->dead);
    *answer = (struct task_answer){0};
}

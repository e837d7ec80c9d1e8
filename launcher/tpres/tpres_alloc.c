/* tpres alloc: what a shape gets, as a pure function of what there is and what is held. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/treepool/treepool.h"
#include "base/array.h"
#include "launcher/tpres/tpres.h"

struct question {
    struct rset *R, *held; /* held: NULL for nothing */
    struct request *request;
    struct constraint *constraint; /* or NULL */
};

static struct request *tpres_alloc_read_request(const char *text, struct error *err)
{
    struct shape *shape = shape_decode(text, err);
    struct request *request = shape ? request_from_shape(shape, err) : NULL;
    if (!request && error_text(err))
        error_usage(err, "%s", error_text(err));
    shape_free(shape);
    return request;
}

static struct rset *read_pool(struct tpres_call *call, struct error *err)
{
    const char *path = tpres_value(call, TPRES_RESOURCES);
    if (!path && isatty(STDIN_FILENO))
        return tpres_this_machine(err);
    return tpres_read(call, path ? path : "-", err);
}

/* All that any of the --held files has; they may number hosts differently. */
static int read_held(struct tpres_call *call, struct rset **held, struct error *err)
{
    struct rset **sets = NULL;
    size_t count = 0;
    const char *path;
    int rc = 0;
    for (size_t at = 0; rc == 0 && (path = tpres_next(call, TPRES_HELD, &at));) {
        sets = array_grow(sets, count, sizeof(struct rset *));
        sets[count] = tpres_read(call, path, err);
        rc = sets[count] ? 0 : error_prefix(err, "--held");
        count += rc == 0;
    }
    if (rc == 0 && count)
        *held = rset_union_hosts((const struct rset *const *)sets, count);
    for (size_t i = 0; i < count; i++)
        rset_free(sets[i]);
    free(sets);
    return rc;
}

static int read_question(struct tpres_call *call, struct question *question, struct error *err)
{
    const char *requires = tpres_value(call, TPRES_REQUIRES);
    question->request = tpres_alloc_read_request(call->words[0], err);
    if (!question->request)
        return -1;
    if (requires && !(question->constraint = constraint_decode(requires, err)))
        return error_usage(err, "--requires: %s", error_text(err));
    question->R = read_pool(call, err);
    return question->R ? read_held(call, &question->held, err) : -1;
}

static void question_clear(struct question *question)
{
    rset_free(question->R);
    rset_free(question->held);
    request_free(question->request);
    constraint_free(question->constraint);
}

static json_t *set_json(const struct idset *set)
{
    char *text = idset_encode(set);
    json_t *value = json_string(text);
    free(text);
    return value;
}

static json_t *slots_json(const struct treepool_grant *grant)
{
    json_t *list = json_array();
    for (size_t i = 0; i < grant->nslots; i++) {
        const struct treepool_slot *slot = &grant->slots[i];
        json_array_append_new(list,
                              json_pack("{s:I,s:o,s:o}", "rank", (json_int_t)slot->rank, "cores",
                                        set_json(slot->cores), "gpus", set_json(slot->gpus)));
    }
    return list;
}

static void write_grant(struct tpres_call *call, const struct treepool_grant *grant)
{
    json_t *R = rset_to_json(grant->R);
    if (tpres_value(call, TPRES_SLOTS))
        R = json_pack("{s:o,s:o}", "R", R, "slots", slots_json(grant));
    tpres_write_json(call, R);
}

static int ask(struct tpres_call *call, const struct question *question, struct error *err)
{
    struct treepool_grant *grant = NULL;
    switch (treepool_allocate(question->R, question->held, question->request, question->constraint,
                              &grant, err)) {
    case TREEPOOL_GRANTED:
        write_grant(call, grant);
        treepool_grant_free(grant);
        return 0;
    case TREEPOOL_NEVER:
        return TPRES_NEVER;
    default:
        return -1;
    }
}

int tpres_alloc(struct tpres_call *call, struct error *err)
{
    struct question question = {0};
    int rc = read_question(call, &question, err);
    if (rc == 0)
        rc = ask(call, &question, err);
    question_clear(&question);
    return rc;
}

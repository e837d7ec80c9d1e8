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

/* All that any of the --held files has; they may number hosts differently. */
static int read_held(struct method_call *call, struct rset **held, struct error *err)
{
    struct rset **sets = NULL;
    size_t count = 0;
    const char *path;
    int rc = 0;
    for (size_t at = 0; rc == 0 && (path = method_next(call, TPRES_HELD, &at));) {
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

static int read_question(struct method_call *call, struct question *question, struct error *err)
{
    const char *requires = method_value(call, TPRES_REQUIRES);
    const char *path = method_value(call, TPRES_RESOURCES);
    struct shape *shape = shape_decode(call->words[0], err);
    question->request = shape ? request_from_shape(shape, err) : NULL;
    shape_free(shape);
    if (!question->request)
        return error_usage(err, "%s", error_text(err));
    if (requires && !(question->constraint = constraint_decode(requires, err)))
        return error_usage(err, "--requires: %s", error_text(err));
    question->R = !path && isatty(STDIN_FILENO) ? tpres_this_machine(err)
                                                : tpres_read(call, path ? path : "-", err);
    return question->R ? read_held(call, &question->held, err) : -1;
}

/* R, and with --slots what each slot of it has. */
static void write_grant(struct method_call *call, const struct treepool_grant *grant)
{
    json_t *R = rset_to_json(grant->R);
    if (method_value(call, TPRES_SLOTS)) {
        json_t *list = json_array();
        for (size_t i = 0; i < grant->nslots; i++) {
            const struct treepool_slot *slot = &grant->slots[i];
            char *cores = idset_encode(slot->cores), *gpus = idset_encode(slot->gpus);
            json_array_append_new(list, json_pack("{s:I,s:s,s:s}", "rank", (json_int_t)slot->rank,
                                                  "cores", cores, "gpus", gpus));
            free(cores);
            free(gpus);
        }
        R = json_pack("{s:o,s:o}", "R", R, "slots", list);
    }
    tpres_write_json(call, R);
}

int tpres_alloc(struct method_call *call, struct error *err)
{
    struct question question = {0};
    struct treepool_grant *grant = NULL;
    int rc = read_question(call, &question, err);
    if (rc == 0) {
        enum treepool_answer answer = treepool_allocate(question.R, question.held, question.request,
                                                        question.constraint, &grant, err);
        rc = answer == TREEPOOL_GRANTED ? 0 : answer == TREEPOOL_NEVER ? TPRES_NEVER : -1;
    }
    if (grant) {
        write_grant(call, grant);
        treepool_grant_free(grant);
    }
    rset_free(question.R);
    rset_free(question.held);
    request_free(question.request);
    constraint_free(question.constraint);
    return rc;
}

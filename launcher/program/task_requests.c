/* What tasks ask of their program, and the answers, for program.c. */
#include "launcher/program/task_requests.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct task_requests {
    struct tree *tree;
    struct task_groups *groups;
    struct program_service *service;
    const struct outcome *outcome;
    const struct task_requests_ops *ops;
    void *owner;
    bool full_shown; /* that no more names can be published */
};

void requester_answer(const struct requester *requester, struct tree *tree,
                      const struct task_answer *answer)
{
    json_t *value = task_answer_to_json(answer);
    char *text = json_dumps(value, JSON_COMPACT);
    struct frame frame = {.type = FRAME_ANSWER,
                          .node = requester->node,
                          .rank = requester->number,
                          .group = requester->group,
                          .bytes = text,
                          .len = text ? strlen(text) : 0};
    tree_send_node(tree, requester->node, &frame);
    json_decref(value);
    free(text);
}

struct task_requests *task_requests_new(struct tree *tree, struct task_groups *groups,
                                        struct program_service *service,
                                        const struct outcome *outcome,
                                        const struct task_requests_ops *ops, void *owner)
{
    struct task_requests *requests = mem_alloc(sizeof(*requests));
    *requests = (struct task_requests){.tree = tree,
                                       .groups = groups,
                                       .service = service,
                                       .outcome = outcome,
                                       .ops = ops,
                                       .owner = owner};
    return requests;
}

void task_requests_free(struct task_requests *requests)
{
    free(requests);
}

static int publish(struct task_requests *requests, uint32_t group,
                   const struct task_request *request, struct task_answer *answer,
                   struct error *err)
{
    char *job = program_service_job(requests->service, group);
    int rc = names_publish(program_service_names(requests->service), job, request->name,
                           request->port, &answer->full, err);
    free(job);
    return rc;
}

static int lookup(struct task_requests *requests, uint32_t group,
                  const struct task_request *request, struct task_answer *answer, struct error *err)
{
    char *job = program_service_job(requests->service, group);
    answer->port = names_lookup(program_service_names(requests->service), job, request->name, err);
    free(job);
    return answer->port ? 0 : -1;
}

static int unpublish(struct task_requests *requests, uint32_t group,
                     const struct task_request *request, struct task_answer *answer,
                     struct error *err)
{
    (void)answer, (void)group;
    return names_unpublish(program_service_names(requests->service), request->name, err);
}

/* Numbers of its group: who was in none of the others has nothing to do with them. */
static int dead(struct task_requests *requests, uint32_t group, const struct task_request *request,
                struct task_answer *answer, struct error *err)
{
    const struct task_group *of = task_groups_find(requests->groups, group);
    (void)request;
    if (!of)
        return error_set(err, "its group is over");
    answer->dead = task_group_own_ranks(of, outcome_dead(requests->outcome));
    return 0;
}

static int (*const at_once[TASK_REQUEST_NKINDS])(struct task_requests *, uint32_t,
                                                 const struct task_request *, struct task_answer *,
                                                 struct error *) = {
    [TASK_REQUEST_PUBLISH] = publish,
    [TASK_REQUEST_LOOKUP] = lookup,
    [TASK_REQUEST_UNPUBLISH] = unpublish,
    [TASK_REQUEST_DEAD] = dead};

/* Once: a task may go on trying. */
static void note_full(struct task_requests *requests, const struct requester *requester,
                      const struct error *err)
{
    const struct task_group *group = task_groups_find(requests->groups, requester->group);
    if (requests->full_shown || !group)
        return;
    char *line = mem_format("rank %u: PMI: %s", task_group_first_rank(group) + requester->rank,
                            error_text(err));
    requests->ops->note(requests->owner, line);
    requests->full_shown = true;
    free(line);
}

void task_requests_take(struct task_requests *requests, const struct frame *frame,
                        const json_t *value)
{
    struct error err = ERROR_INIT;
    struct task_answer answer = {0};
    struct requester requester = {
        .node = frame->node, .group = frame->group, .number = frame->rank};
    struct task_request request;
    if (task_request_from_json(&request, value, &err) < 0) {
        answer = (struct task_answer){.refusal = mem_copy_text(error_text(&err)), .bad = true};
        requester_answer(&requester, requests->tree, &answer);
        task_answer_clear(&answer);
        error_clear(&err);
        return;
    }
    requester.rank = request.rank;
    requester.aloud = request.aloud;
    if (request.kind == TASK_REQUEST_SPAWN) { /* it is answered once it has started */
        requests->ops->spawn(requests->owner, &request, &requester);
    } else {
        if (at_once[request.kind](requests, requester.group, &request, &answer, &err) < 0)
            answer.refusal = mem_copy_text(error_text(&err));
        if (answer.full)
            note_full(requests, &requester, &err);
        requester_answer(&requester, requests->tree, &answer);
        task_answer_clear(&answer);
    }
    task_request_clear(&request);
    error_clear(&err);
}

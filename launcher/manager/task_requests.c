/* What tasks ask of their program, and the answers. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/manager/internal.h"
#include "launcher/protocol/task_request.h"

void task_requests_refused(struct manager *manager, const struct requester *asker, const char *why)
{
    char *line = mem_format("spawn refused: %s", why);
    if (asker->aloud || manager->spec->verbose)
        viewer_note(manager, line);
    free(line);
}

void task_requests_answer(struct manager *manager, const struct requester *asker,
                          const struct task_answer *answer)
{
    json_t *value = task_answer_to_json(answer);
    char *text = json_dumps(value, JSON_COMPACT);
    struct frame frame = {.type = FRAME_ANSWER,
                          .node = asker->node,
                          .rank = asker->number,
                          .group = asker->group,
                          .bytes = text,
                          .len = text ? strlen(text) : 0};
    tree_send_node(manager->tree, asker->node, &frame);
    json_decref(value);
    free(text);
}

static int publish(struct manager *manager, uint32_t group, const struct task_request *ask,
                   struct task_answer *answer, struct error *err)
{
    char *job = program_service_job(manager->service, group);
    int rc = names_publish(program_service_names(manager->service), job, ask->name, ask->port,
                           &answer->full, err);
    free(job);
    return rc;
}

static int lookup(struct manager *manager, uint32_t group, const struct task_request *ask,
                  struct task_answer *answer, struct error *err)
{
    char *job = program_service_job(manager->service, group);
    answer->port = names_lookup(program_service_names(manager->service), job, ask->name, err);
    free(job);
    return answer->port ? 0 : -1;
}

static int unpublish(struct manager *manager, uint32_t group, const struct task_request *ask,
                     struct task_answer *answer, struct error *err)
{
    (void)answer, (void)group;
    return names_unpublish(program_service_names(manager->service), ask->name, err);
}

/* Numbers of its group: who was in none of the others has nothing to do with them. */
static int dead(struct manager *manager, uint32_t group, const struct task_request *ask,
                struct task_answer *answer, struct error *err)
{
    const struct task_group *of = task_groups_find(manager->groups, group);
    (void)ask;
    if (!of)
        return error_set(err, "its group is over");
    answer->dead = task_group_own_ranks(of, outcome_dead(manager->outcome));
    return 0;
}

static int (*const at_once[TASK_REQUEST_NKINDS])(struct manager *, uint32_t,
                                                 const struct task_request *, struct task_answer *,
                                                 struct error *) = {
    [TASK_REQUEST_PUBLISH] = publish,
    [TASK_REQUEST_LOOKUP] = lookup,
    [TASK_REQUEST_UNPUBLISH] = unpublish,
    [TASK_REQUEST_DEAD] = dead};

/* Once: a task may go on trying. */
static void note_full(struct manager *manager, const struct requester *asker,
                      const struct error *err)
{
    const struct task_group *group = task_groups_find(manager->groups, asker->group);
    if (manager->names_full || !group)
        return;
    char *line =
        mem_format("rank %u: PMI: %s", task_group_first_rank(group) + asker->rank, error_text(err));
    viewer_note(manager, line);
    manager->names_full = true;
    free(line);
}

static void take(struct manager *manager, const struct task_request *ask,
                 const struct requester *asker)
{
    struct error err = ERROR_INIT;
    struct task_answer answer = {0};
    if (ask->kind == TASK_REQUEST_SPAWN) {
        spawn_waiting_take(manager, ask, asker); /* it is answered once it has started */
        return;
    }
    if (at_once[ask->kind](manager, asker->group, ask, &answer, &err) < 0)
        answer.refusal = mem_copy_text(error_text(&err));
    if (answer.full)
        note_full(manager, asker, &err);
    task_requests_answer(manager, asker, &answer);
    task_answer_clear(&answer);
    error_clear(&err);
}

void task_requests_take(struct manager *manager, const struct frame *frame, const json_t *value)
{
    struct error err = ERROR_INIT;
    struct requester asker = {.node = frame->node, .group = frame->group, .number = frame->rank};
    struct task_request ask;
    if (task_request_from_json(&ask, value, &err) == 0) {
        asker.rank = ask.rank;
        asker.aloud = ask.aloud;
        take(manager, &ask, &asker);
        task_request_clear(&ask);
    } else {
        struct task_answer answer = {.refusal = err.text, .bad = true};
        task_requests_answer(manager, &asker, &answer);
    }
    error_clear(&err);
}

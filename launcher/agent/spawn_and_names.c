/* What tasks ask of their program by PMI: the questions go up, the answers come down. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/agent/internal.h"
#include "launcher/agent/topology_file.h"
#include "launcher/protocol/task_request.h"

#define ASKING_MAX_CODES 1024 /* no dialect's reply has room for more */

struct asking {
    struct asking *next;
    uint32_t number;
    enum task_request_kind kind;
    uint32_t
        ntasks; /* of TASK_REQUEST_SPAWN, if they are few enough to be answered for one by one; or 0 */
    struct pmi_request *request; /* NULL: PMIx asks, and this is its number for it */
    uint64_t token;
};

char *spawn_and_names_kvsname(const struct launch *launch, uint32_t group)
{
    return mem_format("kvs_%s_%u", launch->program, group);
}

/* ---- questions ---- */

static uint32_t count_tasks(const struct task_request *ask)
{
    uint64_t count = 0;
    for (size_t i = 0; i < ask->nblocks; i++)
        count += ask->blocks[i].ntasks;
    return count <= ASKING_MAX_CODES ? (uint32_t)count : 0;
}

static void ask_above(struct group *group, const struct task *task, struct task_request *ask,
                      struct pmi_request *request, uint64_t token)
{
    struct asking *asking = mem_alloc(sizeof(*asking));
    *asking =
        (struct asking){group->asking, group->asked++, ask->kind, count_tasks(ask), request, token};
    group->asking = asking;
    ask->app = task->what->app;
    ask->rank = task->what->rank;
    uplink_send_json(group->agent->uplink,
                     (struct frame){.type = FRAME_ASK,
                                    .node = uplink_node(group->agent->uplink),
                                    .rank = asking->number,
                                    .group = group->number},
                     task_request_to_json(ask));
}

static const struct task *asking_task(struct pmi_request *request)
{
    return pmi_connection_data(pmi_request_client(request));
}

void spawn_and_names_on_name(void *arg, struct pmi_request *request, enum pmi_name name,
                             const char *service, const char *port)
{
    static const enum task_request_kind kinds[] = {[PMI_NAME_PUBLISH] = TASK_REQUEST_PUBLISH,
                                                   [PMI_NAME_UNPUBLISH] = TASK_REQUEST_UNPUBLISH,
                                                   [PMI_NAME_LOOKUP] = TASK_REQUEST_LOOKUP};
    struct task_request ask = {
        .kind = kinds[name], .name = (char *)(uintptr_t)service, .port = (char *)(uintptr_t)port};
    ask_above(arg, asking_task(request), &ask, request, 0);
}

/* A variable that names a directory of this host: Open MPI passes on what its task was told. */
static bool is_local(const struct pmi_pair *pair, const char *directory)
{
    const char *value = strchr(pair->value, '=');
    return directory && value && !strcmp(pair->key, "env_set") && !strcmp(value + 1, directory);
}

/* The texts stay the request's. */
static struct pair *borrow_pairs(const struct pmi_pairs *pairs, const char *directory,
                                 size_t *count)
{
    struct pair *list = mem_array(pairs->count, sizeof(*list));
    *count = 0;
    for (size_t i = 0; i < pairs->count; i++)
        if (!is_local(&pairs->list[i], directory))
            list[(*count)++] = (struct pair){pairs->list[i].key, pairs->list[i].value};
    return list;
}

void spawn_and_names_on_value(void *arg, struct pmi_request *request, const char *key)
{
    struct task_request ask = {.kind = TASK_REQUEST_DEAD};
    if (!strcmp(key, "PMI_hwloc_xmlfile"))
        topology_file_ask(arg, request);
    else if (!strcmp(key, "PMI_dead_processes"))
        ask_above(arg, asking_task(request), &ask, request, 0);
    else
        pmi_request_value(request, NULL);
}

static void ask_spawn(struct group *group, const struct task *task,
                      const struct spawn_request *spawn, struct pmi_request *request,
                      uint64_t token)
{
    const char *directory = request ? NULL : pmix_memory(group);
    struct task_request ask = {.kind = TASK_REQUEST_SPAWN,
                               .aloud = !request, /* PMIx's answer is a number */
                               .blocks = mem_array(spawn->nblocks, sizeof(*ask.blocks)),
                               .nblocks = spawn->nblocks};
    ask.preput = borrow_pairs(&spawn->preputs, NULL, &ask.npreput);
    for (size_t i = 0; i < spawn->nblocks; i++) {
        const struct spawn_request_block *from = &spawn->blocks[i];
        struct task_request_block *block = &ask.blocks[i];
        *block = (struct task_request_block){.argv = from->argv, .ntasks = from->maxprocs};
        block->info = borrow_pairs(&from->infos, directory, &block->ninfo);
    }
    ask_above(group, task, &ask, request, token);
    for (size_t i = 0; i < ask.nblocks; i++)
        free(ask.blocks[i].info);
    free(ask.blocks);
    free(ask.preput);
}

void spawn_and_names_on_spawn(void *arg, struct pmi_request *request,
                              const struct spawn_request *spawn)
{
    static const struct pmi_spawned refused = {.rc = 1, .why = "it is another user who asks"};
    const struct task *task = asking_task(request);
    if (task->strange)
        pmi_request_spawned(request, &refused);
    else
        ask_spawn(arg, task, spawn, request, 0);
}

void spawn_and_names_spawn_pmix(struct group *group, uint32_t rank, uint64_t token,
                                const struct spawn_request *spawn)
{
    for (uint32_t i = 0; i < group->ntasks; i++)
        if (group->tasks[i].what->rank == rank) {
            ask_spawn(group, &group->tasks[i], spawn, NULL, token);
            return;
        }
    pmix_namespace_spawned(group->pmix, token, SPAWN_BAD, NULL);
}

/* ---- answers ---- */

/* One for each task: none of them runs, and some are why. NULL where that is not known. */
static int *make_codes(const struct asking *asking, const struct task_answer *answer)
{
    int *codes =
        answer->nfailed && asking->ntasks ? mem_array(asking->ntasks, sizeof(*codes)) : NULL;
    for (uint32_t i = 0; codes && i < asking->ntasks; i++)
        codes[i] = 1;
    for (size_t i = 0; codes && i < answer->nfailed; i++)
        IDSET_FOREACH(rank, answer->failed[i].ranks)
        {
            if (rank < asking->ntasks)
                codes[rank] = (int)answer->failed[i].code;
        }
    return codes;
}

/* The refusal is that of the first failure. */
static enum spawn_fate fate_of(const struct task_answer *answer)
{
    if (!answer->refusal)
        return SPAWN_STARTED;
    if (answer->bad)
        return SPAWN_BAD;
    if (!answer->nfailed)
        return SPAWN_NO_ROOM;
    uint32_t code = answer->failed[0].code;
    return code == 127 ? SPAWN_NO_PROGRAM : code == 126 ? SPAWN_NOT_PROGRAM : SPAWN_FAILED;
}

static void answer_pmix(const struct group *group, const struct asking *asking,
                        const struct task_answer *answer)
{
    char *name = pmix_name(group->launch, answer->group);
    if (group->pmix)
        pmix_namespace_spawned(group->pmix, asking->token, fate_of(answer), name);
    free(name);
}

/* As MPICH reads it: ranks and ranges of them, none for nobody. Of more than a value has room for, the
 * lower ones. NULL stays NULL. */
static char *dead_text(const struct idset *dead)
{
    char *text = dead ? idset_encode(dead) : NULL;
    if (!text || strlen(text) < PMI_VALLEN_MAX)
        return text;
    text[PMI_VALLEN_MAX - 1] = '\0';
    *strrchr(text, ',') = '\0';
    return text;
}

static void give_answer(const struct group *group, const struct asking *asking,
                        const struct task_answer *answer)
{
    if (!asking->request) {
        answer_pmix(group, asking, answer);
        return;
    }
    if (asking->kind == TASK_REQUEST_DEAD) {
        char *ranks = dead_text(answer->dead);
        pmi_request_value(asking->request, ranks);
        free(ranks);
        return;
    }
    if (asking->kind != TASK_REQUEST_SPAWN) {
        pmi_request_named(asking->request,
                          answer->full      ? PMI_NAMED_FULL
                          : answer->refusal ? PMI_NAMED_NOT
                                            : PMI_NAMED_GOOD,
                          answer->port);
        return;
    }
    char *job = spawn_and_names_kvsname(group->launch, answer->group);
    int *codes = make_codes(asking, answer);
    struct pmi_spawned spawned = {.rc = answer->refusal ? 1 : 0,
                                  .why = answer->refusal,
                                  .job = answer->refusal ? NULL : job,
                                  .errcodes = codes,
                                  .nerrcodes = codes ? asking->ntasks : 0};
    pmi_request_spawned(asking->request, &spawned);
    free(codes);
    free(job);
}

static struct asking *take_asking(struct group *group, uint32_t number)
{
    struct asking **at = &group->asking;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    struct asking *asking = *at;
    if (asking)
        *at = asking->next;
    return asking;
}

static void take_answer(struct group *group, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    struct task_answer answer = {0};
    struct asking *asking = take_asking(group, frame->rank);
    json_t *value = asking ? frame_json(frame, &err) : NULL;
    if (!value || task_answer_from_json(&answer, value, &err) < 0)
        answer.refusal = mem_copy_text(error_text(&err));
    if (asking)
        give_answer(group, asking, &answer);
    task_answer_clear(&answer);
    error_clear(&err);
    json_decref(value);
    free(asking);
}

void spawn_and_names_on_answer(struct agent *agent, const struct frame *frame)
{
    struct group *group = group_find(agent, frame->group);
    if (frame->node == uplink_node(agent->uplink) && group)
        take_answer(group, frame);
    else if (frame->node != uplink_node(agent->uplink))
        downlink_send_node(agent->downlink, frame->node, frame);
}

void spawn_and_names_free(struct group *group)
{
    struct asking *next;
    for (struct asking *asking = group->asking; asking; asking = next) {
        next = asking->next;
        free(asking);
    }
}

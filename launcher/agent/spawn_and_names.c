/* What tasks ask of their program by PMI: the questions go up, the answers come down. */
#include "launcher/agent/spawn_and_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/protocol/task_request.h"
#include "pmi-server/pmix/spawn.h"

#define MAX_CODES 1024 /* no dialect's reply has room for more */

struct waiting_request {
    struct waiting_request *next;
    uint32_t number;
    enum task_request_kind kind;
    uint32_t ntasks; /* of TASK_REQUEST_SPAWN, where few enough for an answer for each; or 0 */
    struct pmi_request *request; /* NULL: PMIx asks, and this is its number for it */
    uint64_t token;
};

struct spawn_and_names {
    struct uplink *uplink;
    const struct launch *launch;
    struct group_pmix_job *pmix;
    struct topology_file *topology_file;
    struct waiting_request *waiting; /* that are not answered yet */
    uint32_t count;                  /* how many there ever were */
};

struct spawn_and_names *spawn_and_names_new(struct uplink *uplink, const struct launch *launch,
                                            struct group_pmix_job *pmix,
                                            struct topology_file *topology_file)
{
    struct spawn_and_names *requests = mem_alloc(sizeof(*requests));
    *requests = (struct spawn_and_names){
        .uplink = uplink, .launch = launch, .pmix = pmix, .topology_file = topology_file};
    return requests;
}

void spawn_and_names_free(struct spawn_and_names *requests)
{
    if (!requests)
        return;
    struct waiting_request *next;
    for (struct waiting_request *waiting = requests->waiting; waiting; waiting = next) {
        next = waiting->next;
        free(waiting);
    }
    free(requests);
}

bool spawn_and_names_were_any(const struct spawn_and_names *requests)
{
    return requests->count;
}

/* ---- requests ---- */

static void send_request(struct spawn_and_names *requests, const struct launch_task *task,
                         struct task_request *ask, struct pmi_request *request, uint64_t token)
{
    uint64_t count = 0;
    for (size_t i = 0; i < ask->nblocks; i++)
        count += ask->blocks[i].ntasks;
    struct waiting_request *waiting = mem_alloc(sizeof(*waiting));
    *waiting = (struct waiting_request){.next = requests->waiting,
                                        .number = requests->count++,
                                        .kind = ask->kind,
                                        .ntasks = count <= MAX_CODES ? (uint32_t)count : 0,
                                        .request = request,
                                        .token = token};
    requests->waiting = waiting;
    ask->app = task->app;
    ask->rank = task->rank;
    uplink_send_json(requests->uplink,
                     (struct frame){.type = FRAME_ASK,
                                    .node = uplink_node(requests->uplink),
                                    .rank = waiting->number,
                                    .group = requests->launch->group},
                     task_request_to_json(ask));
}

void spawn_and_names_on_name(struct spawn_and_names *requests, const struct launch_task *task,
                             struct pmi_request *request, enum pmi_name name, const char *service,
                             const char *port)
{
    static const enum task_request_kind kinds[] = {[PMI_NAME_PUBLISH] = TASK_REQUEST_PUBLISH,
                                                   [PMI_NAME_UNPUBLISH] = TASK_REQUEST_UNPUBLISH,
                                                   [PMI_NAME_LOOKUP] = TASK_REQUEST_LOOKUP};
    struct task_request ask = {
        .kind = kinds[name], .name = (char *)(uintptr_t)service, .port = (char *)(uintptr_t)port};
    send_request(requests, task, &ask, request, 0);
}

/* The texts stay the request's. A variable that names this directory of this host is left out: Open MPI
 * passes on what its task was told. */
static struct pair *borrow_pairs(const struct pmi_pairs *pairs, const char *directory,
                                 size_t *count)
{
    struct pair *list = mem_array(pairs->count, sizeof(*list));
    *count = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        const struct pmi_pair *pair = &pairs->list[i];
        const char *value = strchr(pair->value, '=');
        bool local =
            directory && value && !strcmp(pair->key, "env_set") && !strcmp(value + 1, directory);
        if (!local)
            list[(*count)++] = (struct pair){pair->key, pair->value};
    }
    return list;
}

static void send_spawn(struct spawn_and_names *requests, const struct launch_task *task,
                       const struct spawn_request *spawn, struct pmi_request *request,
                       uint64_t token)
{
    const char *directory = request ? NULL : pmix_job_memory(requests->pmix);
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
    send_request(requests, task, &ask, request, token);
    for (size_t i = 0; i < ask.nblocks; i++)
        free(ask.blocks[i].info);
    free(ask.blocks);
    free(ask.preput);
}

void spawn_and_names_on_spawn(struct spawn_and_names *requests, const struct launch_task *task,
                              struct pmi_request *request, const struct spawn_request *spawn)
{
    send_spawn(requests, task, spawn, request, 0);
}

void spawn_and_names_on_value(struct spawn_and_names *requests, const struct launch_task *task,
                              struct pmi_request *request, const char *key)
{
    struct task_request ask = {.kind = TASK_REQUEST_DEAD};
    if (!strcmp(key, "PMI_hwloc_xmlfile"))
        topology_file_ask(requests->topology_file, requests->launch, task->app, request);
    else if (!strcmp(key, "PMI_dead_processes"))
        send_request(requests, task, &ask, request, 0);
    else
        pmi_request_value(request, NULL);
}

void spawn_and_names_on_pmix_spawn(struct spawn_and_names *requests, uint32_t rank, uint64_t token,
                                   const struct spawn_request *spawn)
{
    const struct launch *launch = requests->launch;
    for (uint32_t i = 0; i < launch->nlocal; i++)
        if (launch->tasks[i].rank == rank) {
            send_spawn(requests, &launch->tasks[i], spawn, NULL, token);
            return;
        }
    pmix_job_spawned(requests->pmix, token, SPAWN_BAD, NULL);
}

/* ---- answers ---- */

/* One for each task: none of them runs, and some are why. NULL where that is not known. */
static int *make_codes(const struct waiting_request *waiting, const struct task_answer *answer)
{
    int *codes =
        answer->nfailed && waiting->ntasks ? mem_array(waiting->ntasks, sizeof(*codes)) : NULL;
    for (uint32_t i = 0; codes && i < waiting->ntasks; i++)
        codes[i] = 1;
    for (size_t i = 0; codes && i < answer->nfailed; i++)
        IDSET_FOREACH(rank, answer->failed[i].ranks)
        {
            if (rank < waiting->ntasks)
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

static void give_answer(struct spawn_and_names *requests, const struct waiting_request *waiting,
                        const struct task_answer *answer)
{
    const struct launch *launch = requests->launch;
    if (!waiting->request) {
        char *name = pmix_job_name(launch, answer->group);
        pmix_job_spawned(requests->pmix, waiting->token, fate_of(answer), name);
        free(name);
        return;
    }
    if (waiting->kind == TASK_REQUEST_DEAD) {
        char *ranks = dead_text(answer->dead);
        pmi_request_value(waiting->request, ranks);
        free(ranks);
        return;
    }
    if (waiting->kind != TASK_REQUEST_SPAWN) {
        pmi_request_named(waiting->request,
                          answer->full      ? PMI_NAMED_FULL
                          : answer->refusal ? PMI_NAMED_NOT
                                            : PMI_NAMED_GOOD,
                          answer->port);
        return;
    }
    char *job = launch_kvsname(launch->program, answer->group);
    int *codes = make_codes(waiting, answer);
    struct pmi_spawned spawned = {.rc = answer->refusal ? 1 : 0,
                                  .why = answer->refusal,
                                  .job = answer->refusal ? NULL : job,
                                  .errcodes = codes,
                                  .nerrcodes = codes ? waiting->ntasks : 0};
    pmi_request_spawned(waiting->request, &spawned);
    free(codes);
    free(job);
}

void spawn_and_names_on_answer(struct spawn_and_names *requests, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    struct task_answer answer = {0};
    struct waiting_request **at = &requests->waiting;
    while (*at && (*at)->number != frame->rank)
        at = &(*at)->next;
    struct waiting_request *waiting = *at;
    if (waiting)
        *at = waiting->next;
    json_t *value = waiting ? frame_json(frame, &err) : NULL;
    if (!value || task_answer_from_json(&answer, value, &err) < 0)
        answer.refusal = mem_copy_text(error_text(&err));
    if (waiting)
        give_answer(requests, waiting, &answer);
    task_answer_clear(&answer);
    error_clear(&err);
    json_decref(value);
    free(waiting);
}

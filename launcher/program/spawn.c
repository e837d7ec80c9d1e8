/* MPI_Comm_spawn and its like (PMI-1, PMI-2 and PMIx spawn), for program.c: what a task asks for is spawned as
 * task groups; it is answered once every task of them has been executed, or one has not. */
#include "launcher/program/spawn.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "affinity/sets/hostlist.h"
#include "base/file_text.h"
#include "base/mem.h"
#include "launcher/ledger/instance_directory.h"
#include "launcher/plan/spawn_hosts.h"
#include "launcher/plan/spawn_plan.h"
#include "launcher/plan/spawn_spec.h"
#include "launcher/protocol/task_report.h"
#include "launcher/source/hostfile.h"

/* From the request until all agents of its group have said what became of it; after a failure, until the
 * group is over. */
struct spawn {
    struct spawn *next;
    struct spawns *spawns;
    struct requester requester;
    struct task_request request;
    /* until it is launched: */
    struct spawn_spec blocks;
    struct hostlist *
        *hosts; /* [blocks.nplaces], which are by part: where each may be; NULL: anywhere */
    struct idset *asked;   /* hosts that were started for it so far */
    bool stages;           /* files are on their way to some node of its plan */
    struct error unstaged; /* why they are not there */
    struct plan *plan;
    enum spawn_pool pool;
    /* from then on: */
    struct task_group *group;
    struct idset *starting;    /* nodes that have not said so */
    struct task_answer answer; /* its refusal is the first reason why some task was not started */
    bool failed;               /* which was answered */
    json_t *ends; /* told meanwhile, and told on if all have started: [time, node, value] */
};

struct spawns {
    struct spawn_base base;
    const struct spawns_ops *ops;
    void *owner;
    struct spawn *first; /* the youngest */
};

/* What was needed to launch it. */
static void spawn_clear_request(struct spawn *spawn)
{
    for (size_t i = 0; spawn->hosts && i < spawn->blocks.nplaces; i++)
        hostlist_free(spawn->hosts[i]);
    free(spawn->hosts);
    spawn->hosts = NULL;
    spawn_spec_clear(&spawn->blocks);
    spawn->blocks = (struct spawn_spec){0};
    task_request_clear(&spawn->request);
    spawn->request = (struct task_request){0};
    idset_free(spawn->asked);
    spawn->asked = NULL;
    plan_free(spawn->plan);
    spawn->plan = NULL;
    error_clear(&spawn->unstaged);
}

static void spawn_free(struct spawn *spawn)
{
    spawn_clear_request(spawn);
    idset_free(spawn->starting);
    json_decref(spawn->ends);
    task_answer_clear(&spawn->answer);
    free(spawn);
}

static void spawn_remove(struct spawn *spawn)
{
    struct spawn **at = &spawn->spawns->first;
    while (*at != spawn)
        at = &(*at)->next;
    *at = spawn->next;
    spawn_free(spawn);
}

/* NULL for no group, too. */
static struct spawn *spawn_find(const struct spawns *spawns, const struct task_group *group)
{
    struct spawn *spawn = spawns && group ? spawns->first : NULL;
    while (spawn && spawn->group != group)
        spawn = spawn->next;
    return spawn;
}

/* With -v. */
__attribute__((format(printf, 2, 3))) static void spawn_say(struct spawns *spawns, const char *fmt,
                                                            ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    spawns->ops->say(spawns->owner, text);
}

static void show_refusal(struct spawns *spawns, const struct requester *requester, const char *why)
{
    char *line = mem_format("spawn refused: %s", why);
    if (requester->aloud || spawns->base.spec->verbose)
        spawns->ops->note(spawns->owner, line);
    free(line);
}

/* ---- what is asked for ---- */

static struct hostlist *spawn_read_hostfile(const char *path, struct error *err)
{
    struct buf text = BUF_INIT;
    char *name = file_text_name("hostfile", path);
    struct hostfile *file = file_text_read(path, name, HOSTFILE_MAX_TEXT, &text, err) == 0
                                ? hostfile_parse(name, buf_bytes(&text), text.len, err)
                                : NULL;
    struct hostlist *list = file ? hostlist_new() : NULL;
    for (size_t i = 0; file && i < file->count; i++) {
        const char *at = strchr(file->entries[i].login, '@');
        hostlist_append(list, at ? at + 1 : file->entries[i].login);
    }
    hostfile_free(file);
    buf_free(&text);
    free(name);
    return list;
}

/* A spec of what is asked for, and where it may be. Beside the tasks of a group that is over nothing is
 * started. */
static int spawn_read_request(struct spawn *spawn, struct error *err)
{
    struct spawns *spawns = spawn->spawns;
    const struct task_group *group = task_groups_find(spawns->base.groups, spawn->requester.group);
    if (spawns->ops->is_ending(spawns->owner) || !group)
        return error_set(err, "the program is ending");
    const struct spec *base = task_group_spec(group);
    int rc = spawn_spec_make(&spawn->blocks, base ? base : spawns->base.spec, &spawn->request, err);
    if (rc == 0 && spawn->blocks.unknown.len)
        spawn_say(spawns, "spawn: info keys that mean nothing here: %s",
                  buf_text(&spawn->blocks.unknown));
    spawn->hosts = mem_array(spawn->blocks.nplaces, sizeof(struct hostlist *));
    for (size_t i = 0; i < spawn->blocks.nplaces && rc == 0; i++) {
        const struct block_place *place = &spawn->blocks.places[i];
        if (place->hosts)
            spawn->hosts[i] = hostlist_decode(place->hosts, err);
        else if (place->hostfile)
            spawn->hosts[i] = spawn_read_hostfile(place->hostfile, err);
        if (!spawn->hosts[i] && (place->hosts || place->hostfile))
            rc = -1;
    }
    if (rc < 0)
        err->kind = ERROR_USAGE;
    return rc;
}

/* ---- started ---- */

static bool spawn_awaits_hosts(void *owner)
{
    const struct spawn *spawn = owner;
    const struct host_table *hosts = resources_hosts(spawn->spawns->base.resources);
    if (spawn->stages)
        return true;
    IDSET_FOREACH(node, spawn->asked)
    {
        if (host_at(hosts, node)->state == HOST_STARTING)
            return true;
    }
    return false;
}

static void spawn_on_staged(void *arg, const struct error *err)
{
    struct spawn *spawn = arg;
    spawn->stages = false;
    if (err)
        error_set(&spawn->unstaged, "%s", error_text(err));
    group_starts_settled(spawn->spawns->base.starts);
}

/* It is planned again once they are there: something else may have begun meanwhile. */
static enum group_step spawn_stage(struct spawn *spawn)
{
    struct stage_sender *stage = spawn->spawns->base.stage;
    struct idset *nodes = plan_tree_nodes(spawn->plan);
    bool missing = !stage_sender_has(stage, nodes);
    spawn->stages = missing;
    if (missing)
        stage_sender_send(stage, nodes, spawn_on_staged, spawn);
    idset_free(nodes);
    return missing ? GROUP_STEP_HOSTS : GROUP_STEP_DONE;
}

/* Where there is no room, or no cores would be the group's alone, hosts without an agent are asked. */
static enum group_step spawn_find_plan(struct spawn *spawn, const struct spawn_request *request,
                                       struct error *err)
{
    const struct spawn_base *base = &spawn->spawns->base;
    plan_free(spawn->plan);
    spawn->plan = spawn_plan_make(request, &spawn->pool, err);
    if (lock_is_busy(group_starts_lock(base->starts))) { /* what is free is not known */
        error_clear(err);
        error_set(err, "%s is locked by another process",
                  instance_path(resources_instance(base->resources)));
        return GROUP_STEP_FAILED;
    }
    if (!spawn->plan || spawn->pool >= SPAWN_SHARED) {
        struct idset *chosen = spawn_hosts_choose(request, spawn->asked);
        bool any = !idset_empty(chosen);
        if (any)
            agents_late(base->agents, chosen, "for tasks that are added");
        idset_add_set(spawn->asked, chosen);
        idset_free(chosen);
        if (any)
            return GROUP_STEP_HOSTS;
    }
    if (spawn->plan)
        return GROUP_STEP_DONE;
    spawn_hosts_explain(resources_hosts(base->resources), spawn->asked, err);
    return GROUP_STEP_FAILED;
}

static enum group_step spawn_on_plan(void *owner, struct error *err)
{
    struct spawn *spawn = owner;
    struct spawns *spawns = spawn->spawns;
    const struct spawn_base *base = &spawns->base;
    if (spawns->ops->is_ending(spawns->owner) ||
        !task_groups_find(base->groups, spawn->requester.group)) {
        error_set(err, "the program is ending");
        return GROUP_STEP_FAILED;
    }
    if (spawn->unstaged.text) {
        error_set(err, "%s", spawn->unstaged.text);
        return GROUP_STEP_REFUSED;
    }
    struct rset *held = task_groups_held(base->groups), *used = task_groups_used(base->groups);
    uint32_t *tasks = task_groups_tasks(base->groups, host_count(resources_hosts(base->resources)));
    struct spawn_request request = {.spec = spawn->blocks.spec,
                                    .hosts = spawn->hosts,
                                    .resources = base->resources,
                                    .held = held,
                                    .used = used,
                                    .tasks = tasks};
    enum group_step step = spawn_find_plan(spawn, &request, err);
    if (step == GROUP_STEP_DONE)
        step = spawn_stage(spawn);
    free(tasks);
    rset_free(used);
    rset_free(held);
    return step;
}

static enum group_step spawn_on_claim(void *owner, struct error *err)
{
    struct spawn *spawn = owner;
    const struct spawn_base *base = &spawn->spawns->base;
    int lost = program_claim_add(base->claim, plan_claim(spawn->plan), err);
    if (lost == 0 && plan_layout(spawn->plan)->ntasks > INT32_MAX - task_groups_ranks(base->groups))
        lost = error_set(err, "the program has no ranks left");
    return lost < 0 ? GROUP_STEP_FAILED : lost ? GROUP_STEP_LOST : GROUP_STEP_DONE;
}

static enum group_step spawn_on_launch(void *owner, struct error *err)
{
    static const char *const pools[] = {[SPAWN_ON_IDLE] = "",
                                        [SPAWN_ON_FREE] = "",
                                        [SPAWN_SHARED] = ", on cores that the program uses already",
                                        [SPAWN_CROWDED] = ", on fewer cores than they ask for"};
    struct spawn *spawn = owner;
    struct spawns *spawns = spawn->spawns;
    struct task_group_source from = {.spec = spawn->blocks.spec,
                                     .plan = spawn->plan,
                                     .spawned = true,
                                     .spawner = spawn->requester.group,
                                     .spawner_rank = spawn->requester.rank,
                                     .preput = spawn->request.preput,
                                     .npreput = spawn->request.npreput};
    (void)err;
    struct task_group *group = spawns->ops->launch(spawns->owner, &from);
    task_group_set_spec(group, spawn->blocks.spec);
    spawn->blocks.spec = NULL;
    spawn->group = group;
    spawn->starting = idset_copy(task_group_nodes(group));
    spawn_clear_request(spawn);
    uint32_t first = task_group_first_rank(group), nnodes = task_group_nnodes(group);
    spawn_say(spawns, "group %u: ranks %u-%u on %u node%s%s", task_group_number(group), first,
              first + task_group_ntasks(group) - 1, nnodes, nnodes > 1 ? "s" : "",
              pools[spawn->pool]);
    return GROUP_STEP_DONE;
}

/* Answered, shown where that is wanted, and forgotten. */
static void spawn_on_refused(void *owner, const struct error *err)
{
    struct spawn *spawn = owner;
    struct spawns *spawns = spawn->spawns;
    struct task_answer answer = {.refusal = mem_copy_text(error_text(err)),
                                 .bad = err->kind == ERROR_USAGE};
    show_refusal(spawns, &spawn->requester, error_text(err));
    requester_answer(&spawn->requester, spawns->base.tree, &answer);
    task_answer_clear(&answer);
    spawn_remove(spawn);
}

static const struct group_start_ops spawn_start_ops = {.awaits_hosts = spawn_awaits_hosts,
                                                       .plan = spawn_on_plan,
                                                       .claim = spawn_on_claim,
                                                       .launch = spawn_on_launch,
                                                       .refused = spawn_on_refused};

void spawn_take(struct spawns *spawns, struct task_request *request,
                const struct requester *requester)
{
    struct error err = ERROR_INIT;
    struct spawn *spawn = mem_alloc(sizeof(*spawn));
    *spawn = (struct spawn){.next = spawns->first,
                            .spawns = spawns,
                            .requester = *requester,
                            .request = *request,
                            .asked = idset_new()};
    *request = (struct task_request){0};
    spawns->first = spawn;
    if (spawn_read_request(spawn, &err) < 0)
        spawn_on_refused(spawn, &err);
    else
        group_start_begin(group_start_new(spawns->base.starts, &spawn_start_ops, spawn));
    error_clear(&err);
}

/* ---- what became of it ---- */

bool spawn_is_of(const struct spawns *spawns, const struct task_group *group)
{
    return spawn_find(spawns, group);
}

bool spawn_has_failed(const struct spawns *spawns, const struct task_group *group)
{
    const struct spawn *spawn = spawn_find(spawns, group);
    return spawn && spawn->failed;
}

bool spawn_holds_end(struct spawns *spawns, const struct task_group *group, uint64_t time,
                     uint32_t node, const json_t *value)
{
    struct spawn *spawn = spawn_find(spawns, group);
    if (!spawn || spawn->failed)
        return spawn;
    if (!spawn->ends)
        spawn->ends = json_array();
    json_array_append_new(spawn->ends, json_pack("[I, I, O]", (json_int_t)time, (json_int_t)node,
                                                 (json_t *)(uintptr_t)value));
    return true;
}

/* All its agents have said what became of it. */
static void spawn_finish(struct spawns *spawns, struct spawn *spawn)
{
    struct task_group *group = spawn->group;
    size_t i;
    json_t *end;
    spawn->failed = spawn->answer.refusal;
    spawn->answer.group = task_group_number(group);
    requester_answer(&spawn->requester, spawns->base.tree, &spawn->answer);
    if (spawn->failed) {
        struct frame frame = {.type = FRAME_TERMINATE};
        if (spawn->requester.aloud)
            show_refusal(spawns, &spawn->requester, spawn->answer.refusal);
        else
            spawn_say(spawns, "group %u: not started: %s", task_group_number(group),
                      spawn->answer.refusal);
        task_group_send(group, &frame);
        return;
    }
    json_t *ends = json_incref(spawn->ends);
    spawn_remove(spawn); /* what is told on now counts */
    json_array_foreach(ends, i, end)
    {
        spawns->ops->ended(
            spawns->owner, group, (uint64_t)json_integer_value(json_array_get(end, 0)),
            (uint32_t)json_integer_value(json_array_get(end, 1)), json_array_get(end, 2));
    }
    json_decref(ends);
}

void spawn_refuse(struct spawns *spawns, struct task_group *group, int status, const char *text,
                  const struct idset *said)
{
    struct spawn *spawn = spawn_find(spawns, group);
    struct task_answer *answer = &spawn->answer;
    struct idset *ranks = task_group_own_ranks(group, said);
    if (!answer->refusal)
        answer->refusal = mem_copy_text(text);
    if (WIFEXITED(status) && WEXITSTATUS(status))
        task_answer_fail(answer, (uint32_t)WEXITSTATUS(status), ranks);
    idset_free(ranks);
}

void spawn_give_up(struct spawns *spawns, struct task_group *group)
{
    spawn_finish(spawns, spawn_find(spawns, group));
}

void spawn_node_started(struct spawns *spawns, struct task_group *group, uint32_t node,
                        const json_t *value)
{
    struct spawn *spawn = group ? spawn_find(spawns, group) : NULL;
    struct started_report report = {0};
    if (!spawn || spawn->failed)
        return;
    started_report_from_json(&report, value, NULL);
    for (size_t i = 0; i < report.failed.count; i++) {
        const struct start_failure *failure = &report.failed.list[i];
        spawn_refuse(spawns, group, failure->status,
                     failure->text ? failure->text : "it was not started", failure->ranks);
    }
    started_report_clear(&report);
    idset_remove(spawn->starting, node);
    if (idset_empty(spawn->starting))
        spawn_finish(spawns, spawn);
}

void spawn_forget(struct spawns *spawns, const struct task_group *group)
{
    struct spawn *spawn = spawn_find(spawns, group);
    if (spawn)
        spawn_remove(spawn);
}

struct spawns *spawns_new(const struct spawn_base *base, const struct spawns_ops *ops, void *owner)
{
    struct spawns *spawns = mem_alloc(sizeof(*spawns));
    *spawns = (struct spawns){.base = *base, .ops = ops, .owner = owner};
    return spawns;
}

void spawns_free(struct spawns *spawns)
{
    for (struct spawn *spawn = spawns ? spawns->first : NULL, *next; spawn; spawn = next) {
        next = spawn->next;
        spawn_free(spawn);
    }
    free(spawns);
}

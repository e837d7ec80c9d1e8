/* Groups that a task asks for: placed, launched, and answered for once every task of them has been
 * executed, or one has not. */
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
#include "launcher/plan/spawn_spec.h"
#include "launcher/program/spawn_hosts.h"
#include "launcher/protocol/task_report.h"
#include "launcher/source/hostfile.h"

#define SPAWN_TRIES 100 /* races for the same cores that may be lost before it is given up */

/* From the launch of a group until all its agents have said what became of it; after a failure, until
 * it is over. */
struct spawn {
    struct spawn *next;
    struct task_group *group;
    struct requester requester;
    struct idset *starting;    /* nodes that have not said so */
    struct task_answer answer; /* its refusal is the first reason why some task was not started */
    bool failed;               /* which was answered */
    json_t *ends; /* told meanwhile, and told on if all have started: [time, node, value] */
};

struct spawns {
    struct spawn_base base;
    struct tree *tree;
    struct lock_retry *lock;
    struct program_claim *claim;
    const struct spawns_ops *ops;
    void *owner;
    struct spawn *first; /* the youngest */
};

static void spawn_free(struct spawn *spawn)
{
    idset_free(spawn->starting);
    json_decref(spawn->ends);
    task_answer_clear(&spawn->answer);
    free(spawn);
}

static struct spawn *spawn_find(const struct spawns *spawns, const struct task_group *group)
{
    struct spawn *spawn = spawns ? spawns->first : NULL;
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

void spawn_answer_refused(struct spawns *spawns, const struct requester *requester,
                          const struct error *err)
{
    struct task_answer answer = {.refusal = mem_copy_text(error_text(err)),
                                 .bad = err->kind == ERROR_USAGE};
    show_refusal(spawns, requester, error_text(err));
    requester_answer(requester, spawns->tree, &answer);
    task_answer_clear(&answer);
}

/* ---- where ---- */

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

/* Of these there must be one that is there; *hosts is NULL where nothing is said. */
static int find_hosts(const struct block_place *place, struct hostlist **hosts, struct error *err)
{
    if (place->hosts)
        *hosts = hostlist_decode(place->hosts, err);
    else if (place->hostfile)
        *hosts = spawn_read_hostfile(place->hostfile, err);
    return *hosts || (!place->hosts && !place->hostfile) ? 0 : -1;
}

static void free_hosts(struct hostlist **hosts, size_t count)
{
    for (size_t i = 0; hosts && i < count; i++)
        hostlist_free(hosts[i]);
    free(hosts);
}

/* By block, which is by part. */
static struct hostlist **find_all_hosts(const struct spawn_spec *blocks, struct error *err)
{
    struct hostlist **hosts = mem_array(blocks->nplaces, sizeof(struct hostlist *));
    for (size_t i = 0; i < blocks->nplaces; i++) {
        if (find_hosts(&blocks->places[i], &hosts[i], err) == 0)
            continue;
        free_hosts(hosts, blocks->nplaces);
        return NULL;
    }
    return hosts;
}

/* ---- placed and launched ---- */

static void spawn_add_group(struct spawns *spawns, struct spawn_spec *blocks,
                            const struct spawn_resources *found, const struct task_request *request,
                            const struct requester *requester)
{
    struct task_group_plan plan = {.spec = blocks->spec,
                                   .spawned = true,
                                   .spawner = requester->group,
                                   .spawner_rank = requester->rank,
                                   .preput = request->preput,
                                   .npreput = request->npreput};
    spawn_resources_fill(found, &plan);
    struct task_group *group = spawns->ops->launch(spawns->owner, &plan);
    task_group_set_spec(group, blocks->spec);
    blocks->spec = NULL;
    struct spawn *spawn = mem_alloc(sizeof(*spawn));
    *spawn = (struct spawn){.next = spawns->first,
                            .group = group,
                            .requester = *requester,
                            .starting = idset_copy(task_group_nodes(group))};
    spawns->first = spawn;
    uint32_t first = task_group_first_rank(group), nnodes = task_group_nnodes(group);
    spawn_say(spawns, "group %u: ranks %u-%u on %u node%s%s", task_group_number(group), first,
              first + task_group_ntasks(group) - 1, nnodes, nnodes > 1 ? "s" : "",
              spawn_resources_is_shared(found)    ? ", on cores that the program uses already"
              : spawn_resources_is_crowded(found) ? ", on fewer cores than they ask for"
                                                  : "");
}

/* NULL with a sentence, also where the instance's lock is another's, or without one where hosts were
 * started. */
static struct spawn_resources *find_and_claim(struct spawns *spawns, const struct spec *spec,
                                              struct hostlist *const *hosts, struct idset *started,
                                              struct error *err)
{
    for (int tries = 0; tries < SPAWN_TRIES; tries++) {
        lock_be_patient(spawns->lock);
        struct spawn_resources *found = spawn_resources_find(&spawns->base, spec, hosts, err);
        if (lock_is_busy(spawns->lock)) { /* what is free is not known */
            spawn_resources_free(found);
            error_clear(err);
            error_set(err, "%s is locked by another process",
                      instance_path(resources_instance(spawns->base.resources)));
            return NULL;
        }
        if ((!found || spawn_resources_is_shared(found) || spawn_resources_is_crowded(found)) &&
            spawn_hosts_start(&spawns->base, spec, hosts, started)) {
            spawn_resources_free(found);
            error_clear(err);
            return NULL;
        }
        if (!found) {
            spawn_hosts_explain(&spawns->base, started, err);
            return NULL;
        }
        struct task_group_plan plan = {0};
        spawn_resources_fill(found, &plan);
        struct rset *claim = task_group_claim_of(&plan);
        int lost = program_claim_add(spawns->claim, claim, err);
        rset_free(claim);
        if (lost == 0)
            return found;
        spawn_resources_free(found);
        if (lost < 0)
            return NULL;
    }
    error_prefix(err, "lost the race for free cores %d times", SPAWN_TRIES);
    return NULL;
}

static uint32_t spawn_ntasks(const struct spawn_resources *found)
{
    struct task_group_plan plan = {0};
    spawn_resources_fill(found, &plan);
    return plan.layout->ntasks;
}

static int spawn_add(struct spawns *spawns, struct spawn_spec *blocks,
                     const struct task_request *request, const struct requester *requester,
                     struct idset *started, struct error *err)
{
    if (blocks->unknown.len && idset_empty(started))
        spawn_say(spawns, "spawn: info keys that mean nothing here: %s",
                  buf_text(&blocks->unknown));
    struct hostlist **hosts = find_all_hosts(blocks, err);
    if (!hosts) {
        err->kind = ERROR_USAGE;
        return -1;
    }
    struct spawn_resources *found = find_and_claim(spawns, blocks->spec, hosts, started, err);
    bool waits = !found && (!err->text || lock_is_busy(spawns->lock));
    if (found && spawn_ntasks(found) <= INT32_MAX - task_groups_ranks(spawns->base.groups))
        spawn_add_group(spawns, blocks, found, request, requester);
    else if (found)
        error_set(err, "the program has no ranks left");
    free_hosts(hosts, blocks->nplaces);
    spawn_resources_free(found);
    return waits ? 1 : err->text ? -1 : 0;
}

int spawn_begin(struct spawns *spawns, const struct task_request *request,
                const struct requester *requester, struct idset *started, struct error *err)
{
    const struct task_group *group = task_groups_find(spawns->base.groups, requester->group);
    struct spawn_spec blocks;
    if (spawns->ops->is_ending(spawns->owner) || !group)
        return error_set(err, "the program is ending");
    error_clear(err);
    const struct spec *base = task_group_spec(group);
    if (spawn_spec_make(&blocks, base ? base : spawns->base.spec, request, err) < 0) {
        err->kind = ERROR_USAGE;
        return -1;
    }
    int rc = spawn_add(spawns, &blocks, request, requester, started, err);
    spawn_spec_clear(&blocks);
    return rc;
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

static struct spawn *spawn_take_out(struct spawns *spawns, const struct task_group *group)
{
    struct spawn **at = &spawns->first;
    while (*at && (*at)->group != group)
        at = &(*at)->next;
    struct spawn *spawn = *at;
    if (spawn)
        *at = spawn->next;
    return spawn;
}

/* All its agents have said what became of it. */
static void spawn_finish(struct spawns *spawns, struct spawn *spawn)
{
    struct task_group *group = spawn->group;
    size_t i;
    json_t *end;
    spawn->failed = spawn->answer.refusal;
    spawn->answer.group = task_group_number(group);
    if (!spawn->failed)
        spawn_take_out(spawns, group);
    requester_answer(&spawn->requester, spawns->tree, &spawn->answer);
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
    json_array_foreach(spawn->ends, i, end) spawns->ops->ended(
        spawns->owner, group, (uint64_t)json_integer_value(json_array_get(end, 0)),
        (uint32_t)json_integer_value(json_array_get(end, 1)), json_array_get(end, 2));
    spawn_free(spawn);
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
    struct spawn *spawn = spawn_take_out(spawns, group);
    if (spawn)
        spawn_free(spawn);
}

struct spawns *spawns_new(const struct spawn_base *base, struct tree *tree, struct lock_retry *lock,
                          struct program_claim *claim, const struct spawns_ops *ops, void *owner)
{
    struct spawns *spawns = mem_alloc(sizeof(*spawns));
    *spawns = (struct spawns){
        .base = *base, .tree = tree, .lock = lock, .claim = claim, .ops = ops, .owner = owner};
    return spawns;
}

void spawns_free(struct spawns *spawns)
{
    while (spawns && spawns->first)
        spawn_forget(spawns, spawns->first->group);
    free(spawns);
}

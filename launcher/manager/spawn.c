/* Groups that a task asks for: placed, launched, and answered for once every task of them has been
 * executed, or one has not. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "affinity/sets/hostlist.h"
#include "base/file_text.h"
#include "base/mem.h"
#include "launcher/manager/internal.h"
#include "launcher/plan/spawn_spec.h"
#include "launcher/protocol/task_report.h"
#include "launcher/source/hostfile.h"

#define ADDING_TRIES 100 /* races for the same cores that may be lost before it is given up */

struct
    spawn { /* from the launch of a group until all its agents have said what became of it; after a
                  failure, until it is over */
    struct spawn *next;
    struct task_group *group;
    struct requester asker;
    struct idset *starting;    /* nodes that have not said so */
    struct task_answer answer; /* its refusal is the first reason why some task was not started */
    bool failed;               /* which was answered */
    json_t *ends; /* told meanwhile, and told on if all have started: [time, node, value] */
};

static void spawn_free(struct spawn *spawn)
{
    idset_free(spawn->starting);
    json_decref(spawn->ends);
    task_answer_clear(&spawn->answer);
    free(spawn);
}

static struct spawn *spawn_find(const struct manager *manager, const struct task_group *group)
{
    struct spawn *spawn = manager->spawns;
    while (spawn && spawn->group != group)
        spawn = spawn->next;
    return spawn;
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

static void spawn_add_group(struct manager *manager, struct spawn_spec *blocks,
                            const struct spawn_resources *room, const struct task_request *ask,
                            const struct requester *asker)
{
    struct task_group_plan plan = {.spec = blocks->spec,
                                   .layout = room->layout,
                                   .candidates = room->candidates,
                                   .candidate_host = room->candidate_host,
                                   .spawned = true,
                                   .spawner = asker->group,
                                   .spawner_rank = asker->rank,
                                   .preput = ask->preput,
                                   .npreput = ask->npreput};
    struct task_group *group = program_start_group(manager, &plan);
    task_group_set_spec(group, blocks->spec);
    blocks->spec = NULL;
    struct spawn *spawn = mem_alloc(sizeof(*spawn));
    *spawn = (struct spawn){.next = manager->spawns,
                            .group = group,
                            .asker = *asker,
                            .starting = idset_copy(task_group_nodes(group))};
    manager->spawns = spawn;
    uint32_t first = task_group_first_rank(group), nnodes = task_group_nnodes(group);
    viewer_say(manager, "group %u: ranks %u-%u on %u node%s%s", task_group_number(group), first,
               first + task_group_ntasks(group) - 1, nnodes, nnodes > 1 ? "s" : "",
               room->shared    ? ", on cores that the program uses already"
               : room->crowded ? ", on fewer cores than they ask for"
                               : "");
}

/* NULL with a sentence, also where the instance's lock is another's, or without one where hosts were
 * woken. */
static struct spawn_resources *claim_room(struct manager *manager, const struct spec *spec,
                                          struct hostlist *const *hosts, struct idset *woken,
                                          struct error *err)
{
    for (int tries = 0; tries < ADDING_TRIES; tries++) {
        lock_be_patient(manager->lock);
        struct spawn_resources *room = spawn_resources_find(manager, spec, hosts, err);
        if (lock_is_busy(manager->lock)) { /* what is free is not known */
            spawn_resources_free(room);
            error_clear(err);
            error_set(err, "%s is locked by another process",
                      instance_path(resources_instance(manager->resources)));
            return NULL;
        }
        if ((!room || room->shared || room->crowded) &&
            spawn_hosts_wake(manager, spec, hosts, woken)) {
            spawn_resources_free(room);
            error_clear(err);
            return NULL;
        }
        if (!room) {
            spawn_hosts_explain(manager, woken, err);
            return NULL;
        }
        struct task_group_plan plan = {.layout = room->layout, .candidates = room->candidates};
        struct rset *claim = task_group_claim_of(&plan);
        int lost = spawn_resources_claim(manager, claim, err);
        rset_free(claim);
        if (lost == 0)
            return room;
        spawn_resources_free(room);
        if (lost < 0)
            return NULL;
    }
    error_prefix(err, "lost the race for free cores %d times", ADDING_TRIES);
    return NULL;
}

static int spawn_add(struct manager *manager, struct spawn_spec *blocks,
                     const struct task_request *ask, const struct requester *asker,
                     struct idset *woken, struct error *err)
{
    if (blocks->unknown.len && idset_empty(woken))
        viewer_say(manager, "spawn: info keys that mean nothing here: %s",
                   buf_text(&blocks->unknown));
    struct hostlist **hosts = find_all_hosts(blocks, err);
    if (!hosts) {
        err->kind = ERROR_USAGE;
        return -1;
    }
    struct spawn_resources *room = claim_room(manager, blocks->spec, hosts, woken, err);
    bool waits = !room && (!err->text || lock_is_busy(manager->lock));
    if (room && room->layout->ntasks <= INT32_MAX - task_groups_ranks(manager->groups))
        spawn_add_group(manager, blocks, room, ask, asker);
    else if (room)
        error_set(err, "the program has no ranks left");
    free_hosts(hosts, blocks->nplaces);
    spawn_resources_free(room);
    return waits ? 1 : err->text ? -1 : 0;
}

int spawn_begin(struct manager *manager, const struct task_request *ask,
                const struct requester *asker, struct idset *woken, struct error *err)
{
    const struct task_group *group = task_groups_find(manager->groups, asker->group);
    struct spawn_spec blocks;
    if (manager->terminating || !group)
        return error_set(err, "the program is ending");
    error_clear(err);
    const struct spec *base = task_group_spec(group);
    if (spawn_spec_make(&blocks, base ? base : manager->spec, ask, err) < 0) {
        err->kind = ERROR_USAGE;
        return -1;
    }
    int rc = spawn_add(manager, &blocks, ask, asker, woken, err);
    spawn_spec_clear(&blocks);
    return rc;
}

/* ---- what became of it ---- */

bool spawn_is_of(const struct manager *manager, const struct task_group *group)
{
    return spawn_find(manager, group);
}

bool spawn_has_failed(const struct manager *manager, const struct task_group *group)
{
    const struct spawn *spawn = spawn_find(manager, group);
    return spawn && spawn->failed;
}

bool spawn_holds(struct manager *manager, const struct task_group *group, uint64_t time,
                 uint32_t node, const json_t *value)
{
    struct spawn *spawn = spawn_find(manager, group);
    if (!spawn || spawn->failed)
        return spawn;
    if (!spawn->ends)
        spawn->ends = json_array();
    json_array_append_new(spawn->ends, json_pack("[I, I, O]", (json_int_t)time, (json_int_t)node,
                                                 (json_t *)(uintptr_t)value));
    return true;
}

static struct spawn *spawn_take_out(struct manager *manager, const struct task_group *group)
{
    struct spawn **at = &manager->spawns;
    while (*at && (*at)->group != group)
        at = &(*at)->next;
    struct spawn *spawn = *at;
    if (spawn)
        *at = spawn->next;
    return spawn;
}

/* All its agents have said what became of it. */
static void spawn_finish(struct manager *manager, struct spawn *spawn)
{
    struct task_group *group = spawn->group;
    size_t i;
    json_t *end;
    spawn->failed = spawn->answer.refusal;
    spawn->answer.group = task_group_number(group);
    if (!spawn->failed)
        spawn_take_out(manager, group);
    task_requests_answer(manager, &spawn->asker, &spawn->answer);
    if (spawn->failed) {
        struct frame frame = {.type = FRAME_TERMINATE};
        if (spawn->asker.aloud)
            task_requests_refused(manager, &spawn->asker, spawn->answer.refusal);
        else
            viewer_say(manager, "group %u: not started: %s", task_group_number(group),
                       spawn->answer.refusal);
        task_group_send(group, &frame);
        return;
    }
    json_array_foreach(spawn->ends, i, end) agent_frames_ended(
        manager, group, (uint64_t)json_integer_value(json_array_get(end, 0)),
        (uint32_t)json_integer_value(json_array_get(end, 1)), json_array_get(end, 2));
    spawn_free(spawn);
}

void spawn_refuse(struct manager *manager, struct task_group *group, int status, const char *text,
                  const struct idset *said)
{
    struct spawn *spawn = spawn_find(manager, group);
    struct task_answer *answer = &spawn->answer;
    struct idset *ranks = task_group_own_ranks(group, said);
    if (!answer->refusal)
        answer->refusal = mem_copy_text(text);
    if (WIFEXITED(status) && WEXITSTATUS(status))
        task_answer_fail(answer, (uint32_t)WEXITSTATUS(status), ranks);
    idset_free(ranks);
}

void spawn_give_up(struct manager *manager, struct task_group *group)
{
    spawn_finish(manager, spawn_find(manager, group));
}

void spawn_started(struct manager *manager, struct task_group *group, uint32_t node,
                   const json_t *value)
{
    struct spawn *spawn = group ? spawn_find(manager, group) : NULL;
    struct started_report report = {0};
    if (!spawn || spawn->failed)
        return;
    started_report_from_json(&report, value, NULL);
    for (size_t i = 0; i < report.failed.count; i++) {
        const struct start_failure *failure = &report.failed.list[i];
        spawn_refuse(manager, group, failure->status,
                     failure->text ? failure->text : "it was not started", failure->ranks);
    }
    started_report_clear(&report);
    idset_remove(spawn->starting, node);
    if (idset_empty(spawn->starting))
        spawn_finish(manager, spawn);
}

void spawn_forget(struct manager *manager, const struct task_group *group)
{
    struct spawn *spawn = spawn_take_out(manager, group);
    if (spawn)
        spawn_free(spawn);
}

void spawn_close(struct manager *manager)
{
    while (manager->spawns)
        spawn_forget(manager, manager->spawns->group);
}

/* Spawns that tasks ask for: begun at once, or when the hosts that were woken for them are up or
 * have failed, or when the instance's lock is to be had. */
#include "launcher/program/spawn_waiting.h"

#include <stdlib.h>

#include "base/mem.h"

struct waiting_spawn {
    struct waiting_spawn *next; /* younger */
    struct task_request request;
    struct requester requester;
    struct idset *started; /* hosts, for it, so far */
};

struct spawn_waiting {
    struct spawns *spawns;
    struct host_table *hosts;
    struct lock_retry *lock;
    const struct spawn_waiting_ops *ops;
    void *owner;
    struct waiting_spawn *first; /* the oldest */
};

static bool awaits(const struct spawn_waiting *waiting, const struct idset *started)
{
    IDSET_FOREACH(node, started)
    {
        if (host_at(waiting->hosts, node)->state == HOST_STARTING)
            return true;
    }
    return false;
}

/* The oldest first. */
static void waiting_append(struct spawn_waiting *waiting, struct waiting_spawn *spawn)
{
    struct waiting_spawn **last = &waiting->first;
    while (*last)
        last = &(*last)->next;
    spawn->next = NULL;
    *last = spawn;
}

static void waiting_spawn_free(struct waiting_spawn *spawn)
{
    task_request_clear(&spawn->request);
    idset_free(spawn->started);
    free(spawn);
}

/* True: it has to wait. */
static bool try_spawn(struct spawn_waiting *waiting, const struct task_request *request,
                      const struct requester *requester, struct idset *started)
{
    struct error err = ERROR_INIT;
    int rc;
    do /* a host may fail at once */
        rc = spawn_begin(waiting->spawns, request, requester, started, &err);
    while (rc > 0 && !err.text && !awaits(waiting, started));
    if (rc > 0 && err.text)
        rc = waiting->ops->lock_wait(waiting->owner, &err);
    else
        lock_had(waiting->lock);
    if (rc < 0)
        spawn_answer_refused(waiting->spawns, requester, &err);
    error_clear(&err);
    return rc > 0;
}

void spawn_waiting_retry(struct spawn_waiting *waiting)
{
    struct waiting_spawn *next, *list = waiting->first;
    bool locked = false; /* then nobody else gets it either */
    waiting->first = NULL;
    for (struct waiting_spawn *spawn = list; spawn; spawn = next) {
        bool ready = !locked && !awaits(waiting, spawn->started);
        next = spawn->next;
        if (ready && !try_spawn(waiting, &spawn->request, &spawn->requester, spawn->started)) {
            waiting_spawn_free(spawn);
            continue;
        }
        locked |= ready && lock_is_busy(waiting->lock);
        waiting_append(waiting, spawn);
    }
}

void spawn_waiting_take(struct spawn_waiting *waiting, const struct task_request *request,
                        const struct requester *requester)
{
    struct error err = ERROR_INIT;
    struct idset *started = idset_new();
    if (!try_spawn(waiting, request, requester, started)) {
        idset_free(started);
        return;
    }
    struct waiting_spawn *spawn = mem_alloc(sizeof(*spawn));
    spawn->requester = *requester;
    spawn->started = started;
    json_t *value = task_request_to_json(request);
    if (task_request_from_json(&spawn->request, value, &err) == 0) {
        waiting_append(waiting, spawn);
    } else {
        spawn_answer_refused(waiting->spawns, requester, &err);
        idset_free(started);
        free(spawn);
    }
    json_decref(value);
    error_clear(&err);
}

struct spawn_waiting *spawn_waiting_new(struct spawns *spawns, struct host_table *hosts,
                                        struct lock_retry *lock,
                                        const struct spawn_waiting_ops *ops, void *owner)
{
    struct spawn_waiting *waiting = mem_alloc(sizeof(*waiting));
    *waiting = (struct spawn_waiting){
        .spawns = spawns, .hosts = hosts, .lock = lock, .ops = ops, .owner = owner};
    return waiting;
}

void spawn_waiting_free(struct spawn_waiting *waiting)
{
    if (!waiting)
        return;
    for (struct waiting_spawn *spawn = waiting->first, *next; spawn; spawn = next) {
        next = spawn->next;
        waiting_spawn_free(spawn);
    }
    free(waiting);
}

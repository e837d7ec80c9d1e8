/* Spawns that tasks ask for: begun at once, or when the hosts that were woken for them are up or
 * have failed, or when the instance's lock is to be had. */
#include <stdlib.h>

#include "base/mem.h"
#include "launcher/manager/internal.h"
#include "launcher/protocol/task_request.h"

struct parked {
    struct parked *next;
    struct task_request ask;
    struct requester asker;
    struct idset *woken; /* for it, so far */
};

static void spawn_waiting_refuse(struct manager *manager, const struct requester *asker,
                                 const struct error *err)
{
    struct task_answer answer = {.refusal = mem_copy_text(error_text(err)),
                                 .bad = err->kind == ERROR_USAGE};
    task_requests_refused(manager, asker, error_text(err));
    task_requests_answer(manager, asker, &answer);
    task_answer_clear(&answer);
}

static bool awaits(const struct manager *manager, const struct idset *woken)
{
    IDSET_FOREACH(node, woken)
    {
        if (host_at(manager->hosts, node)->state == HOST_STARTING)
            return true;
    }
    return false;
}

/* The oldest first. */
static void park(struct manager *manager, struct parked *parked)
{
    struct parked **last = &manager->parked;
    while (*last)
        last = &(*last)->next;
    parked->next = NULL;
    *last = parked;
}

static void parked_free(struct parked *parked)
{
    task_request_clear(&parked->ask);
    idset_free(parked->woken);
    free(parked);
}

static void spawn_waiting_on_lock(void *owner);

/* True: it has to wait. */
static bool try(struct manager *manager, const struct task_request *ask,
                const struct requester *asker, struct idset *woken)
{
    struct error err = ERROR_INIT;
    int rc;
    do /* a host may fail at once */
        rc = spawn_begin(manager, ask, asker, woken, &err);
    while (rc > 0 && !err.text && !awaits(manager, woken));
    if (rc > 0 && err.text)
        rc = lock_wait(manager->lock, spawn_waiting_on_lock, &err);
    else
        lock_had(manager->lock);
    if (rc < 0)
        spawn_waiting_refuse(manager, asker, &err);
    error_clear(&err);
    return rc > 0;
}

static void spawn_waiting_settle(struct manager *manager)
{
    struct parked *next, *list = manager->parked;
    bool locked = false; /* then nobody else gets it either */
    manager->parked = NULL;
    for (struct parked *parked = list; parked; parked = next) {
        bool ready = !locked && !awaits(manager, parked->woken);
        next = parked->next;
        if (ready && !try(manager, &parked->ask, &parked->asker, parked->woken)) {
            parked_free(parked);
            continue;
        }
        locked |= ready && lock_is_busy(manager->lock);
        park(manager, parked);
    }
}

static void spawn_waiting_on_lock(void *owner)
{
    struct manager *manager = owner;
    if (manager->phase == PHASE_RUN)
        spawn_waiting_settle(manager);
}

static int copy_ask(struct task_request *copy, const struct task_request *ask, struct error *err)
{
    json_t *value = task_request_to_json(ask);
    int rc = task_request_from_json(copy, value, err);
    json_decref(value);
    return rc;
}

void spawn_waiting_take(struct manager *manager, const struct task_request *ask,
                        const struct requester *asker)
{
    struct error err = ERROR_INIT;
    struct idset *woken = idset_new();
    if (!try(manager, ask, asker, woken)) {
        idset_free(woken);
        return;
    }
    struct parked *parked = mem_alloc(sizeof(*parked));
    parked->asker = *asker;
    parked->woken = woken;
    if (copy_ask(&parked->ask, ask, &err) == 0) {
        park(manager, parked);
        return;
    }
    spawn_waiting_refuse(manager, asker, &err);
    error_clear(&err);
    idset_free(woken);
    free(parked);
}

void spawn_waiting_settled(struct manager *manager)
{
    if (!host_awaited(manager->hosts))
        agents_keep(manager->agents);
    spawn_waiting_settle(manager);
}

void spawn_waiting_close(struct manager *manager)
{
    struct parked *next;
    for (struct parked *parked = manager->parked; parked; parked = next) {
        next = parked->next;
        parked_free(parked);
    }
    manager->parked = NULL;
}

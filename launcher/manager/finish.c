/* The end: why, how hard, and when it is one. */
#include <math.h>
#include <stdlib.h>
#include <sys/time.h>

#include "base/fsd.h"
#include "base/mem.h"
#include "launcher/manager/state.h"

#define END_PATIENCE 3.0  /* s that an agent may need beyond the grace to say that it is done */
#define GONE_PATIENCE 2.0 /* s that an agent's process may need to go once it is done */

void finish_end(struct manager *manager)
{
    if (manager->phase == PHASE_END)
        return;
    manager->phase = PHASE_END;
    ev_timer_stop(manager->loop, &manager->limit);
    ev_timer_stop(manager->loop, &manager->patience);
    tree_end(manager->tree, GONE_PATIENCE);
}

void finish_refuse(struct manager *manager, const struct error *err)
{
    verdict_other(manager->verdict, link_clock(), err->kind, error_text(err));
    finish_end(manager);
}

void finish_terminate(struct manager *manager, double grace)
{
    if (manager->phase == PHASE_GATHER)
        finish_end(manager);
    if (manager->phase != PHASE_RUN)
        return;
    struct frame frame = {.type = FRAME_TERMINATE, .rank = frame_grace(grace), .group = FRAME_ALL};
    tree_send(manager->tree, &frame);
    ev_timer_stop(manager->loop, &manager->patience);
    if (frame.rank != FRAME_ALL) {
        ev_timer_set(&manager->patience, grace + END_PATIENCE, 0);
        ev_timer_start(manager->loop, &manager->patience);
    }
    manager->terminating = true;
}

/* What it alone used is free again. */
static void group_over(struct manager *manager, struct group *group)
{
    struct rset *claim = rset_copy(group->claim);
    if (group->number)
        viewer_say(manager, "group %u: all its tasks have ended", group->number);
    services_remove(group);
    groups_drop(group);
    if (manager->groups)
        room_give_back(manager, claim);
    rset_free(claim);
}

void finish_check(struct manager *manager)
{
    struct group *next;
    if (manager->phase != PHASE_RUN)
        return;
    for (struct group *group = manager->groups; group; group = next) {
        next = group->next;
        if (idset_empty(group->pending))
            group_over(manager, group);
    }
    if (manager->groups)
        return;
    viewer_say(manager, "all tasks have ended, and nothing of them is left");
    finish_end(manager);
}

static struct idset *all_pending(const struct manager *manager)
{
    struct idset *all = idset_new();
    for (const struct group *group = manager->groups; group; group = group->next) {
        struct idset *both = idset_union(all, group->pending);
        idset_free(all);
        all = both;
    }
    return all;
}

/* ---- patience and limits ---- */

static void give_up(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager *manager = timer->data;
    struct idset *pending = all_pending(manager);
    (void)loop;
    (void)events;
    IDSET_FOREACH(node, pending)
    {
        char *line = mem_format("%s: its agent did not say that its tasks have ended; what is "
                                "left there has to be ended by hand",
                                manager->nodes->list[node].host);
        verdict_other(manager->verdict, UINT64_MAX, ERROR_REFUSED, line);
        free(line);
    }
    idset_free(pending);
    finish_end(manager);
}

static void on_limit(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager *manager = timer->data;
    char *limit = fsd_encode(manager->spec->time_limit);
    char *line = manager->limit_is_R
                     ? mem_format("R has expired: its program was ended")
                     : mem_format("time limit of %s reached: the program was ended", limit);
    (void)loop;
    (void)events;
    verdict_other(manager->verdict, link_clock(), VERDICT_TIME_LIMIT, line);
    finish_terminate(manager, manager->spec->kill_grace);
    free(limit);
    free(line);
}

void finish_start_limit(struct manager *manager)
{
    double seconds = manager->spec->time_limit;
    const struct rset *R = manager->nodes->R;
    struct timeval now;
    gettimeofday(&now, NULL);
    if (R && R->expiration > 0 && R->expiration - (double)now.tv_sec < seconds) {
        seconds = R->expiration - (double)now.tv_sec;
        manager->limit_is_R = true;
    }
    if (isinf(seconds))
        return;
    ev_timer_set(&manager->limit, seconds > 0 ? seconds : 0, 0);
    ev_timer_start(manager->loop, &manager->limit);
}

void finish_open(struct manager *manager)
{
    ev_timer_init(&manager->limit, on_limit, 0, 0);
    ev_timer_init(&manager->patience, give_up, 0, 0);
    manager->limit.data = manager->patience.data = manager;
}

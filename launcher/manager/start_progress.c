/* How a slow start goes on: the front end hears of it after a second, and then a few times a
 * second while something changes. */
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "launcher/manager/internal.h"

#define PROGRESS_AFTER 1.0
#define PROGRESS_PERIOD 0.25

static void start_progress_tell(struct manager *manager)
{
    struct hostlist *missing = hostlist_new();
    int reached = 0, all = 0;
    IDSET_FOREACH(number, agents_wanted(manager->agents))
    {
        const struct host *host = host_at(manager->hosts, number);
        all++;
        if (host->state == HOST_STARTING)
            hostlist_append(missing, host->node->host);
        else
            reached += !host->failure;
    }
    char *hosts = hostlist_encode(missing);
    json_t *value = json_pack("{s:i, s:i, s:s}", "reached", reached, "all", all, "missing", hosts);
    link_send_json(manager->front, FRAME_PROGRESS, 0, 0, value);
    json_decref(value);
    free(hosts);
    hostlist_free(missing);
}

static void on_progress(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager *manager = timer->data;
    (void)events;
    if (!manager->front || manager->phase != PHASE_GATHER || !host_awaited(manager->hosts)) {
        ev_timer_stop(loop, timer);
        return;
    }
    if (host_awaited(manager->hosts) != manager->waiting_told)
        start_progress_tell(manager);
    manager->waiting_told = host_awaited(manager->hosts);
}

void progress_begin(struct manager *manager)
{
    if (!host_awaited(manager->hosts) || ev_is_active(&manager->progress))
        return;
    ev_timer_init(&manager->progress, on_progress, PROGRESS_AFTER, PROGRESS_PERIOD);
    manager->progress.data = manager;
    manager->waiting_told = 0;
    ev_timer_start(manager->loop, &manager->progress);
}

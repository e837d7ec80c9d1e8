/* Hosts that an instance has lost, asked again and again. */
#include "launcher/program/lost_hosts.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

/* s until they are asked: twice as long each time, up to the longest. A host that is lost again and again is asked more and
 * more rarely, too. */
#define FIRST_PAUSE 1.0
#define LONGEST_PAUSE 60.0

struct lost_hosts {
    struct ev_loop *loop;
    struct agents *agents;
    struct idset *hosts;
    double pause;
    double asked; /* loop time when one last was */
    ev_timer timer;
};

static void lost_hosts_wait(struct lost_hosts *lost, double pause)
{
    lost->pause = pause < LONGEST_PAUSE ? pause : LONGEST_PAUSE;
    ev_timer_stop(lost->loop, &lost->timer);
    ev_timer_set(&lost->timer, lost->pause, 0);
    ev_timer_start(lost->loop, &lost->timer);
}

/* One that is still being asked is not asked twice. */
static void lost_hosts_on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct lost_hosts *lost = timer->data;
    (void)loop, (void)events;
    lost->asked = clock_monotonic_seconds();
    agents_late(lost->agents, lost->hosts, "which had been lost");
    if (!idset_empty(lost->hosts))
        lost_hosts_wait(lost, lost->pause * 2);
}

struct lost_hosts *lost_hosts_new(struct ev_loop *loop, struct agents *agents)
{
    struct lost_hosts *lost = mem_alloc(sizeof(*lost));
    *lost = (struct lost_hosts){
        .loop = loop, .agents = agents, .hosts = idset_new(), .asked = -LONGEST_PAUSE};
    ev_timer_init(&lost->timer, lost_hosts_on_timer, 0, 0);
    lost->timer.data = lost;
    return lost;
}

void lost_hosts_free(struct lost_hosts *lost)
{
    if (!lost)
        return;
    lost_hosts_stop(lost);
    idset_free(lost->hosts);
    free(lost);
}

void lost_hosts_add(struct lost_hosts *lost, const struct idset *hosts)
{
    if (!lost)
        return;
    IDSET_FOREACH(host, hosts)
    {
        idset_add(lost->hosts, host);
    }
    bool soon = clock_monotonic_seconds() - lost->asked < LONGEST_PAUSE;
    lost_hosts_wait(lost, soon ? lost->pause * 2 : FIRST_PAUSE);
}

bool lost_hosts_remove(struct lost_hosts *lost, uint32_t host)
{
    if (!lost || !idset_has(lost->hosts, host))
        return false;
    idset_remove(lost->hosts, host);
    if (idset_empty(lost->hosts))
        lost_hosts_stop(lost);
    return true;
}

void lost_hosts_stop(struct lost_hosts *lost)
{
    if (lost)
        ev_timer_stop(lost->loop, &lost->timer);
}

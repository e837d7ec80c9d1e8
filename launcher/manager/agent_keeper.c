/* Who comes for agents that are kept, and when nobody has come for long enough. */
#include "launcher/manager/agent_keeper.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/mem.h"
#include "launcher/control/authorize.h"

#define FULL_PAUSE 1.0 /* s without new runs where there are no descriptors */

struct agent_keeper {
    struct agent_keeper_config config;
    int *waiting; /* [nwaiting] descriptors of runs that came before all agents are there */
    size_t nwaiting;
    size_t nused; /* managers that are there */
    double seconds;
    bool is_open;
    bool is_retired;
    bool is_idle; /* that was told */
    ev_io acceptor;
    ev_timer end;
    ev_timer pause;
};

/* ---- nobody is there ---- */

/* Those that are kept end in time; one that is not found any more ends at once. */
static void check_idle(struct agent_keeper *keeper)
{
    bool idle = keeper->is_open && !keeper->nused;
    if (idle == keeper->is_idle)
        return;
    keeper->is_idle = idle;
    ev_timer_stop(keeper->config.loop, &keeper->end);
    if (idle) {
        double left = keeper->is_retired ? 0 : keeper->seconds;
        ev_timer_set(&keeper->end, left, 0);
        ev_timer_start(keeper->config.loop, &keeper->end);
        keeper->config.idle(keeper->config.owner, clock_wall_seconds() + left);
    } else {
        keeper->config.idle(keeper->config.owner, 0);
    }
}

void agent_keeper_used(struct agent_keeper *keeper, size_t managers, double keep)
{
    if (!keeper)
        return;
    if (keep >= 0 && isfinite(keep))
        keeper->seconds = keep;
    keeper->nused = managers;
    check_idle(keeper);
}

/* ---- who comes ---- */

static bool is_of_user(int fd)
{
    struct ucred cred;
    socklen_t len = sizeof(cred);
    struct error err = ERROR_INIT;
    bool ours = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 &&
                authorize("be lent agents", cred.uid, geteuid(), &err) == 0;
    error_clear(&err);
    return ours;
}

/* False: nobody is there now. */
static bool take_run(struct agent_keeper *keeper)
{
    int fd = accept4(keeper->config.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return false;
    if (!is_of_user(fd) || send(fd, "", 1, MSG_NOSIGNAL) != 1) {
        close(fd);
    } else if (keeper->is_open) {
        instance_host_lend_to(keeper->config.host, fd);
    } else {
        keeper->waiting = array_grow(keeper->waiting, keeper->nwaiting, sizeof(*keeper->waiting));
        keeper->waiting[keeper->nwaiting++] = fd;
    }
    return true;
}

static void keeper_on_readable(struct ev_loop *loop, ev_io *io, int events)
{
    struct agent_keeper *keeper = io->data;
    (void)events;
    if (take_run(keeper) || errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
        return;
    ev_io_stop(loop, io);
    ev_timer_set(&keeper->pause, FULL_PAUSE, 0);
    ev_timer_start(loop, &keeper->pause);
}

static void keeper_on_resume(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct agent_keeper *keeper = timer->data;
    (void)events;
    ev_io_start(loop, &keeper->acceptor);
}

/* ---- the end ---- */

static void withdraw(struct agent_keeper *keeper)
{
    if (!keeper->is_retired)
        keeper->config.withdraw(keeper->config.withdraw_arg);
    keeper->is_retired = true;
}

/* One that connected while nobody found it any more is the last to be served. */
static void keeper_on_end(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct agent_keeper *keeper = timer->data;
    (void)loop, (void)events;
    withdraw(keeper);
    while (take_run(keeper))
        ;
    if (!keeper->nused)
        keeper->config.over(keeper->config.owner);
}

void agent_keeper_retire(struct agent_keeper *keeper)
{
    if (!keeper || keeper->is_retired)
        return;
    withdraw(keeper);
    keeper->is_idle = false;
    check_idle(keeper);
}

void agent_keeper_shut(struct agent_keeper *keeper)
{
    if (!keeper || keeper->config.listener < 0)
        return;
    withdraw(keeper);
    ev_io_stop(keeper->config.loop, &keeper->acceptor);
    ev_timer_stop(keeper->config.loop, &keeper->end);
    ev_timer_stop(keeper->config.loop, &keeper->pause);
    close(keeper->config.listener);
    keeper->config.listener = -1;
    for (size_t i = 0; i < keeper->nwaiting; i++)
        close(keeper->waiting[i]);
    keeper->nwaiting = 0;
}

/* ---- life ---- */

void agent_keeper_open(struct agent_keeper *keeper)
{
    if (!keeper)
        return;
    keeper->is_open = true;
    for (size_t i = 0; i < keeper->nwaiting; i++)
        instance_host_lend_to(keeper->config.host, keeper->waiting[i]);
    keeper->nwaiting = 0;
    check_idle(keeper);
}

struct agent_keeper *agent_keeper_new(const struct agent_keeper_config *config)
{
    struct agent_keeper *keeper = mem_alloc(sizeof(*keeper));
    *keeper = (struct agent_keeper){.config = *config, .seconds = config->seconds};
    ev_io_init(&keeper->acceptor, keeper_on_readable, config->listener, EV_READ);
    ev_timer_init(&keeper->end, keeper_on_end, 0, 0);
    ev_timer_init(&keeper->pause, keeper_on_resume, 0, 0);
    keeper->acceptor.data = keeper->end.data = keeper->pause.data = keeper;
    ev_io_start(config->loop, &keeper->acceptor);
    return keeper;
}

void agent_keeper_free(struct agent_keeper *keeper)
{
    if (!keeper)
        return;
    agent_keeper_shut(keeper);
    free(keeper->waiting);
    free(keeper);
}

void agent_keeper_disown(struct agent_keeper *keeper)
{
    if (!keeper || keeper->config.listener < 0)
        return;
    close(keeper->config.listener);
    for (size_t i = 0; i < keeper->nwaiting; i++)
        close(keeper->waiting[i]);
}

/* The socket of an instance on one node, its channels, and the agents of programs that it starts. */
#include "launcher/agent/instance_port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/mem.h"
#include "launcher/control/authorize.h"
#include "launcher/control/instance_address.h"
#include "launcher/process/job_signals.h"
#include "launcher/process/localhost.h"
#include "launcher/process/nursery.h"
#include "launcher/tree/channels.h"
#include "pmi-server/pmix/server.h"

#define BACKLOG 1024
#define FULL_PAUSE 1.0 /* s without new clients where there are no descriptors */
/* s until a name is tried again that another agent of the instance has: twice as long each time, up to the longest */
#define TAKEN_PAUSE 0.2
#define LONGEST_TAKEN_PAUSE 5.0

struct instance_port {
    struct ev_loop *loop;
    struct uplink *uplink;
    struct channels *channels;
    struct nursery *nursery;
    uint32_t next; /* number of a channel that is opened here: odd; the manager's are even */
    int fd;
    ev_io acceptor;
    ev_timer pause; /* of it, or until there can be one: */
    double taken_pause;
    struct sockaddr_un address;
    socklen_t address_len;
};

static void port_send(void *owner, const struct frame *frame)
{
    uplink_send(((struct instance_port *)owner)->uplink, frame);
}

static const struct channels_ops port_channels_ops = {port_send};

/* ---- those who come in ---- */

static bool is_ours(int fd)
{
    struct ucred cred;
    socklen_t len = sizeof(cred);
    struct error err = ERROR_INIT;
    bool ours = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 &&
                authorize("connect", cred.uid, geteuid(), &err) == 0;
    error_clear(&err);
    return ours;
}

#define AHEAD_KEPT 10000 /* ms that an agent waits for a program */

static int listen_at(int fd, const struct sockaddr_un *address, socklen_t len)
{
    return bind(fd, (const struct sockaddr *)address, len) < 0 ? -1 : listen(fd, BACKLOG);
}

static void port_pause(struct instance_port *port, double seconds)
{
    ev_io_stop(port->loop, &port->acceptor);
    ev_timer_set(&port->pause, seconds, 0);
    ev_timer_start(port->loop, &port->pause);
}

static void port_on_resume(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct instance_port *port = timer->data;
    (void)events;
    ev_io_start(loop, &port->acceptor);
}

/* This host was lost for a while: the agent of before ends, which may take it some seconds. */
static void port_on_free_name(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct instance_port *port = timer->data;
    (void)events;
    if (listen_at(port->fd, &port->address, port->address_len) == 0) {
        ev_set_cb(timer, port_on_resume);
        ev_io_start(loop, &port->acceptor);
    } else if (errno == EADDRINUSE) {
        port->taken_pause = port->taken_pause * 2 < LONGEST_TAKEN_PAUSE ? port->taken_pause * 2
                                                                        : LONGEST_TAKEN_PAUSE;
        port_pause(port, port->taken_pause);
    } else {
        uplink_note(port->uplink, "cannot make the socket of the instance: %s", strerror(errno));
    }
}

static void port_on_client(struct ev_loop *loop, ev_io *io, int events)
{
    struct instance_port *port = io->data;
    int fd = accept4(port->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    (void)loop, (void)events;
    bool passes = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    if (fd < 0 && !passes)
        port_pause(port, FULL_PAUSE);
    if (fd < 0)
        return;
    if (!is_ours(fd)) {
        close(fd);
        return;
    }
    uint32_t node = uplink_node(port->uplink), number = port->next;
    struct frame open = {
        .type = FRAME_CHANNEL, .flags = FRAME_CHANNEL_OPEN, .node = node, .rank = number};
    port->next += 2;
    uplink_send(port->uplink, &open);
    channels_add(port->channels, node, number, fd);
}

/* ---- agents of programs ---- */

/* In a process that the nursery forked. */
static int run_agent(const struct instance_port_config *port, int link, const char *ahead_on)
{
    struct error err = ERROR_INIT;
    struct agent_config config = {.in = link,
                                  .out = link,
                                  .ahead_on = ahead_on,
                                  .topo = port->topo ? topo_ref(port->topo) : NULL,
                                  .machine = port->machine,
                                  .cgroup = cgroup_new(),
                                  .scratch = scratch_directory_new(port->scratch),
                                  .instance = port->scratch};
    prctl(PR_SET_NAME, "tpagent");
    job_signals_survive();
    int status = port->run(&config, &err);
    error_clear(&err); /* the link's end says it */
    return status;
}

static int run_agent_now(void *arg, const int *fds, size_t nfds)
{
    (void)nfds;
    return run_agent(arg, fds[0], NULL);
}

static int run_agent_ahead(void *arg, int request)
{
    const struct instance_port_config *port = arg;
    return run_agent(port, request, port->host);
}

static void prepare_agents(void *arg)
{
    (void)arg;
    cgroup_read_ahead();
    localhost_read_ahead();
    pmix_server_watch_forks();
}

/* openpmix takes longer to open than a task without it to start. */
static bool warm_agents(void *arg)
{
    (void)arg;
    return pmix_server_warm_for_forks();
}

static const struct nursery_ops port_nursery_ops = {.child = run_agent_now,
                                                    .prepare = prepare_agents,
                                                    .warm = warm_agents,
                                                    .child_ahead = run_agent_ahead,
                                                    .ahead_kept = AHEAD_KEPT};

/* The program's manager takes this for what comes before an agent's greeting. */
static void port_refuse(struct instance_port *port, const struct frame *frame, const char *why)
{
    channels_refuse(port->channels, frame->node, frame->rank, why, strlen(why));
}

static void open_agent(struct instance_port *port, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
        error_set(&err, "cannot make a socket pair: %s", strerror(errno));
        port_refuse(port, frame, error_text(&err));
        error_clear(&err);
        return;
    }
    /* A PMIx server takes longer to begin than all else. */
    int rc = frame->flags & FRAME_CHANNEL_PMIX
                 ? nursery_start_ahead(port->nursery, &pair[1], 1, &err)
                 : nursery_start(port->nursery, &pair[1], 1, &err);
    close(pair[1]);
    if (rc < 0) {
        port_refuse(port, frame, error_text(&err));
        close(pair[0]);
    } else {
        channels_add(port->channels, frame->node, frame->rank, pair[0]);
    }
    error_clear(&err);
}

void instance_port_frame(struct instance_port *port, const struct frame *frame)
{
    if (!port || !port->channels)
        return;
    if (frame->type == FRAME_CHANNEL && frame->flags & FRAME_CHANNEL_OPEN)
        open_agent(port, frame);
    else
        channels_take(port->channels, frame);
}

/* ---- life ---- */

struct instance_port *instance_port_new(struct ev_loop *loop, struct uplink *uplink,
                                        const struct instance_port_config *config,
                                        struct error *err)
{
    bool has_name = *config->name;
    struct sockaddr_un address = {0};
    socklen_t len = has_name ? instance_address(&address, config->name) : 0;
    int fd = has_name ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
    bool listens = fd >= 0 && listen_at(fd, &address, len) == 0;
    if (has_name && !listens && (fd < 0 || errno != EADDRINUSE)) {
        error_set(err, "cannot make the socket of the instance: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct nursery *nursery = nursery_new(loop, &port_nursery_ops, (void *)(uintptr_t)config, err);
    if (!nursery) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    descriptors_raise_limit(); /* two for each program; agents of programs need no more than before */
    struct instance_port *port = mem_alloc(sizeof(*port));
    *port = (struct instance_port){.loop = loop,
                                   .uplink = uplink,
                                   .nursery = nursery,
                                   .next = 1,
                                   .fd = fd,
                                   .taken_pause = TAKEN_PAUSE,
                                   .address = address,
                                   .address_len = len};
    port->channels = channels_new(loop, &port_channels_ops, port);
    ev_io_init(&port->acceptor, port_on_client, fd, EV_READ);
    ev_timer_init(&port->pause, listens ? port_on_resume : port_on_free_name, 0, 0);
    port->acceptor.data = port->pause.data = port;
    if (listens)
        ev_io_start(loop, &port->acceptor);
    else if (has_name)
        port_pause(port, port->taken_pause);
    return port;
}

pid_t instance_port_pid(const struct instance_port *port)
{
    return nursery_pid(port->nursery);
}

void instance_port_shut(struct instance_port *port)
{
    if (!port || !port->channels)
        return;
    if (port->fd >= 0) {
        ev_io_stop(port->loop, &port->acceptor);
        ev_timer_stop(port->loop, &port->pause);
        close(port->fd);
    }
    port->fd = -1;
    channels_free(port->channels);
    port->channels = NULL;
    nursery_shut(port->nursery); /* what it has forked ends as the channels do */
}

void instance_port_free(struct instance_port *port)
{
    if (!port)
        return;
    instance_port_shut(port);
    nursery_free(port->nursery);
    free(port);
}

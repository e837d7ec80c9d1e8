/* Programs in an instance: their managers, and the channels to their front ends and agents. */
#include "launcher/manager/instance_host.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/instance/local_topology.h"
#include "launcher/instance/resources.h"
#include "launcher/process/cgroup.h"
#include "launcher/process/localhost.h"
#include "launcher/process/nursery.h"
#include "launcher/protocol/instance_request.h"
#include "launcher/tree/agent_broker.h"
#include "launcher/tree/channels.h"
#include "pmi-server/pmix/server.h"

/* The end here of what a program's manager asks over. */
struct broker {
    struct broker *next, **back; /* what points here */
    struct instance_host *host;
    int fd;
    ev_io reader;
};

struct instance_host {
    char name[17];
    int (*program)(int frontend, int broker, struct scratch *scratch);
    struct scratch *scratch;
    struct nursery *nursery;
    json_t *told; /* in the nursery: by what variables tasks know the instance; NULL: not said */
    struct ev_loop *loop; /* NULL: not attached */
    const struct instance_host_ops *ops;
    void *owner;
    struct channels *channels;
    struct broker *brokers;
    size_t nbrokers;
    uint32_t next; /* number of a channel that is opened here: even; agents' are odd */
};

/* ---- agents for programs ---- */

static void refuse_agent(const struct agent_wish *wish, const char *why)
{
    char *line = mem_format("%s\n", why);
    ssize_t done = write(wish->words, line, strlen(line));
    (void)done; /* the link's end says it, too */
    free(line);
    close(wish->link);
}

static void lend_agent(struct instance_host *host, const struct agent_wish *wish)
{
    struct error err = ERROR_INIT;
    uint32_t node = host->ops->node(host->owner, wish->host, &err);
    if (node == UINT32_MAX) {
        refuse_agent(wish, host->program
                               ? error_text(&err)
                               : "no agent is kept there: it did not start, or was lost; end those "
                                 "that are kept (\"tpctl list\", \"tpctl terminate\") to start it");
    } else {
        struct frame open = {.type = FRAME_CHANNEL,
                             .flags = FRAME_CHANNEL_OPEN | (wish->pmix ? FRAME_CHANNEL_PMIX : 0),
                             .node = node,
                             .rank = host->next};
        host->ops->send(host->owner, &open);
        channels_add(host->channels, node, host->next, wish->link);
        host->next += 2;
    }
    close(wish->words);
    error_clear(&err);
}

static void broker_free(struct broker *broker)
{
    ev_io_stop(broker->host->loop, &broker->reader);
    close(broker->fd);
    free(broker);
}

static void tell_used(const struct instance_host *host, double keep)
{
    if (host->ops->used)
        host->ops->used(host->owner, host->nbrokers, keep);
}

static void broker_close(struct broker *broker)
{
    struct instance_host *host = broker->host;
    *broker->back = broker->next;
    if (broker->next)
        broker->next->back = broker->back;
    host->nbrokers--;
    broker_free(broker);
    tell_used(host, -1);
}

static void broker_on_readable(struct ev_loop *loop, ev_io *io, int events)
{
    struct broker *broker = io->data;
    struct agent_wish wish;
    int rc = agent_broker_take(broker->fd, &wish);
    (void)loop, (void)events;
    if (rc > 0 && wish.link < 0)
        tell_used(broker->host, wish.keep);
    else if (rc > 0)
        lend_agent(broker->host, &wish);
    else if (rc < 0)
        broker_close(broker);
}

static void broker_new(struct instance_host *host, int fd)
{
    struct broker *broker = mem_alloc(sizeof(*broker));
    *broker =
        (struct broker){.next = host->brokers, .back = &host->brokers, .host = host, .fd = fd};
    if (broker->next)
        broker->next->back = &broker->next;
    host->brokers = broker;
    host->nbrokers++;
    ev_io_init(&broker->reader, broker_on_readable, fd, EV_READ);
    broker->reader.data = broker;
    ev_io_start(host->loop, &broker->reader);
    tell_used(host, -1);
}

void instance_host_lend_to(struct instance_host *host, int fd)
{
    fcntl(fd, F_SETFL, O_NONBLOCK);
    broker_new(host, fd);
}

/* ---- programs ---- */

static int run_program(void *arg, const int *fds, size_t nfds)
{
    const struct instance_host *host = arg;
    (void)nfds;
    prctl(PR_SET_NAME, "tprun");
    return host->program(fds[0], fds[1], host->scratch);
}

/* No program comes before that: the first is one of the instance's tasks. */
static void on_told(void *arg, int fd)
{
    struct instance_host *host = arg;
    json_decref(host->told);
    host->told = json_loadfd(fd, 0, NULL);
}

/* Each program would read this machine's topology and mounts, look up the names of the hosts, and
 * read what the instance holds; all of them the same. */
static void prepare_programs(void *arg)
{
    const struct instance_host *host = arg;
    local_topology_read_ahead();
    localhost_remember();
    localhost_read_ahead();
    cgroup_read_ahead();
    pmix_server_watch_forks();
    if (host->told) {
        instance_request_assume(host->told);
        resources_read_ahead();
    }
}

/* Their agents of this machine find openpmix open. */
static bool warm_programs(void *arg)
{
    (void)arg;
    return pmix_server_warm_for_forks();
}

static const struct nursery_ops host_nursery_ops = {
    .child = run_program, .told = on_told, .prepare = prepare_programs, .warm = warm_programs};

static int open_pairs(int front[2], int broker[2], struct error *err)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, front) < 0)
        return error_set(err, "cannot make a socket pair: %s", strerror(errno));
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, broker) == 0)
        return 0;
    error_set(err, "cannot make a socket pair: %s", strerror(errno));
    close(front[0]);
    close(front[1]);
    return -1;
}

/* As the manager's last word to its front end. */
static void refuse_front_end(struct instance_host *host, const struct frame *frame,
                             const struct error *err)
{
    char *line =
        mem_format("the instance cannot start a manager for this run: %s\n", error_text(err));
    json_t *value = json_pack("{s:i, s:o}", "status", 1, "messages", frame_text(line));
    char *text = json_dumps(value, JSON_COMPACT);
    struct frame end = {.type = FRAME_END, .bytes = text, .len = text ? strlen(text) : 0};
    struct buf bytes = BUF_INIT;
    unsigned char header[FRAME_HEADER];
    frame_encode_header(&end, header);
    buf_add(&bytes, header, sizeof(header));
    buf_add(&bytes, text, end.len);
    channels_refuse(host->channels, frame->node, frame->rank, buf_bytes(&bytes), bytes.len);
    buf_free(&bytes);
    json_decref(value);
    free(text);
    free(line);
}

/* A tprun has come in on this node. */
static void open_program(struct instance_host *host, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    int front[2] = {-1, -1}, broker[2] = {-1, -1};
    int rc = open_pairs(front, broker, &err);
    if (rc == 0) {
        rc = nursery_start(host->nursery, (const int[]){front[1], broker[1]}, 2, &err);
        close(front[1]);
        close(broker[1]);
        if (rc < 0) {
            close(front[0]);
            close(broker[0]);
        }
    }
    if (rc == 0) {
        fcntl(broker[0], F_SETFL, O_NONBLOCK);
        broker_new(host, broker[0]);
        channels_add(host->channels, frame->node, frame->rank, front[0]);
    } else {
        refuse_front_end(host, frame, &err);
    }
    error_clear(&err);
}

void instance_host_frame(struct instance_host *host, const struct frame *frame)
{
    if (!host || !host->channels)
        return;
    if (frame->type == FRAME_CHANNEL && frame->flags & FRAME_CHANNEL_OPEN && !host->program)
        channels_refuse(host->channels, frame->node, frame->rank, "", 0);
    else if (frame->type == FRAME_CHANNEL && frame->flags & FRAME_CHANNEL_OPEN)
        open_program(host, frame);
    else
        channels_take(host->channels, frame);
}

/* Where that fails, programs read it themselves. */
void instance_host_launched(struct instance_host *host, const json_t *launch)
{
    struct error ignored = ERROR_INIT;
    int fd = host && host->nursery ? memfd_create("instance", MFD_CLOEXEC) : -1;
    if (fd < 0)
        return;
    json_t *known = instance_request_launch_variables(launch);
    if (json_dumpfd(known, fd, JSON_COMPACT) == 0 && lseek(fd, 0, SEEK_SET) == 0)
        nursery_tell(host->nursery, fd, &ignored);
    error_clear(&ignored);
    json_decref(known);
    close(fd);
}

void instance_host_nodes_lost(struct instance_host *host, const struct idset *nodes)
{
    if (host && host->channels)
        channels_drop(host->channels, nodes);
}

/* ---- life ---- */

struct instance_host *instance_host_new(int (*program)(int frontend, int broker,
                                                       struct scratch *scratch),
                                        struct scratch *scratch, struct error *err)
{
    uint64_t word;
    struct instance_host *host = mem_alloc(sizeof(*host));
    *host = (struct instance_host){.program = program, .scratch = scratch, .next = 2};
    if (!program)
        return host;
    if (getrandom(&word, sizeof(word), 0) != sizeof(word)) {
        error_set(err, "cannot get random bytes: %s", strerror(errno));
        free(host);
        return NULL;
    }
    snprintf(host->name, sizeof(host->name), "%016" PRIx64, word);
    host->nursery = nursery_new(NULL, &host_nursery_ops, host, err);
    if (host->nursery)
        return host;
    free(host);
    return NULL;
}

const char *instance_host_name(const struct instance_host *host)
{
    return host ? host->name : NULL;
}

static void host_send(void *owner, const struct frame *frame)
{
    struct instance_host *host = owner;
    host->ops->send(host->owner, frame);
}

static const struct channels_ops host_channels_ops = {host_send};

void instance_host_attach(struct instance_host *host, struct ev_loop *loop,
                          const struct instance_host_ops *ops, void *owner)
{
    if (!host)
        return;
    host->loop = loop;
    host->ops = ops;
    host->owner = owner;
    host->channels = channels_new(loop, &host_channels_ops, host);
    if (host->nursery)
        nursery_attach(host->nursery, loop);
}

void instance_host_shut(struct instance_host *host)
{
    if (!host)
        return;
    for (struct broker *broker = host->brokers, *next; broker; broker = next) {
        next = broker->next;
        broker_free(broker);
    }
    host->brokers = NULL;
    host->nbrokers = 0;
    channels_free(host->channels);
    host->channels = NULL;
    nursery_free(host->nursery);
    host->nursery = NULL;
}

void instance_host_disown(struct instance_host *host)
{
    for (struct broker *broker = host ? host->brokers : NULL; broker; broker = broker->next)
        close(broker->fd);
    if (host)
        nursery_disown(host->nursery);
}

void instance_host_free(struct instance_host *host)
{
    instance_host_shut(host);
    free(host);
}

/* The tasks' PMI sockets: bytes between them and the PMI server of their group. */
#include "launcher/agent/pmi_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "affinity/taskmap/taskmap.h"
#include "base/mem.h"
#include "launcher/tree/frame.h"
#include "pmi-server/pmi/dialects.h"
#include "pmi-server/pmi/kvs.h"

#define DRAIN_READS 256 /* more than a socket's buffers hold */

struct pmi_sockets {
    struct pmi_sockets_config config;
    struct kvs *kvs;
    char *spawner; /* name of the key-value space of who spawned it; NULL: nobody */
    struct pmi_server *server;
    bool missing_reported; /* that some rank here will enter no barrier from number `missing` on */
    uint64_t missing;
};

struct pmi_socket {
    struct pmi_sockets *all;
    const struct launch_task *what;
    int fd; /* our end; -1: closed */
    bool foreign;
    struct pmi_client *client;
    ev_io reader, writer;
};

/* ---- bytes ---- */

void pmi_socket_close(struct pmi_socket *socket)
{
    if (!socket || socket->fd < 0)
        return;
    ev_io_stop(socket->all->config.loop, &socket->reader);
    ev_io_stop(socket->all->config.loop, &socket->writer);
    close(socket->fd);
    socket->fd = -1;
}

static void watch_if(const struct pmi_socket *socket, ev_io *io, bool wanted)
{
    if (wanted == (bool)ev_is_active(io))
        return;
    if (wanted)
        ev_io_start(socket->all->config.loop, io);
    else
        ev_io_stop(socket->all->config.loop, io);
}

/* Who does not take its answers is not read. */
static void pmi_socket_watch(struct pmi_socket *socket)
{
    if (socket->fd < 0)
        return;
    watch_if(socket, &socket->writer, pmi_connection_output(socket->client)->len);
    watch_if(socket, &socket->reader, pmi_connection_wants_input(socket->client));
}

static void pmi_socket_write(struct pmi_socket *socket)
{
    struct buf *out = pmi_connection_output(socket->client);
    do {
        while (out->len && socket->fd >= 0) {
            ssize_t n = write(socket->fd, buf_bytes(out), out->len);
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0 && errno == EAGAIN)
                break;
            if (n < 0) /* it has closed its end, and what it said before that counts */
                buf_clear(out);
            else
                buf_consume(out, (size_t)n);
        }
    } while (socket->fd >= 0 && pmi_connection_go_on(socket->client));
    pmi_socket_watch(socket);
}

/* As read(2). A program that a task starts as another user inherits the socket: whose the bytes are
 * comes with them. */
static ssize_t pmi_socket_receive(struct pmi_socket *socket, void *bytes, size_t len)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec room = {bytes, len};
    struct msghdr message = {.msg_iov = &room,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    ssize_t n = recvmsg(socket->fd, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    struct ucred sender = {.uid = (uid_t)-1};
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_CREDENTIALS)
        memcpy(&sender, CMSG_DATA(head), sizeof(sender));
    socket->foreign |= n > 0 && sender.uid != getuid();
    return n;
}

/* Returns true while there may be more. */
static bool pmi_socket_read(struct pmi_socket *socket)
{
    char bytes[8192];
    struct error err = ERROR_INIT;
    if (socket->fd < 0)
        return false;
    ssize_t n = pmi_socket_receive(socket, bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n <= 0) {
        pmi_socket_close(socket);
        return false;
    }
    if (pmi_connection_input(socket->client, bytes, (size_t)n, &err) < 0) {
        socket->all->config.ops->broken(socket->all->config.owner, socket->what->rank, &err);
        error_clear(&err);
        pmi_socket_close(socket);
        return false;
    }
    pmi_socket_watch(socket);
    return true;
}

static void pmi_socket_on_readable(struct ev_loop *loop, ev_io *io, int events)
{
    (void)loop;
    (void)events;
    pmi_socket_read(io->data);
}

static void pmi_socket_on_writable(struct ev_loop *loop, ev_io *io, int events)
{
    (void)loop;
    (void)events;
    pmi_socket_write(io->data);
}

struct pmi_socket *pmi_socket_open(struct pmi_sockets *sockets, const struct launch_task *what,
                                   int fd)
{
    struct pmi_socket *socket = mem_alloc(sizeof(*socket));
    *socket = (struct pmi_socket){.all = sockets, .what = what, .fd = fd};
    socket->client = pmi_connection_new(sockets->server, what->rank, what->app, socket);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    ev_io_init(&socket->reader, pmi_socket_on_readable, fd, EV_READ);
    ev_io_init(&socket->writer, pmi_socket_on_writable, fd, EV_WRITE);
    socket->reader.data = socket->writer.data = socket;
    ev_io_start(sockets->config.loop, &socket->reader);
    return socket;
}

void pmi_socket_free(struct pmi_socket *socket)
{
    pmi_socket_close(socket);
    free(socket);
}

/* ---- the end of a task ---- */

static void drop_answers(struct pmi_socket *socket)
{
    while (!pmi_connection_wants_input(socket->client)) {
        buf_clear(pmi_connection_output(socket->client));
        pmi_connection_go_on(socket->client);
    }
}

/* Answers would be for nobody. What its descendants go on writing is not waited for. */
void pmi_socket_drain(struct pmi_socket *socket)
{
    if (!socket)
        return;
    drop_answers(socket);
    for (int i = 0; i < DRAIN_READS && pmi_socket_read(socket); i++)
        drop_answers(socket);
}

/* Other nodes may wait for a rank of this one: they are told from which barrier on in vain, and of
 * one that has barriers with some of them whatever the others here did. */
static void report_missing(struct pmi_sockets *all, const struct pmi_client *client)
{
    uint32_t rank;
    uint64_t sequence;
    if (all->config.launch->nnodes == 1)
        return;
    if (pmi_connection_in_groups(client))
        group_fence_report_missing(all->config.fence, pmi_connection_rank(client),
                                   pmi_connection_barriers(client), FRAME_MISSING_GROUPS);
    if (!pmi_server_left(all->server, &rank, &sequence) ||
        (all->missing_reported && sequence >= all->missing))
        return;
    all->missing_reported = true;
    all->missing = sequence;
    group_fence_report_missing(all->config.fence, rank, sequence, 0);
}

void pmi_socket_gone(struct pmi_socket *socket)
{
    uint32_t missing, waiting;
    if (!socket)
        return;
    struct pmi_sockets *all = socket->all;
    if (pmi_server_connection_gone(socket->client) &&
        pmi_server_stuck(all->server, &missing, &waiting))
        all->config.ops->stuck(all->config.owner, missing, waiting);
    else
        report_missing(all, socket->client);
}

void pmi_sockets_missing(struct pmi_sockets *sockets, uint32_t rank, uint64_t from)
{
    uint32_t missing, waiting;
    if (pmi_server_missing(sockets->server, rank, from) &&
        pmi_server_stuck(sockets->server, &missing, &waiting))
        sockets->config.ops->stuck(sockets->config.owner, missing, waiting);
}

enum pmi_state pmi_socket_state(const struct pmi_socket *socket)
{
    return socket ? pmi_connection_state(socket->client) : PMI_SILENT;
}

/* ---- what the PMI server asks for ---- */

static void sockets_on_exchange(void *arg, uint64_t id, uint32_t nnodes, const void *bytes,
                                size_t len)
{
    struct pmi_sockets *sockets = arg;
    group_fence_enter(sockets->config.fence, id, nnodes, bytes, len);
}

static void sockets_on_abort(void *arg, struct pmi_client *client, int exitcode,
                             const char *message)
{
    struct pmi_sockets *sockets = arg;
    sockets->config.ops->abort(sockets->config.owner, pmi_connection_rank(client), exitcode,
                               message);
}

static void sockets_on_output(void *arg, struct pmi_client *client)
{
    struct pmi_socket *socket = pmi_connection_data(client);
    (void)arg;
    if (socket->fd >= 0)
        pmi_socket_write(socket);
}

static void sockets_on_broken(void *arg, struct pmi_client *client, const struct error *err)
{
    struct pmi_sockets *sockets = arg;
    sockets->config.ops->broken(sockets->config.owner, pmi_connection_rank(client), err);
    pmi_socket_close(pmi_connection_data(client));
}

static void sockets_on_limited(void *arg, struct pmi_client *client, const char *what)
{
    struct pmi_sockets *sockets = arg;
    sockets->config.ops->limited(sockets->config.owner, pmi_connection_rank(client), what);
}

static void sockets_on_stuck(void *arg, uint32_t missing, uint32_t waiting)
{
    struct pmi_sockets *sockets = arg;
    sockets->config.ops->stuck(sockets->config.owner, missing, waiting);
}

static const struct pmi_socket *socket_of(const struct pmi_request *request)
{
    return pmi_connection_data(pmi_request_client(request));
}

static void sockets_on_name(void *arg, struct pmi_request *request, enum pmi_name name,
                            const char *service, const char *port)
{
    struct pmi_sockets *sockets = arg;
    spawn_and_names_on_name(sockets->config.requests, socket_of(request)->what, request, name,
                            service, port);
}

static void sockets_on_spawn(void *arg, struct pmi_request *request,
                             const struct spawn_request *spawn)
{
    static const struct pmi_spawned refused = {.rc = 1, .why = "it is another user who asks"};
    struct pmi_sockets *sockets = arg;
    const struct pmi_socket *socket = socket_of(request);
    if (socket->foreign) /* another user has written to it, for whom nothing is started */
        pmi_request_spawned(request, &refused);
    else
        spawn_and_names_on_spawn(sockets->config.requests, socket->what, request, spawn);
}

static void sockets_on_value(void *arg, struct pmi_request *request, const char *key)
{
    struct pmi_sockets *sockets = arg;
    spawn_and_names_on_value(sockets->config.requests, socket_of(request)->what, request, key);
}

static uint32_t sockets_node_of(void *arg, uint32_t rank)
{
    const struct pmi_sockets *sockets = arg;
    return taskmap_node(sockets->config.launch->map, rank);
}

static const char *sockets_host_of(void *arg, uint32_t node)
{
    const struct launch *launch = ((struct pmi_sockets *)arg)->config.launch;
    return node < launch->nnodes ? launch->hosts[node] : "unknown";
}

static const struct pmi_ops pmi_ops = {
    .exchange = sockets_on_exchange,
    .abort = sockets_on_abort,
    .output = sockets_on_output,
    .broken = sockets_on_broken,
    .limited = sockets_on_limited,
    .stuck = sockets_on_stuck,
    .name = sockets_on_name,
    .spawn = sockets_on_spawn,
    .value = sockets_on_value,
    .node_of = sockets_node_of,
    .host_of = sockets_host_of,
};

int pmi_sockets_exchanged(struct pmi_sockets *sockets, uint64_t id, const void *bytes, size_t len,
                          struct error *err)
{
    return pmi_server_exchanged(sockets->server, id, bytes, len, err);
}

/* ---- life ---- */

static struct kvs *make_kvs(const struct launch *launch)
{
    char *name = launch_kvsname(launch->program, launch->group);
    char *mapping = taskmap_encode_pmi(launch->map);
    struct kvs *kvs = kvs_new(name);
    if (mapping && pmi_mapping_fits(mapping))
        kvs_preset(kvs, "PMI_process_mapping", mapping);
    if (launch->spec->memory_kinds)
        kvs_preset(kvs, "PMI_mpi_memory_alloc_kinds", launch->spec->memory_kinds);
    for (size_t i = 0; i < launch->npreput; i++)
        kvs_preset(kvs, launch->preput[i].key, launch->preput[i].value);
    free(mapping);
    free(name);
    return kvs;
}

struct pmi_sockets *pmi_sockets_new(const struct pmi_sockets_config *config, unsigned offered)
{
    const struct launch *launch = config->launch;
    const struct dialect *const *dialects = dialects_of(offered & SPEC_PMI_1, offered & SPEC_PMI_2);
    if (!dialects || !launch->nlocal)
        return NULL;
    struct pmi_sockets *sockets = mem_alloc(sizeof(*sockets));
    sockets->config = *config;
    sockets->kvs = make_kvs(launch);
    sockets->spawner = launch->spawned ? launch_kvsname(launch->program, launch->spawner) : NULL;
    struct pmi_config server = {.size = launch->ntasks,
                                .universe_size = -1, /* a spawn may always go beside our own */
                                .nlocal = launch->nlocal,
                                .kvs = sockets->kvs,
                                .spawner = sockets->spawner,
                                .dialects = dialects};
    sockets->server = pmi_server_new(&server, &pmi_ops, sockets);
    return sockets;
}

void pmi_sockets_free(struct pmi_sockets *sockets)
{
    if (!sockets)
        return;
    pmi_server_free(sockets->server);
    kvs_free(sockets->kvs);
    free(sockets->spawner);
    free(sockets);
}

/* The tasks' PMI sockets, and the exchange that makes a node's barrier everybody's. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/agent/internal.h"

/* ---- a task's socket ---- */

#define DRAIN_READS 256 /* more than a socket's buffers hold */

static void pmi_broken(struct task *task, const struct error *err)
{
    exit_report_ended_rank(task->group->report, task_rank(task), "pmi", W_EXITCODE(1, 0),
                           error_text(err));
}

static void pmi_close(struct task *task)
{
    if (task->pmi < 0)
        return;
    ev_io_stop(task->group->agent->loop, &task->pmi_reader);
    ev_io_stop(task->group->agent->loop, &task->pmi_writer);
    close(task->pmi);
    task->pmi = -1;
}

static void pmi_await(const struct task *task, ev_io *io, bool wanted)
{
    if (wanted == (bool)ev_is_active(io))
        return;
    if (wanted)
        ev_io_start(task->group->agent->loop, io);
    else
        ev_io_stop(task->group->agent->loop, io);
}

/* Who does not take its answers is not read. */
static void pmi_watch(struct task *task)
{
    if (task->pmi < 0)
        return;
    pmi_await(task, &task->pmi_writer, pmi_connection_output(task->client)->len);
    pmi_await(task, &task->pmi_reader, pmi_connection_wants_input(task->client));
}

static void pmi_write(struct task *task)
{
    struct buf *out = pmi_connection_output(task->client);
    do {
        while (out->len && task->pmi >= 0) {
            ssize_t n = write(task->pmi, buf_bytes(out), out->len);
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0 && errno == EAGAIN)
                break;
            if (n < 0) /* it has closed its end, and what it said before that counts */
                buf_clear(out);
            else
                buf_consume(out, (size_t)n);
        }
    } while (task->pmi >= 0 && pmi_connection_go_on(task->client));
    pmi_watch(task);
}

/* As read(2). A program that a task starts as another user inherits the socket: whose the bytes are
 * comes with them. */
static ssize_t pmi_receive(struct task *task, void *bytes, size_t len)
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
    ssize_t n = recvmsg(task->pmi, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    struct ucred sender = {.uid = (uid_t)-1};
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_CREDENTIALS)
        memcpy(&sender, CMSG_DATA(head), sizeof(sender));
    task->strange |= n > 0 && sender.uid != getuid();
    return n;
}

/* Returns true while there may be more. */
static bool pmi_read(struct task *task)
{
    char bytes[8192];
    struct error err = ERROR_INIT;
    if (task->pmi < 0)
        return false;
    ssize_t n = pmi_receive(task, bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n <= 0) {
        pmi_close(task);
        return false;
    }
    if (pmi_connection_input(task->client, bytes, (size_t)n, &err) < 0) {
        pmi_broken(task, &err);
        error_clear(&err);
        pmi_close(task);
        return false;
    }
    pmi_watch(task);
    return true;
}

static void pmi_readable(struct ev_loop *loop, ev_io *io, int events)
{
    (void)loop;
    (void)events;
    pmi_read(io->data);
}

static void pmi_writable(struct ev_loop *loop, ev_io *io, int events)
{
    (void)loop;
    (void)events;
    pmi_write(io->data);
}

void pmi_socket_open(struct task *task, int fd)
{
    task->pmi = fd;
    task->client = pmi_connection_new(task->group->pmi, task->what->rank, task->what->app, task);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    ev_io_init(&task->pmi_reader, pmi_readable, fd, EV_READ);
    ev_io_init(&task->pmi_writer, pmi_writable, fd, EV_WRITE);
    task->pmi_reader.data = task->pmi_writer.data = task;
    ev_io_start(task->group->agent->loop, &task->pmi_reader);
}

static void pmi_drop_answers(struct task *task)
{
    while (task->client && !pmi_connection_wants_input(task->client)) {
        buf_clear(pmi_connection_output(task->client));
        pmi_connection_go_on(task->client);
    }
}

/* Answers would be for nobody. What its descendants go on writing is not waited for. */
void pmi_socket_drain(struct task *task)
{
    pmi_drop_answers(task);
    for (int i = 0; i < DRAIN_READS && pmi_read(task); i++)
        pmi_drop_answers(task);
    pmix_drain(task->group);
}

static bool is_ending(const struct group *group)
{
    return group->terminating || group->agent->terminating;
}

void pmi_socket_stuck(struct group *group, const char *what, uint32_t missing, uint32_t waiting)
{
    uint32_t first = group->launch->first_rank;
    if (is_ending(group))
        return;
    char *text = mem_format("ended without entering the %s that rank %u waits in: every rank has "
                            "to call MPI_Init, or none",
                            what, first + waiting);
    exit_report_ended_rank(group->report, first + missing, "pmi", W_EXITCODE(1, 0), text);
    free(text);
}

static void tell_stuck(struct group *group, uint32_t missing, uint32_t waiting)
{
    pmi_socket_stuck(group, "PMI barrier", missing, waiting);
}

void pmi_socket_tell_missing(struct group *group, uint32_t rank, uint64_t from, uint16_t flags)
{
    unsigned char number[8];
    frame_put_u64(number, from);
    struct frame frame = {.type = FRAME_MISSING,
                          .flags = flags,
                          .node = uplink_node(group->agent->uplink),
                          .rank = rank,
                          .group = group->number,
                          .bytes = number,
                          .len = sizeof(number)};
    uplink_send(group->agent->uplink, &frame);
}

/* Other nodes may wait for a rank of this one: they are told from which barrier on in vain, and of
 * one that has barriers with some of them whatever the others here did. */
static void tell_missing(struct group *group, const struct pmi_client *client)
{
    uint32_t rank;
    uint64_t sequence;
    if (group->launch->nnodes == 1)
        return;
    if (pmi_connection_in_groups(client))
        pmi_socket_tell_missing(group, pmi_connection_rank(client), pmi_connection_barriers(client),
                                FRAME_MISSING_GROUPS);
    if (!pmi_server_left(group->pmi, &rank, &sequence) ||
        (group->missing_told && sequence >= group->missing))
        return;
    group->missing_told = true;
    group->missing = sequence;
    pmi_socket_tell_missing(group, rank, sequence, 0);
}

void pmi_socket_missing(struct agent *agent, const struct frame *frame)
{
    uint32_t missing, waiting;
    struct group *group = group_find(agent, frame->group);
    if (!group)
        return;
    group_send(group, frame);
    if (frame->len != 8 || is_ending(group))
        return;
    if (frame->flags & FRAME_MISSING_PMIX) {
        pmix_missing(group, frame->rank, frame_get_u64(frame->bytes));
        return;
    }
    if (!group->pmi)
        return;
    if (pmi_server_missing(group->pmi, frame->rank, frame_get_u64(frame->bytes)) &&
        pmi_server_stuck(group->pmi, &missing, &waiting))
        tell_stuck(group, missing, waiting);
}

void pmi_socket_gone(struct task *task)
{
    struct group *group = task->group;
    uint32_t missing, waiting;
    pmi_close(task);
    if (is_ending(group))
        return;
    pmix_gone(task);
    if (!task->client)
        return;
    if (pmi_connection_gone(task->client) && pmi_server_stuck(group->pmi, &missing, &waiting))
        tell_stuck(group, missing, waiting);
    else
        tell_missing(group, task->client);
}

/* What no single task is to blame for. */
static void tell_node(struct group *group, const struct error *err)
{
    if (!is_ending(group))
        exit_report_ended(group->report, NULL, "pmi", W_EXITCODE(1, 0), error_text(err));
}

/* ---- what the PMI server asks for ---- */

void pmi_socket_exchange(struct group *group, uint64_t id, uint32_t nnodes, const void *bytes,
                         size_t len)
{
    struct error err = ERROR_INIT;
    int rc = nnodes ? exchange_enter_part(group->exchange, id, nnodes, bytes, len, &err)
                    : exchange_enter(group->exchange, id, 1, bytes, len, &err);
    if (rc < 0)
        tell_node(group, &err);
    error_clear(&err);
}

static void on_exchange(void *arg, uint64_t id, uint32_t nnodes, const void *bytes, size_t len)
{
    pmi_socket_exchange(arg, id, nnodes, bytes, len);
}

static void on_abort(void *arg, struct pmi_client *client, int exitcode, const char *message)
{
    struct group *group = arg;
    exit_report_ended_rank(group->report, group->launch->first_rank + pmi_connection_rank(client),
                           "abort", W_EXITCODE(exitcode & 0xff, 0), message);
}

static void on_output(void *arg, struct pmi_client *client)
{
    struct task *task = pmi_connection_data(client);
    (void)arg;
    if (task->pmi >= 0)
        pmi_write(task);
}

static void on_broken(void *arg, struct pmi_client *client, const struct error *err)
{
    struct task *task = pmi_connection_data(client);
    (void)arg;
    pmi_broken(task, err);
    pmi_close(task);
}

static void on_limited(void *arg, struct pmi_client *client, const char *what)
{
    struct group *group = arg;
    uplink_note(group->agent->uplink, "rank %u on %s: PMI: %s",
                group->launch->first_rank + pmi_connection_rank(client), group->agent->host, what);
}

static void on_stuck(void *arg, uint32_t missing, uint32_t waiting)
{
    tell_stuck(arg, missing, waiting);
}

static uint32_t pmi_socket_node_of(void *arg, uint32_t rank)
{
    const struct group *group = arg;
    return taskmap_node(group->launch->map, rank);
}

static const char *pmi_socket_host_of(void *arg, uint32_t node)
{
    const struct group *group = arg;
    return node < group->launch->nnodes ? group->launch->hosts[node] : "unknown";
}

static const struct pmi_ops pmi_ops = {
    .exchange = on_exchange,
    .abort = on_abort,
    .output = on_output,
    .broken = on_broken,
    .limited = on_limited,
    .stuck = on_stuck,
    .name = spawn_and_names_on_name,
    .spawn = spawn_and_names_on_spawn,
    .value = spawn_and_names_on_value,
    .node_of = pmi_socket_node_of,
    .host_of = pmi_socket_host_of,
};

/* ---- the exchange ---- */

/* As frames have them: the number, then the bytes. */
_Static_assert(EXCHANGE_MAX + 12 <= FRAME_MAX, "with the number, and that of nodes in a part");
static void fence_frame(struct group *group, struct frame frame, uint64_t id, const void *bytes,
                        size_t len, void (*send)(struct group *, const struct frame *))
{
    struct buf payload = BUF_INIT;
    unsigned char head[8];
    frame_put_u64(head, id);
    buf_add(&payload, head, sizeof(head));
    buf_add(&payload, bytes, len);
    frame.node = uplink_node(group->agent->uplink);
    frame.group = group->number;
    frame.bytes = buf_bytes(&payload);
    frame.len = payload.len;
    send(group, &frame);
    buf_free(&payload);
}

static void send_up(struct group *group, const struct frame *frame)
{
    uplink_send(group->agent->uplink, frame);
}

static void pmi_socket_exchange_up(void *arg, uint64_t id, uint32_t weight, const void *bytes,
                                   size_t len)
{
    fence_frame(arg, (struct frame){.type = FRAME_FENCE_UP, .rank = weight}, id, bytes, len,
                send_up);
}

static void pmi_socket_exchange_down(void *arg, uint64_t id, const void *bytes, size_t len)
{
    fence_frame(arg, (struct frame){.type = FRAME_FENCE_DOWN}, id, bytes, len, group_send);
}

_Static_assert(PMIX_SERVER_ROUND > PMI_GROUP_HASH, "rounds of PMI and of PMIx are told apart");
static void pmi_socket_exchange_done(void *arg, uint64_t id, const void *bytes, size_t len)
{
    struct group *group = arg;
    struct error err = ERROR_INIT;
    int rc = id & PMIX_SERVER_ROUND ? pmix_exchanged(group, id, bytes, len, &err)
             : group->pmi           ? pmi_server_exchanged(group->pmi, id, bytes, len, &err)
                                    : 0;
    if (rc < 0)
        tell_node(group, &err);
    error_clear(&err);
}

static const struct exchange_ops exchange_ops = {pmi_socket_exchange_up, pmi_socket_exchange_down,
                                                 pmi_socket_exchange_done};

/* What a bad frame of the exchange means is the same wherever it came from. */
static void exchange_frame(struct agent *agent, const struct frame *frame,
                           int (*give)(struct exchange *, uint64_t, uint32_t, const void *, size_t,
                                       struct error *))
{
    struct error err = ERROR_INIT;
    struct group *group = group_find(agent, frame->group);
    if (frame->len < 8 || !group || !group->exchange)
        return;
    if (give(group->exchange, frame_get_u64(frame->bytes), frame->rank,
             (const char *)frame->bytes + 8, frame->len - 8, &err) < 0)
        tell_node(group, &err);
    error_clear(&err);
}

static int give_complete(struct exchange *exchange, uint64_t id, uint32_t weight, const void *bytes,
                         size_t len, struct error *err)
{
    (void)weight;
    return exchange_complete(exchange, id, bytes, len, err);
}

void pmi_socket_up(struct agent *agent, const struct frame *frame)
{
    exchange_frame(agent, frame, exchange_enter);
}

void pmi_socket_down(struct agent *agent, const struct frame *frame)
{
    exchange_frame(agent, frame, give_complete);
}

/* ---- life ---- */

/* Nodes with tasks at or below this one. */
static uint32_t subtree_weight(const struct group *group)
{
    uint32_t weight = 0;
    for (uint32_t i = 0; i < group->launch->nnodes; i++) {
        uint32_t at = group->launch->tree_node[i];
        weight += at == uplink_node(group->agent->uplink) || idset_has(group->nodes, at);
    }
    return weight;
}

static struct kvs *make_kvs(const struct launch *launch)
{
    char *name = spawn_and_names_kvsname(launch, launch->group);
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

void pmi_socket_join(struct group *group)
{
    group->exchange =
        exchange_new(&exchange_ops, group, group->launch->nnodes, subtree_weight(group));
}

enum pmi_state pmi_socket_state(const struct task *task)
{
    enum pmi_state pmi = task->client ? pmi_connection_state(task->client) : PMI_SILENT;
    enum pmi_state pmix = pmix_state(task);
    return pmix == PMI_SILENT || pmi == PMI_RUNNING ? pmi : pmix;
}

void pmi_socket_start(struct group *group, unsigned offered)
{
    const struct launch *launch = group->launch;
    const struct dialect *const *dialects = dialects_of(offered & SPEC_PMI_1, offered & SPEC_PMI_2);
    if (!dialects || !launch->nlocal)
        return;
    group->kvs = make_kvs(launch);
    group->spawner = launch->spawned ? spawn_and_names_kvsname(launch, launch->spawner) : NULL;
    struct pmi_config config = {.size = launch->ntasks,
                                .universe_size = -1, /* a spawn may always go beside our own */
                                .nlocal = launch->nlocal,
                                .kvs = group->kvs,
                                .spawner = group->spawner,
                                .dialects = dialects};
    group->pmi = pmi_server_new(&config, &pmi_ops, group);
}

void pmi_socket_free(struct group *group)
{
    pmi_server_free(group->pmi);
    kvs_free(group->kvs);
    free(group->spawner);
    exchange_free(group->exchange);
}

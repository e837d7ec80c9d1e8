/* The tasks' PMI sockets, and the exchange that makes a node's barrier everybody's. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/agent/state.h"
#include "pmi-server/dialects.h"

/* ---- a task's socket ---- */

static void pmi_broken(struct task *task, const struct error *err)
{
    struct idset *one = idset_new();
    idset_add(one, task->what->rank);
    report_ended(task->agent, one, "pmi", W_EXITCODE(1, 0), error_text(err));
    idset_free(one);
}

static void pmi_close(struct task *task)
{
    if (task->pmi < 0)
        return;
    ev_io_stop(task->agent->loop, &task->pmi_reader);
    ev_io_stop(task->agent->loop, &task->pmi_writer);
    close(task->pmi);
    task->pmi = -1;
}

static void pmi_write(struct task *task)
{
    struct buf *out = pmi_client_output(task->client);
    while (out->len && task->pmi >= 0) {
        ssize_t n = write(task->pmi, buf_bytes(out), out->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        buf_consume(out, (size_t)n);
    }
    if (out->len && task->pmi >= 0)
        ev_io_start(task->agent->loop, &task->pmi_writer);
    else
        ev_io_stop(task->agent->loop, &task->pmi_writer);
}

/* Returns true while there may be more. */
static bool pmi_read(struct task *task)
{
    char bytes[8192];
    struct error err = ERROR_INIT;
    if (task->pmi < 0)
        return false;
    ssize_t n = read(task->pmi, bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n <= 0) {
        pmi_close(task);
        return false;
    }
    if (pmi_client_input(task->client, bytes, (size_t)n, &err) < 0) {
        pmi_broken(task, &err);
        error_clear(&err);
        pmi_close(task);
        return false;
    }
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

void rendezvous_open(struct task *task, int fd)
{
    task->pmi = fd;
    task->client = pmi_client_new(task->agent->pmi, task->what->rank, task->what->app, task);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    ev_io_init(&task->pmi_reader, pmi_readable, fd, EV_READ);
    ev_io_init(&task->pmi_writer, pmi_writable, fd, EV_WRITE);
    task->pmi_reader.data = task->pmi_writer.data = task;
    ev_io_start(task->agent->loop, &task->pmi_reader);
}

void rendezvous_drain(struct task *task)
{
    while (pmi_read(task))
        ;
}

static void tell_stuck(struct agent *agent, uint32_t missing, uint32_t waiting)
{
    struct idset *one = idset_new();
    char *text = mem_format("ended without entering the PMI barrier that rank %u waits in: every "
                            "rank has to call MPI_Init, or none",
                            waiting);
    idset_add(one, missing);
    report_ended(agent, one, "pmi", W_EXITCODE(1, 0), text);
    free(text);
    idset_free(one);
}

static void send_missing(struct agent *agent, uint32_t rank, uint64_t sequence, uint16_t flags)
{
    unsigned char number[8];
    frame_put_u64(number, sequence);
    struct frame frame = {.type = FRAME_MISSING,
                          .flags = flags,
                          .node = agent->node,
                          .rank = rank,
                          .bytes = number,
                          .len = sizeof(number)};
    report_send(agent, &frame);
}

/* Other nodes may wait for a rank of this one: they are told from which barrier on in vain, and of
 * one that has barriers with some of them whatever the others here did. */
static void tell_missing(struct agent *agent, const struct pmi_client *client)
{
    uint32_t rank;
    uint64_t sequence;
    if (agent->launch->nnodes == 1)
        return;
    if (pmi_client_in_groups(client))
        send_missing(agent, pmi_client_rank(client), pmi_client_barriers(client),
                     FRAME_MISSING_GROUPS);
    if (!pmi_server_left(agent->pmi, &rank, &sequence) ||
        (agent->missing_told && sequence >= agent->missing))
        return;
    agent->missing_told = true;
    agent->missing = sequence;
    send_missing(agent, rank, sequence, 0);
}

void rendezvous_missing(struct agent *agent, const struct frame *frame)
{
    uint32_t missing, waiting;
    if (agent->tree)
        tree_send(agent->tree, frame);
    if (!agent->pmi || frame->len != 8 || agent->terminating)
        return;
    if (pmi_server_missing(agent->pmi, frame->rank, frame_get_u64(frame->bytes)) &&
        pmi_server_stuck(agent->pmi, &missing, &waiting))
        tell_stuck(agent, missing, waiting);
}

void rendezvous_gone(struct task *task)
{
    struct agent *agent = task->agent;
    uint32_t missing, waiting;
    pmi_close(task);
    if (!task->client || agent->terminating)
        return;
    if (pmi_client_gone(task->client) && pmi_server_stuck(agent->pmi, &missing, &waiting))
        tell_stuck(agent, missing, waiting);
    else
        tell_missing(agent, task->client);
}

/* What no single task is to blame for. */
static void tell_node(struct agent *agent, const struct error *err)
{
    struct idset *none = idset_new();
    if (!agent->terminating)
        report_ended(agent, none, "pmi", W_EXITCODE(1, 0), error_text(err));
    idset_free(none);
}

/* ---- what the PMI server asks for ---- */

static void on_exchange(void *arg, uint64_t id, uint32_t nnodes, const void *bytes, size_t len)
{
    struct agent *agent = arg;
    struct error err = ERROR_INIT;
    int rc = nnodes ? exchange_enter_part(agent->exchange, id, nnodes, bytes, len, &err)
                    : exchange_enter(agent->exchange, id, 1, bytes, len, &err);
    if (rc < 0)
        tell_node(agent, &err);
    error_clear(&err);
}

static void on_abort(void *arg, struct pmi_client *client, int exitcode, const char *message)
{
    struct agent *agent = arg;
    struct idset *one = idset_new();
    idset_add(one, pmi_client_rank(client));
    report_ended(agent, one, "abort", W_EXITCODE(exitcode & 0xff, 0), message);
    idset_free(one);
}

static void on_output(void *arg, struct pmi_client *client)
{
    struct task *task = pmi_client_data(client);
    (void)arg;
    if (task->pmi >= 0)
        pmi_write(task);
}

static void on_broken(void *arg, struct pmi_client *client, const struct error *err)
{
    struct task *task = pmi_client_data(client);
    (void)arg;
    pmi_broken(task, err);
    pmi_close(task);
}

static void on_stuck(void *arg, uint32_t missing, uint32_t waiting)
{
    struct agent *agent = arg;
    if (!agent->terminating)
        tell_stuck(agent, missing, waiting);
}

static uint32_t node_of(void *arg, uint32_t rank)
{
    const struct agent *agent = arg;
    return taskmap_node(agent->launch->map, rank);
}

static const char *host_of(void *arg, uint32_t node)
{
    const struct agent *agent = arg;
    return node < agent->launch->nnodes ? agent->launch->hosts[node] : "unknown";
}

static const struct pmi_ops pmi_ops = {
    .exchange = on_exchange,
    .abort = on_abort,
    .output = on_output,
    .broken = on_broken,
    .stuck = on_stuck,
    .node_of = node_of,
    .host_of = host_of,
};

/* ---- the exchange ---- */

static void fence_frame(enum frame_type type, uint32_t weight, uint64_t id, const void *bytes,
                        size_t len, struct agent *agent,
                        void (*send)(struct agent *, const struct frame *))
{
    struct buf payload = BUF_INIT;
    unsigned char head[8];
    frame_put_u64(head, id);
    buf_add(&payload, head, sizeof(head));
    buf_add(&payload, bytes, len);
    struct frame frame = {.type = type,
                          .node = agent->node,
                          .rank = weight,
                          .bytes = buf_bytes(&payload),
                          .len = payload.len};
    send(agent, &frame);
    buf_free(&payload);
}

static void send_down(struct agent *agent, const struct frame *frame)
{
    if (agent->tree)
        tree_send(agent->tree, frame);
}

static void exchange_up(void *arg, uint64_t id, uint32_t weight, const void *bytes, size_t len)
{
    fence_frame(FRAME_FENCE_UP, weight, id, bytes, len, arg, report_send);
}

static void exchange_down(void *arg, uint64_t id, const void *bytes, size_t len)
{
    fence_frame(FRAME_FENCE_DOWN, 0, id, bytes, len, arg, send_down);
}

static void exchange_done(void *arg, uint64_t id, const void *bytes, size_t len)
{
    struct agent *agent = arg;
    struct error err = ERROR_INIT;
    if (agent->pmi && pmi_server_exchanged(agent->pmi, id, bytes, len, &err) < 0)
        tell_node(agent, &err);
    error_clear(&err);
}

static const struct exchange_ops exchange_ops = {exchange_up, exchange_down, exchange_done};

/* What a bad frame of the exchange means is the same wherever it came from. */
static void exchange_frame(struct agent *agent, const struct frame *frame,
                           int (*give)(struct exchange *, uint64_t, uint32_t, const void *, size_t,
                                       struct error *))
{
    struct error err = ERROR_INIT;
    if (frame->len < 8 || !agent->exchange)
        return;
    if (give(agent->exchange, frame_get_u64(frame->bytes), frame->rank,
             (const char *)frame->bytes + 8, frame->len - 8, &err) < 0)
        tell_node(agent, &err);
    error_clear(&err);
}

static int give_complete(struct exchange *exchange, uint64_t id, uint32_t weight, const void *bytes,
                         size_t len, struct error *err)
{
    (void)weight;
    return exchange_complete(exchange, id, bytes, len, err);
}

void rendezvous_up(struct agent *agent, const struct frame *frame)
{
    exchange_frame(agent, frame, exchange_enter);
}

void rendezvous_down(struct agent *agent, const struct frame *frame)
{
    exchange_frame(agent, frame, give_complete);
}

/* ---- life ---- */

/* Nodes with tasks at or below this one. */
static uint32_t subtree_weight(const struct agent *agent)
{
    uint32_t weight = 0;
    for (uint32_t i = 0; i < agent->launch->nnodes; i++) {
        uint32_t at = agent->launch->tree_node[i];
        weight += at == agent->node || (agent->below && idset_has(agent->below, at));
    }
    return weight;
}

void rendezvous_start(struct agent *agent)
{
    const struct launch *launch = agent->launch;
    agent->exchange = exchange_new(&exchange_ops, agent, launch->nnodes, subtree_weight(agent));
    const struct dialect *const *dialects =
        dialects_of(launch->spec->pmi & SPEC_PMI_1, launch->spec->pmi & SPEC_PMI_2);
    if (!dialects || !launch->nlocal)
        return;
    char *name = mem_format("kvs_%s_0", launch->program);
    char *mapping = taskmap_encode_pmi(launch->map);
    agent->kvs = kvs_new(name);
    if (mapping && pmi_mapping_fits(mapping))
        kvs_preset(agent->kvs, "PMI_process_mapping", mapping);
    struct pmi_config config = {.size = launch->ntasks,
                                .universe_size = (int)launch->ntasks,
                                .nlocal = launch->nlocal,
                                .kvs = agent->kvs,
                                .dialects = dialects};
    agent->pmi = pmi_server_new(&config, &pmi_ops, agent);
    free(mapping);
    free(name);
}

void rendezvous_free(struct agent *agent)
{
    pmi_server_free(agent->pmi);
    kvs_free(agent->kvs);
    exchange_free(agent->exchange);
}

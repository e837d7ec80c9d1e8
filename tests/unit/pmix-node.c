#include "tests/unit/pmix-node.h"

#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pmi-server/hub/hub.h"
#include "pmi-server/pmix/host.h"

#define PATIENCE 20.0
#define PACKET 65536
#define HUB UINT64_MAX
#define MISSING (UINT64_MAX - 1)

struct packet {
    uint64_t id; /* of a round; 0: a post; HUB: to or from the hub; MISSING: a struct lack */
    size_t len;
    char bytes[PACKET];
};

struct lack {
    uint32_t rank;
    uint64_t from;
};

struct node {
    uint32_t number, nnodes;
    int wake[2], other;
    pid_t pids[TASKS];
    uint32_t nrunning;
    struct hub *hub;              /* of node 0; else NULL */
    struct packet *mine, *theirs; /* of the round that is open */
    struct pmix_host *host;
    struct pmix_job *job;
    struct pmix_outcome *outcome;
};

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* ---- ops ---- */

static void wake(void *arg)
{
    struct node *node = arg;
    if (write(node->wake[1], "", 1) < 0)
        abort();
}

static struct packet *packet_new(uint64_t id, const void *bytes, size_t len)
{
    struct packet *packet = mem_alloc(sizeof(*packet));
    if (len > PACKET)
        abort();
    packet->id = id;
    packet->len = len;
    memcpy(packet->bytes, bytes, len);
    return packet;
}

static void packet_send(struct node *node, const struct packet *packet)
{
    if (send(node->other, packet, sizeof(*packet), MSG_NOSIGNAL) < 0 && errno != EPIPE)
        abort();
}

static void complete(struct node *node)
{
    struct buf both = BUF_INIT;
    if (!node->mine || !node->theirs)
        return;
    uint64_t id = node->mine->id;
    if (id != node->theirs->id)
        abort();
    buf_add(&both, node->mine->bytes, node->mine->len);
    buf_add(&both, node->theirs->bytes, node->theirs->len);
    free(node->mine);
    free(node->theirs);
    node->mine = node->theirs = NULL;
    if (pmix_job_exchanged(node->job, id, buf_bytes(&both), both.len, NULL))
        abort();
    buf_free(&both);
}

static void exchange(void *arg, struct pmix_job *job, uint64_t id, uint32_t nnodes,
                     const void *bytes, size_t len)
{
    struct node *node = arg;
    if (job != node->job || !(id & PMIX_HOST_ROUND) || id >> 62 || node->mine)
        abort();
    node->outcome->rounds += nnodes == 0;
    node->outcome->parts += nnodes == 2;
    node->mine = packet_new(id, bytes, len);
    packet_send(node, node->mine);
    complete(node);
}

static void post(void *arg, struct pmix_job *job, uint32_t to, const void *bytes, size_t len)
{
    struct node *node = arg;
    if (job != node->job || to != !node->number)
        abort();
    node->outcome->posts++;
    struct packet *packet = packet_new(0, bytes, len);
    packet_send(node, packet);
    free(packet);
}

/* ---- the hub, which is node 0's ---- */

static void told(struct node *node, const void *bytes, size_t len)
{
    if (pmix_host_told(node->host, bytes, len, NULL))
        abort();
}

static void hub_tell(void *arg, uint32_t to, const void *bytes, size_t len)
{
    struct node *node = arg;
    if (to == node->number) {
        told(node, bytes, len);
        return;
    }
    struct packet *packet = packet_new(HUB, bytes, len);
    packet_send(node, packet);
    free(packet);
}

static const struct hub_ops hub_ops = {hub_tell};

static void asked(struct node *node, uint32_t from, const void *bytes, size_t len)
{
    if (hub_take(node->hub, from, bytes, len, NULL))
        abort();
}

static void ask(void *arg, const void *bytes, size_t len)
{
    struct node *node = arg;
    if (node->hub) {
        asked(node, node->number, bytes, len);
        return;
    }
    struct packet *packet = packet_new(HUB, bytes, len);
    packet_send(node, packet);
    free(packet);
}

static void kill_all(struct node *node)
{
    for (uint32_t i = 0; i < TASKS; i++)
        if (node->pids[i] > 0)
            kill(node->pids[i], SIGKILL);
}

static void abort_job(void *arg, struct pmix_job *job, uint32_t rank, int status,
                      const char *message)
{
    struct node *node = arg;
    (void)job;
    node->outcome->aborted = status;
    node->outcome->abort_rank = rank;
    snprintf(node->outcome->abort_message, sizeof(node->outcome->abort_message), "%s", message);
    kill_all(node);
}

static void log_text(void *arg, struct pmix_job *job, uint32_t rank, bool error, const char *text)
{
    struct node *node = arg;
    char *to = error ? node->outcome->err : node->outcome->out;
    (void)job, (void)rank;
    strncat(to, text, sizeof(node->outcome->err) - strlen(to) - 1);
}

static void stuck(void *arg, struct pmix_job *job, uint32_t missing, uint32_t waiting)
{
    struct node *node = arg;
    (void)job;
    if (node->outcome->told)
        abort();
    node->outcome->told = true;
    node->outcome->missing = missing;
    node->outcome->waiting = waiting;
    kill_all(node);
}

static void gone(struct node *node, uint32_t local);

static void settled(void *arg, struct pmix_job *job, uint32_t local_rank)
{
    struct node *node = arg;
    uint32_t rank = node->number * (TASKS / node->nnodes) + local_rank;
    node->outcome->states[rank] = (int)pmix_job_state(job, local_rank);
    node->nrunning--;
    gone(node, local_rank);
}

static const struct pmix_host_ops ops = {
    .wake = wake,
    .exchange = exchange,
    .post = post,
    .ask = ask,
    .abort = abort_job,
    .settled = settled,
    .log = log_text,
    .stuck = stuck,
};

/* ---- a node ---- */

static long resident_kib(void)
{
    long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2)
        abort();
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int start_host(struct node *node, const char *tmpdir, struct error *err)
{
    struct pmix_host_config config = {.program = "test-pmix",
                                      .node = node->number,
                                      .hostname = node->number ? "hostb" : "hosta",
                                      .tmpdir = tmpdir};
    hwloc_topology_init(&config.topology);
    hwloc_topology_load(config.topology);
    long before = resident_kib();
    double at = now();
    node->host = pmix_host_new(&config, &ops, node, err);
    node->outcome->host_ms = (now() - at) * 1e3;
    node->outcome->host_kib = resident_kib() - before;
    return node->host ? 0 : -1;
}

static int start_job(struct node *node, const char *tmpdir, struct error *err)
{
    static char *const argv[] = {(char *)"program", (char *)"argument", NULL};
    static const char *const hosts[] = {"hosta", "hostb"};
    const struct pmix_app apps[] = {{0, 1, argv, "/tmp"}, {1, TASKS - 1, argv, "/"}};
    uint32_t per = TASKS / node->nnodes;
    struct pmix_local locals[TASKS] = {0};
    struct taskmap *map = taskmap_new();
    struct idset *cpus[2] = {idset_decode("0", NULL), idset_decode("1", NULL)};
    for (uint32_t i = 0; i < node->nnodes; i++)
        taskmap_append(map, i, per);
    for (uint32_t i = 0; i < per; i++)
        locals[i] = (struct pmix_local){node->number * per + i, node->number || i, cpus[i % 2]};
    if (node->hub) {
        struct hub_job job = {"tprun.job.1", map, (const uint32_t[]){0, 1}};
        hub_add(node->hub, &job);
    }
    const struct pmix_job_config config = {
        .name = "tprun.job.1",
        .session = 1,
        .universe_size = 10,
        .map = map,
        .hosts = hosts,
        .node = node->number,
        .locals = locals,
        .nlocals = per,
        .apps = apps,
        .napps = 2,
        .tmpdir = tmpdir,
    };
    long before = resident_kib();
    double at = now();
    node->job = pmix_job_new(node->host, &config, node, err);
    node->outcome->job_ms = (now() - at) * 1e3;
    node->outcome->job_kib = resident_kib() - before;
    taskmap_free(map);
    idset_free(cpus[0]);
    idset_free(cpus[1]);
    return node->job && pmix_job_data(node->job) == node ? 0 : -1;
}

static void start_tasks(struct node *node, const char *scenario)
{
    char path[PATH_MAX + 16] = "";
    if (readlink("/proc/self/exe", path, PATH_MAX - 1) < 0)
        abort();
    strcat(dirname(path), "/pmix-client");
    node->nrunning = TASKS / node->nnodes;
    for (uint32_t i = 0; i < node->nrunning; i++) {
        if ((node->pids[i] = fork()))
            continue;
        for (char *const *at = pmix_job_environment(node->job, i); *at; at++)
            putenv(*at);
        execl(path, path, scenario, NULL);
        _exit(127);
    }
}

static void gone(struct node *node, uint32_t local)
{
    struct lack lack = {.rank = node->number * (TASKS / node->nnodes) + local};
    if (!pmix_job_gone(node->job, local, &lack.from) || node->nnodes == 1 || node->other < 0)
        return;
    struct packet *packet = packet_new(MISSING, &lack, sizeof(lack));
    packet_send(node, packet);
    free(packet);
}

static void missing(struct node *node, const struct packet *packet)
{
    struct lack lack;
    memcpy(&lack, packet->bytes, sizeof(lack));
    pmix_job_missing(node->job, lack.rank, lack.from);
}

static void reap(struct node *node)
{
    int status;
    uint32_t first = node->number * (TASKS / node->nnodes);
    for (uint32_t i = 0; i < TASKS / node->nnodes; i++)
        if (node->pids[i] > 0 && waitpid(node->pids[i], &status, WNOHANG) > 0) {
            node->pids[i] = 0;
            node->outcome->exits[first + i] = status;
            node->outcome->states[first + i] = (int)pmix_job_state(node->job, i);
            if (!pmix_job_ended(node->job, i))
                node->nrunning--;
            gone(node, i);
            if (WIFSIGNALED(status))
                kill_all(node);
        }
}

static void receive(struct node *node)
{
    struct packet *packet = mem_alloc(sizeof(*packet));
    struct error err = ERROR_INIT;
    if (recv(node->other, packet, sizeof(*packet), MSG_DONTWAIT) != sizeof(*packet)) {
        free(packet); /* the other node is done, which breaks what is still to do here */
        node->other = -1;
        return;
    }
    if (packet->id == HUB) {
        if (node->hub)
            asked(node, !node->number, packet->bytes, packet->len);
        else
            told(node, packet->bytes, packet->len);
        free(packet);
        return;
    }
    if (packet->id == MISSING) {
        missing(node, packet);
        free(packet);
        return;
    }
    if (packet->id) {
        node->theirs = packet;
        complete(node);
        return;
    }
    if (pmix_job_posted(node->job, !node->number, packet->bytes, packet->len, &err))
        abort();
    free(packet);
}

static void loop(struct node *node)
{
    double end = now() + PATIENCE;
    char bytes[64];
    while (node->nrunning && now() < end) {
        struct pollfd fds[] = {{node->wake[0], POLLIN, 0}, {node->other, POLLIN, 0}};
        double left = pmix_host_deadline(node->host);
        poll(fds, 2, left >= 0 && left < 0.02 ? (int)(left * 1e3) + 1 : 20);
        if (fds[0].revents && read(node->wake[0], bytes, sizeof(bytes)) < 0)
            abort();
        pmix_host_run(node->host);
        if (fds[1].revents)
            receive(node);
        reap(node);
    }
    node->outcome->stuck = node->nrunning > 0;
    kill_all(node);
}

static bool is_private(const char *path)
{
    struct stat what;
    return stat(path, &what) == 0 && S_ISDIR(what.st_mode) && (what.st_mode & 07777) == 0700;
}

static void node_run(struct node *node, const char *scenario)
{
    struct error err = ERROR_INIT;
    char above[] = "/tmp/test-pmix.XXXXXX", host[64], job[64];
    if (pipe2(node->wake, O_CLOEXEC) || !mkdtemp(above))
        abort();
    snprintf(host, sizeof(host), "%s/host", above);
    snprintf(job, sizeof(job), "%s/host/job", above);
    node->hub = node->number ? NULL : hub_new(&hub_ops, node);
    if (start_host(node, host, &err) || start_job(node, job, &err)) {
        snprintf(node->outcome->error, sizeof(node->outcome->error), "%s", error_text(&err));
    } else {
        start_tasks(node, scenario);
        loop(node);
        pmix_job_free(node->job);
    }
    double at = now();
    pmix_host_free(node->host, 5);
    hub_free(node->hub);
    node->outcome->free_ms = (now() - at) * 1e3;
    node->outcome->made = is_private(host) && is_private(job);
    rmdir(job);
    rmdir(host);
    rmdir(above);
}

struct pmix_outcome *pmix_nodes_run(uint32_t nnodes, const char *scenario)
{
    int pair[2];
    pid_t pids[2];
    struct pmix_outcome *outcomes = mmap(NULL, nnodes * sizeof(*outcomes), PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcomes == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        abort();
    for (uint32_t i = 0; i < nnodes; i++)
        if (!(pids[i] = fork())) {
            struct node node = {
                .number = i, .nnodes = nnodes, .other = pair[i], .outcome = &outcomes[i]};
            close(pair[!i]);
            node_run(&node, scenario);
            _exit(0);
        }
    close(pair[0]);
    close(pair[1]);
    for (uint32_t i = 0; i < nnodes; i++) {
        int status;
        if (waitpid(pids[i], &status, 0) < 0 || status)
            snprintf(outcomes[i].error, sizeof(outcomes[i].error), "node %u: status 0x%x", i,
                     status);
    }
    return outcomes;
}

void pmix_nodes_free(struct pmix_outcome *outcomes, uint32_t nnodes)
{
    munmap(outcomes, nnodes * sizeof(*outcomes));
}

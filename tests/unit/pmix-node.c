#include "tests/unit/pmix-node.h"

#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/directory.h"
#include "base/mem.h"
#include "pmi-server/pmix/direct_modex_request.h"
#include "pmi-server/pmix/fence.h"
#include "pmi-server/pmix/namespace.h"
#include "pmi-server/pmix/server.h"
#include "pmi-server/pmix/spawn.h"
#include "pmi-server/pmix/task_death.h"
#include "pmi-server/pmix/task_exit.h"
#include "pmi-server/protocol/task_states.h"
#include "pmi-server/service/service.h"

#define PATIENCE 30.0 /* s, more than a host has with a thread of openpmix that hangs */
#define PACKET 65536
#define HUB UINT64_MAX
#define MISSING (UINT64_MAX - 1)
#define OVER (UINT64_MAX - 2)
#define DIED (UINT64_MAX - 3)
#define JOBS 2

struct packet {
    /* Of a round; 0: a post; HUB: to or from the service; MISSING: a struct lack; OVER: all tasks of the
     * job there; DIED: one, a uint32_t. */
    uint64_t id;
    uint32_t job;
    size_t len;
    char bytes[PACKET];
};

struct lack {
    uint32_t rank;
    uint64_t from;
};

struct job {
    const char *name;
    struct pmix_job *pmix;
    uint32_t nrunning;            /* tasks here */
    uint32_t nover;               /* nodes where none is; the service's node knows */
    struct packet *mine, *theirs; /* of the round that is open */
};

struct task {
    pid_t pid;
    uint32_t job, rank, node, local;
};

struct node {
    uint32_t number, nnodes, njobs;
    enum pmix_jobs layout;
    int wake[2], other;
    struct task tasks[TASKS]; /* of all nodes */
    uint32_t nrunning;
    bool goes_on;                /* when a task dies */
    struct pmi_service *service; /* of node 0; else NULL */
    const char *tmpdir;
    struct pmix_host *host;
    struct job jobs[JOBS];
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

static struct packet *packet_new(uint64_t id, uint32_t job, const void *bytes, size_t len)
{
    struct packet *packet = mem_alloc(sizeof(*packet));
    if (len > PACKET)
        abort();
    packet->id = id;
    packet->job = job;
    packet->len = len;
    memcpy(packet->bytes, bytes, len);
    return packet;
}

/* No more than it has in it: the socket has room for four whole ones, and where both nodes wait for room
 * neither reads. */
static void packet_send(struct node *node, const struct packet *packet)
{
    if (node->other < 0)
        return;
    if (send(node->other, packet, offsetof(struct packet, bytes) + packet->len, MSG_NOSIGNAL) < 0 &&
        errno != EPIPE && errno != ECONNRESET) /* it is done, and read no more */
        abort();
}

static void send_packet(struct node *node, uint64_t id, uint32_t job, const void *bytes, size_t len)
{
    struct packet *packet = packet_new(id, job, bytes, len);
    packet_send(node, packet);
    free(packet);
}

static uint32_t number_of(const struct node *node, const struct pmix_job *pmix)
{
    for (uint32_t job = 0; job < node->njobs; job++)
        if (node->jobs[job].pmix == pmix)
            return job;
    abort();
}

static void complete(const struct node *node, struct job *job)
{
    struct buf both = BUF_INIT;
    if (!job->mine || !job->theirs)
        return;
    uint64_t id = job->mine->id;
    if (id != job->theirs->id && node->goes_on)
        return; /* one is of a round that a death has ended */
    if (id != job->theirs->id)
        abort();
    buf_add(&both, job->mine->bytes, job->mine->len);
    buf_add(&both, job->theirs->bytes, job->theirs->len);
    free(job->mine);
    free(job->theirs);
    job->mine = job->theirs = NULL;
    if (pmix_namespace_exchanged(job->pmix, id, buf_bytes(&both), both.len, NULL))
        abort();
    buf_free(&both);
}

static void exchange(void *arg, struct pmix_job *pmix, uint64_t id, uint32_t nnodes,
                     const void *bytes, size_t len)
{
    struct node *node = arg;
    uint32_t number = number_of(node, pmix);
    struct job *job = &node->jobs[number];
    if (!(id & PMIX_SERVER_ROUND) || id >> 62 || (job->mine && !node->goes_on))
        abort();
    free(job->mine);
    node->outcome->rounds += nnodes == 0;
    node->outcome->parts += nnodes == 2;
    job->mine = packet_new(id, number, bytes, len);
    packet_send(node, job->mine);
    complete(node, job);
}

static void post(void *arg, struct pmix_job *pmix, uint32_t to, const void *bytes, size_t len)
{
    struct node *node = arg;
    if (to != !node->number)
        abort();
    node->outcome->posts++;
    send_packet(node, 0, number_of(node, pmix), bytes, len);
}

/* ---- the service, which is node 0's ---- */

static void ask(void *arg, const void *bytes, size_t len);

/* What an agent does. */
static bool tell_tasks(struct node *node, const void *bytes, size_t len)
{
    struct task_info tasks[TASKS];
    struct buf message = BUF_INIT;
    uint32_t count = 0;
    uint64_t number;
    char *job;
    if (!task_states_wanted(bytes, len, &number, &job))
        return false;
    for (uint32_t i = 0; i < TASKS; i++)
        if (node->tasks[i].node == node->number &&
            !strcmp(node->jobs[node->tasks[i].job].name, job))
            tasks[count++] = (struct task_info){node->tasks[i].rank, (uint32_t)node->tasks[i].pid,
                                                TASK_SPEAKS, 0};
    task_states_put_answer(&message, number, job, tasks, count);
    ask(node, buf_bytes(&message), message.len);
    buf_free(&message);
    free(job);
    return true;
}

static void told(struct node *node, const void *bytes, size_t len)
{
    if (tell_tasks(node, bytes, len))
        return;
    if (pmix_server_told(node->host, bytes, len, NULL))
        abort();
}

static void pmi_service_tell(void *arg, uint32_t to, const void *bytes, size_t len)
{
    struct node *node = arg;
    if (to == node->number)
        told(node, bytes, len);
    else
        send_packet(node, HUB, 0, bytes, len);
}

static const struct pmi_service_ops pmi_service_ops = {pmi_service_tell};

static void asked(struct node *node, uint32_t from, const void *bytes, size_t len)
{
    if (pmi_service_take(node->service, from, bytes, len, NULL))
        abort();
}

static void ask(void *arg, const void *bytes, size_t len)
{
    struct node *node = arg;
    node->outcome->questions++;
    if (node->service)
        asked(node, node->number, bytes, len);
    else
        send_packet(node, HUB, 0, bytes, len);
}

/* Of a job on one node. */
static void over(struct node *node, uint32_t job)
{
    bool alone = node->layout == PMIX_TWO_APART || (node->layout == PMIX_TWO_PARTLY && job > 0);
    uint32_t nnodes = alone ? 1 : node->nnodes;
    if (!node->service)
        send_packet(node, OVER, job, "", 0);
    else if (++node->jobs[job].nover == nnodes)
        pmi_service_remove(node->service, node->jobs[job].name);
}

static void died(struct node *node, uint32_t job, uint32_t rank)
{
    if (node->service)
        pmi_service_ended(node->service, node->jobs[job].name, rank);
    else
        send_packet(node, DIED, job, &rank, sizeof(rank));
}

/* One after the other: openpmix 4.2.2 to 6.1 may hang for ever, or crash, where tasks that wait in a
 * fence go at once (namespace.c). */
static void kill_all(struct node *node)
{
    for (uint32_t i = 0; i < TASKS; i++)
        if (node->tasks[i].pid > 0) {
            usleep(20000);
            kill(node->tasks[i].pid, SIGKILL);
        }
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

static void gone(struct node *node, const struct task *task);

static void settled(void *arg, struct pmix_job *pmix, uint32_t local_rank)
{
    struct node *node = arg;
    uint32_t job = number_of(node, pmix), i = 0;
    while (node->tasks[i].job != job || node->tasks[i].node != node->number ||
           node->tasks[i].local != local_rank)
        i++;
    node->outcome->states[i] = (int)pmix_namespace_state(pmix, local_rank);
    gone(node, &node->tasks[i]);
}

/* What is called "good" can be started. */
static void spawn(void *arg, struct pmix_job *job, uint32_t rank, uint64_t token,
                  const struct spawn_request *what)
{
    struct node *node = arg;
    bool good = !strcmp(what->blocks[0].argv[0], "good");
    if (number_of(node, job) != 0 || rank != 0)
        abort();
    node->outcome->spawns++;
    pmix_namespace_spawned(job, token, good ? SPAWN_STARTED : SPAWN_NO_PROGRAM, "tprun.job.2");
    pmix_namespace_spawned(job, token, SPAWN_STARTED, "twice"); /* is of no account */
}

static void control(void *arg, struct pmix_job *pmix, const struct pmix_control *what)
{
    struct node *node = arg;
    uint32_t job = number_of(node, pmix);
    if (what->rank != 0)
        abort();
    for (uint32_t i = 0; i < TASKS; i++) {
        const struct task *task = &node->tasks[i];
        if (task->job == job && task->pid > 0 && idset_has(what->ranks, task->rank))
            kill(task->pid, what->action == CONTROL_SIGNAL ? (int)what->number : SIGKILL);
    }
}

static int make_directory(void *arg)
{
    return directory_make_private(((struct node *)arg)->tmpdir);
}

static const struct pmix_server_ops ops = {
    .wake = wake,
    .make_directory = make_directory,
    .exchange = exchange,
    .post = post,
    .ask = ask,
    .abort = abort_job,
    .settled = settled,
    .log = log_text,
    .stuck = stuck,
    .spawn = spawn,
    .control = control,
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

bool pmix_nodes_ahead;

static struct pmix_host *new_host(struct node *node, struct pmix_server_config *config,
                                  struct error *err)
{
    if (!pmix_nodes_ahead)
        return pmix_server_new(config, &ops, node, err);
    config->program = node->number ? "second" : "first";
    config->node = 0;
    config->quiet = true;
    struct pmix_host *host = pmix_server_new_ahead(config, err);
    if (host)
        pmix_server_give(host, node->number, &ops, node);
    return host;
}

static int start_host(struct node *node, struct error *err)
{
    struct pmix_server_config config = {.program = "test-pmix",
                                        .node = node->number,
                                        .hostname = node->number ? "hostb" : "hosta",
                                        .tmpdir = node->tmpdir};
    hwloc_topology_init(&config.topology);
    hwloc_topology_load(config.topology);
    long before = resident_kib();
    double at = now();
    node->host = new_host(node, &config, err);
    node->outcome->host_ms = (now() - at) * 1e3;
    node->outcome->host_kib = resident_kib() - before;
    return node->host ? 0 : -1;
}

static uint32_t node_of(const struct node *node, const struct task *task, uint32_t per)
{
    switch (node->layout) {
    case PMIX_TWO_APART:
        return task->job;
    case PMIX_TWO_PARTLY:
        return task->job ? 0 : task->rank;
    default:
        return task->rank * node->nnodes / per;
    }
}

/* Who is where. */
static void place(struct node *node)
{
    uint32_t per = TASKS / node->njobs, nlocals[JOBS][2] = {{0}};
    for (uint32_t i = 0; i < TASKS; i++) {
        struct task *task = &node->tasks[i];
        task->job = i / per;
        task->rank = i % per;
        task->node = node_of(node, task, per);
        task->local = nlocals[task->job][task->node]++;
    }
}

static struct taskmap *make_map(const struct node *node, uint32_t job)
{
    struct taskmap *map = taskmap_new();
    for (uint32_t i = 0; i < TASKS; i++)
        if (node->tasks[i].job == job)
            taskmap_append(map, node->layout == PMIX_TWO_APART ? 0 : node->tasks[i].node, 1);
    return map;
}

static uint32_t make_locals(const struct node *node, uint32_t job, struct idset *const cpus[2],
                            struct pmix_local *locals)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < TASKS; i++) {
        const struct task *task = &node->tasks[i];
        if (task->job == job && task->node == node->number) {
            locals[count] = (struct pmix_local){task->rank, task->rank > 0, cpus[count % 2]};
            count++;
        }
    }
    return count;
}

static int start_job(struct node *node, uint32_t number, const char *above, struct error *err)
{
    static char *const argv[] = {(char *)"program", (char *)"argument", NULL};
    static const char *const hosts[] = {"hosta", "hostb"};
    static const uint32_t nodes[] = {0, 1};
    const struct namespace_app apps[] = {{0, 1, argv, "/tmp"},
                                         {1, TASKS / node->njobs - 1, argv, "/", "rest"}};
    struct pmix_local locals[TASKS] = {0};
    struct taskmap *map = make_map(node, number);
    struct idset *cpus[2] = {idset_decode("0", NULL), idset_decode("1", NULL)};
    uint32_t first = node->layout == PMIX_TWO_APART ? number : 0;
    char tmpdir[64];
    snprintf(tmpdir, sizeof(tmpdir), "%s/host/job%u", above, number);
    const struct pmix_namespace_config config = {
        .name = node->jobs[number].name,
        .session = 1,
        .universe_size = 10,
        .map = map,
        .hosts = hosts + first,
        .node = node->number - first,
        .locals = locals,
        .nlocals = make_locals(node, number, cpus, locals),
        .apps = apps,
        .napps = 2,
        .tmpdir = tmpdir,
        .goes_on = node->goes_on,
    };
    if (node->service) {
        const struct namespace_facts job = {.name = node->jobs[number].name,
                                            .map = map,
                                            .node = nodes + first,
                                            .hosts = hosts + first,
                                            .universe_size = 10,
                                            .apps = apps,
                                            .napps = 2};
        pmi_service_add(node->service, &job);
    }
    if (config.nlocals)
        node->jobs[number].pmix = pmix_namespace_new(node->host, &config, node, err);
    taskmap_free(map);
    idset_free(cpus[0]);
    idset_free(cpus[1]);
    return config.nlocals && !node->jobs[number].pmix ? -1 : 0;
}

static int start_jobs(struct node *node, const char *above, struct error *err)
{
    long before = resident_kib();
    double at = now();
    place(node);
    for (uint32_t job = 0; job < node->njobs; job++)
        if (start_job(node, job, above, err))
            return -1;
    node->outcome->job_ms = (now() - at) * 1e3;
    node->outcome->job_kib = resident_kib() - before;
    return 0;
}

static void start_task(struct node *node, struct task *task, const char *path, const char *scenario)
{
    struct job *job = &node->jobs[task->job];
    char *const *own = pmix_namespace_environment(job->pmix, task->local);
    char *const argv[] = {(char *)path, (char *)scenario, NULL};
    size_t nown = 0, ninherited = 0;
    node->nrunning++;
    job->nrunning++;
    while (own[nown])
        nown++;
    while (environ[ninherited])
        ninherited++;
    char **all = mem_array(nown + ninherited + 1, sizeof(*all));
    memcpy(all, own, nown * sizeof(*all)); /* first, so getenv() finds these */
    memcpy(all + nown, environ, ninherited * sizeof(*all));
    /* The child allocates nothing: another thread may hold the allocator's lock. */
    if ((task->pid = fork()) == 0) {
        execve(path, argv, all);
        _exit(127);
    }
    free(all);
}

static void start_tasks(struct node *node, const char *scenario)
{
    char path[PATH_MAX + 32] = "";
    if (readlink("/proc/self/exe", path, PATH_MAX - 1) < 0)
        abort();
    strcat(dirname(path), node->njobs > 1 ? "/pmix-client-jobs" : "/pmix-client");
    for (uint32_t i = 0; i < TASKS; i++)
        if (node->tasks[i].node == node->number)
            start_task(node, &node->tasks[i], path, scenario);
}

static void gone(struct node *node, const struct task *task)
{
    struct job *job = &node->jobs[task->job];
    struct lack lack = {.rank = task->rank};
    node->nrunning--;
    if (pmix_namespace_gone(job->pmix, task->local, &lack.from) && node->nnodes > 1)
        send_packet(node, MISSING, task->job, &lack, sizeof(lack));
    if (!--job->nrunning)
        over(node, task->job);
}

static void reaped(struct node *node, uint32_t number, int status)
{
    struct task *task = &node->tasks[number];
    struct job *job = &node->jobs[task->job];
    task->pid = 0;
    pmix_server_run(node->host); /* what it said before it ended, as an agent does */
    node->outcome->exits[number] = status;
    node->outcome->states[number] = (int)pmix_namespace_state(job->pmix, task->local);
    if (WIFSIGNALED(status) && node->njobs > 1)
        died(node, task->job, task->rank);
    else if (WIFSIGNALED(status) && !node->goes_on)
        kill_all(node);
    if (WIFSIGNALED(status))
        pmix_namespace_died(job->pmix, task->local, status, node->goes_on);
    if (!pmix_namespace_ended(job->pmix, task->local))
        gone(node, task);
}

static void reap(struct node *node)
{
    int status;
    for (uint32_t i = 0; i < TASKS; i++)
        if (node->tasks[i].pid > 0 && waitpid(node->tasks[i].pid, &status, WNOHANG) > 0)
            reaped(node, i, status);
}

static void missing(struct job *job, const struct packet *packet)
{
    struct lack lack;
    memcpy(&lack, packet->bytes, sizeof(lack));
    if (job->pmix)
        pmix_namespace_missing(job->pmix, lack.rank, lack.from);
}

static void received(struct node *node, struct packet *packet)
{
    struct job *job = &node->jobs[packet->job];
    if (packet->id == HUB && node->service) {
        asked(node, !node->number, packet->bytes, packet->len);
    } else if (packet->id == HUB) {
        told(node, packet->bytes, packet->len);
    } else if (packet->id == MISSING) {
        missing(job, packet);
    } else if (packet->id == OVER) {
        over(node, packet->job);
    } else if (packet->id == DIED) {
        uint32_t rank;
        memcpy(&rank, packet->bytes, sizeof(rank));
        died(node, packet->job, rank);
    } else if (packet->id) {
        free(job->theirs);
        job->theirs = packet;
        complete(node, job);
        return;
    } else if (pmix_namespace_posted(job->pmix, !node->number, packet->bytes, packet->len, NULL)) {
        abort();
    }
    free(packet);
}

static void receive(struct node *node)
{
    struct packet *packet = mem_alloc(sizeof(*packet));
    if (recv(node->other, packet, sizeof(*packet), MSG_DONTWAIT) > 0) {
        received(node, packet);
        return;
    }
    free(packet); /* the other node is done, which breaks what is still to do here */
    node->other = -1;
}

/* What tasks of the other node ask the service they are to be answered. */
static bool serves(const struct node *node)
{
    return node->service && node->njobs > 1 && node->other >= 0;
}

static void loop(struct node *node)
{
    double end = now() + PATIENCE;
    char bytes[64];
    while ((node->nrunning || serves(node)) && now() < end) {
        struct pollfd fds[] = {{node->wake[0], POLLIN, 0}, {node->other, POLLIN, 0}};
        double left = pmix_server_deadline(node->host);
        poll(fds, 2, left >= 0 && left < 0.02 ? (int)(left * 1e3) + 1 : 20);
        if (fds[0].revents && read(node->wake[0], bytes, sizeof(bytes)) < 0)
            abort();
        pmix_server_run(node->host);
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
    char above[] = "/tmp/test-pmix.XXXXXX", host[64], path[96];
    if (pipe2(node->wake, O_CLOEXEC) || !mkdtemp(above))
        abort();
    snprintf(host, sizeof(host), "%s/host", above);
    node->service = node->number ? NULL : pmi_service_new(&pmi_service_ops, node);
    node->tmpdir = host;
    node->goes_on = strncmp(scenario, "without", 7) == 0;
    if (start_host(node, &err) || start_jobs(node, above, &err)) {
        snprintf(node->outcome->error, sizeof(node->outcome->error), "%s", error_text(&err));
    } else {
        node->outcome->aside = fcntl(FD_SETSIZE - 1, F_GETFD) >= 0;
        start_tasks(node, scenario);
        loop(node);
        for (uint32_t job = 0; job < node->njobs; job++)
            pmix_namespace_free(node->jobs[job].pmix);
    }
    double at = now();
    pmix_server_free(node->host, 5);
    pmi_service_free(node->service);
    node->outcome->free_ms = (now() - at) * 1e3;
    node->outcome->made = is_private(host);
    for (uint32_t job = 0; job < node->njobs; job++) {
        snprintf(path, sizeof(path), "%s/job%u", host, job);
        node->outcome->made &= !node->jobs[job].pmix || is_private(path);
        rmdir(path);
    }
    rmdir(host);
    rmdir(above);
}

static struct pmix_outcome *run(uint32_t nnodes, enum pmix_jobs layout, const char *scenario)
{
    int pair[2];
    pid_t pids[2];
    struct pmix_outcome *outcomes = mmap(NULL, nnodes * sizeof(*outcomes), PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcomes == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        abort();
    for (uint32_t i = 0; i < nnodes; i++)
        if (!(pids[i] = fork())) {
            struct node node = {.number = i,
                                .nnodes = nnodes,
                                .jobs = {{.name = "tprun.job.1"}, {.name = "tprun.job.2"}},
                                .njobs = layout == PMIX_ONE_JOB ? 1 : JOBS,
                                .layout = layout,
                                .other = pair[i],
                                .outcome = &outcomes[i]};
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

struct pmix_outcome *pmix_nodes_run(uint32_t nnodes, const char *scenario)
{
    return run(nnodes, PMIX_ONE_JOB, scenario);
}

struct pmix_outcome *pmix_jobs_run(enum pmix_jobs jobs, const char *scenario)
{
    return run(2, jobs, scenario);
}

void pmix_nodes_free(struct pmix_outcome *outcomes, uint32_t nnodes)
{
    munmap(outcomes, nnodes * sizeof(*outcomes));
}

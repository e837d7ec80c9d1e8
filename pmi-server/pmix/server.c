/* The server of one node: its start in a thread, its turns, its end, and what the service says to it. */
#include "pmi-server/pmix/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/thread.h"
#include "pmi-server/pmix/client_connections.h"
#include "pmi-server/pmix/context.h"
#include "pmi-server/pmix/direct_modex_serve.h"
#include "pmi-server/pmix/events.h"
#include "pmi-server/pmix/fence_private.h"
#include "pmi-server/pmix/info.h"
#include "pmi-server/pmix/iof_private.h"
#include "pmi-server/pmix/job_control.h"
#include "pmi-server/pmix/listeners.h"
#include "pmi-server/pmix/module.h"
#include "pmi-server/pmix/namespace_private.h"
#include "pmi-server/pmix/process_setup.h"
#include "pmi-server/pmix/remote_namespace.h"
#include "pmi-server/pmix/service_requests.h"
#include "pmi-server/pmix/task_death_private.h"
#include "pmi-server/pmix/task_exit_private.h"
#include "pmi-server/pmix/tools_private.h"
#include "pmi-server/pmix/upcall_queue.h"
#include "pmi-server/protocol/message.h"

static const struct pmix_feature features[] = {
    {.name = "remote namespaces", .namespace_comes = remote_namespace_comes},
    {.name = "fences", .namespace_comes = fences_open, .namespace_left = fences_free},
    {.name = "direct modex",
     .run = direct_modex_serve_look,
     .deadline = direct_modex_serve_end,
     .namespace_left = direct_modex_serve_free},
    {.name = "task exits",
     .run = task_exits_look,
     .deadline = task_exits_end,
     .namespace_leaves = task_exits_free},
    {.name = "task deaths",
     .run = task_deaths_look,
     .deadline = task_deaths_end,
     .namespace_leaves = task_deaths_free},
    {.name = "client connections", .namespace_left = client_connections_free},
    {.name = "iof", .tools_changed = iof_tools_changed},
    {0},
};

static _Atomic(struct pmix_host *) only; /* openpmix is one server in a process */

static pmix_status_t server_init(struct pmix_host *host, const struct pmix_server_config *config)
{
    struct info_list infos = {0};
    info_text(&infos, PMIX_SERVER_TMPDIR, config->tmpdir);
    info_text(&infos, PMIX_SYSTEM_TMPDIR, config->tmpdir);
    info_text(&infos, PMIX_SERVER_NSPACE, config->program);
    info_rank(&infos, PMIX_SERVER_RANK, config->node);
    info_text(&infos, PMIX_HOSTNAME, config->hostname);
    info_bool(&infos, PMIX_IOF_LOCAL_OUTPUT, false); /* what is delivered is for tools */
    if (host->topology.topology)
        info_topology(&infos, &host->topology);
    struct module_slots module = module_make(&host->library->version);
    pmix_status_t status =
        host->library->init((pmix_server_module_t *)module.at, infos.at, infos.count);
    free(module.at);
    info_free(&infos, host->library);
    return status;
}

static void host_drop(struct pmix_host *host)
{
    free(host->topology.source);
    free(host->hostname);
    free(host->tmpdir);
    free(host->program);
    tools_free(host);
    iof_free(host);
    pending_requests_free(host->requests);
    free(host);
}

static struct pmix_host *host_make(const struct pmix_library *library,
                                   const struct pmix_server_config *config,
                                   const struct pmix_server_ops *ops, void *arg)
{
    struct pmix_host *host = mem_alloc(sizeof(*host));
    host->library = library;
    host->ops = ops;
    host->arg = arg;
    pthread_mutex_init(&host->owner_lock, NULL);
    host->node = host->rank = config->node;
    host->owner_left = !ops;
    host->hostname = mem_copy_text(config->hostname);
    host->tmpdir = mem_copy_text(config->tmpdir);
    host->program = mem_copy_text(config->program);
    host->features = features;
    host->requests = pending_requests_new();
    host->iof = iof_new();
    if (config->topology && library->same_hwloc) {
        host->topology.source = mem_copy_text("hwloc");
        host->topology.topology = config->topology;
    }
    return host;
}

/* ---- in a thread ---- */

struct pmix_host_start {
    const struct pmix_server_config *config;
    const struct pmix_server_ops *ops;
    void *arg;
    struct thread thread;
    struct pmix_host *host; /* NULL: `err` says why */
    struct error err;
};

static void *host_open(void *arg)
{
    struct pmix_host_start *start = arg;
    const struct pmix_server_config *config = start->config;
    const struct pmix_library *library = pmix_library(&start->err);
    if (!library || listeners_check(&start->err) < 0)
        return NULL;
    struct pmix_host *none = NULL, *host = host_make(library, config, start->ops, start->arg);
    if (!atomic_compare_exchange_strong(&only, &none, host)) {
        host_drop(host);
        error_set(&start->err, "openpmix is one server in a process, and there is one");
        return NULL;
    }
    if (start->ops)
        upcall_queue_open(start->ops->wake, start->arg);
    client_connections_ask(task_death_may_be_read);
    pmix_status_t status = server_init(host, config);
    if (status == PMIX_SUCCESS) {
        start->host = host;
        return NULL;
    }
    error_set(&start->err,
              "cannot start openpmix's server: %s: check TMPDIR and variables PMIX_*%s",
              library->error_string(status), config->quiet ? "; -v shows what openpmix says" : "");
    upcall_queue_close();
    atomic_store(&only, NULL);
    host_drop(host);
    return NULL;
}

/* The environment is changed outside: not while a thread may read it. So it stays as it is then, as
 * openpmix has threads from here on. */
struct pmix_host_start *pmix_server_begin(const struct pmix_server_config *config,
                                          const struct pmix_server_ops *ops, void *arg)
{
    struct pmix_host_start *start = mem_alloc(sizeof(*start));
    start->config = config;
    start->ops = ops;
    start->arg = arg;
    if (process_setup(config->quiet, &start->err) == 0)
        thread_begin(&start->thread, host_open, start); /* so does what openpmix starts */
    return start;
}

struct pmix_host *pmix_server_finish(struct pmix_host_start *start, struct error *err)
{
    thread_end(&start->thread);
    struct pmix_host *host = start->host;
    if (!host)
        error_set(err, "%s", error_text(&start->err));
    error_clear(&start->err);
    free(start);
    return host;
}

struct pmix_host *pmix_server_new(const struct pmix_server_config *config,
                                  const struct pmix_server_ops *ops, void *arg, struct error *err)
{
    return pmix_server_finish(pmix_server_begin(config, ops, arg), err);
}

struct pmix_host *pmix_server_new_ahead(const struct pmix_server_config *config, struct error *err)
{
    return pmix_server_new(config, NULL, NULL, err);
}

void pmix_server_give(struct pmix_host *host, uint32_t node, const struct pmix_server_ops *ops,
                      void *arg)
{
    host->node = node;
    pthread_mutex_lock(&host->owner_lock);
    host->ops = ops;
    host->arg = arg;
    host->owner_left = false;
    pthread_mutex_unlock(&host->owner_lock);
    upcall_queue_open(ops->wake, arg);
}

/* ---- the end ---- */

static struct timespec clock_in(double rest)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    double seconds = (double)end.tv_nsec / 1e9 + rest;
    end.tv_sec += (time_t)seconds;
    end.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9);
    return end;
}

/* The server itself is left as it is, and ends with the process. openpmix may still look at the
 * host. openpmix 4.2.2 to ?: PMIx_server_finalize() crashes now and then when clients have died. */
void pmix_server_free(struct pmix_host *host, double patience)
{
    if (!host)
        return;
    int saved = errno;
    struct timespec end = clock_in(patience);
    while (host->leaving &&
           upcall_queue_await(&end)) /* what tasks wanted removed goes with their namespace */
        pmix_server_run(host);
    pending_requests_clear(host->requests);
    remote_namespaces_free(host);
    upcall_queue_close();
    /* Once this is noted, openpmix's thread is in none of the owner's functions, and calls none. */
    pthread_mutex_lock(&host->owner_lock);
    host->owner_left = true;
    pthread_mutex_unlock(&host->owner_lock);
    errno = saved;
}

void pmix_server_run(struct pmix_host *host)
{
    struct upcall *next, *event = upcall_queue_take();
    for (; event; event = next) {
        next = event->next;
        event->run(host, event);
        upcall_free(event);
    }
    pending_requests_expire(host->requests);
    for (const struct pmix_feature *feature = features; feature->name; feature++)
        if (feature->run)
            feature->run(host);
}

double pmix_server_deadline(const struct pmix_host *host)
{
    double first = pending_requests_deadline(host->requests);
    for (const struct pmix_feature *feature = features; feature->name; feature++) {
        double end = feature->deadline ? feature->deadline(host) : 0;
        if (end && (!first || end < first))
            first = end;
    }
    double left = first - pending_requests_clock();
    return !first ? -1 : left > 0 ? left : 0;
}

void pmix_server_warm(void)
{
    pmix_library(NULL);
}

void pmix_server_watch_forks(void)
{
    process_setup_watch();
}

bool pmix_server_warm_for_forks(void)
{
    if (!process_setup_was_done())
        return false;
    const struct pmix_library *library = pmix_library(NULL);
    if (library) {
        library_open_components(library);
        process_setup_ahead(library);
    }
    return true;
}

const char *pmix_server_version(struct error *err)
{
    const struct pmix_library *library = pmix_library(err);
    return library ? library->version.text : NULL;
}

/*
 * What the program's service says: answers, and orders.
 */

/* The owner's: it knows its tasks, and has answered. */
static int owners(struct pmix_host *host, struct message_down *talk)
{
    (void)host, (void)talk;
    return 0;
}

/* -1: malformed. */
static int (*const take[ORDER_NKINDS])(struct pmix_host *host, struct message_down *talk) = {
    [ORDER_ANSWER] = service_replied,
    [ORDER_MODEX] = direct_modex_serve_ordered,
    [ORDER_REMOVED] = remote_namespace_removed,
    [ORDER_TASKS] = owners,
    [ORDER_OUTPUT] = iof_output_receive,
    [ORDER_PUSH] = iof_input_receive,
    [ORDER_NOTIFY] = events_receive,
    [ORDER_DIED] = terminations_receive,
    [ORDER_CONTROL] = job_control_receive,
};

int pmix_server_told(struct pmix_host *host, const void *bytes, size_t len, struct error *err)
{
    struct message_down talk;
    if (message_read_down(&talk, bytes, len) < 0 || take[talk.kind](host, &talk) < 0)
        return error_set(err, "a malformed message of the program's hub");
    return 0;
}

/* The host of openpmix on this node: its start, its turns in the loop, its end. */
#include "launcher/agent/pmix_host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/topology/topo.h"
#include "base/mem.h"
#include "launcher/agent/pmix_tool_proxy.h"
#include "pmi-server/pmix/iof.h"
#include "pmi-server/pmix/tools.h"

#define PMIX_PATIENCE 2.0 /* s for openpmix to end, after which it is left as it is */

struct agent_pmix_host {
    struct agent_pmix_host_config config;
    bool begun;
    struct pmix_host_start *start; /* NULL: it is over */
    struct pmix_host *server;      /* NULL: not yet */
    struct pmix_server_config server_config;
    struct pmix_server_ops ops;
    struct tools *tools; /* NULL: none may come */
    ev_async wake;
    ev_timer deadline; /* of what waits for other nodes */
};

/* ---- its turns ---- */

void pmix_host_used(struct agent_pmix_host *host)
{
    double rest = pmix_server_deadline(host->server);
    ev_timer_stop(host->config.loop, &host->deadline);
    if (rest < 0)
        return;
    ev_timer_set(&host->deadline, rest, 0);
    ev_timer_start(host->config.loop, &host->deadline);
}

void pmix_host_run(struct agent_pmix_host *host)
{
    if (!host->server)
        return;
    pmix_server_run(host->server);
    pmix_host_used(host);
}

static void pmix_host_on_wake(struct ev_loop *loop, ev_async *watcher, int events)
{
    (void)loop;
    (void)events;
    pmix_host_run(watcher->data);
}

static void pmix_host_on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    pmix_host_run(timer->data);
}

int pmix_host_on_service(struct agent_pmix_host *host, const struct frame *frame, struct error *err)
{
    if (!host->server)
        return 0;
    int rc = pmix_server_told(host->server, frame->bytes, frame->len, err);
    pmix_host_used(host);
    return rc;
}

void pmix_host_settle_input(struct agent_pmix_host *host)
{
    if (host->server)
        pmix_server_settle_input(host->server);
}

/* ---- what it asks for itself ---- */

static void pmix_host_wake(void *arg)
{
    struct agent_pmix_host *host = arg;
    ev_async_send(host->config.loop, &host->wake);
}

static void pmix_host_ask(void *arg, const void *bytes, size_t len)
{
    struct uplink *uplink = ((struct agent_pmix_host *)arg)->config.uplink;
    struct frame frame = {
        .type = FRAME_SERVICE, .node = uplink_node(uplink), .bytes = bytes, .len = len};
    uplink_send(uplink, &frame);
}

static int pmix_host_make_directory(void *arg)
{
    return scratch_directory_make(((struct agent_pmix_host *)arg)->config.scratch);
}

static bool pmix_host_input_lags(void *arg)
{
    const struct agent_pmix_host_config *config = &((struct agent_pmix_host *)arg)->config;
    return config->input_lags(config->owner);
}

static void pmix_host_tool_came(void *arg, uint32_t number)
{
    struct agent_pmix_host *host = arg;
    if (host->tools)
        tool_proxy_came(host->tools, number);
}

/* ---- begun and open ---- */

/* The machine's topology has been discovered, but for a few ways to get here. */
static void pmix_host_begin(struct agent_pmix_host *host, const char *directory)
{
    struct agent_pmix_host_config *config = &host->config;
    host->begun = true;
    if (!config->machine)
        config->machine = topo_load_machine(NULL);
    ev_async_init(&host->wake, pmix_host_on_wake);
    host->wake.data = host;
    ev_async_start(config->loop, &host->wake);
    ev_unref(config->loop);
    ev_timer_init(&host->deadline, pmix_host_on_deadline, 0, 0);
    host->deadline.data = host;
    host->server_config = (struct pmix_server_config){.program = strrchr(directory, '/') + 1,
                                                      .hostname = config->host,
                                                      .node = uplink_node(config->uplink),
                                                      .tmpdir = directory,
                                                      .topology = config->machine,
                                                      .quiet = config->quiet};
    topology_file_wait(config->topology_file);
    if (!config->ahead)
        host->start = pmix_server_begin(&host->server_config, &host->ops, host);
}

static void pmix_host_forget(struct agent_pmix_host *host)
{
    ev_ref(host->config.loop);
    ev_async_stop(host->config.loop, &host->wake);
    ev_timer_stop(host->config.loop, &host->deadline);
    topo_free_machine(host->config.machine);
    host->config.machine = NULL;
    host->begun = false;
}

void pmix_host_begin_early(struct agent_pmix_host *host)
{
    const char *directory = scratch_directory_name(host->config.scratch, NULL);
    if (directory && !host->begun)
        pmix_host_begin(host, directory);
}

int pmix_host_open(struct agent_pmix_host *host, const struct launch *launch, struct error *err)
{
    const char *directory = scratch_directory_name(host->config.scratch, err);
    if (!directory)
        return -1;
    if (!host->begun)
        pmix_host_begin(host, directory);
    topology_file_begin_early(host->config.topology_file, launch);
    if (host->server)
        return 0;
    host->server = host->config.ahead ?: pmix_server_finish(host->start, err);
    host->start = NULL;
    if (host->config.ahead)
        pmix_server_give(host->server, host->server_config.node, &host->ops, host);
    host->config.ahead = NULL;
    if (host->server)
        return 0;
    pmix_host_forget(host);
    return -1;
}

static void pmix_host_note(void *arg, const char *text)
{
    uplink_note(((struct agent_pmix_host *)arg)->config.uplink, "%s", text);
}

/* The door is opened with the first task, whose environment says where the server is. */
int pmix_host_let_tools(struct agent_pmix_host *host, const struct launch *launch,
                        struct error *err)
{
    const struct agent_pmix_host_config *config = &host->config;
    const char *directory = host->server_config.tmpdir;
    if (!launch->spec->tools || host->tools)
        return 0;
    if (scratch_directory_make(config->scratch) < 0)
        return error_set(err, "cannot make %s, which tools need: %s; TMPDIR may name another place",
                         directory, strerror(errno));
    char *name = mem_format("tprun.%s.%s", launch->instance_id ?: "0", launch->program);
    struct tool_proxy_config proxy = {.loop = config->loop,
                                      .host = host->server,
                                      .directory = directory,
                                      .name = name,
                                      .server = host->server_config.program,
                                      .node = uplink_node(config->uplink),
                                      .note = pmix_host_note,
                                      .arg = host};
    pmix_server_let_tools(host->server, name);
    host->tools = tool_proxy_new(&proxy, err);
    if (host->tools &&
        !launch->node) /* one line is enough: other nodes' files have names like this one */
        uplink_note(config->uplink, "PMIx tools on %s: --uri file:%s", launch->hosts[0],
                    tool_proxy_file(host->tools));
    free(name);
    return host->tools ? 0 : -1;
}

struct pmix_host *pmix_host_server(const struct agent_pmix_host *host)
{
    return host->server;
}

const char *pmix_host_directory(const struct agent_pmix_host *host)
{
    return host->server_config.tmpdir;
}

struct scratch *pmix_host_scratch(const struct agent_pmix_host *host)
{
    return host->config.scratch;
}

struct topology_file *pmix_host_topology_file(const struct agent_pmix_host *host)
{
    return host->config.topology_file;
}

/* ---- life ---- */

bool pmix_host_end(struct agent_pmix_host *host)
{
    return !host->tools || tool_proxy_end(host->tools);
}

double pmix_host_tools_patience(const struct agent_pmix_host *host)
{
    return host->tools ? TOOL_END_PATIENCE : 0;
}

struct agent_pmix_host *pmix_host_new(const struct agent_pmix_host_config *config)
{
    struct agent_pmix_host *host = mem_alloc(sizeof(*host));
    host->config = *config;
    host->ops = *config->job_ops;
    host->ops.wake = pmix_host_wake;
    host->ops.ask = pmix_host_ask;
    host->ops.make_directory = pmix_host_make_directory;
    host->ops.input_lags = pmix_host_input_lags;
    host->ops.tool_came = pmix_host_tool_came;
    return host;
}

void pmix_host_free_tools(struct agent_pmix_host *host)
{
    if (host->start) {
        host->server = pmix_server_finish(host->start, NULL);
        host->start = NULL;
    }
    tool_proxy_free(host->tools);
    host->tools = NULL;
}

void pmix_host_free(struct agent_pmix_host *host)
{
    if (!host)
        return;
    pmix_host_free_tools(host);
    struct pmix_host *server = host->server ?: host->config.ahead;
    pmix_server_free(server, PMIX_PATIENCE);
    if (server)
        host->config.machine = NULL; /* openpmix has it until the process ends */
    if (host->begun)
        pmix_host_forget(host);
    topo_free_machine(host->config.machine);
    scratch_directory_remove(host->config.scratch);
    free(host);
}

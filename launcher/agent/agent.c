/* The process that runs tasks on one node: its links, its loop, frames to the program that it runs. */
#include "launcher/agent/agent.h"

#include <errno.h>
#include <ev.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "config.h"
#include "launcher/agent/downlink.h"
#include "launcher/agent/host_register.h"
#include "launcher/agent/instance_port.h"
#include "launcher/agent/local_program.h"
#include "launcher/agent/uplink.h"
#include "launcher/environment/gpu_environment.h"
#include "launcher/process/descendants.h"
#include "launcher/process/job_signals.h"
#include "launcher/process/localhost.h"
#include "launcher/process/owned_directory.h"
#include "launcher/protocol/hello.h"
#include "launcher/tree/connect_back.h"

#define PROGRAMS_PATIENCE                                                                          \
    (AGENT_LOST_GRACE + 3.0) /* s at the end that agents of programs have, which see to their own */
#define SWEEP_PATIENCE 0.5   /* s at the end for removing what killed programs left on this node */

struct agent {
    struct ev_loop *loop;
    const struct agent_config *config;
    struct uplink *uplink;
    struct downlink *downlink;
    struct instance_port *port;    /* NULL: this is no instance's agent */
    struct local_program *program; /* NULL before the welcome */
    ev_io guard_io;
    ev_child reaper;
    ev_prepare turn_end;
    ev_timer programs_due; /* once the instance is over */
    char *host;            /* NULL before the welcome */
    struct topo *topo;
    struct hwloc_topology *machine; /* until the program has it, */
    struct pmix_host *pmix;         /* this as well; or NULL */
    struct bootstrap boot;
    pid_t manager;        /* 0: it is on another machine */
    bool called;          /* it was told to connect to its parent */
    bool takes_early;     /* its hello said nothing new, to a manager of this version */
    struct error failure; /* why it could not */
};

/* ---- the links ---- */

/* Without a parent nobody wants the tasks any more. Agents below see their own link close. */
static void agent_on_uplink_lost(void *arg)
{
    struct agent *agent = arg;
    double tools = agent->program ? local_program_tools_patience(agent->program) : 0;
    double epilogs = scratch_directory_inner_epilogs(agent->config->scratch);
    instance_port_shut(agent->port);
    if (agent->port) {
        ev_timer_set(&agent->programs_due, PROGRAMS_PATIENCE + epilogs, 0);
        ev_timer_start(agent->loop, &agent->programs_due);
    }
    downlink_end(agent->downlink, AGENT_LOST_GRACE * 2 + tools + epilogs);
    if (agent->program)
        local_program_uplink_lost(agent->program, AGENT_LOST_GRACE);
}

static void agent_on_uplink_room(void *arg)
{
    struct agent *agent = arg;
    downlink_relay_room(agent->downlink);
    if (agent->program)
        local_program_room_above(agent->program);
}

static bool agent_on_downlink_frame(void *arg, const struct frame *frame)
{
    struct agent *agent = arg;
    return agent->program && local_program_from_below(agent->program, frame);
}

static void agent_on_downlink_gone(void *arg, const struct idset *nodes)
{
    struct agent *agent = arg;
    if (agent->program)
        local_program_nodes_gone(agent->program, nodes);
}

static void agent_on_downlink_room(void *arg)
{
    struct agent *agent = arg;
    if (agent->program)
        local_program_room_below(agent->program);
}

static const struct downlink_ops downlink_ops = {agent_on_downlink_frame, agent_on_downlink_gone,
                                                 agent_on_downlink_room};

/* ---- the first frames ---- */

static void say_hello(struct agent *agent, const char *version, const char *cores,
                      const char *known)
{
    struct error err = ERROR_INIT;
    if (!agent->topo)
        agent->topo = topo_load_both(&agent->machine, &err);
    if (agent->topo && cores)
        hello_check_cores(agent->topo, cores, &err);
    struct error hidden = ERROR_INIT;
    struct idset *gpus = err.text ? NULL : gpu_environment_of_step(agent->topo, environ, &hidden);
    char *machine = err.text ? NULL : localhost_machine();
    bool is_known = !err.text && hello_topology_is(agent->topo, known);
    const struct hello hello = {err.text, agent->topo, is_known, machine, gpus, hidden.text};
    agent->takes_early = hello_is_as_known(&hello) && strcmp(version, PACKAGE_VERSION) == 0;
    uplink_send_json(agent->uplink,
                     (struct frame){.type = FRAME_HELLO, .node = uplink_node(agent->uplink)},
                     hello_to_json(&hello));
    free(machine);
    idset_free(gpus);
    error_clear(&hidden);
    error_clear(&err);
}

static void open_port(struct agent *agent)
{
    struct error err = ERROR_INIT;
    if (!agent->boot.batch)
        return;
    const struct instance_port_config config = {
        agent->boot.batch,         agent->host, agent->topo, agent->machine, agent->config->scratch,
        agent->config->run_another};
    agent->port = instance_port_new(agent->loop, agent->uplink, &config, &err);
    if (agent->port)
        downlink_add_pid(agent->downlink, instance_port_pid(agent->port));
    else
        uplink_note(agent->uplink, "%s", error_text(&err));
    error_clear(&err);
}

static void agent_open_program(struct agent *agent)
{
    const struct local_program_config config = {.loop = agent->loop,
                                                .uplink = agent->uplink,
                                                .downlink = agent->downlink,
                                                .host = agent->host,
                                                .topo = agent->topo,
                                                .machine = agent->machine,
                                                .cgroup = agent->config->cgroup,
                                                .scratch = agent->config->scratch,
                                                .instance = agent->config->instance,
                                                .is_instance = agent->boot.batch != NULL,
                                                .manager = agent->manager,
                                                .verbose = agent->boot.verbose,
                                                .pmix = agent->pmix};
    agent->machine = NULL;
    agent->pmix = NULL;
    agent->program = local_program_new(&config);
    if (agent->boot.pmix)
        local_program_expect_pmix(agent->program);
}

/* openpmix takes longest. But a topology is discovered first where none is known, and what forks agents is
 * forked before there are threads. */
static void agent_open_for(struct agent *agent, const char *version, const char *cores,
                           const char *digest)
{
    bool at_once = agent->boot.pmix && agent->topo && !agent->boot.batch;
    if (at_once)
        agent_open_program(agent);
    say_hello(agent, version, cores, digest);
    uplink_watch(agent->uplink, agent->boot.node_timeout);
    uplink_flush(agent->uplink);
    if (!at_once) {
        open_port(agent);
        agent_open_program(agent);
    }
    cgroup_find(agent->config->cgroup); /* while others map */
}

static void agent_on_welcome(struct agent *agent, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    json_t *value = frame_json(frame, &err), *boot, *below;
    const char *version, *host, *cores = NULL, *digest = NULL;
    int node;
    if (agent->host ||
        json_unpack(value, "{s:s, s:i, s:s, s?s, s?s, s:o, s:o}", "version", &version, "node",
                    &node, "host", &host, "cores", &cores, "digest", &digest, "bootstrap", &boot,
                    "below", &below) < 0 ||
        bootstrap_from_json(&agent->boot, boot, &err) < 0) {
        uplink_lose(agent->uplink);
    } else {
        uplink_set_node(agent->uplink, (uint32_t)node);
        agent->host = mem_copy_text(host);
        if (!agent->topo) /* the hello takes long: the greeting goes without it */
            uplink_flush(agent->uplink);
        downlink_start(agent->downlink, &agent->boot, below); /* the long way first */
        agent_open_for(agent, version, cores, digest);
    }
    error_clear(&err);
    json_decref(value);
}

/* It is one of several that a command started: its parent is elsewhere. */
static void agent_on_call(struct agent *agent, const struct frame *frame)
{
    if (agent->host || agent->called)
        return;
    agent->called = true;
    json_t *call = frame_json(frame, &agent->failure);
    int fd = call ? connect_back_follow(call, &agent->failure) : -1;
    json_decref(call);
    if (fd < 0)
        uplink_lose(agent->uplink);
    else
        uplink_move(agent->uplink, fd);
}

static void agent_on_channel(struct agent *agent, const struct frame *frame)
{
    bool here = frame->node == uplink_node(agent->uplink);
    struct frame ended = {.type = FRAME_CHANNEL,
                          .flags = FRAME_CHANNEL_END,
                          .node = frame->node,
                          .rank = frame->rank};
    struct frame closed = {.type = FRAME_CHANNEL_CREDIT,
                           .flags = FRAME_CHANNEL_CLOSED,
                           .node = frame->node,
                           .rank = frame->rank};
    if (here && !agent->port && frame->flags & FRAME_CHANNEL_OPEN) { /* it could not be made */
        uplink_send(agent->uplink, &ended);
        uplink_send(agent->uplink, &closed);
    } else if (here) {
        instance_port_frame(agent->port, frame);
    } else {
        downlink_send_node(agent->downlink, frame->node, frame);
    }
}

/* An early launch is for a hello that says nothing new; and whoever has given it up since may have given its
 * cores to others. */
static bool counts(const struct agent *agent, const struct frame *frame)
{
    bool early = frame->type == FRAME_LAUNCH && frame->flags & FRAME_LAUNCH_EARLY;
    return !early || (agent->takes_early && !uplink_is_ended(agent->uplink));
}

/* Programs in an instance end before its epilog. */
static void on_program_frame(struct agent *agent, const struct frame *frame)
{
    if (!counts(agent, frame))
        return;
    if (frame->type == FRAME_HOOK && frame->flags & FRAME_HOOK_EPILOG &&
        frame->node == uplink_node(agent->uplink))
        instance_port_shut(agent->port);
    local_program_from_above(agent->program, frame);
}

/* Agents below wait for theirs as well. */
static void agent_on_epilogs(struct agent *agent, const struct frame *frame)
{
    double seconds = frame->rank == FRAME_ALL ? INFINITY : frame->rank / 1000.0;
    scratch_directory_expect_inner_epilogs(agent->config->scratch, seconds);
    downlink_send(agent->downlink, frame);
}

static void agent_on_uplink_frame(void *arg, const struct frame *frame)
{
    struct agent *agent = arg;
    if (frame->type == FRAME_WELCOME)
        agent_on_welcome(agent, frame);
    else if (frame->type == FRAME_CALL)
        agent_on_call(agent, frame);
    else if (frame->type == FRAME_CHANNEL || frame->type == FRAME_CHANNEL_CREDIT)
        agent_on_channel(agent, frame);
    else if (frame->type == FRAME_EPILOGS)
        agent_on_epilogs(agent, frame);
    else if (agent->program)
        on_program_frame(agent, frame);
}

static const struct uplink_ops uplink_ops = {agent_on_uplink_frame, agent_on_uplink_room,
                                             agent_on_uplink_lost};

/* ---- life ---- */

static void agent_on_programs_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)timer, (void)events; /* the turn sees it */
}

/* Agents of programs in the instance remove what was theirs, and their nursery ends with the last; then no child is
 * left. */
static bool programs_are_gone(const struct agent *agent)
{
    siginfo_t info;
    return !agent->port || !ev_is_active(&agent->programs_due) ||
           (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD);
}

/* When the parent is gone, tasks and agents below go first. */
static void agent_on_turn_end(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    struct agent *agent = watcher->data;
    (void)events;
    if (agent->program)
        local_program_turn(agent->program);
    bool over = uplink_is_lost(agent->uplink) &&
                (!agent->program ||
                 (local_program_is_over(agent->program) && local_program_end(agent->program)));
    if (over && downlink_is_empty(agent->downlink) && programs_are_gone(agent))
        ev_break(loop, EVBREAK_ALL);
}

static void agent_on_guard_gone(struct ev_loop *loop, ev_io *io, int events)
{
    struct agent *agent = io->data;
    (void)events;
    ev_io_stop(loop, io);
    uplink_lose(agent->uplink);
}

static void agent_on_child(struct ev_loop *loop, ev_child *watcher, int events)
{
    struct agent *agent = watcher->data;
    (void)loop;
    (void)events;
    /* One that is kept, and can start no agent any more, is of no use. */
    if (agent->port && !*agent->boot.batch && !uplink_is_lost(agent->uplink) &&
        watcher->rpid == instance_port_pid(agent->port))
        uplink_lose(agent->uplink);
    if (agent->program)
        local_program_reaped(agent->program, watcher->rpid, watcher->rstatus);
}

static void agent_open(struct agent *agent, const struct agent_config *config)
{
    agent->loop = ev_default_loop(0);
    agent->config = config;
    agent->manager = config->guard < 0 ? getppid() : 0;
    agent->topo = config->topo;
    agent->machine = config->machine;
    agent->pmix = config->pmix;
    agent->uplink = uplink_new(agent->loop, config->in, config->out, &uplink_ops, agent);
    agent->downlink = downlink_new(agent->loop, agent->uplink, &downlink_ops, agent);
    ev_prepare_init(&agent->turn_end, agent_on_turn_end);
    agent->turn_end.data = agent;
    ev_prepare_start(agent->loop, &agent->turn_end);
    ev_timer_init(&agent->programs_due, agent_on_programs_due, 0, 0);
    ev_child_init(&agent->reaper, agent_on_child, 0, 0);
    agent->reaper.data = agent;
    ev_child_start(agent->loop, &agent->reaper);
    if (config->guard >= 0) {
        ev_io_init(&agent->guard_io, agent_on_guard_gone, config->guard, EV_READ);
        agent->guard_io.data = agent;
        ev_io_start(agent->loop, &agent->guard_io);
    }
}

int agent_run(const struct agent_config *config, struct error *err)
{
    struct agent agent = {0};
    signal(SIGPIPE, SIG_IGN);
    job_signals_survive(); /* tasks may be saving: the link says when to end */
    prctl(PR_SET_NAME, "tpagent");
    descendants_adopt();
    agent_open(&agent, config);
    uplink_greet(agent.uplink);
    ev_run(agent.loop, 0);
    bool left = agent.program && local_program_gave_up(agent.program);
    int status = left ? AGENT_LEFT : agent.failure.text ? 1 : 0;
    if (agent.failure.text)
        error_set(err, "%s", agent.failure.text);
    error_clear(&agent.failure);
    instance_port_free(agent.port);
    local_program_free(agent.program);
    if (!agent.program)
        scratch_directory_remove(config->scratch);
    uplink_free(agent.uplink);
    downlink_free(agent.downlink);
    topo_free(agent.topo);
    if (!config->pmix) /* else openpmix has it until the process ends */
        topo_free_machine(agent.machine);
    bootstrap_clear(&agent.boot);
    free(agent.host);
    owned_directory_sweep_wait(SWEEP_PATIENCE);
    return status;
}

void agent_sweep(void)
{
    host_register_remove_dead();
}

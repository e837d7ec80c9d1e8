#include "launcher/agent/agent.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/agent/internal.h"
#include "launcher/agent/topology_file.h"
#include "launcher/process/descendants.h"
#include "launcher/process/job_signals.h"
#include "launcher/process/localhost.h"
#include "launcher/process/owned_directory.h"
#include "launcher/protocol/hello.h"
#include "launcher/tree/connect_back.h"

#define SWEEP_PATIENCE 0.5 /* s at the end for removing what killed programs left on this node */

/* ---- leaving ---- */

static bool is_busy(const struct agent *agent)
{
    return agent->groups;
}

/* Without a parent nobody wants the tasks any more. Agents below see their own link close. */
static void agent_on_uplink_lost(void *arg)
{
    struct agent *agent = arg;
    agent->stalled = false;
    downlink_end(agent->downlink, AGENT_LOST_GRACE * 2 + pmix_patience(agent));
    if (is_busy(agent))
        task_termination_terminate(agent, AGENT_LOST_GRACE);
}

/* At the end of a turn: when the parent is gone, tasks and agents below go first. */
static void on_settle(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    struct agent *agent = watcher->data;
    (void)events;
    start_abandon(agent);
    task_termination_check(agent);
    start_next(agent);
    bool over = uplink_is_lost(agent->uplink) && !is_busy(agent) && pmix_end(agent);
    if (over && downlink_is_empty(agent->downlink))
        ev_break(loop, EVBREAK_ALL);
}

static void on_guard_gone(struct ev_loop *loop, ev_io *io, int events)
{
    struct agent *agent = io->data;
    (void)events;
    ev_io_stop(loop, io);
    uplink_lose(agent->uplink);
}

/* ---- from below ---- */

static void agent_take_done(struct agent *agent, const struct frame *frame)
{
    struct group *group = group_find(agent, frame->group);
    struct idset *nodes = group ? exit_report_merge(group->report, frame) : NULL;
    if (nodes)
        group_without(group, nodes);
    idset_free(nodes);
}

static bool agent_on_downlink_frame(void *arg, const struct frame *frame)
{
    struct agent *agent = arg;
    switch (frame->type) {
    case FRAME_FENCE_UP:
        pmi_socket_up(agent, frame);
        return true;
    case FRAME_POST:
        pmix_take(agent, frame);
        return true;
    case FRAME_DONE:
        agent_take_done(agent, frame);
        return true;
    default:
        return false;
    }
}

static void agent_on_downlink_gone(void *arg, const struct idset *nodes)
{
    struct agent *agent = arg;
    for (struct group *group = agent->groups; group; group = group->next)
        group_without(group, nodes);
}

static void agent_on_downlink_room(void *arg)
{
    task_streams_input_settle(arg);
}

static const struct downlink_ops downlink_ops = {agent_on_downlink_frame, agent_on_downlink_gone,
                                                 agent_on_downlink_room};

/* ---- the welcome ---- */

static void say_hello(struct agent *agent, const char *cores, const char *known)
{
    struct error err = ERROR_INIT;
    if (!agent->topo)
        agent->topo = topo_load_both(&agent->machine, &err);
    if (agent->topo && cores)
        hello_check_cores(agent->topo, cores, &err);
    char *machine = err.text ? NULL : localhost_machine();
    const struct hello hello = {err.text, agent->topo, known, machine};
    uplink_send_json(agent->uplink,
                     (struct frame){.type = FRAME_HELLO, .node = uplink_node(agent->uplink)},
                     hello_to_json(&hello));
    free(machine);
    error_clear(&err);
}

static void take_welcome(struct agent *agent, const struct frame *frame)
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
        downlink_start(agent->downlink, &agent->boot, below); /* the long way first */
        say_hello(agent, cores, digest);
        uplink_watch(agent->uplink, agent->boot.node_timeout);
        uplink_flush(agent->uplink);
        if (agent->boot.pmix)
            pmix_ahead(agent);
        cgroup_find(agent->config->cgroup); /* while others map */
    }
    error_clear(&err);
    json_decref(value);
}

/* It is one of several that a command started: its parent is elsewhere. */
static void take_call(struct agent *agent, const struct frame *frame)
{
    if (agent->host || agent->called)
        return;
    agent->called = true;
    json_t *call = frame_json(frame, &agent->failure);
    int fd = call ? connect_back_follow(call, &agent->failure) : -1;
    json_decref(call);
    if (fd < 0) {
        uplink_lose(agent->uplink);
        return;
    }
    uplink_move(agent->uplink, fd);
}

/* ---- the launch ---- */

/* What goes wrong with it is told as what goes wrong with tasks. */
static void take_launch(struct agent *agent, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    if (frame->group < agent->next_group || frame->group == FRAME_ALL)
        return;
    struct group *group = group_add(agent, frame, &err);
    if (group->launch)
        start_next(agent);
    else
        start_refuse(group, &err);
    error_clear(&err);
}

/* ---- from above ---- */

static void take_signal(struct agent *agent, const struct frame *frame)
{
    downlink_send(agent->downlink, frame);
    task_signals_forward(agent, frame->flags);
    if (frame->rank == FRAME_SIGNAL_END)
        task_termination_count_down(agent);
}

static void take_terminate(struct agent *agent, const struct frame *frame)
{
    struct group *group = group_find(agent, frame->group);
    if (frame->group != FRAME_ALL && group) {
        group_send(group, frame);
        task_termination_terminate_group(group);
    }
    if (frame->group != FRAME_ALL)
        return;
    downlink_send(agent->downlink, frame);
    task_termination_terminate(agent, frame->rank == FRAME_ALL ? INFINITY : frame->rank / 1000.0);
    task_termination_count_down(agent);
}

static void (*const from_above[FRAME_NTYPES])(struct agent *, const struct frame *) = {
    [FRAME_WELCOME] = take_welcome,
    [FRAME_CALL] = take_call,
    [FRAME_LAUNCH] = take_launch,
    [FRAME_GO] = start_take_go,
    [FRAME_SIGNAL] = take_signal,
    [FRAME_TERMINATE] = take_terminate,
    [FRAME_STDIN] = task_streams_input,
    [FRAME_STDIN_END] = task_streams_input,
    [FRAME_FENCE_DOWN] = pmi_socket_down,
    [FRAME_MISSING] = pmi_socket_missing,
    [FRAME_ANSWER] = spawn_and_names_on_answer,
    [FRAME_POST] = pmix_take,
    [FRAME_SERVICE] = pmix_told,
};

static void agent_on_uplink_frame(void *arg, const struct frame *frame)
{
    if (from_above[frame->type])
        from_above[frame->type](arg, frame);
}

static void agent_on_uplink_room(void *arg)
{
    struct agent *agent = arg;
    downlink_relay_room(agent->downlink);
    task_streams_resume(agent);
}

static const struct uplink_ops uplink_ops = {agent_on_uplink_frame, agent_on_uplink_room,
                                             agent_on_uplink_lost};

/* ---- life ---- */

static void on_child(struct ev_loop *loop, ev_child *watcher, int events)
{
    (void)loop;
    (void)events;
    task_termination_reaped(watcher->data, watcher->rpid, watcher->rstatus);
}

static void agent_open(struct agent *agent, const struct agent_config *config)
{
    agent->loop = ev_default_loop(0);
    agent->config = config;
    agent->topo = config->topo;
    agent->machine = config->machine;
    agent->uplink = uplink_new(agent->loop, config->in, config->out, &uplink_ops, agent);
    agent->downlink = downlink_new(agent->loop, agent->uplink, &downlink_ops, agent);
    task_termination_open(agent);
    ev_prepare_init(&agent->settle, on_settle);
    agent->settle.data = agent;
    ev_prepare_start(agent->loop, &agent->settle);
    ev_child_init(&agent->reaper, on_child, 0, 0);
    agent->reaper.data = agent;
    ev_child_start(agent->loop, &agent->reaper);
    if (config->guard >= 0) {
        ev_io_init(&agent->guard_io, on_guard_gone, config->guard, EV_READ);
        agent->guard_io.data = agent;
        ev_io_start(agent->loop, &agent->guard_io);
    }
}

static void agent_close(struct agent *agent)
{
    while (agent->groups)
        group_free(agent->groups);
    topology_file_close(agent);
    pmix_close(agent);
    host_register_remove(agent);
    uplink_free(agent->uplink);
    downlink_free(agent->downlink);
    topo_free(agent->topo);
    topo_free_machine(agent->machine);
    idset_free(agent->input_nodes);
    bootstrap_clear(&agent->boot);
    idset_free(agent->confined);
    free(agent->host);
    task_termination_close(agent);
    owned_directory_sweep_wait(SWEEP_PATIENCE);
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
    int status = agent.given_up ? AGENT_LEFT : agent.failure.text ? 1 : 0;
    if (agent.failure.text)
        error_set(err, "%s", agent.failure.text);
    error_clear(&agent.failure);
    agent_close(&agent);
    return status;
}

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
#include "config.h"
#include "launcher/agent/internal.h"
#include "launcher/agent/topology_file.h"
#include "launcher/process/descendants.h"
#include "launcher/process/job_signals.h"
#include "launcher/process/localhost.h"
#include "launcher/protocol/allowed_cores.h"
#include "launcher/tree/connect_back.h"

/* ---- leaving ---- */

static bool is_busy(const struct agent *agent)
{
    return agent->groups;
}

static void agent_on_tree_empty(void *arg)
{
    ((struct agent *)arg)->tree_empty = true;
}

/* Without a parent nobody wants the tasks any more. Agents below see their own link close. */
static void parent_lost(struct agent *agent)
{
    link_free(agent->parent);
    agent->parent = NULL;
    agent->stalled = false;
    if (agent->below) {
        struct idset *all = agent->below;
        agent->below = idset_new();
        for (struct group *group = agent->groups; group; group = group->next)
            group_without(group, all);
        idset_free(all);
    }
    if (agent->tree)
        tree_end(agent->tree, AGENT_LOST_GRACE * 2);
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
    if (!agent->parent && !is_busy(agent) && (!agent->tree || agent->tree_empty))
        ev_break(loop, EVBREAK_ALL);
}

static void on_parent_closed(struct link *link, void *arg, const struct error *why)
{
    (void)link;
    (void)why;
    parent_lost(arg);
}

static void on_guard_gone(struct ev_loop *loop, ev_io *io, int events)
{
    struct agent *agent = io->data;
    (void)events;
    ev_io_stop(loop, io);
    if (agent->parent)
        parent_lost(agent);
}

/* ---- from below ---- */

/* The time in it is turned into this machine's. */
static void pass_ended(struct agent *agent, uint32_t child, const struct frame *frame)
{
    struct buf copy = BUF_INIT;
    unsigned char time[8];
    if (frame->len < sizeof(time))
        return;
    frame_put_u64(time,
                  frame_get_u64(frame->bytes) - (uint64_t)tree_clock_offset(agent->tree, child));
    buf_add(&copy, time, sizeof(time));
    buf_add(&copy, (const char *)frame->bytes + sizeof(time), frame->len - sizeof(time));
    struct frame mine = *frame;
    mine.bytes = buf_bytes(&copy);
    exit_report_send(agent, &mine);
    buf_free(&copy);
}

static void agent_take_done(struct agent *agent, const struct frame *frame)
{
    struct group *group = group_find(agent, frame->group);
    if (group)
        exit_report_merge(group, frame);
}

static void agent_on_tree_frame(void *arg, uint32_t child, const struct frame *frame)
{
    struct agent *agent = arg;
    switch (frame->type) {
    case FRAME_FENCE_UP:
        pmi_socket_up(agent, frame);
        break;
    case FRAME_POST:
        pmix_take(agent, frame);
        break;
    case FRAME_DONE:
        agent_take_done(agent, frame);
        tree_consumed(agent->tree, child, link_weight(frame));
        break;
    case FRAME_ENDED:
        pass_ended(agent, child, frame);
        break;
    default:
        tree_relay(agent->tree, child, agent->parent, frame);
    }
}

static void forget_below(struct agent *agent, const struct idset *nodes)
{
    struct idset *left = idset_subtract(agent->below, nodes);
    idset_free(agent->below);
    agent->below = left;
    for (struct group *group = agent->groups; group; group = group->next)
        group_without(group, nodes);
}

static void agent_on_tree_unreached(void *arg, const struct tree_unreached *what)
{
    struct agent *agent = arg;
    if (!agent->parent || !agent->below)
        return;
    char *nodes = idset_encode(what->nodes);
    json_t *value = json_pack("{s:i, s:s, s:i, s:o, s:f, s:s}", "node", (int)what->node, "host",
                              what->host, "stage", (int)what->stage, "text", frame_text(what->text),
                              "elapsed", what->elapsed, "nodes", nodes);
    link_send_json(agent->parent, FRAME_UNREACHED, what->node, 0, value);
    json_decref(value);
    free(nodes);
    forget_below(agent, what->nodes);
    tree_forget(agent->tree, what->nodes);
}

static void agent_on_tree_lost(void *arg, const char *host, const struct idset *nodes,
                               const char *why)
{
    struct agent *agent = arg;
    if (!agent->parent || !agent->below)
        return;
    char *text = idset_encode(nodes);
    json_t *value =
        json_pack("{s:s, s:s, s:o}", "host", host, "nodes", text, "text", frame_text(why));
    link_send_json(agent->parent, FRAME_LOST, agent->node, 0, value);
    json_decref(value);
    free(text);
    forget_below(agent, nodes);
}

static void agent_on_tree_room(void *arg)
{
    task_streams_input_settle(arg);
}

static void agent_on_tree_note(void *arg, const char *text)
{
    struct agent *agent = arg;
    struct frame frame = {
        .type = FRAME_NOTE, .node = agent->node, .bytes = text, .len = strlen(text)};
    exit_report_send(agent, &frame);
}

static const struct tree_ops tree_ops = {agent_on_tree_frame,
                                         agent_on_tree_unreached,
                                         agent_on_tree_lost,
                                         agent_on_tree_room,
                                         agent_on_tree_note,
                                         agent_on_tree_empty,
                                         NULL};

/* ---- the welcome ---- */

static void say_hello(struct agent *agent, const char *cores, const char *known)
{
    struct error err = ERROR_INIT;
    json_t *hello = json_pack("{s:s}", "version", PACKAGE_VERSION);
    if (!agent->topo)
        agent->topo = topo_load_both(&agent->machine, &err);
    if (agent->topo && cores)
        allowed_cores_check(agent->topo, cores, &err);
    if (err.text) {
        json_object_set_new(hello, "error", frame_text(err.text));
    } else {
        char *digest = topo_digest(agent->topo), *machine = localhost_machine();
        json_object_set_new(hello, "machine", frame_text(machine));
        if (!known || strcmp(known, digest) != 0)
            json_object_set_new(hello, "topology", topo_to_json(agent->topo));
        free(machine);
        free(digest);
    }
    link_send_json(agent->parent, FRAME_HELLO, agent->node, 0, hello);
    json_decref(hello);
    error_clear(&err);
}

static void start_below(struct agent *agent, const json_t *below)
{
    size_t count;
    struct tree_target *targets = tree_targets_from_json(below, &count, NULL);
    if (!targets || !count) {
        free(targets);
        return;
    }
    agent->below = idset_new();
    for (size_t i = 0; i < count; i++)
        idset_add(agent->below, targets[i].node);
    agent->tree = tree_new(agent->loop, &agent->boot, &tree_ops, agent);
    tree_start(agent->tree, targets, count, TREE_BELOW);
    tree_targets_free(targets, count);
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
        parent_lost(agent);
    } else {
        agent->node = (uint32_t)node;
        agent->host = mem_copy_text(host);
        start_below(agent, below); /* the long way first */
        say_hello(agent, cores, digest);
        link_watch(agent->parent, agent->boot.node_timeout);
        link_flush(agent->parent, 0);
        if (agent->boot.pmix)
            pmix_ahead(agent);
        cgroup_find(agent->config->cgroup); /* while others map */
    }
    error_clear(&err);
    json_decref(value);
}

static const struct link_ops parent_ops;

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
        parent_lost(agent);
        return;
    }
    link_free(agent->parent);
    ev_now_update(agent->loop);
    agent->parent = link_new(agent->loop, fd, fd, &parent_ops, agent);
    link_greet(agent->parent);
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
    if (agent->tree)
        tree_send(agent->tree, frame);
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
    if (agent->tree)
        tree_send(agent->tree, frame);
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

static void on_parent_frame(struct link *link, void *arg, const struct frame *frame)
{
    (void)link;
    if (from_above[frame->type])
        from_above[frame->type](arg, frame);
}

static void on_parent_room(struct link *link, void *arg)
{
    struct agent *agent = arg;
    (void)link;
    if (agent->tree)
        tree_relay_room(agent->tree);
    task_streams_resume(agent);
}

static const struct link_ops parent_ops = {on_parent_frame, on_parent_room, on_parent_closed, NULL,
                                           NULL};

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
    agent->parent = link_new(agent->loop, config->in, config->out, &parent_ops, agent);
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
    link_free(agent->parent);
    tree_free(agent->tree);
    topo_free(agent->topo);
    topo_free_machine(agent->machine);
    idset_free(agent->below);
    idset_free(agent->input_nodes);
    bootstrap_clear(&agent->boot);
    idset_free(agent->confined);
    free(agent->host);
    task_termination_close(agent);
}

int agent_run(const struct agent_config *config, struct error *err)
{
    struct agent agent = {0};
    signal(SIGPIPE, SIG_IGN);
    job_signals_survive(); /* tasks may be saving: the link says when to end */
    prctl(PR_SET_NAME, "tpagent");
    descendants_adopt();
    agent_open(&agent, config);
    link_greet(agent.parent);
    ev_run(agent.loop, 0);
    int status = agent.given_up ? AGENT_LEFT : agent.failure.text ? 1 : 0;
    if (agent.failure.text)
        error_set(err, "%s", agent.failure.text);
    error_clear(&agent.failure);
    agent_close(&agent);
    return status;
}

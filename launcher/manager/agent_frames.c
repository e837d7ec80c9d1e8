/* What agents report, and what becomes of them. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/agent/agent.h"
#include "launcher/manager/internal.h"
#include "launcher/process/descendants.h"
#include "launcher/protocol/frame_check.h"
#include "launcher/protocol/task_report.h"

static void ended_badly(struct manager *manager, const struct task_group *group, uint64_t time,
                        uint32_t node, const char *why, int status, const char *words,
                        const struct idset *ranks)
{
    struct idset *nodes = group ? task_group_nodes_of(group, ranks) : idset_new();
    if (idset_empty(nodes) && node < host_count(manager->hosts))
        idset_add(nodes, node);
    outcome_task_ended(manager->outcome, time, why, status, words, ranks, nodes);
    idset_free(nodes);
}

void agent_frames_ended(struct manager *manager, const struct task_group *group, uint64_t time,
                        uint32_t node, const json_t *value)
{
    struct ended_report report = {0};
    if (ended_report_from_json(&report, value) == 0) {
        const char *why = report.why;
        if (report.ranks)
            ended_badly(manager, group, time, node, why, report.status, report.text, report.ranks);
        bool keeps =
            manager->spec->on_failure == SPEC_FAILURE_CONTINUE &&
            (strcmp(why, "exit") == 0 || strcmp(why, "signal") == 0 || strcmp(why, "aborted") == 0);
        if (graceful_stop_explains(manager->stop, why))
            graceful_stop_exited(manager->stop);
        else if (!keeps && !manager->terminating)
            termination_terminate(manager, manager->spec->kill_grace);
    } else {
        outcome_other(manager->outcome, clock_monotonic_ns(), ERROR_REFUSED,
                      "a task failed, and its agent's message about it is malformed");
        termination_terminate(manager, manager->spec->kill_grace);
    }
    ended_report_clear(&report);
}

static void take_ended(struct manager *manager, uint32_t child, const struct frame *frame,
                       const json_t *value)
{
    struct task_group *group = task_groups_find(manager->groups, frame->group);
    uint64_t time = ended_report_time(frame) - (uint64_t)tree_clock_offset(manager->tree, child);
    if (!spawn_holds_end(manager->spawns, group, time, frame->node, value))
        agent_frames_ended(manager, group, time, frame->node, value);
}

static void agent_frames_take_done(struct manager *manager, uint32_t child,
                                   const struct frame *frame, const json_t *value)
{
    struct task_group *group = task_groups_find(manager->groups, frame->group);
    struct done_report report = {0};
    done_report_from_json(&report, value);
    for (size_t i = 0; i < report.nexits; i++)
        if (report.exits[i].killed_by_tprun && !spawn_has_failed(manager->spawns, group))
            outcome_killed(manager->outcome, report.exits[i].ranks);
    if (report.silent)
        no_pmi_add(manager->no_pmi, report.silent);
    if (report.nodes && group)
        task_group_nodes_done(group, report.nodes);
    done_report_clear(&report);
    tree_consumed(manager->tree, child, link_weight(frame));
    termination_check(manager);
}

/* They are of no use to groups that may still be added; those that run do not need them. */
static void idle_lost(struct manager *manager, const struct idset *nodes, const char *why)
{
    IDSET_FOREACH(node, nodes)
    {
        if (node >= host_count(manager->hosts))
            break;
        host_lost(manager->hosts, node, why);
        viewer_say(manager, "%s: %s; nothing ran there", host_names(manager->hosts)[node],
                   host_at(manager->hosts, node)->failure);
    }
    tree_forget(manager->tree, nodes);
}

static void nodes_lost(struct manager *manager, const char *host, const struct idset *nodes,
                       const char *why)
{
    struct buf line = BUF_INIT;
    size_t others = 0;
    bool first = !manager->agent_lost;
    manager->agent_lost = true;
    if (manager->phase == PHASE_END)
        return;
    if (manager->phase == PHASE_RUN && !task_groups_use(manager->groups, nodes)) {
        idle_lost(manager, nodes, why);
        return;
    }
    IDSET_FOREACH(node, nodes)
    others +=
        node < host_count(manager->hosts) && strcmp(host_names(manager->hosts)[node], host) != 0;
    buf_printf(&line, "%s: lost: %s", host, why);
    if (others)
        buf_printf(&line, " (and with it %zu host%s behind it)", others, others > 1 ? "s" : "");
    /* Its tasks' peers may hear of it before tprun does, and abort; one is enough to say. */
    (first ? outcome_always : outcome_other)(manager->outcome, clock_monotonic_ns(), ERROR_REFUSED,
                                             buf_text(&line));
    buf_free(&line);
    program_service_lost(manager->service, nodes);
    for (struct task_group *group = task_groups_first(manager->groups); group;
         group = task_group_next(group))
        task_group_nodes_done(group, nodes);
    if (manager->phase == PHASE_GATHER)
        termination_end(manager);
    else
        termination_terminate(manager, AGENT_LOST_GRACE);
    termination_check(manager);
}

static const char *agent_frames_text_at(const json_t *value, const char *key)
{
    return json_string_value(json_object_get(value, key));
}

/* Said in any case: somebody has to look after them. */
static void take_survivors(struct manager *manager, const struct frame *frame)
{
    if (frame->node >= host_count(manager->hosts))
        return;
    char *line = mem_format("%s: %.*s", host_names(manager->hosts)[frame->node], (int)frame->len,
                            (const char *)frame->bytes);
    outcome_always(manager->outcome, UINT64_MAX, ERROR_REFUSED, line);
    manager->survivors = true;
    free(line);
}

static void take_lost(struct manager *manager, const json_t *value)
{
    struct idset *nodes = idset_decode(agent_frames_text_at(value, "nodes"), NULL);
    tree_forget(manager->tree, nodes);
    nodes_lost(manager, agent_frames_text_at(value, "host"), nodes,
               agent_frames_text_at(value, "text"));
    idset_free(nodes);
}

static void take_unreached(struct manager *manager, const json_t *value)
{
    struct idset *nodes = idset_decode(agent_frames_text_at(value, "nodes"), NULL);
    struct tree_unreached what = {
        .node = (uint32_t)json_integer_value(json_object_get(value, "node")),
        .host = agent_frames_text_at(value, "host"),
        .stage = (enum bootstrap_stage)json_integer_value(json_object_get(value, "stage")),
        .text = agent_frames_text_at(value, "text"),
        .elapsed = json_number_value(json_object_get(value, "elapsed")),
        .nodes = nodes};
    if (manager->phase == PHASE_GATHER)
        agents_unreached(manager->agents, &what, false);
    idset_free(nodes);
}

static void take_note(struct manager *manager, const struct frame *frame)
{
    char *text = mem_copy_text_n(frame->bytes, frame->len);
    viewer_host_note(manager, text);
    free(text);
}

/* Before the program runs, or late. */
static void agent_frames_host_settled(struct manager *manager)
{
    if (manager->phase != PHASE_RUN) {
        program_start_settled(manager);
        return;
    }
    if (!host_awaited(manager->hosts))
        agents_keep(manager->agents);
    spawn_waiting_retry(manager->spawn_waiting);
}

/* An agent that is broken may have done anything. */
static void agent_frames_refuse(struct manager *manager, const struct frame *frame,
                                const struct error *err)
{
    const char *host = frame->node < host_count(manager->hosts)
                           ? host_names(manager->hosts)[frame->node]
                           : "a node";
    char *line = mem_format("%s: %s", host, error_text(err));
    if (!manager->terminating && manager->phase != PHASE_END) {
        outcome_other(manager->outcome, clock_monotonic_ns(), ERROR_REFUSED, line);
        termination_terminate(manager, manager->spec->kill_grace);
    }
    free(line);
}

/* Only those of the first group are shown. */
static void take_bindings(struct manager *manager, const struct frame *frame, const json_t *value)
{
    struct error err = ERROR_INIT;
    if (frame->group || !value || manager->phase != PHASE_RUN)
        return;
    if (display_bindings(manager->display, value, &err) < 0) {
        outcome_other(manager->outcome, clock_monotonic_ns(), ERROR_REFUSED, error_text(&err));
        termination_terminate(manager, manager->spec->kill_grace);
    }
    error_clear(&err);
}

static int read_frame(struct manager *manager, const struct frame *frame, json_t **value)
{
    struct error err = ERROR_INIT;
    const struct task_group *group = task_groups_find(manager->groups, frame->group);
    struct frame_check_limits limits = {.nnodes = host_count(manager->hosts),
                                        .nranks = task_groups_ranks(manager->groups),
                                        .has_group = group,
                                        .group_nranks = group ? task_group_ntasks(group) : 0,
                                        .group_nnodes = group ? task_group_nnodes(group) : 0};
    int rc = frame_check_read(frame, &limits, value, &err);
    if (rc < 0)
        agent_frames_refuse(manager, frame, &err);
    error_clear(&err);
    return rc;
}

/* What cannot be is the doing of an agent that is broken. */
static void refuse_message(struct manager *manager, const struct error *err)
{
    if (manager->terminating)
        return;
    outcome_other(manager->outcome, clock_monotonic_ns(), ERROR_REFUSED, error_text(err));
    termination_terminate(manager, manager->spec->kill_grace);
}

static void take_fence(struct manager *manager, const struct frame *frame)
{
    struct task_group *group = task_groups_find(manager->groups, frame->group);
    struct error err = ERROR_INIT;
    if (group && fence_enter(task_group_fence(group), frame, &err) < 0)
        refuse_message(manager, &err);
    error_clear(&err);
}

static void take_service(struct manager *manager, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    if (program_service_message(manager->service, frame, &err) < 0)
        refuse_message(manager, &err);
    error_clear(&err);
}

static void take_prepared(struct manager *manager, const struct frame *frame, const json_t *value)
{
    struct task_group *group = task_groups_find(manager->groups, frame->group);
    if (group && !manager->terminating)
        task_group_prepared(group, frame->node, value);
}

static void take_missing(struct manager *manager, const struct frame *frame)
{
    struct task_group *group = task_groups_find(manager->groups, frame->group);
    if (group)
        fence_missing(task_group_fence(group), frame);
}

static void take_frame(struct manager *manager, uint32_t child, const struct frame *frame,
                       const json_t *value)
{
    switch (frame->type) {
    case FRAME_HELLO:
        agents_hello(manager->agents, frame);
        agent_frames_host_settled(manager);
        break;
    case FRAME_UNREACHED:
        take_unreached(manager, value);
        program_start_settled(manager);
        break;
    case FRAME_PREPARED:
        take_prepared(manager, frame, value);
        break;
    case FRAME_STARTED:
        take_bindings(manager, frame, value);
        spawn_node_started(manager->spawns, task_groups_find(manager->groups, frame->group),
                           frame->node, value);
        break;
    case FRAME_ASK:
        task_requests_take(manager->requests, frame, value);
        break;
    case FRAME_OUTPUT:
        program_service_output(manager->service, frame);
        tree_relay(manager->tree, child, manager->front, frame);
        break;
    case FRAME_NOTE:
        take_note(manager, frame);
        break;
    case FRAME_ENDED:
        take_ended(manager, child, frame, value);
        break;
    case FRAME_POST:
        tree_send_node(manager->tree, frame->node, frame);
        break;
    case FRAME_SERVICE:
        take_service(manager, frame);
        break;
    case FRAME_DONE:
        agent_frames_take_done(manager, child, frame, value);
        break;
    case FRAME_FENCE_UP:
        take_fence(manager, frame);
        break;
    case FRAME_MISSING:
        take_missing(manager, frame);
        break;
    case FRAME_LOST:
        take_lost(manager, value);
        break;
    case FRAME_RUNNING:
        graceful_stop_count(manager->stop, frame);
        break;
    case FRAME_SURVIVORS:
        take_survivors(manager, frame);
        break;
    default:
        break;
    }
}

static void agent_frames_on_tree_frame(void *arg, uint32_t child, const struct frame *frame)
{
    struct manager *manager = arg;
    json_t *value;
    if (read_frame(manager, frame, &value) == 0)
        take_frame(manager, child, frame, value);
    json_decref(value);
}

/* ---- agents ---- */

static void agents_on_say(void *owner, const char *fmt, va_list args)
{
    viewer_say_args(owner, fmt, args);
}

static void agents_on_note(void *owner, const char *text)
{
    viewer_note(owner, text);
}

/* While the program runs, which it does not end. */
static void agents_on_failed(void *owner, uint32_t host)
{
    struct manager *manager = owner;
    if (manager->phase != PHASE_RUN)
        return;
    char *line = host_failure(manager->hosts, host);
    viewer_say(manager, "%s", line);
    free(line);
}

static void agents_on_duplicate(void *owner, uint32_t host)
{
    struct manager *manager = owner;
    (void)host;
    if (manager->phase == PHASE_RUN)
        agents_tell_duplicates(manager->agents);
}

/* Until tasks run. */
static bool agents_on_progress_told(void *owner, const json_t *value)
{
    struct manager *manager = owner;
    if (!manager->front || manager->phase != PHASE_GATHER)
        return false;
    link_send_json(manager->front, FRAME_PROGRESS, 0, 0, value);
    return true;
}

const struct agents_ops agent_frames_agents_ops = {agents_on_say, agents_on_note, agents_on_failed,
                                                   agents_on_duplicate, agents_on_progress_told};

/* ---- the tree ---- */

static void agent_frames_on_tree_unreached(void *arg, const struct tree_unreached *what)
{
    struct manager *manager = arg;
    if (manager->phase == PHASE_END)
        return;
    agents_unreached(manager->agents, what, true);
    agent_frames_host_settled(manager);
}

static void agent_frames_on_tree_lost(void *arg, const char *host, const struct idset *nodes,
                                      const char *why)
{
    nodes_lost(arg, host, nodes, why);
}

static void agent_frames_on_tree_room(void *arg)
{
    viewer_settle_input(arg);
}

static void agent_frames_on_tree_note(void *arg, const char *text)
{
    viewer_host_note(arg, text);
}

/* Those that an agent could not end are known. */
static void end_descendants(struct manager *manager)
{
    if (manager->survivors) {
        cgroup_kill(manager->cgroup);
        descendants_signal(SIGKILL, NULL, 0);
        return;
    }
    char *survivors = descendants_end(AGENT_LOST_GRACE, NULL, 0, manager->cgroup);
    if (survivors)
        outcome_always(manager->outcome, UINT64_MAX, ERROR_REFUSED, survivors);
    free(survivors);
}

/* Every agent has gone. What a killed one left behind was adopted here, and goes now. */
static void agent_frames_on_tree_empty(void *arg)
{
    struct manager *manager = arg;
    if (manager->finished)
        return;
    manager->finished = true;
    end_descendants(manager);
    scratch_directory_remove(manager->scratch);
    if (manager->agent_lost)
        agent_sweep();
    program_service_end(manager->service);
    resources_leave(manager->resources);
    if (manager->front)
        viewer_tell_end(manager);
    else
        ev_break(manager->loop, EVBREAK_ALL);
}

/* In the child that becomes the agent of this machine. The program's lock stays open in it: the
 * claim lasts for as long as tasks may. */
static int agent_here(void *arg, int fd)
{
    struct manager *manager = arg;
    struct agent_config config = {.guard = -1,
                                  .topo = topo_ref(local_topology_topo(manager->local)),
                                  .machine = local_topology_machine(manager->local),
                                  .cgroup = manager->cgroup,
                                  .scratch = manager->scratch};
    config.in = config.out = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    close(fd);
    ev_loop_destroy(manager->loop);
    link_disown(manager->front);
    tree_disown(manager->tree);
    return agent_run(&config, NULL);
}

const struct tree_ops agent_frames_ops = {agent_frames_on_tree_frame,
                                          agent_frames_on_tree_unreached,
                                          agent_frames_on_tree_lost,
                                          agent_frames_on_tree_room,
                                          agent_frames_on_tree_note,
                                          agent_frames_on_tree_empty,
                                          agent_here};

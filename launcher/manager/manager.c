/* The process of programs: who watches them, the frames that agents send, and its own end. */
#include "launcher/manager/manager.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "affinity/sets/idset.h"
#include "affinity/topology/topo.h"
#include "base/descriptors.h"
#include "base/mem.h"
#include "launcher/agent/agent.h"
#include "launcher/agent/agent_guard.h"
#include "launcher/linkage/part_linkage.h"
#include "launcher/manager/agent_keeper.h"
#include "launcher/manager/instance_host.h"
#include "launcher/manager/input_sender.h"
#include "launcher/manager/local_descendants.h"
#include "launcher/manager/manager_control.h"
#include "launcher/manager/output_route.h"
#include "launcher/manager/viewer.h"
#include "launcher/process/descendants.h"
#include "launcher/process/exec.h"
#include "launcher/process/job_signals.h"
#include "launcher/process/program_path.h"
#include "launcher/process/process_set.h"
#include "launcher/program/program.h"
#include "launcher/protocol/instance_request.h"
#include "launcher/stdio/result_file.h"
#include "pmi-server/pmix/server.h"

#define GONE_PATIENCE 2.0 /* s that an agent's process may need to go once it is done */
#define END_PATIENCE 10.0 /* s that a front end may need to say what is to be saved of the end */

struct manager {
    struct ev_loop *loop;
    struct spec *spec;
    struct program **programs; /* one today: that of the spec */
    size_t nprograms;
    struct viewer **viewers; /* one today, who started the program: output goes to it alone */
    size_t nviewers;
    struct output_route *output;     /* of the first viewer */
    struct manager_control *control; /* of the first program, as is the next */
    struct input_sender *input;
    struct tree *tree;
    struct local_descendants *descendants;
    struct local_topology *local;
    struct host_bootstrap *bootstrap;
    struct instance_host *instance; /* NULL: the program is none */
    struct agent_keeper *keeper;    /* NULL: its agents are not for other runs */
    struct cgroup *cgroup;          /* of the agent of this machine, as is the next */
    struct scratch *scratch;
    struct scratch
        *outer;    /* of the instance's agent on this machine; NULL: the program is in none */
    bool is_empty; /* every agent has gone, */
    bool finished; /* and what they left behind */
    bool
        outlives; /* what is saved goes on without its front end: its processes have another guard */
    ev_timer end_due;
    bool left;           /* the directory */
    ev_io instance_over; /* of a program in an instance: that has nothing more to say */
};

/* Frames do not say yet which program they are of. */
static struct program *program_of(const struct manager *manager, const struct frame *frame)
{
    (void)frame;
    return manager->programs[0];
}

/* ---- those who watch ---- */

static bool is_watched(const struct manager *manager)
{
    for (size_t i = 0; i < manager->nviewers; i++)
        if (viewer_link(manager->viewers[i]))
            return true;
    return false;
}

static void manager_host_note(struct manager *manager, const char *text)
{
    for (size_t i = 0; i < manager->nviewers; i++)
        viewer_host_note(manager->viewers[i], text);
}

static void manager_on_note(void *owner, const char *text)
{
    struct manager *manager = owner;
    for (size_t i = 0; i < manager->nviewers; i++)
        viewer_note(manager->viewers[i], text);
}

static void manager_on_show(void *owner, const char *text, bool error)
{
    struct manager *manager = owner;
    for (size_t i = 0; i < manager->nviewers; i++)
        viewer_show(manager->viewers[i], text, error);
}

static bool manager_on_progress(void *owner, const json_t *progress)
{
    struct manager *manager = owner;
    for (size_t i = 0; i < manager->nviewers; i++)
        viewer_send(manager->viewers[i], FRAME_PROGRESS, progress);
    return is_watched(manager);
}

/* Its path is one of the front end's host. */
static int manager_on_result(void *owner, enum frame_result which, const char *text,
                             struct error *err)
{
    struct manager *manager = owner;
    const char *option = which == FRAME_RESULT_DRAW ? "--draw" : "--report";
    const char *path = which == FRAME_RESULT_DRAW ? manager->spec->draw : manager->spec->report;
    if (!manager->spec->is_sent)
        return result_file_write(option, path, text, strlen(text), err);
    if (viewer_result(manager->viewers[0], which, text, err) == 0)
        return 0;
    return error_prefix(err, "%s: cannot write %s", option, path);
}

/* ---- what the program says of itself ---- */

static void manager_on_save(void *owner, struct control_answer *answer)
{
    struct manager *manager = owner;
    struct error err = ERROR_INIT;
    const char *path = program_path_of(manager->programs[0]);
    if (program_is_pending(manager->programs[0]))
        control_answer_refuse(answer, CONTROL_NOT_NOW, "it is pending: it has no output yet");
    else if (!answer->status && output_route_copy(manager->output, path, &err) < 0)
        control_answer_refuse(answer, CONTROL_REFUSED, "%s", error_text(&err));
    error_clear(&err);
}

static void manager_on_runs(void *owner)
{
    struct manager *manager = owner;
    agent_keeper_open(manager->keeper);
    for (size_t i = 0; i < manager->nviewers && manager->spec->detach; i++)
        viewer_send_text(manager->viewers[i], FRAME_RUNS, "");
}

static void manager_on_launched(void *owner, const json_t *launch)
{
    instance_host_launched(((struct manager *)owner)->instance, launch);
}

static void manager_on_mapped(void *owner, const json_t *table)
{
    struct manager *manager = owner;
    output_route_open(manager->output, program_path_of(manager->programs[0]));
    for (size_t i = 0; i < manager->nviewers; i++)
        viewer_send(manager->viewers[i], FRAME_MAPPED, table);
    manager_control_launched(manager->control);
}

static void manager_on_finishing(void *owner)
{
    struct manager *manager = owner;
    agent_keeper_shut(manager->keeper); /* who comes while agents end gets none of them */
    instance_host_shut(manager->instance);
    local_descendants_wait(manager->descendants);
}

static double manager_on_inner_epilogs(void *owner)
{
    return scratch_directory_inner_epilogs(((struct manager *)owner)->scratch);
}

static void manager_on_input_gone(void *owner, const struct idset *ranks)
{
    input_sender_gone(((struct manager *)owner)->input, ranks);
}

static const struct program_ops manager_program_ops = {
    manager_on_note,     manager_on_note,          manager_on_show,      manager_on_result,
    manager_on_progress, manager_on_launched,      manager_on_mapped,    manager_on_finishing,
    manager_on_runs,     manager_on_inner_epilogs, manager_on_input_gone};

/* ---- what they order ---- */

static void manager_on_signal(void *owner, int number, const char *sender)
{
    program_signal(((struct manager *)owner)->programs[0], number, sender);
}

static void manager_on_terminate(void *owner, double grace, int number)
{
    program_terminate(((struct manager *)owner)->programs[0], grace, number);
}

static void manager_on_input(void *owner, const struct frame *frame)
{
    input_sender_from_front_end(((struct manager *)owner)->input, frame);
}

static void manager_on_terminal(void *owner, const struct frame *frame)
{
    program_input(((struct manager *)owner)->programs[0], frame);
}

static void manager_on_leave(void *owner)
{
    struct manager *manager = owner;
    output_route_leave(manager->output, program_path_of(manager->programs[0]));
}

static bool manager_takes_input(void *owner)
{
    return program_takes_input(((struct manager *)owner)->programs[0]);
}

static void manager_on_viewer_room(void *owner)
{
    tree_relay_room(((struct manager *)owner)->tree);
}

static void manager_leave(struct manager *manager)
{
    ev_timer_stop(manager->loop, &manager->end_due);
    for (size_t i = 0; i < manager->nprograms && !manager->left; i++)
        program_leave(manager->programs[i]);
    manager->left = true;
}

/* The front end has not said its last word: it is gone, or stopped. Notes of hosts still wait for others. */
static void save_own_end(struct manager *manager)
{
    struct buf lines = BUF_INIT;
    for (size_t i = 0; i < manager->nviewers; i++)
        viewer_settle_notes(manager->viewers[i]);
    int status = program_outcome(manager->programs[0], &lines);
    output_route_end(manager->output, status, buf_text(&lines));
    buf_free(&lines);
}

static void manager_on_end_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager *manager = timer->data;
    (void)loop, (void)events;
    save_own_end(manager);
    manager_leave(manager);
}

static void manager_on_viewer_end(void *owner, int status, const char *messages)
{
    struct manager *manager = owner;
    if (manager->finished)
        output_route_end(manager->output, status, messages);
}

/* Killed, or its task or its host is gone. What it was to write into files is saved from now on. */
static void go_on_alone(struct manager *manager)
{
    static const char gone[] =
        "the tprun that started this program is gone; the program goes on, and all output is saved";
    output_route_go_alone(manager->output);
    input_sender_from_front_end(
        manager->input,
        &(struct frame){.type = FRAME_STDIN_END,
                        .flags = manager->spec->input_stays ? FRAME_STDIN_STAYS : 0});
    manager_on_note(manager, gone);
}

/* With the last one the program goes: nobody is there to tell. */
static void manager_on_viewer_gone(void *owner)
{
    struct manager *manager = owner;
    tree_relay_room(manager->tree);
    if (is_watched(manager))
        return;
    if (manager->outlives && output_route_saves(manager->output) && !manager->finished) {
        go_on_alone(manager);
        return;
    }
    if (manager->finished) {
        save_own_end(manager);
        manager_leave(manager);
        ev_break(manager->loop, EVBREAK_ALL);
    }
    for (size_t i = 0; i < manager->nprograms && !manager->finished; i++) {
        if (manager->spec->pty)
            program_input(manager->programs[i], &(struct frame){.type = FRAME_TERMINAL});
        program_terminate(manager->programs[i], AGENT_LOST_GRACE, 0);
    }
}

/* The instance around this program is over. Without a front end nothing else says it: an agent of this machine is a child
 * of this process. */
static void manager_on_instance_over(struct ev_loop *loop, ev_io *io, int events)
{
    struct manager *manager = io->data;
    (void)events;
    ev_io_stop(loop, io);
    manager->outlives = false;
    for (size_t i = 0; i < manager->nprograms && !manager->finished; i++)
        program_instance_over(manager->programs[i], AGENT_LOST_GRACE);
}

static const struct viewer_ops manager_viewer_ops = {
    manager_on_signal,      manager_on_terminate,  manager_on_input,
    manager_on_terminal,    manager_on_leave,      manager_takes_input,
    manager_on_viewer_room, manager_on_viewer_end, manager_on_viewer_gone};

static const char *text_at(const json_t *value, const char *key)
{
    return json_string_value(json_object_get(value, key));
}

/* ---- frames that concern more than the program ---- */

static void nodes_lost(struct manager *manager, const char *host, const struct idset *nodes,
                       const char *why)
{
    bool first = local_descendants_agent_lost(manager->descendants,
                                              program_is_here(manager->programs[0], nodes));
    instance_host_nodes_lost(manager->instance, nodes);
    for (size_t i = 0; i < manager->nprograms; i++)
        program_nodes_lost(manager->programs[i], host, nodes, why, first, AGENT_LOST_GRACE);
    agent_keeper_retire(manager->keeper);
}

static void take_lost(struct manager *manager, uint32_t child, const struct frame *frame,
                      const json_t *value)
{
    struct idset *nodes = idset_decode(text_at(value, "nodes"), NULL);
    (void)child, (void)frame;
    tree_forget(manager->tree, nodes);
    nodes_lost(manager, text_at(value, "host"), nodes, text_at(value, "text"));
    idset_free(nodes);
}

static void host_unreached(struct manager *manager, const struct tree_unreached *what, bool direct)
{
    for (size_t i = 0; i < manager->nprograms; i++)
        program_host_unreached(manager->programs[i], what, direct);
}

static void take_unreached(struct manager *manager, uint32_t child, const struct frame *frame,
                           const json_t *value)
{
    struct idset *nodes = idset_decode(text_at(value, "nodes"), NULL);
    struct tree_unreached what = {
        .node = (uint32_t)json_integer_value(json_object_get(value, "node")),
        .host = text_at(value, "host"),
        .stage = (enum bootstrap_stage)json_integer_value(json_object_get(value, "stage")),
        .text = text_at(value, "text"),
        .elapsed = json_number_value(json_object_get(value, "elapsed")),
        .nodes = nodes};
    (void)child, (void)frame;
    host_unreached(manager, &what, false);
    idset_free(nodes);
}

static void relay_output(struct manager *manager, uint32_t child, const struct frame *frame,
                         const json_t *value)
{
    program_frame(program_of(manager, frame), child, frame, value);
    if (output_route_take(manager->output, frame))
        tree_consumed(manager->tree, child, link_weight(frame));
    else
        tree_relay(manager->tree, child, viewer_link(manager->viewers[0]), frame);
}

static void take_note(struct manager *manager, uint32_t child, const struct frame *frame,
                      const json_t *value)
{
    char *text = mem_copy_text_n(frame->bytes, frame->len);
    (void)child, (void)value;
    manager_host_note(manager, text);
    free(text);
}

/* Said in any case: somebody has to look after them. */
static void take_survivors(struct manager *manager, uint32_t child, const struct frame *frame,
                           const json_t *value)
{
    const char *host = program_host_name(program_of(manager, frame), frame->node);
    (void)child, (void)value;
    if (!host)
        return;
    char *line = mem_format("%s: %.*s", host, (int)frame->len, (const char *)frame->bytes);
    program_report(program_of(manager, frame), line);
    local_descendants_unkillable(manager->descendants);
    free(line);
}

static void take_channel(struct manager *manager, uint32_t child, const struct frame *frame,
                         const json_t *value)
{
    (void)child, (void)value;
    instance_host_frame(manager->instance, frame);
}

/* Others are the program's. */
static void (*const frame_takers[])(struct manager *manager, uint32_t child,
                                    const struct frame *frame, const json_t *value) = {
    [FRAME_UNREACHED] = take_unreached,    [FRAME_LOST] = take_lost,
    [FRAME_OUTPUT] = relay_output,         [FRAME_NOTE] = take_note,
    [FRAME_SURVIVORS] = take_survivors,    [FRAME_CHANNEL] = take_channel,
    [FRAME_CHANNEL_CREDIT] = take_channel,
};

static void on_tree_frame(void *arg, uint32_t child, const struct frame *frame)
{
    struct manager *manager = arg;
    size_t count = sizeof(frame_takers) / sizeof(frame_takers[0]);
    json_t *value;
    if (program_check_frame(program_of(manager, frame), frame, &value) == 0) {
        if (frame->type < count && frame_takers[frame->type])
            frame_takers[frame->type](manager, child, frame, value);
        else
            program_frame(program_of(manager, frame), child, frame, value);
    }
    json_decref(value);
}

/* ---- the tree ---- */

static void on_tree_unreached(void *arg, const struct tree_unreached *what)
{
    host_unreached(arg, what, true);
}

static void on_tree_lost(void *arg, const char *host, const struct idset *nodes, const char *why)
{
    nodes_lost(arg, host, nodes, why);
}

static void on_tree_room(void *arg)
{
    struct manager *manager = arg;
    for (size_t i = 0; i < manager->nviewers; i++)
        viewer_settle_input(manager->viewers[i]);
    input_sender_settle(manager->input);
    for (size_t i = 0; i < manager->nprograms; i++)
        program_room(manager->programs[i]);
}

static void on_tree_note(void *arg, const char *text)
{
    manager_host_note(arg, text);
}

/* Every agent has gone. */
static void on_tree_empty(void *arg)
{
    struct manager *manager = arg;
    if (manager->is_empty)
        return;
    manager->is_empty = true;
    agent_keeper_shut(manager->keeper);
    instance_host_shut(manager->instance);
    local_descendants_end(manager->descendants);
}

static void manager_on_descendants_gone(void *owner, char *survivors)
{
    struct manager *manager = owner;
    manager->finished = true;
    if (survivors)
        program_report(manager->programs[0], survivors);
    free(survivors);
    manager_control_shut(manager->control);
    for (size_t i = 0; i < manager->nprograms; i++)
        program_complete(manager->programs[i]);
    if (!is_watched(manager) || output_route_copies(manager->output))
        save_own_end(manager);
    if (!output_route_saves(manager->output) || !is_watched(manager))
        manager_leave(manager);
    if (!is_watched(manager)) {
        ev_break(manager->loop, EVBREAK_ALL);
        return;
    }
    output_route_finish(manager->output);
    struct buf lines = BUF_INIT;
    int status = program_outcome(manager->programs[0], &lines);
    for (size_t i = 0; i < manager->nviewers; i++)
        viewer_end(manager->viewers[i], status, buf_text(&lines));
    buf_free(&lines);
    if (!manager->left)
        ev_timer_start(manager->loop, &manager->end_due);
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
                                  .scratch = manager->scratch,
                                  .instance = manager->outer,
                                  .run_another = agent_guard_run};
    config.in = config.out = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    close(fd);
    ev_loop_destroy(manager->loop);
    for (size_t i = 0; i < manager->nviewers; i++)
        viewer_disown(manager->viewers[i]);
    manager_control_disown(manager->control);
    output_route_disown(manager->output);
    agent_keeper_disown(manager->keeper);
    instance_host_disown(manager->instance);
    tree_disown(manager->tree);
    return agent_run(&config, NULL);
}

static const struct tree_ops manager_tree_ops = {on_tree_frame, on_tree_unreached, on_tree_lost,
                                                 on_tree_room,  on_tree_note,      on_tree_empty,
                                                 agent_here};

/* ---- the process ---- */

static void manager_on_say(void *owner, const char *fmt, va_list args)
{
    struct manager *manager = owner;
    char text[512];
    if (!manager->spec->verbose)
        return;
    vsnprintf(text, sizeof(text), fmt, args);
    manager_on_note(manager, text);
}

/* ---- an instance ---- */

static void on_instance_send(void *owner, const struct frame *frame)
{
    tree_send_node(((struct manager *)owner)->tree, frame->node, frame);
}

static uint32_t on_instance_node(void *owner, const char *host, struct error *err)
{
    return program_find_host(((struct manager *)owner)->programs[0], host, err);
}

static void on_instance_used(void *owner, size_t managers, double keep)
{
    agent_keeper_used(((struct manager *)owner)->keeper, managers, keep);
}

static const struct instance_host_ops instance_ops = {on_instance_send, on_instance_node,
                                                      on_instance_used};

static void keeper_on_idle(void *owner, double until)
{
    program_agents_idle(((struct manager *)owner)->programs[0], until);
}

static void keeper_on_over(void *owner)
{
    program_terminate(((struct manager *)owner)->programs[0], 0, 0);
}

/* Once there are agents and the loop. */
static void open_keeper(struct manager *manager, const struct manager_config *from)
{
    const struct agent_keeper_config config = {.loop = manager->loop,
                                               .host = manager->instance,
                                               .listener = from->listener,
                                               .withdraw = from->withdraw,
                                               .withdraw_arg = from->withdraw_arg,
                                               .seconds = manager->spec->keep_agents,
                                               .idle = keeper_on_idle,
                                               .over = keeper_on_over,
                                               .owner = manager};
    if (manager->spec->agents_only)
        manager->keeper = agent_keeper_new(&config);
}

/* Its tasks are told of it, and so are its agents. Links to the agents of each program are descriptors; tasks have the limit
 * that the spec says. */
static int open_instance(struct manager *manager, const struct manager_config *config,
                         struct error *err)
{
    bool keeps = config->spec->agents_only;
    if (config->broker || config->spec->initial_program || keeps)
        descriptors_raise_limit();
    if ((!config->spec->initial_program && !keeps) || config->spec->dry_run)
        return 0;
    manager->instance = instance_host_new(keeps ? NULL : config->program, config->scratch, err);
    if (!manager->instance)
        return -1;
    if (keeps)
        return 0;
    spec_set_variable(manager->spec, BATCH_VARIABLE, instance_host_name(manager->instance));
    return 0;
}

/* Whoever else may go on: it goes with its instance. Nothing ever comes over this descriptor. */
static void watch_instance(struct manager *manager, int broker)
{
    manager->outlives = broker;
    ev_io_init(&manager->instance_over, manager_on_instance_over, broker, EV_READ);
    manager->instance_over.data = manager;
    if (broker)
        ev_io_start(manager->loop, &manager->instance_over);
}

static void open_viewer(struct manager *manager, int fd)
{
    const struct spec *spec = manager->spec;
    struct viewer *viewer =
        viewer_new(manager->loop, fd, spec->verbose, &manager_viewer_ops, manager);
    manager->viewers[manager->nviewers++] = viewer;
    manager->output = output_route_new(manager->loop, spec, viewer);
}

static const struct host_bootstrap_ops bootstrap_ops = {manager_on_say, part_linkage_needs_pmix};

/* This machine's agent, which is forked later, finds openpmix open. */
static bool wants_pmix(void *owner)
{
    struct manager *manager = owner;
    return host_bootstrap_predict_pmix(manager->bootstrap);
}

static void warm_pmix(void *owner)
{
    (void)owner;
    pmix_server_warm();
}

/* By a process that nobody waits for. Below a task it would be taken for what that left behind. */
static void move_completed(const struct manager *manager)
{
    bool is_below_task = getenv("TPRUN_INSTANCE") && !manager->outer;
    enum completed_mover mover = manager->outer      ? MOVER_INSIDE
                                 : manager->instance ? MOVER_INSTANCE
                                                     : MOVER_RUN;
    for (size_t i = 0; i < manager->nprograms && !is_below_task; i++) {
        const char *id, *path = program_completed_due(manager->programs[i], mover, &id);
        if (!path)
            continue;
        char *words[] = {program_path("tpmove"), (char *)(uintptr_t)path, (char *)(uintptr_t)id,
                         NULL};
        program_start_detached(words);
        free(words[0]);
    }
}

static void manager_on_descendants_ended(void *owner)
{
    program_begin_end(((struct manager *)owner)->programs[0]);
}

static void open_tree(struct manager *manager)
{
    manager->tree = tree_new(manager->loop, host_bootstrap_command(manager->bootstrap),
                             &manager_tree_ops, manager);
    const struct local_descendants_config below = {.loop = manager->loop,
                                                   .tree = manager->tree,
                                                   .scratch = manager->scratch,
                                                   .cgroup = manager->cgroup,
                                                   .ended = manager_on_descendants_ended,
                                                   .gone = manager_on_descendants_gone,
                                                   .owner = manager};
    manager->descendants = local_descendants_new(&below);
}

static void manager_open_program(struct manager *manager, struct stage_source *stage)
{
    double patience = GONE_PATIENCE + (manager->spec->tools ? AGENT_TOOLS_PATIENCE : 0);
    struct program *program =
        program_new(manager->loop, manager->spec, manager->tree, manager->bootstrap, manager->local,
                    patience, &manager_program_ops, manager);
    manager->programs[manager->nprograms++] = program;
    if (stage)
        program_set_stage(program, stage);
    manager->input = input_sender_new(program, manager->spec);
    const struct manager_control_config control = {.loop = manager->loop,
                                                   .program = program,
                                                   .input = manager->input,
                                                   .note = manager_on_note,
                                                   .save = manager_on_save,
                                                   .owner = manager};
    manager->control = manager_control_new(&control);
}

static void manager_close(struct manager *manager)
{
    move_completed(manager);
    local_descendants_free(manager->descendants);
    tree_free(manager->tree);
    for (size_t i = 0; i < manager->nprograms; i++)
        program_free(manager->programs[i]);
    agent_keeper_free(manager->keeper);
    instance_host_free(manager->instance);
    manager_control_free(manager->control);
    output_route_free(manager->output);
    input_sender_free(manager->input);
    host_bootstrap_free(manager->bootstrap);
    local_topology_free(manager->local);
    for (size_t i = 0; i < manager->nviewers; i++)
        viewer_free(manager->viewers[i]);
    free(manager->programs);
    free(manager->viewers);
    spec_free(manager->spec);
}

int manager_run(const struct manager_config *config)
{
    struct spec *spec = config->spec;
    struct error err = ERROR_INIT;
    struct manager manager = {.spec = spec,
                              .programs = mem_array(1, sizeof(struct program *)),
                              .viewers = mem_array(1, sizeof(struct viewer *)),
                              .cgroup = config->cgroup,
                              .scratch = config->scratch,
                              .outer = config->instance};
    setsid();
    signal(SIGPIPE, SIG_IGN);
    job_signals_survive(); /* the front end has them, too, and decides */
    prctl(PR_SET_NAME, PROCESS_MANAGER);
    if (spec->epilog)
        scratch_directory_expect_epilog(config->scratch, spec->hook_timeout);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* until hosts are waited for, see keep_for_hosts() */
    exec_reserve();
    descendants_adopt();
    if (!spec->dry_run) /* which has no threads, and may read topologies that take hwloc's plug-ins */
        topo_prepare();
    int opened = open_instance(&manager, config, &err);
    manager.loop = ev_default_loop(0);
    ev_timer_init(&manager.end_due, manager_on_end_due, END_PATIENCE, 0);
    manager.end_due.data = &manager;
    open_viewer(&manager, config->fd);
    watch_instance(&manager, config->broker);
    manager.bootstrap = host_bootstrap_new(spec, TPRUN_AGENT_PATH, &bootstrap_ops, &manager);
    host_bootstrap_use_instance(manager.bootstrap, instance_host_name(manager.instance),
                                config->broker);
    manager.local = local_topology_new(wants_pmix, warm_pmix, &manager);
    open_tree(&manager);
    manager_open_program(&manager, config->stage);
    instance_host_attach(manager.instance, manager.loop, &instance_ops, &manager);
    open_keeper(&manager, config);
    if (opened == 0) {
        program_begin(manager.programs[0]);
    } else { /* nothing has begun that would have to end */
        manager.finished = manager.left = true;
        output_route_finish(manager.output);
        viewer_end(manager.viewers[0], 1, error_text(&err));
    }
    error_clear(&err);
    ev_run(manager.loop, 0);
    manager_close(&manager);
    return 0;
}

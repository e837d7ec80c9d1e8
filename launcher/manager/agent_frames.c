/* What the tree of agents hands on, and the end of the process. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/agent/agent.h"
#include "launcher/manager/internal.h"
#include "launcher/process/descendants.h"

static const char *agent_frames_text_at(const json_t *value, const char *key)
{
    return json_string_value(json_object_get(value, key));
}

/* ---- frames that concern more than the program ---- */

static void nodes_lost(struct manager *manager, const char *host, const struct idset *nodes,
                       const char *why)
{
    bool first = !manager->agent_lost;
    manager->agent_lost = true;
    program_nodes_lost(manager->program, host, nodes, why, first, AGENT_LOST_GRACE);
}

static void take_lost(struct manager *manager, uint32_t child, const struct frame *frame,
                      const json_t *value)
{
    struct idset *nodes = idset_decode(agent_frames_text_at(value, "nodes"), NULL);
    (void)child, (void)frame;
    tree_forget(manager->tree, nodes);
    nodes_lost(manager, agent_frames_text_at(value, "host"), nodes,
               agent_frames_text_at(value, "text"));
    idset_free(nodes);
}

static void take_unreached(struct manager *manager, uint32_t child, const struct frame *frame,
                           const json_t *value)
{
    struct idset *nodes = idset_decode(agent_frames_text_at(value, "nodes"), NULL);
    struct tree_unreached what = {
        .node = (uint32_t)json_integer_value(json_object_get(value, "node")),
        .host = agent_frames_text_at(value, "host"),
        .stage = (enum bootstrap_stage)json_integer_value(json_object_get(value, "stage")),
        .text = agent_frames_text_at(value, "text"),
        .elapsed = json_number_value(json_object_get(value, "elapsed")),
        .nodes = nodes};
    (void)child, (void)frame;
    program_host_unreached(manager->program, &what, false);
    idset_free(nodes);
}

static void relay_output(struct manager *manager, uint32_t child, const struct frame *frame,
                         const json_t *value)
{
    program_frame(manager->program, child, frame, value);
    tree_relay(manager->tree, child, manager->viewer.link, frame);
}

static void take_note(struct manager *manager, uint32_t child, const struct frame *frame,
                      const json_t *value)
{
    char *text = mem_copy_text_n(frame->bytes, frame->len);
    (void)child, (void)value;
    viewer_host_note(manager, text);
    free(text);
}

/* Said in any case: somebody has to look after them. */
static void take_survivors(struct manager *manager, uint32_t child, const struct frame *frame,
                           const json_t *value)
{
    const char *host = program_host_name(manager->program, frame->node);
    (void)child, (void)value;
    if (!host)
        return;
    char *line = mem_format("%s: %.*s", host, (int)frame->len, (const char *)frame->bytes);
    program_report(manager->program, line);
    manager->survivors = true;
    free(line);
}

/* Others are the program's. */
static void (*const takers_of_frames[])(struct manager *manager, uint32_t child,
                                        const struct frame *frame, const json_t *value) = {
    [FRAME_UNREACHED] = take_unreached, [FRAME_LOST] = take_lost,
    [FRAME_OUTPUT] = relay_output,      [FRAME_NOTE] = take_note,
    [FRAME_SURVIVORS] = take_survivors,
};

static void agent_frames_on_tree_frame(void *arg, uint32_t child, const struct frame *frame)
{
    struct manager *manager = arg;
    size_t count = sizeof(takers_of_frames) / sizeof(takers_of_frames[0]);
    json_t *value;
    if (program_check_frame(manager->program, frame, &value) == 0) {
        if (frame->type < count && takers_of_frames[frame->type])
            takers_of_frames[frame->type](manager, child, frame, value);
        else
            program_frame(manager->program, child, frame, value);
    }
    json_decref(value);
}

/* ---- the tree ---- */

static void agent_frames_on_tree_unreached(void *arg, const struct tree_unreached *what)
{
    program_host_unreached(((struct manager *)arg)->program, what, true);
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
        program_report(manager->program, survivors);
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
    program_end(manager->program);
    if (manager->viewer.link)
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
    link_disown(manager->viewer.link);
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

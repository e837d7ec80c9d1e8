/* From hosts that are there to a program that runs. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/mem.h"
#include "launcher/manager/internal.h"
#include "launcher/protocol/launch.h"

/* ---- groups ---- */

static void on_group_added(void *owner, struct task_group *group,
                           const struct task_group_plan *plan)
{
    struct manager *manager = owner;
    program_service_add(manager->service, group, plan);
}

static void on_group_mapped(void *owner, const json_t *table)
{
    struct manager *manager = owner;
    if (manager->front)
        link_send_json(manager->front, FRAME_MAPPED, 0, 0, table);
}

static void on_group_refused(void *owner, struct task_group *group, uint64_t time, int status,
                             const char *text, const struct idset *ranks)
{
    struct manager *manager = owner;
    struct idset *nodes = task_group_nodes_of(group, ranks);
    if (spawn_is_of(manager->spawns, group))
        spawn_refuse(manager->spawns, group, status, text, ranks);
    else
        outcome_task_ended(manager->outcome, time, "start", status, text, ranks, nodes);
    idset_free(nodes);
}

static void on_group_unstartable(void *owner, struct task_group *group)
{
    struct manager *manager = owner;
    if (spawn_is_of(manager->spawns, group))
        spawn_give_up(manager->spawns, group);
    else
        termination_terminate(manager, 0);
}

const struct task_groups_ops program_groups_ops = {on_group_added, on_group_mapped,
                                                   on_group_refused, on_group_unstartable};

static double on_time_left(void *owner)
{
    return time_limit_left(((struct manager *)owner)->limit);
}

static void on_service_say(void *owner, const char *text)
{
    viewer_say(owner, "%s", text);
}

const struct program_service_ops program_pmi_ops = {on_time_left, on_service_say};

struct task_group *program_start_group(struct manager *manager, const struct task_group_plan *plan)
{
    struct task_group_origin origin = {.program = entry_id(resources_entry(manager->resources)),
                                       .instance =
                                           instance_path(resources_instance(manager->resources)),
                                       .instance_id = resources_instance_id(manager->resources),
                                       .enclosing = resources_enclosing(manager->resources),
                                       .hosts = host_names(manager->hosts)};
    return task_group_start(manager->groups, plan, &origin);
}

/* ---- spawns ---- */

static bool spawn_is_ending(void *owner)
{
    const struct manager *manager = owner;
    return manager->terminating || manager->phase != PHASE_RUN;
}

static struct task_group *spawn_on_launch(void *owner, const struct task_group_plan *plan)
{
    return program_start_group(owner, plan);
}

static void spawn_on_ended(void *owner, const struct task_group *group, uint64_t time,
                           uint32_t node, const json_t *value)
{
    agent_frames_ended(owner, group, time, node, value);
}

static void program_on_note(void *owner, const char *text)
{
    viewer_note(owner, text);
}

static const struct spawns_ops spawns_ops = {spawn_is_ending, spawn_on_launch, spawn_on_ended,
                                             program_on_note, on_service_say};

static void spawn_on_lock(void *owner)
{
    struct manager *manager = owner;
    if (manager->phase == PHASE_RUN)
        spawn_waiting_retry(manager->spawn_waiting);
}

static int spawn_on_lock_wait(void *owner, struct error *err)
{
    struct manager *manager = owner;
    return lock_wait(manager->lock, spawn_on_lock, err);
}

static const struct spawn_waiting_ops waiting_ops = {spawn_on_lock_wait};

static void on_request_spawn(void *owner, const struct task_request *request,
                             const struct requester *requester)
{
    struct manager *manager = owner;
    spawn_waiting_take(manager->spawn_waiting, request, requester);
}

const struct task_requests_ops program_requests_ops = {on_request_spawn, program_on_note};

static void open_spawns(struct manager *manager)
{
    struct spawn_base base = {.spec = manager->spec,
                              .resources = manager->resources,
                              .hosts = manager->hosts,
                              .agents = manager->agents,
                              .groups = manager->groups};
    manager->claim = program_claim_new(manager->loop, manager->spec, manager->resources,
                                       manager->lock, manager->groups);
    manager->spawns =
        spawns_new(&base, manager->tree, manager->lock, manager->claim, &spawns_ops, manager);
    manager->spawn_waiting =
        spawn_waiting_new(manager->spawns, manager->hosts, manager->lock, &waiting_ops, manager);
}

/* ---- the start ---- */

static void launch_first(struct manager *manager)
{
    const struct candidates *candidates = plan_candidates(manager->plan);
    struct task_group_plan plan = {.spec = manager->spec,
                                   .layout = plan_layout(manager->plan),
                                   .candidates = candidates->nodes,
                                   .candidate_host = candidates->hosts,
                                   .idle = manager->shapes};
    task_groups_set_claim(manager->groups, plan_claim(manager->plan));
    const struct task_group *group = program_start_group(manager, &plan);
    manager->input_nodes =
        launch_input_nodes(manager->spec, task_group_map(group), task_group_tree_nodes(group),
                           task_group_nnodes(group));
}

static void program_start_run(struct manager *manager)
{
    const struct layout *layout = plan_layout(manager->plan);
    struct instance *instance = resources_instance(manager->resources);
    manager->phase = PHASE_RUN;
    lock_tasks_run(manager->lock);
    prctl(PR_SET_PDEATHSIG,
          0); /* from now on the link tells of the front end, and tasks are ended */
    viewer_say(manager, "program %s: %u task%s on %u node%s",
               entry_id(resources_entry(manager->resources)), layout->ntasks,
               layout->ntasks > 1 ? "s" : "", layout->nnodes, layout->nnodes > 1 ? "s" : "");
    double longest;
    size_t locks = instance_locks(instance, &longest);
    viewer_say(manager, "instance %s: locked %zu times, for %.3f ms at most",
               instance_path(instance), locks, longest * 1e3);
    display_expect_bindings(manager->display);
    outcome_set_hosts(manager->outcome, host_names(manager->hosts));
    if (manager->spec->abort_may_succeed)
        outcome_abort_may_succeed(manager->outcome);
    program_service_start(manager->service, instance, resources_entry(manager->resources),
                          resources_instance_id(manager->resources), host_names(manager->hosts));
    launch_first(manager);
    termination_start_limit(manager);
}

static int show_and_run(struct manager *manager, struct error *err)
{
    if (display_plan(manager->display, err) < 0)
        return -1;
    if (manager->spec->dry_run)
        termination_end(manager);
    else
        program_start_run(manager);
    return 0;
}

static void retry(struct manager *manager);

static void program_start_on_lock(void *owner)
{
    struct manager *manager = owner;
    if (manager->phase == PHASE_GATHER)
        retry(manager);
}

/* ---- step by step ---- */

static int start_agents(struct manager *manager, struct error *err)
{
    struct idset *wanted = host_choice_wanted(manager->choice);
    int rc = agents_start(manager->agents, wanted, !allocation_queue_waits(manager->queue), err);
    idset_free(wanted);
    return rc;
}

/* Every host that was asked has settled: there may be others to ask. */
static int next(struct manager *manager, struct error *err)
{
    struct error failed = ERROR_INIT;
    agents_check(manager->agents, &failed);
    bool spare = !failed.text || host_choice_can_spare_failed(manager->choice);
    if (failed.text && spare && host_choice_add_spare(manager->choice)) {
        error_clear(&failed);
        return start_agents(manager, err);
    }
    lock_be_patient(manager->lock);
    if (spare && plan_map(manager->plan, err) == 0) {
        if (failed.text)
            agents_tell_spared(manager->agents);
        error_clear(&failed);
        allocation_queue_leave(manager->queue);
        return show_and_run(manager, err);
    }
    if (spare && lock_is_busy(manager->lock)) {
        error_clear(&failed);
        return -1;
    }
    if (spare && host_choice_add_spare(manager->choice)) {
        error_clear(&failed);
        error_clear(err);
        return start_agents(manager, err);
    }
    if (!failed.text)
        return allocation_queue_wait(manager->queue, err) < 0 ? -1 : 1;
    error_clear(err);
    *err = failed;
    return -1;
}

/* A layout may take long, so that the link's end would be seen late: until tasks run the kernel ends
 * this process with the front end. Not while hosts are waited for: what reaches them has files and
 * processes, which are cleared away when the link ends. */
static void die_with_front(const struct manager *manager)
{
    if (manager->phase == PHASE_GATHER)
        prctl(PR_SET_PDEATHSIG, host_awaited(manager->hosts) ? 0 : SIGKILL);
}

static void program_start_go_on(struct manager *manager, int result, struct error *err)
{
    die_with_front(manager);
    while (result == 0 && manager->phase == PHASE_GATHER && !host_awaited(manager->hosts))
        result = next(manager, err);
    if (result < 0 && lock_is_busy(manager->lock))
        result = lock_wait(manager->lock, program_start_on_lock, err);
    else
        lock_had(manager->lock);
    if (result < 0)
        termination_refuse(manager, err);
    error_clear(err);
    die_with_front(manager);
}

/* What a shape asks for is allocated before any host is asked, where R tells enough. */
static int begin(struct manager *manager, struct error *err)
{
    if (shape_allocation_early(manager->shapes, err) < 0)
        return lock_is_busy(manager->lock) || allocation_queue_wait(manager->queue, err) < 0 ? -1
                                                                                             : 1;
    if (shape_allocation_R(manager->shapes))
        allocation_queue_leave(manager->queue);
    return start_agents(manager, err);
}

/* From the front, with what is free now; hosts that are there already are not asked again. */
static void retry(struct manager *manager)
{
    struct error err = ERROR_INIT;
    lock_be_patient(manager->lock);
    int result = resources_enter(manager->resources, &err);
    if (result == 0)
        result = resources_refresh(manager->resources, &err);
    if (result == 0) {
        host_choice_make(manager->choice);
        result = begin(manager, &err);
    }
    program_start_go_on(manager, result, &err);
}

/* ---- what the objects want of the program ---- */

static void start_on_note(void *owner, const char *text)
{
    viewer_note(owner, text);
}

static void start_on_say(void *owner, const char *text)
{
    viewer_say(owner, "%s", text);
}

static void start_on_show(void *owner, const char *text, bool error)
{
    viewer_show(owner, text, error);
}

static bool queue_is_over(void *owner)
{
    const struct manager *manager = owner;
    return manager->phase != PHASE_GATHER;
}

static void queue_on_retry(void *owner)
{
    retry(owner);
}

static void queue_on_expired(void *owner, const struct error *err)
{
    termination_refuse(owner, err);
}

static struct rset *queue_fits_ever(void *owner, bool *known, struct error *err)
{
    struct manager *manager = owner;
    return plan_fits_ever(manager->plan, known, err);
}

static const struct lock_retry_ops lock_ops = {start_on_note};
static const struct display_ops display_ops = {start_on_show, start_on_note};
static const struct allocation_queue_ops queue_ops = {
    queue_is_over, queue_on_retry, queue_on_expired, start_on_say, start_on_note, queue_fits_ever};

/* All that needs no other process: nodes, instance, rank files, shapes, limits. */
static int open_all(struct manager *manager, struct error *err)
{
    struct spec *spec = manager->spec;
    struct resources *resources = resources_open(spec, manager->local, err);
    if (!resources)
        return -1;
    manager->resources = resources;
    manager->hosts = resources_hosts(resources);
    manager->lock =
        lock_retry_new(manager->loop, resources_instance(resources), &lock_ops, manager);
    manager->queue = allocation_queue_new(manager->loop, spec, resources, &queue_ops, manager);
    manager->agents = agents_new(manager->loop, spec, manager->hosts, manager->local,
                                 manager->bootstrap, resources_topology_cache(resources),
                                 manager->tree, &agent_frames_agents_ops, manager);
    open_spawns(manager);
    if (resources_note(resources))
        viewer_note(manager, resources_note(resources));
    if (resources_read_topologies(resources, err) < 0)
        return -1;
    const struct rset *R = host_nodes(manager->hosts)->R;
    manager->choice = host_choice_new(spec, resources, manager->hosts, err);
    if (!manager->choice || time_limit_check(spec, R ? R->expiration : 0, err) < 0 ||
        shape_allocation_open(spec, resources, manager->choice, &manager->shapes, err) < 0)
        return -1;
    manager->plan = plan_new(spec, resources, manager->agents, manager->choice, manager->shapes);
    manager->display = display_new(spec, resources, manager->plan, &display_ops, manager);
    return 0;
}

void program_start_begin(struct manager *manager)
{
    struct error err = ERROR_INIT;
    if (open_all(manager, &err) == 0)
        retry(manager);
    else
        termination_refuse(manager, &err);
    error_clear(&err);
}

void program_start_settled(struct manager *manager)
{
    struct error err = ERROR_INIT;
    program_start_go_on(manager, 0, &err);
}

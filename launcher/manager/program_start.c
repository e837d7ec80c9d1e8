/* From hosts that are there to a program that runs. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/mem.h"
#include "launcher/manager/internal.h"

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
    if (spawn_is_of(manager, group))
        spawn_refuse(manager, group, status, text, ranks);
    else
        outcome_task_ended(manager->outcome, time, "start", status, text, ranks, nodes);
    idset_free(nodes);
}

static void on_group_unstartable(void *owner, struct task_group *group)
{
    struct manager *manager = owner;
    if (spawn_is_of(manager, group))
        spawn_give_up(manager, group);
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
    struct task_group_origin origin = {
        .program = entry_id(manager->entry),
        .instance = instance_path(manager->instance),
        .instance_id = manager->family ? manager->family : instance_id(manager->instance),
        .enclosing = manager->enclosing,
        .hosts = host_names(manager->hosts)};
    return task_group_start(manager->groups, plan, &origin);
}

/* ---- the start ---- */

static void program_start_run(struct manager *manager)
{
    manager->phase = PHASE_RUN;
    prctl(PR_SET_PDEATHSIG,
          0); /* from now on the link tells of the front end, and tasks are ended */
    viewer_say(manager, "program %s: %u task%s on %u node%s", entry_id(manager->entry),
               manager->layout->ntasks, manager->layout->ntasks > 1 ? "s" : "",
               manager->layout->nnodes, manager->layout->nnodes > 1 ? "s" : "");
    double longest;
    size_t locks = instance_locks(manager->instance, &longest);
    viewer_say(manager, "instance %s: locked %zu times, for %.3f ms at most",
               instance_path(manager->instance), locks, longest * 1e3);
    display_binding_open(manager);
    outcome_set_hosts(manager->outcome, host_names(manager->hosts));
    if (manager->spec->abort_may_succeed)
        outcome_abort_may_succeed(manager->outcome);
    program_service_start(manager->service, manager->instance, manager->entry,
                          manager->family ? manager->family : instance_id(manager->instance),
                          host_names(manager->hosts));
    plan_launch(manager);
    termination_start_limit(manager);
}

static int show_and_run(struct manager *manager, struct error *err)
{
    if (plan_show(manager, err) < 0)
        return -1;
    if (manager->spec->dry_run)
        termination_end(manager);
    else
        program_start_run(manager);
    return 0;
}

static void retry(struct manager *manager);

static void program_start_on_lock(struct manager *manager)
{
    if (manager->phase == PHASE_GATHER)
        retry(manager);
}

/* ---- step by step ---- */

static int start_agents(struct manager *manager, struct error *err)
{
    struct idset *wanted = idset_new();
    for (uint32_t i = 0; i < host_count(manager->hosts); i++)
        if (manager->wanted[i])
            idset_add(wanted, i);
    int rc = agents_start(manager->agents, wanted, !manager->queue, err);
    progress_begin(manager);
    idset_free(wanted);
    return rc;
}

/* Every host that was asked has settled: there may be others to ask. */
static int next(struct manager *manager, struct error *err)
{
    struct error failed = ERROR_INIT;
    agents_check(manager->agents, &failed);
    bool spare = !failed.text || resources_can_spare(manager);
    if (failed.text && spare && resources_want_spare(manager)) {
        error_clear(&failed);
        return start_agents(manager, err);
    }
    lock_be_patient(manager);
    if (spare && plan_map(manager, err) == 0) {
        if (failed.text)
            agents_tell_spared(manager->agents);
        error_clear(&failed);
        allocation_queue_leave(manager);
        return show_and_run(manager, err);
    }
    if (spare && lock_is_busy(manager)) {
        error_clear(&failed);
        return -1;
    }
    if (spare && resources_want_spare(manager)) {
        error_clear(&failed);
        error_clear(err);
        return start_agents(manager, err);
    }
    if (!failed.text)
        return allocation_queue_wait(manager, retry, err) < 0 ? -1 : 1;
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
    if (result < 0 && lock_is_busy(manager))
        result = lock_wait(manager, program_start_on_lock, err);
    else
        lock_had(manager);
    if (result < 0)
        termination_refuse(manager, err);
    error_clear(err);
    die_with_front(manager);
}

/* What a shape asks for is allocated before any host is asked, where R tells enough. */
static int begin(struct manager *manager, struct error *err)
{
    if (shape_allocation_early(manager, err) < 0)
        return lock_is_busy(manager) || allocation_queue_wait(manager, retry, err) < 0 ? -1 : 1;
    if (shape_allocation_R(manager))
        allocation_queue_leave(manager);
    return start_agents(manager, err);
}

/* From the front, with what is free now; hosts that are there already are not asked again. */
static void retry(struct manager *manager)
{
    struct error err = ERROR_INIT;
    lock_be_patient(manager);
    int result = resources_enter(manager, &err);
    if (result == 0)
        result = resources_read_unheld(manager, &err);
    if (result == 0) {
        resources_want(manager);
        result = begin(manager, &err);
    }
    program_start_go_on(manager, result, &err);
}

void program_start_begin(struct manager *manager)
{
    struct error err = ERROR_INIT;
    int result = resources_open(manager, &err);
    const struct rset *R = result == 0 ? manager->nodes->R : NULL;
    if (result == 0)
        result = time_limit_check(manager->spec, R ? R->expiration : 0, &err);
    if (result == 0)
        result = shape_allocation_open(manager, &err);
    if (result == 0)
        result = resources_enter(manager, &err);
    program_start_go_on(manager, result < 0 ? result : begin(manager, &err), &err);
}

void program_start_settled(struct manager *manager)
{
    struct error err = ERROR_INIT;
    program_start_go_on(manager, 0, &err);
}

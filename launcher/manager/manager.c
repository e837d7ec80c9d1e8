#include "launcher/manager/manager.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "launcher/linkage/part_linkage.h"
#include "launcher/manager/internal.h"
#include "launcher/process/descendants.h"
#include "launcher/process/exec.h"
#include "launcher/process/job_signals.h"
#include "launcher/process/process_set.h"
#include "pmi-server/pmix/server.h"

static void manager_on_say(void *owner, const char *fmt, va_list args)
{
    viewer_say_args(owner, fmt, args);
}

static const struct host_bootstrap_ops bootstrap_ops = {manager_on_say, part_linkage_needs_pmix};

/* This machine's agent, which is forked later, finds openpmix open. */
static void warm_pmix(void *owner)
{
    struct manager *manager = owner;
    if (host_bootstrap_predict_pmix(manager->bootstrap))
        pmix_server_warm();
}

static void manager_close(struct manager *manager)
{
    tree_free(manager->tree);
    task_requests_free(manager->requests);
    spawn_waiting_free(manager->spawn_waiting);
    spawns_free(manager->spawns);
    program_claim_free(manager->claim);
    task_groups_free(manager->groups);
    program_service_free(manager->service);
    graceful_stop_free(manager->stop);
    time_limit_free(manager->limit);
    display_free(manager->display);
    plan_free(manager->plan);
    shape_allocation_free(manager->shapes);
    host_choice_free(manager->choice);
    allocation_queue_free(manager->queue);
    lock_retry_free(manager->lock);
    agents_free(manager->agents);
    resources_free(manager->resources);
    host_lines_free(manager->notes);
    idset_free(manager->input_nodes);
    outcome_free(manager->outcome);
    no_pmi_free(manager->no_pmi);
    host_bootstrap_free(manager->bootstrap);
    local_topology_free(manager->local);
    link_free(manager->front);
    spec_free(manager->spec);
}

int manager_run(struct spec *spec, int fd, struct cgroup *cgroup, struct scratch *scratch)
{
    struct manager manager = {.spec = spec, .cgroup = cgroup, .scratch = scratch};
    setsid();
    signal(SIGPIPE, SIG_IGN);
    job_signals_survive(); /* the front end has them, too, and decides */
    prctl(PR_SET_NAME, PROCESS_MANAGER);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* until hosts are waited for, see program_start.c */
    exec_reserve();
    descendants_adopt();
    if (!spec->dry_run) /* which has no threads, and may read topologies that take hwloc's plug-ins */
        topo_prepare();
    manager.loop = ev_default_loop(0);
    manager.front = link_new(manager.loop, fd, fd, &viewer_orders_ops, &manager);
    manager.outcome = outcome_new();
    manager.no_pmi = no_pmi_new();
    manager.bootstrap = host_bootstrap_new(spec, TPRUN_AGENT_PATH, &bootstrap_ops, &manager);
    manager.local = local_topology_new(spec->dry_run ? NULL : warm_pmix, &manager);
    manager.tree = tree_new(manager.loop, host_bootstrap_command(manager.bootstrap),
                            &agent_frames_ops, &manager);
    manager.groups = task_groups_new(manager.tree, &program_groups_ops, &manager);
    manager.service =
        program_service_new(manager.loop, manager.tree, manager.groups, &program_pmi_ops, &manager);
    manager.requests = task_requests_new(manager.tree, manager.groups, manager.service,
                                         manager.outcome, &program_requests_ops, &manager);
    termination_open(&manager);
    program_start_begin(&manager);
    ev_run(manager.loop, 0);
    manager_close(&manager);
    return 0;
}

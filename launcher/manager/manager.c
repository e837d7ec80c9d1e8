#include "launcher/manager/manager.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "launcher/agent/agent.h"
#include "launcher/linkage/part_linkage.h"
#include "launcher/manager/internal.h"
#include "launcher/process/descendants.h"
#include "launcher/process/exec.h"
#include "launcher/process/job_signals.h"
#include "launcher/process/process_set.h"
#include "pmi-server/pmix/server.h"

#define GONE_PATIENCE 2.0 /* s that an agent's process may need to go once it is done */

static void manager_on_say(void *owner, const char *fmt, va_list args)
{
    struct manager *manager = owner;
    char text[512];
    if (!manager->spec->verbose)
        return;
    vsnprintf(text, sizeof(text), fmt, args);
    viewer_note(manager, text);
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
    program_free(manager->program);
    host_bootstrap_free(manager->bootstrap);
    local_topology_free(manager->local);
    viewer_close(manager);
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
    manager.viewer.link = link_new(manager.loop, fd, fd, &viewer_orders_ops, &manager);
    manager.bootstrap = host_bootstrap_new(spec, TPRUN_AGENT_PATH, &bootstrap_ops, &manager);
    manager.local = local_topology_new(spec->dry_run ? NULL : warm_pmix, &manager);
    manager.tree = tree_new(manager.loop, host_bootstrap_command(manager.bootstrap),
                            &agent_frames_ops, &manager);
    double patience = GONE_PATIENCE + (spec->tools ? AGENT_TOOLS_PATIENCE : 0);
    manager.program = program_new(manager.loop, spec, manager.tree, manager.bootstrap,
                                  manager.local, patience, &viewer_program_ops, &manager);
    program_begin(manager.program);
    ev_run(manager.loop, 0);
    manager_close(&manager);
    return 0;
}

/*
 * manager - the process that owns one program, from allocation to reaping.
 *
 * It gathers the nodes, maps and claims, launches, passes frames between the front end and the
 * agents, and ends everything when something of it has ended badly: a task, a node, a time limit,
 * its front end. It is done when every agent has said that nothing is left, and has gone.
 */
#ifndef LAUNCHER_MANAGER_MANAGER_H
#define LAUNCHER_MANAGER_MANAGER_H

#include "launcher/process/cgroup.h"
#include "launcher/process/scratch_directory.h"
#include "launcher/protocol/stage_source.h"
#include "launcher/spec/spec.h"

struct manager_config {
    struct spec *spec;     /* taken */
    int fd;                /* to the front end; taken */
    struct cgroup *cgroup; /* for the tasks on this machine, shared with the front end; or NULL */
    struct scratch *scratch;
    int broker; /* agents are had from the instance that this program runs in (agent_broker.h); 0:
                   they are not */
    struct stage_source
        *stage; /* files to stage that came from another host; taken; NULL: they are here */
    struct scratch
        *instance; /* that this program runs in: of its agent on this machine; NULL: none */
    /* Of an instance, see instance_host_new(). */
    int (*program)(int frontend, int broker, struct scratch *scratch);
    /* Of a program that only keeps agents, see agent_keeper.h. */
    int listener;
    void (*withdraw)(void *arg);
    void *withdraw_arg;
};

/* Called in a forked process that has no loop yet. Returns the exit status of the process. */
int manager_run(const struct manager_config *config);

#endif

/*
 * agent - the process that runs a program's tasks on one node.
 *
 * It greets its parent, hears its welcome, says what hardware it has, starts the agents below it,
 * and waits for the launch. From then on it passes frames up and down, serves its tasks PMI, cuts
 * their output into lines and reaps them. When its parent's link closes it ends its tasks and
 * itself, so nothing survives what it belonged to.
 */
#ifndef LAUNCHER_AGENT_AGENT_H
#define LAUNCHER_AGENT_AGENT_H

#include "affinity/topology/topo.h"
#include "base/error.h"
#include "launcher/process/cgroup.h"
#include "launcher/process/scratch_directory.h"

#define AGENT_LOST_GRACE 1.0 /* s from TERM to KILL when a part of tprun was lost */
#define AGENT_TOOLS_PATIENCE                                                                       \
    5.5 /* s at the end that PMIx tools may keep an agent waiting; then it goes */

struct agent_config {
    int in, out; /* the link to the parent; may be equal */
    /* This process is forked ahead of its program: `in` is a socket over which the link comes
     * (descriptor_message.h), or its end, where nobody needs the process. The host's name in the
     * program's R. NULL: the link is there. */
    const char *ahead_on;
    struct pmix_host *pmix;         /* begun ahead; taken. Or NULL */
    struct topo *topo;              /* this machine's, where it is known already; NULL: find out */
    struct hwloc_topology *machine; /* beside it, or NULL; taken over, as it is */
    int guard; /* reads an end of file when the guard dies; -1: the parent is the manager */
    /* not made yet, shared with who cleans up after this process; or NULL */
    struct cgroup *cgroup;
    struct scratch *scratch;
    struct scratch
        *instance; /* that of the instance's agent, where the program is in one; else NULL */
    /* Of an instance's agent: be the agent of a program in it, in a forked process; the exit
     * status. Static. */
    int (*run_another)(struct agent_config *config, struct error *err);
};

#define AGENT_LEFT 3 /* exit status: some processes could not be ended, and that was reported */

/* Runs to the end; returns the exit status of the process, with a sentence where the agent could
 * not connect to its parent. The process has no other thread and no default loop yet. Tasks get
 * none of its descriptors. */
int agent_run(const struct agent_config *config, struct error *err);

/* An agent of this host was killed: what it wrote down for other runs is cleared away, once none of
 * its tasks lives. */
void agent_sweep(void);

#endif

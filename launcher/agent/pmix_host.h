/*
 * pmix_host - the host of openpmix on this node: begun, run in the agent's loop, ended.
 *
 * It is made for the first group whose programs may speak PMIx, or before that, where this is
 * likely: it starts in a thread then. What it asks for a job goes to the job (pmix_job.h).
 */
#ifndef LAUNCHER_AGENT_PMIX_HOST_H
#define LAUNCHER_AGENT_PMIX_HOST_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/agent/topology_file.h"
#include "launcher/agent/uplink.h"
#include "launcher/process/scratch_directory.h"
#include "launcher/protocol/launch.h"
#include "pmi-server/pmix/server.h"

struct agent_pmix_host;

struct agent_pmix_host_config { /* all borrowed, but for the machine */
    struct ev_loop *loop;
    struct uplink *uplink;
    const char *host;
    struct scratch *scratch;
    struct topology_file *topology_file;
    struct hwloc_topology *machine; /* taken; NULL: it is discovered */
    struct pmix_host
        *ahead; /* begun with this machine and scratch; taken. NULL: it is begun here */
    bool quiet; /* what openpmix says about itself on stderr goes nowhere */
    const struct pmix_server_ops *job_ops; /* those with a job: the others are not used */
    bool (*input_lags)(void *owner);
    void *owner;
};

/* Nothing is begun yet. */
struct agent_pmix_host *pmix_host_new(const struct agent_pmix_host_config *config);
/* Its jobs are freed before; removes the scratch directory. NULL is fine. */
void pmix_host_free(struct agent_pmix_host *host);
/* No group is left, and nothing more comes for tools. False while tools have to be waited for,
 * which takes at most so many seconds. */
bool pmix_host_end(struct agent_pmix_host *host);
double pmix_host_tools_patience(const struct agent_pmix_host *host);
/* Before the jobs that are left are freed: tools that are connected go. */
void pmix_host_free_tools(struct agent_pmix_host *host);

/* It is likely to be wanted once the launch comes: it starts meanwhile. */
void pmix_host_begin_early(struct agent_pmix_host *host);
/* It is there, for a job of this launch; -1 with a sentence: it cannot be. */
int pmix_host_open(struct agent_pmix_host *host, const struct launch *launch, struct error *err);
/* Where the launch wants tools, let them in. 0, or -1 with a sentence. */
int pmix_host_let_tools(struct agent_pmix_host *host, const struct launch *launch,
                        struct error *err);

/* openpmix's own, once it is open, else NULL; pmix_host_used() after each call of it. */
struct pmix_host *pmix_host_server(const struct agent_pmix_host *host);
const char *pmix_host_directory(const struct agent_pmix_host *host);
void pmix_host_used(struct agent_pmix_host *host);
void pmix_host_run(struct agent_pmix_host *host); /* nothing where it is not open */
struct scratch *pmix_host_scratch(const struct agent_pmix_host *host);
struct topology_file *pmix_host_topology_file(const struct agent_pmix_host *host);

/* The program's service said something to it. -1 with a sentence: it is malformed. Nothing where it
 * is not open. */
int pmix_host_on_service(struct agent_pmix_host *host, const struct frame *frame,
                         struct error *err);
void pmix_host_settle_input(struct agent_pmix_host *host); /* tasks may have read something */

#endif

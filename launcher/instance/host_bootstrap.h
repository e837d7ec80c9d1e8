/*
 * host_bootstrap - how the hosts of a run are reached: what --bootstrap stands for in this run.
 *
 * In a job of Slurm, srun starts the agents of the job's nodes; in one of another batch system, its
 * own command, where that is installed and knows the hosts. Other hosts are reached by ssh, with
 * the arguments that the MPI Operator gives. A method that the user names is used for all hosts,
 * this machine among them.
 */
#ifndef LAUNCHER_INSTANCE_HOST_BOOTSTRAP_H
#define LAUNCHER_INSTANCE_HOST_BOOTSTRAP_H

#include <stdarg.h>
#include <stdbool.h>

#include "affinity/sets/idset.h"
#include "launcher/instance/host_table.h"
#include "launcher/spec/spec.h"
#include "launcher/tree/bootstrap.h"

struct host_bootstrap_ops { /* `owner` is what host_bootstrap_new() was given */
    /* With -v: what is being done. */
    void (*say)(void *owner, const char *fmt, va_list args);
    /* Whether tasks of the spec need openpmix; called once at most, perhaps in a thread. */
    bool (*needs_pmix)(const struct spec *spec);
};

struct host_bootstrap;

/* `agent` is the path of tpagent where the spec names none. Spec and ops are borrowed. */
struct host_bootstrap *host_bootstrap_new(const struct spec *spec, const char *agent,
                                          const struct host_bootstrap_ops *ops, void *owner);
void host_bootstrap_free(struct host_bootstrap *bootstrap); /* NULL is fine */

/* Before any host is chosen. `name` is that of the sockets of this program's agents, for programs
 * in it; NULL: it is no instance. `broker` is the descriptor by which it asks the instance that it
 * runs in for agents, whatever --bootstrap says; 0: it runs in none. */
void host_bootstrap_use_instance(struct host_bootstrap *bootstrap, const char *name, int broker);
bool host_bootstrap_in_instance(const struct host_bootstrap *bootstrap); /* it has a broker */
/* The command, as it is known so far: for the tree. */
const struct bootstrap *host_bootstrap_command(const struct host_bootstrap *bootstrap);

/* Before any host is chosen: look for the job of Slurm. -1 with a sentence where Slurm was named
 * and there is none. */
int host_bootstrap_find_job(struct host_bootstrap *bootstrap, struct error *err);
/* Choose the command for these hosts, which are to be started. -1 with a sentence where a batch
 * system was named that is not there. */
int host_bootstrap_choose(struct host_bootstrap *bootstrap, const struct host_table *hosts,
                          const struct idset *start, struct error *err);
/* Whether agents are about to need openpmix, found out once. The command has it from now on. */
bool host_bootstrap_predict_pmix(struct host_bootstrap *bootstrap);

/* Whether the host can be reached at all. -1 with a sentence. */
int host_bootstrap_check(struct host_bootstrap *bootstrap, const struct node *node,
                         struct error *err);
bool host_bootstrap_in_slurm(const struct host_bootstrap *bootstrap); /* its job was found */
bool host_bootstrap_has_in_slurm(const struct host_bootstrap *bootstrap, const struct node *node);
/* This machine's agent is started by the command, too: the user named a method. */
bool host_bootstrap_uses_command_here(const struct host_bootstrap *bootstrap);

#endif

/*
 * group_services - what the tasks of a group are served with on this node: PMI-1 and PMI-2,
 * openpmix, the fence over its nodes, spawns and names. It owns these four, and is what they call.
 */
#ifndef LAUNCHER_AGENT_GROUP_SERVICES_H
#define LAUNCHER_AGENT_GROUP_SERVICES_H

#include "launcher/agent/group_fence.h"
#include "launcher/agent/local_task.h"
#include "launcher/agent/pmi_socket.h"
#include "launcher/agent/spawn_and_names.h"

struct group_services;

struct group_services_config {                  /* all is borrowed */
    const struct local_tasks *shared;           /* with a launch */
    const struct idset *nodes;                  /* below, that take part */
    const struct group_pmix_task_ops *task_ops; /* what openpmix wants of the group's tasks */
    void *tasks;                                /* for these */
    /* As in group_pmix_job_config. */
    void (*post)(void *sender, const struct frame *frame);
    void *sender;
};

struct group_services *group_services_new(const struct group_services_config *config);
/* Its tasks' sockets are closed already; with `retained` the PMIx job may be kept there. */
void group_services_free(struct group_services *serves, struct group_pmix_job **retained);

/* Serve PMI of these kinds (enum spec_pmi); -1 with a sentence where openpmix is needed, and cannot
 * be had. */
int group_services_open(struct group_services *serves, unsigned offered, bool needs_pmix,
                        struct error *err);

/* All borrowed; NULL without services, and that of PMI where neither PMI-1 nor PMI-2 is offered. */
struct group_fence *group_services_fence(const struct group_services *serves);
struct pmi_sockets *group_services_pmi(const struct group_services *serves);
struct group_pmix_job *group_services_pmix(const struct group_services *serves);
struct spawn_and_names *group_services_requests(const struct group_services *serves);

#endif

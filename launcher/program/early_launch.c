/* A launch ahead of the agent's answer, for program_start.c: sent, taken up, or forgotten. */
#include "launcher/program/early_launch.h"

#include <stdlib.h>

#include "base/mem.h"

struct early_launch {
    struct tree *tree;
    struct resources *resources;
    struct agents *agents;
    struct first_plan *first_plan;
    const struct early_launch_ops *ops;
    void *owner;
    struct plan *plan;       /* of the launch that was sent; NULL: none was */
    uint32_t number;         /* of the host where its tasks are */
    const struct topo *topo; /* that the plan is for; of the agents */
};

struct early_launch *early_launch_new(struct tree *tree, struct resources *resources,
                                      struct agents *agents, struct first_plan *first_plan,
                                      const struct early_launch_ops *ops, void *owner)
{
    struct early_launch *early = mem_alloc(sizeof(*early));
    *early = (struct early_launch){.tree = tree,
                                   .resources = resources,
                                   .agents = agents,
                                   .first_plan = first_plan,
                                   .ops = ops,
                                   .owner = owner};
    return early;
}

void early_launch_free(struct early_launch *early)
{
    if (!early)
        return;
    plan_free(early->plan);
    free(early);
}

/* The only host that has been asked, where its agent takes a launch before it has answered. */
static bool early_host(const struct early_launch *early, uint32_t *number)
{
    const struct host_table *hosts = resources_hosts(early->resources);
    *number = idset_first(host_used(hosts));
    return idset_count(host_used(hosts)) == 1 && host_at(hosts, *number)->state == HOST_STARTING &&
           tree_takes_early(early->tree, *number);
}

void early_launch_try(struct early_launch *early)
{
    struct error hindrance = ERROR_INIT;
    uint32_t number;
    if (!early || early->plan || !early_host(early, &number))
        return;
    struct topo *known = agents_known_topology(early->agents, number);
    if (!known)
        return;
    struct host_table *hosts = resources_hosts(early->resources);
    host_lend(hosts, number, known);
    struct plan *plan = first_plan_make(early->first_plan, &hindrance);
    host_take_back(hosts);
    if (plan && resources_claim(early->resources, plan_claim(plan), &hindrance) == 0) {
        early->plan = plan;
        early->number = number;
        early->topo = known;
        early->ops->send(early->owner, plan);
    } else {
        plan_free(plan);
    }
    error_clear(&hindrance);
}

/* The manager's side of hello_is_as_known(): the two have to agree. */
static bool is_as_known(const struct early_launch *early)
{
    const struct host *host = host_at(resources_hosts(early->resources), early->number);
    return host->topo == early->topo && !host->granted_gpus && !host->gpus_refusal;
}

struct plan *early_launch_take(struct early_launch *early)
{
    struct plan *plan = early ? early->plan : NULL;
    if (!plan)
        return NULL;
    if (!is_as_known(early)) {
        early->ops->forget(early->owner);
        resources_give_back(early->resources);
        plan_free(plan);
        plan = NULL;
    }
    early->plan = NULL;
    return plan;
}

/* Processor time that a cgroup around this agent grants. Tasks that have more cores than that are
 * stopped again and again, and nothing else says why they are slow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/agent/internal.h"

/* An unbound task that is kept to nothing uses one core. */
static struct idset *cores_of(const struct group *group)
{
    const struct launch *launch = group->launch;
    const struct topo *topo = group->agent->topo;
    bool loose = group->unbound && !launch->claim;
    struct idset *cores = launch->claim ? idset_copy(launch->claim) : idset_new();
    for (uint32_t row = 0; row < topo->npus && !launch->claim; row++) {
        if (loose && idset_count(cores) == launch->nlocal)
            break;
        for (uint32_t i = 0; i < launch->ncpus; i++)
            if (idset_has(launch->cpus[i], topo->os[row]))
                idset_add(cores, topo_core(topo, row));
    }
    return cores;
}

static size_t cpu_quota_count_cores(const struct agent *agent)
{
    struct idset *all = idset_new();
    for (const struct group *group = agent->groups; group; group = group->next) {
        if (!group->launch || group->phase != GROUP_RUNNING)
            continue;
        struct idset *cores = cores_of(group), *both = idset_union(all, cores);
        idset_free(cores);
        idset_free(all);
        all = both;
    }
    size_t count = idset_count(all);
    idset_free(all);
    return count;
}

void quota_tell(struct group *group)
{
    struct agent *agent = group->agent;
    if (!group->launch->nlocal || agent->quota_told)
        return;
    double quota = cgroup_own_quota();
    size_t count = isinf(quota) ? 0 : cpu_quota_count_cores(agent);
    if ((double)count <= quota)
        return;
    agent->quota_told = true;
    char *text = mem_format("%s: the cgroup's CPU quota is %.4g core%s, the tasks have %zu",
                            agent->host, quota, quota == 1 ? "" : "s", count);
    struct frame frame = {
        .type = FRAME_NOTE, .node = uplink_node(agent->uplink), .bytes = text, .len = strlen(text)};
    uplink_send(agent->uplink, &frame);
    free(text);
}

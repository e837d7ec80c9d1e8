/* Whether tasks have more cores than processor time, said to people. */
#include "launcher/agent/cpu_quota.h"

void cpu_quota_add_cores(struct idset **all, const struct launch *launch, const struct topo *topo,
                         bool unbound)
{
    bool loose = unbound && !launch->claim; /* kept to nothing: each task uses one core */
    struct idset *cores = launch->claim ? idset_copy(launch->claim) : idset_new();
    for (uint32_t row = 0; row < topo->npus && !launch->claim; row++) {
        if (loose && idset_count(cores) == launch->nlocal)
            break;
        for (uint32_t i = 0; i < launch->ncpus; i++)
            if (idset_has(launch->cpus[i], topo->os[row]))
                idset_add(cores, topo_core(topo, row));
    }
    struct idset *both = idset_union(*all, cores);
    idset_free(cores);
    idset_free(*all);
    *all = both;
}

bool cpu_quota_note(struct uplink *uplink, const char *host, double quota,
                    const struct idset *cores)
{
    size_t count = idset_count(cores);
    if ((double)count <= quota)
        return false;
    uplink_note(uplink, "%s: the cgroup's CPU quota is %.4g core%s, the tasks have %zu", host,
                quota, quota == 1 ? "" : "s", count);
    return true;
}

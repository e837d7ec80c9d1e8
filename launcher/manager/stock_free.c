/* What of a host's cores and GPUs this run may use now. */
#include "launcher/manager/state.h"

struct idset *stock_free_cores(const struct manager *manager, size_t index)
{
    const struct host *host = &manager->hosts[index];
    const struct rset_node *granted = grant_node(manager, index),
                           *held = stock_held(manager, index);
    if (manager->grant)
        return granted ? idset_copy(granted->children->cores) : idset_new();
    if (host->cores)
        return idset_copy(host->cores);
    struct idset *cores = stock_cores(manager, index);
    if (held) {
        struct idset *left = idset_subtract(cores, held->children->cores);
        idset_free(cores);
        cores = left;
    }
    return cores;
}

/* R told what there is before it was known what tprun's own environment hides. */
static int granted_gpus(struct manager *manager, size_t index, struct idset **gpus,
                        struct error *err)
{
    const struct rset_node *granted = grant_node(manager, index);
    struct idset *seen;
    *gpus = NULL;
    if (!granted || idset_empty(granted->children->gpus))
        return 0;
    if (stock_gpus(manager, index, &seen, err) < 0)
        return -1;
    bool all = seen && idset_within(granted->children->gpus, seen);
    idset_free(seen);
    if (!all)
        return error_set(err,
                         "%s: the shape was given GPUs that tprun's own environment hides "
                         "(CUDA_VISIBLE_DEVICES and the like): unset it, or take them out of R",
                         granted->host);
    *gpus = idset_copy(granted->children->gpus);
    return 0;
}

int stock_free_gpus(struct manager *manager, size_t index, struct idset **gpus, struct error *err)
{
    const struct rset_node *held = stock_held(manager, index);
    if (manager->grant)
        return granted_gpus(manager, index, gpus, err);
    if (stock_gpus(manager, index, gpus, err) < 0)
        return -1;
    if (*gpus && held) {
        struct idset *left = idset_subtract(*gpus, held->children->gpus);
        idset_free(*gpus);
        *gpus = left;
    }
    return 0;
}

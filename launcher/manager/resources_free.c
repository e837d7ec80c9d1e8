/* What hosts have for this run: cores and GPUs; all of it as an R. */
#include <stdlib.h>
#include <unistd.h>

#include "affinity/resource/scheduling.h"
#include "affinity/topology/topo_treepool.h"
#include "base/mem.h"
#include "launcher/environment/gpu_environment.h"
#include "launcher/manager/internal.h"

const struct rset_node *resources_held(const struct manager *manager, size_t index)
{
    return manager->held ? rset_find_host(manager->held, manager->nodes->list[index].host) : NULL;
}

/* ---- cores ---- */

struct idset *resources_cores(const struct manager *manager, size_t index)
{
    const struct node *node = &manager->nodes->list[index];
    return node->cores ? idset_copy(node->cores)
                       : topo_allowed_cores(host_at(manager->hosts, (uint32_t)index)->topo);
}

/* ---- GPUs ---- */

static bool uses_gpus(const struct manager *manager)
{
    for (size_t i = 0; i < manager->spec->nparts; i++)
        if (manager->spec->parts[i].shape || layout_part_uses_gpus(&manager->parts[i]))
            return true;
    return false;
}

/* By R or by the topology; NULL where there are none. */
static struct idset *all_gpus(const struct manager *manager, size_t index)
{
    const struct node *node = &manager->nodes->list[index];
    const struct topo *topo = host_at(manager->hosts, (uint32_t)index)->topo;
    if (node->gpus ? idset_empty(node->gpus) : !topo->ngpus)
        return NULL;
    if (node->gpus)
        return idset_copy(node->gpus);
    struct idset *gpus = idset_new();
    for (size_t i = 0; i < topo->ngpus; i++)
        idset_add(gpus, topo->gpus[i].id);
    return gpus;
}

/* On this machine only those that tprun itself may see: nothing is ever widened. Takes the set. */
static struct idset *seen_gpus(struct manager *manager, size_t index, struct idset *gpus,
                               struct error *err)
{
    if (!manager->nodes->list[index].here || !uses_gpus(manager))
        return gpus;
    struct idset *seen =
        gpu_environment_allowed(host_at(manager->hosts, (uint32_t)index)->topo, gpus, environ, err);
    manager->gpus_hidden = seen && !idset_equal(seen, gpus);
    idset_free(gpus);
    return seen ? seen : (error_prefix(err, "%s", manager->nodes->list[index].host), NULL);
}

int resources_gpus(struct manager *manager, size_t index, struct idset **gpus, struct error *err)
{
    *gpus = all_gpus(manager, index);
    if (!*gpus)
        return 0;
    *gpus = seen_gpus(manager, index, *gpus, err);
    return *gpus ? 0 : -1;
}

/* ---- all of it, as an R ---- */

int ranked_compare(const void *a, const void *b)
{
    const struct ranked *one = a, *other = b;
    return (one->rank > other->rank) - (one->rank < other->rank);
}

/* Those whose topology is known, as R has them: ascending. Caller frees. */
static struct ranked *rank_hosts(const struct manager *manager, size_t *count)
{
    struct ranked *hosts = mem_array(manager->nodes->count, sizeof(*hosts));
    *count = 0;
    for (size_t i = 0; i < manager->nodes->count; i++)
        if (host_at(manager->hosts, (uint32_t)i)->topo)
            hosts[(*count)++] = (struct ranked){manager->nodes->list[i].target, i};
    qsort(hosts, *count, sizeof(*hosts), ranked_compare);
    return hosts;
}

/* Where a batch system granted a number of cores, and did not say which: those that programs of the
 * job hold, and the first others. Takes the set. */
static struct idset *granted_cores(const struct manager *manager, size_t index, struct idset *all)
{
    const struct node *node = &manager->nodes->list[index];
    const struct rset_node *held = resources_held(manager, index);
    if (!manager->nodes->limits_cores || !node->limit || idset_count(all) <= node->limit)
        return all;
    struct idset *cores = held ? idset_intersect(all, held->children->cores) : idset_new();
    IDSET_FOREACH(core, all)
    {
        if (idset_count(cores) >= node->limit)
            break;
        idset_add(cores, core);
    }
    idset_free(all);
    return cores;
}

static int resources_free_add_host(struct manager *manager, struct rset *R,
                                   const struct ranked *host, struct error *err)
{
    struct idset *gpus;
    if (resources_gpus(manager, host->index, &gpus, err) < 0)
        return -1;
    struct idset *cores =
        granted_cores(manager, host->index, resources_cores(manager, host->index));
    if (!idset_empty(cores))
        rset_append(R, host->rank, manager->nodes->list[host->index].host, cores, gpus);
    idset_free(cores);
    idset_free(gpus);
    return 0;
}

/* Where cores and GPUs are: an entry a machine, of which many hosts may be. */
static json_t *describe_hosts(const struct manager *manager, const struct ranked *hosts,
                              size_t count)
{
    json_t *children = json_array();
    bool *told = mem_array(count, sizeof(*told));
    for (size_t i = 0; i < count; i++) {
        const struct topo *topo = host_at(manager->hosts, (uint32_t)hosts[i].index)->topo;
        struct idset *ranks = idset_new();
        for (size_t j = i; j < count && !told[i]; j++) {
            if (host_at(manager->hosts, (uint32_t)hosts[j].index)->topo != topo)
                continue;
            idset_add(ranks, hosts[j].rank);
            told[j] |= j > i;
        }
        char *text = idset_encode(ranks);
        if (*text)
            json_array_append_new(children, json_pack("{s:s, s:o}", "ranks", text, "topo",
                                                      topo_to_treepool(topo, NULL, NULL)));
        free(text);
        idset_free(ranks);
    }
    free(told);
    return json_pack("{s:s, s:o}", "writer", SCHEDULING_WRITER, "children", children);
}

struct rset *resources_R(struct manager *manager, struct error *err)
{
    const struct rset *from = manager->nodes->R;
    struct rset *R = rset_new();
    size_t count;
    struct ranked *hosts = rank_hosts(manager, &count);
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = resources_free_add_host(manager, R, &hosts[i], err);
    if (rc == 0) {
        if (from)
            scheduling_describe(R, from);
        json_decref(R->scheduling);
        R->scheduling = describe_hosts(manager, hosts, count);
    } else {
        rset_free(R);
        R = NULL;
    }
    free(hosts);
    return R;
}

/* What of a host's cores and GPUs this run may use now. */

struct idset *resources_free_cores(const struct manager *manager, size_t index)
{
    const struct rset_node *granted = shape_allocation_node(manager, index),
                           *held = resources_held(manager, index);
    if (manager->grant)
        return granted ? idset_copy(granted->children->cores) : idset_new();
    if (manager->free_cores[index])
        return idset_copy(manager->free_cores[index]);
    struct idset *cores = resources_cores(manager, index);
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
    const struct rset_node *granted = shape_allocation_node(manager, index);
    struct idset *seen;
    *gpus = NULL;
    if (!granted || idset_empty(granted->children->gpus))
        return 0;
    if (resources_gpus(manager, index, &seen, err) < 0)
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

int resources_free_gpus(struct manager *manager, size_t index, struct idset **gpus,
                        struct error *err)
{
    const struct rset_node *held = resources_held(manager, index);
    if (manager->grant)
        return granted_gpus(manager, index, gpus, err);
    if (resources_gpus(manager, index, gpus, err) < 0)
        return -1;
    if (*gpus && held) {
        struct idset *left = idset_subtract(*gpus, held->children->gpus);
        idset_free(*gpus);
        *gpus = left;
    }
    return 0;
}

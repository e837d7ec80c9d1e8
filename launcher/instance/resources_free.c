/* What hosts have for this run: cores and GPUs; all of it as an R. */
#include "launcher/instance/resources_private.h"

#include <stdlib.h>
#include <unistd.h>

#include "affinity/resource/scheduling.h"
#include "affinity/topology/topo_treepool.h"
#include "base/mem.h"
#include "launcher/environment/gpu_environment.h"

/* ---- cores ---- */

struct idset *resources_cores(const struct resources *resources, uint32_t host)
{
    const struct node *node = host_at(resources->hosts, host)->node;
    return node->cores ? idset_copy(node->cores)
                       : topo_allowed_cores(host_at(resources->hosts, host)->topo);
}

/* ---- GPUs ---- */

/* Those of a host that tprun may give out: on this machine those that it may see itself, elsewhere those
 * that its agent was granted. NULL with a sentence. */
static struct idset *host_gpus(const struct host *host, const struct idset *gpus, struct error *err)
{
    if (host->node->here)
        return gpu_environment_allowed(host->topo, gpus, environ, err);
    if (host->gpus_refusal) {
        error_set(err, "%s", host->gpus_refusal);
        return NULL;
    }
    return host->granted_gpus ? idset_intersect(gpus, host->granted_gpus) : idset_copy(gpus);
}

int resources_gpus(struct resources *resources, uint32_t number, struct idset **gpus,
                   struct error *err)
{
    const struct host *host = host_at(resources->hosts, number);
    const struct idset *by_R = host->node->gpus;
    *gpus = NULL;
    if (by_R ? idset_empty(by_R) : !host->topo->ngpus)
        return 0;
    struct idset *all = by_R ? idset_copy(by_R) : idset_new();
    for (size_t i = 0; !by_R && i < host->topo->ngpus; i++)
        idset_add(all, host->topo->gpus[i].id);
    if (!resources->wants_gpus) {
        *gpus = all;
        return 0;
    }
    /* Nothing is ever widened. */
    *gpus = host_gpus(host, all, err);
    if (host->node->here)
        resources->gpus_hidden = *gpus && !idset_equal(*gpus, all);
    idset_free(all);
    return *gpus ? 0 : error_prefix(err, "%s", host->node->host);
}

/* ---- all of it, as an R ---- */

int ranked_compare(const void *a, const void *b)
{
    const struct ranked *one = a, *other = b;
    return (one->rank > other->rank) - (one->rank < other->rank);
}

/* Where a batch system granted a number of cores, and did not say which: those that programs of the
 * job hold, and the first others. */
static int resources_free_add_host(struct resources *resources, struct rset *R,
                                   const struct ranked *ranked, struct error *err)
{
    uint32_t host = (uint32_t)ranked->index;
    const struct node *node = host_at(resources->hosts, host)->node;
    const struct rset_node *held = resources_held_of(resources, host);
    struct idset *gpus;
    if (resources_gpus(resources, host, &gpus, err) < 0)
        return -1;
    struct idset *cores = resources_cores(resources, host);
    if (host_nodes(resources->hosts)->limits_cores && node->limit &&
        idset_count(cores) > node->limit) {
        struct idset *all = cores;
        cores = held ? idset_intersect(all, held->children->cores) : idset_new();
        IDSET_FOREACH(core, all)
        {
            if (idset_count(cores) >= node->limit)
                break;
            idset_add(cores, core);
        }
        idset_free(all);
    }
    if (!idset_empty(cores))
        rset_append(R, ranked->rank, node->host, cores, gpus);
    idset_free(cores);
    idset_free(gpus);
    return 0;
}

/* Where cores and GPUs are: an entry a machine, of which many hosts may be. */
static json_t *describe_hosts(const struct resources *resources, const struct ranked *hosts,
                              size_t count)
{
    json_t *children = json_array();
    bool *told = mem_array(count, sizeof(*told));
    for (size_t i = 0; i < count; i++) {
        const struct topo *topo = host_at(resources->hosts, (uint32_t)hosts[i].index)->topo;
        struct idset *ranks = idset_new();
        for (size_t j = i; j < count && !told[i]; j++) {
            if (host_at(resources->hosts, (uint32_t)hosts[j].index)->topo != topo)
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

struct rset *resources_R(struct resources *resources, struct error *err)
{
    const struct rset *from = host_nodes(resources->hosts)->R;
    struct rset *R = rset_new();
    uint32_t nhosts = host_count(resources->hosts);
    struct ranked *hosts = mem_array(nhosts, sizeof(*hosts));
    size_t count = 0;
    int rc = 0;
    /* Those whose topology is known, ascending as R has them. */
    IDSET_FOREACH(number, host_used(resources->hosts))
    {
        const struct host *host = host_at(resources->hosts, number);
        if (host->topo)
            hosts[count++] = (struct ranked){host->node->target, number};
    }
    qsort(hosts, count, sizeof(*hosts), ranked_compare);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = resources_free_add_host(resources, R, &hosts[i], err);
    if (rc == 0) {
        if (from)
            scheduling_describe(R, from);
        json_decref(R->scheduling);
        R->scheduling = describe_hosts(resources, hosts, count);
    } else {
        rset_free(R);
        R = NULL;
    }
    free(hosts);
    return R;
}

/* ---- what is free of them ---- */

struct idset *resources_free_cores(const struct resources *resources, uint32_t host)
{
    const struct rset_node *held = resources_held_of(resources, host);
    const struct idset *of_R = resources_free_of_R(resources, host);
    if (of_R)
        return idset_copy(of_R);
    struct idset *cores = resources_cores(resources, host);
    if (held) {
        struct idset *left = idset_subtract(cores, held->children->cores);
        idset_free(cores);
        cores = left;
    }
    return cores;
}

int resources_free_gpus(struct resources *resources, uint32_t host, struct idset **gpus,
                        struct error *err)
{
    const struct rset_node *held = resources_held_of(resources, host);
    if (resources_gpus(resources, host, gpus, err) < 0)
        return -1;
    if (*gpus && held) {
        struct idset *left = idset_subtract(*gpus, held->children->gpus);
        idset_free(*gpus);
        *gpus = left;
    }
    return 0;
}

bool resources_gpus_are_hidden(const struct resources *resources)
{
    return resources->gpus_hidden;
}

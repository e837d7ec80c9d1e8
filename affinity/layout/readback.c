/* The bindings that tasks have, as agents read them back, beside those that were planned. */
#include "affinity/layout/readback.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

struct found {
    const struct layout *plan;
    const struct layout_request *request;
    struct layout view; /* the plan's, but for tasks and bindings */
    json_t *known;      /* "TOPO CPUS": index into view.bindings */
    struct idset *added;
};

struct found *readback_new(const struct layout *plan, const struct layout_request *request)
{
    struct found *found = mem_alloc(sizeof(*found));
    found->plan = plan;
    found->request = request;
    found->known = json_object();
    found->added = idset_new();
    found->view = *plan;
    found->view.tasks = mem_array(plan->ntasks, sizeof(*plan->tasks));
    memcpy(found->view.tasks, plan->tasks, plan->ntasks * sizeof(*plan->tasks));
    found->view.bindings = NULL;
    for (uint32_t i = 0; i < plan->nbindings; i++) {
        found->view.bindings = array_grow(found->view.bindings, i, sizeof(*plan->bindings));
        found->view.bindings[i] = plan->bindings[i];
    }
    return found;
}

void readback_free(struct found *found)
{
    if (!found)
        return;
    for (uint32_t i = found->plan->nbindings; i < found->view.nbindings; i++) {
        idset_free(found->view.bindings[i].cpus);
        idset_free(found->view.bindings[i].cores);
    }
    free(found->view.bindings);
    free(found->view.tasks);
    idset_free(found->added);
    json_decref(found->known);
    free(found);
}

static const struct layout_node *node_of(const struct found *found, uint32_t rank)
{
    uint32_t node = found->plan->tasks[rank].node;
    return &found->request->nodes[found->plan->nodes[node].source];
}

static uint32_t binding_for(struct found *found, const struct topo *topo, const struct idset *cpus)
{
    struct layout *view = &found->view;
    char *text = idset_encode(cpus);
    char *key = mem_format("%p %s", (const void *)topo, text);
    json_t *index = json_object_get(found->known, key);
    if (!index) {
        struct idset *cores = idset_new();
        for (uint32_t row = 0; row < topo->npus; row++)
            if (idset_has(cpus, topo->os[row]))
                idset_add(cores, topo_core(topo, row));
        view->bindings = array_grow(view->bindings, view->nbindings, sizeof(*view->bindings));
        view->bindings[view->nbindings] = (struct layout_binding){idset_copy(cpus), cores};
        index = json_integer((json_int_t)view->nbindings++);
        json_object_set_new(found->known, key, index);
    }
    free(key);
    free(text);
    return (uint32_t)json_integer_value(index);
}

int readback_add(struct found *found, const struct idset *ranks, const struct idset *cpus,
                 struct error *err)
{
    const struct topo *topo = NULL;
    uint32_t binding = 0;
    if (!idset_empty(ranks) && idset_last(ranks) >= found->plan->ntasks)
        return error_set(err, "there is no rank %u", idset_last(ranks));
    IDSET_FOREACH(rank, ranks)
    {
        if (topo != node_of(found, rank)->topo) {
            topo = node_of(found, rank)->topo;
            binding = binding_for(found, topo, cpus);
        }
        found->view.tasks[rank].binding = binding;
        idset_add(found->added, rank);
    }
    return 0;
}

bool readback_complete(const struct found *found)
{
    return idset_count(found->added) == found->plan->ntasks;
}

static int differs(const struct found *found, uint32_t rank, struct error *err)
{
    const struct layout *plan = found->plan;
    char *planned = idset_encode(plan->bindings[plan->tasks[rank].binding].cpus);
    char *real = idset_encode(found->view.bindings[found->view.tasks[rank].binding].cpus);
    error_set(err, "rank %u on %s: the kernel bound it to OS processors %s, not to %s as was shown",
              rank, node_of(found, rank)->host, real, planned);
    free(planned);
    free(real);
    return -1;
}

int readback_check(const struct found *found, struct error *err)
{
    uint32_t plan = UINT32_MAX, view = UINT32_MAX; /* the pair that was found equal last */
    IDSET_FOREACH(rank, found->added)
    {
        uint32_t a = found->plan->tasks[rank].binding, b = found->view.tasks[rank].binding;
        if (a == plan && b == view)
            continue;
        const struct idset *planned = found->plan->bindings[a].cpus;
        const struct idset *real = found->view.bindings[b].cpus;
        /* A node may keep unbound tasks to less than all, to what their program holds. */
        if (found->plan->bound ? !idset_equal(planned, real) : !idset_within(real, planned))
            return differs(found, rank, err);
        plan = a;
        view = b;
    }
    return 0;
}

const struct layout *readback_layout(const struct found *found)
{
    return &found->view;
}

/* This machine's topology: for the hosts that are this machine, and for its agent. */
#include "launcher/instance/local_topology.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/thread.h"

struct local_topology {
    bool (*wants)(void *owner);
    void (*beside)(void *owner);
    void *owner;
    struct topo *topo;
    struct hwloc_topology *machine;
};

struct local_topology *local_topology_new(bool (*wants)(void *owner), void (*beside)(void *owner),
                                          void *owner)
{
    struct local_topology *local = mem_alloc(sizeof(*local));
    local->wants = wants;
    local->beside = beside;
    local->owner = owner;
    return local;
}

void local_topology_free(struct local_topology *local)
{
    if (!local)
        return;
    topo_free(local->topo);
    topo_free_machine(local->machine);
    free(local);
}

static void *local_topology_run_beside(void *arg)
{
    struct local_topology *local = arg;
    local->beside(local->owner);
    return NULL;
}

int local_topology_find(struct local_topology *local, struct error *err)
{
    struct thread beside = {0};
    if (local->topo)
        return 0;
    if (local->wants && local->wants(local->owner))
        thread_begin(&beside, local_topology_run_beside, local);
    local->topo = topo_load_both(&local->machine, err);
    thread_end(&beside);
    return local->topo ? 0 : -1;
}

struct topo *local_topology_topo(const struct local_topology *local)
{
    return local->topo;
}

struct hwloc_topology *local_topology_machine(const struct local_topology *local)
{
    return local->machine;
}

void local_topology_drop_machine(struct local_topology *local)
{
    topo_free_machine(local->machine);
    local->machine = NULL;
}

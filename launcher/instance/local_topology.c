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

/* Of this process, or of that which it was forked from. */
static struct {
    struct topo *topo; /* NULL: nothing was read, or it was taken */
    struct hwloc_topology *machine;
} read_ahead;

void local_topology_read_ahead(void)
{
    struct error ignored = ERROR_INIT; /* who needs it says why it cannot be read */
    if (!read_ahead.topo)
        read_ahead.topo = topo_load_both(&read_ahead.machine, &ignored);
    error_clear(&ignored);
}

static bool take_what_was_read(struct local_topology *local)
{
    local->topo = read_ahead.topo;
    local->machine = read_ahead.machine;
    read_ahead.topo = NULL;
    read_ahead.machine = NULL;
    return local->topo;
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
    if (!take_what_was_read(local))
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

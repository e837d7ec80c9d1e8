/* Finds out where each binding's memory may be, for --mem-bind local. */
#include "launcher/task/memory_binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/idset.h"
#include "base/mem.h"

static bool wants_local(const struct launch *launch, const struct launch_task *what)
{
    return launch->spec->parts[what->app].memory == SPEC_MEMORY_LOCAL;
}

/* 0, or -1 with the end of a sentence. */
static int memory_fill(const struct topo *topo, const struct idset *cpus,
                       const struct idset *allowed, struct exec_memory *memory, struct error *err)
{
    struct idset *nodes = topo_memory_of_cpus(topo, cpus);
    char *where = idset_encode(cpus), *want = idset_encode(nodes), *have = idset_encode(allowed);
    int result = 0;
    if (idset_empty(nodes))
        result = error_set(err, "no memory is next to OS processors %s", where);
    else if (!idset_within(nodes, allowed))
        result = error_set(err,
                           "next to OS processors %s is the memory of NUMA node%s %s, and this "
                           "machine or cgroup allows that of %s",
                           where, idset_count(nodes) > 1 ? "s" : "", want, have);
    IDSET_FOREACH(node, nodes)
    exec_memory_add(memory, node);
    idset_free(nodes);
    free(where);
    free(want);
    free(have);
    return result;
}

static struct idset *memory_allowed(struct error *err)
{
    struct exec_memory allowed;
    if (exec_memory_allowed(&allowed) < 0) {
        error_set(err, "this node's kernel does not let memory be bound (%s)", strerror(errno));
        return NULL;
    }
    struct idset *set = idset_new();
    for (uint32_t node = 0; node < EXEC_MAX_MEMORIES; node++)
        if (exec_memory_has(&allowed, node))
            idset_add(set, node);
    return set;
}

int memory_binding_open(const struct launch *launch, const struct topo *topo,
                        struct exec_memory **sets, struct error *err)
{
    bool any = false;
    *sets = NULL;
    for (uint32_t i = 0; i < launch->nlocal && !any; i++)
        any = wants_local(launch, &launch->tasks[i]);
    if (!any)
        return 0;
    struct idset *allowed = memory_allowed(err);
    bool *done = mem_array(launch->ncpus, sizeof(*done));
    int result = allowed ? 0 : -1;
    *sets = mem_array(launch->ncpus, sizeof(**sets));
    for (uint32_t i = 0; i < launch->nlocal && result == 0; i++) {
        uint32_t binding = launch->tasks[i].binding;
        if (done[binding] || !wants_local(launch, &launch->tasks[i]))
            continue;
        result = memory_fill(topo, launch->cpus[binding], allowed, &(*sets)[binding], err);
        done[binding] = true;
    }
    free(done);
    idset_free(allowed);
    if (result == 0)
        return 0;
    free(*sets);
    *sets = NULL;
    char *why = mem_copy_text(error_text(err));
    error_set(err, "--mem-bind local: %s; leave it out", why);
    free(why);
    return -1;
}

const struct exec_memory *memory_binding_of(const struct launch *launch,
                                            const struct exec_memory *sets,
                                            const struct launch_task *what)
{
    return sets && wants_local(launch, what) ? &sets[what->binding] : NULL;
}

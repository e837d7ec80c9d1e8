/* Sets of processors for the kernel, made of a launch's bindings, and what it says of them. */
#include "launcher/task/task_binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/idset.h"
#include "base/mem.h"

/* The kernel refuses to answer into a set smaller than its own. */
static size_t kernel_set_size(void)
{
    size_t count = CPU_SETSIZE;
    for (int small = 1; small; count *= 2) {
        cpu_set_t *set = CPU_ALLOC(count);
        small = sched_getaffinity(0, CPU_ALLOC_SIZE(count), set) < 0 && errno == EINVAL;
        CPU_FREE(set);
        if (!small || count > TOPO_MAX_PUS)
            break;
    }
    return CPU_ALLOC_SIZE(count);
}

int task_binding_check(const struct launch *launch, const struct topo *topo, struct error *err)
{
    struct idset *allowed = topo_allowed_cpus(topo);
    int result = 0;
    for (uint32_t i = 0; i < launch->ncpus && !result; i++) {
        const struct idset *cpus = launch->cpus[i];
        if (idset_within(cpus, allowed))
            continue;
        char *want = idset_encode(cpus), *have = idset_encode(allowed);
        result = error_set(err,
                           "cannot bind tasks to OS processors %s: this node's cgroup and "
                           "inherited mask allow %s; give an R that says no more",
                           want, have);
        free(want);
        free(have);
    }
    idset_free(allowed);
    return result;
}

void task_binding_open(struct task_binding *bindings, const struct launch *launch)
{
    *bindings = (struct task_binding){.count = launch->ncpus, .size = kernel_set_size()};
    bindings->sets = mem_array(launch->ncpus, sizeof(*bindings->sets));
    for (uint32_t i = 0; i < launch->ncpus; i++) {
        bindings->sets[i] = mem_alloc(bindings->size);
        IDSET_FOREACH(cpu, launch->cpus[i])
        CPU_SET_S(cpu, bindings->size, bindings->sets[i]);
    }
}

void task_binding_add_found(struct task_binding *bindings, const cpu_set_t *set, uint32_t rank)
{
    size_t i = 0;
    while (i < bindings->nfound && !CPU_EQUAL_S(bindings->size, bindings->found[i].set, set))
        i++;
    if (i == bindings->nfound) {
        bindings->found = mem_resize(bindings->found, ++bindings->nfound, sizeof(*bindings->found));
        bindings->found[i] = (struct task_binding_found){mem_alloc(bindings->size), idset_new()};
        memcpy(bindings->found[i].set, set, bindings->size);
    }
    idset_add(bindings->found[i].ranks, rank);
}

void task_binding_take_found(const struct task_binding *bindings, struct started_report *report)
{
    report->bindings = mem_array(bindings->nfound, sizeof(*report->bindings));
    report->nbindings = bindings->nfound;
    for (size_t i = 0; i < bindings->nfound; i++) {
        struct idset *cpus = idset_new();
        for (size_t cpu = 0; cpu < 8 * bindings->size; cpu++)
            if (CPU_ISSET_S(cpu, bindings->size, bindings->found[i].set))
                idset_add(cpus, (uint32_t)cpu);
        report->bindings[i] = (struct found_binding){cpus, idset_copy(bindings->found[i].ranks)};
    }
}

void task_binding_close(struct task_binding *bindings)
{
    for (uint32_t i = 0; i < bindings->count; i++)
        free(bindings->sets[i]);
    for (size_t i = 0; i < bindings->nfound; i++) {
        free(bindings->found[i].set);
        idset_free(bindings->found[i].ranks);
    }
    free(bindings->found);
    free(bindings->sets);
}

#include "launcher/task/openmp_variables.h"

#include <stdlib.h>

#include "base/mem.h"
#include "launcher/environment/openmp_environment.h"

void threads_open(struct threads *threads, const struct launch *launch, const struct topo *topo)
{
    *threads = (struct threads){launch, topo, NULL};
    threads->lists = mem_array(launch->spec->nparts * launch->ncpus, sizeof(*threads->lists));
}

void threads_close(struct threads *threads)
{
    size_t count = threads->launch->spec->nparts * threads->launch->ncpus;
    for (size_t i = 0; i < count; i++)
        spec_free_words(threads->lists[i]);
    free(threads->lists);
}

char *const *threads_of(struct threads *threads, const struct part *part,
                        const struct launch_task *what)
{
    const struct launch *launch = threads->launch;
    const struct spec_part *of = &launch->spec->parts[what->app];
    if (!of->cores_per_task || of->no_omp)
        return NULL;
    char ***list = &threads->lists[what->app * launch->ncpus + what->binding];
    if (!*list)
        *list = omp_env_make(threads->topo, launch->cpus[what->binding], of->cores_per_task,
                             part->environment);
    return *list;
}

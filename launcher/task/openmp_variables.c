#include "launcher/task/openmp_variables.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/environment/openmp_environment.h"

void openmp_variables_open(struct openmp_variables *threads, const struct launch *launch,
                           const struct topo *topo)
{
    *threads = (struct openmp_variables){launch, topo, NULL};
    threads->lists = mem_array(launch->spec->nparts * launch->ncpus, sizeof(*threads->lists));
}

void openmp_variables_close(struct openmp_variables *threads)
{
    size_t count = threads->launch->spec->nparts * threads->launch->ncpus;
    for (size_t i = 0; i < count; i++)
        string_list_free(threads->lists[i]);
    free(threads->lists);
}

char *const *openmp_variables_of(struct openmp_variables *threads, const struct part_setup *part,
                                 const struct launch_task *what)
{
    const struct launch *launch = threads->launch;
    const struct spec_part *of = &launch->spec->parts[what->app];
    if (!of->cores_per_task || of->no_omp)
        return NULL;
    char ***list = &threads->lists[what->app * launch->ncpus + what->binding];
    if (!*list) {
        bool bound = !of->bind || strcmp(of->bind, "none") != 0;
        *list = openmp_environment_make(threads->topo, bound ? launch->cpus[what->binding] : NULL,
                                        of->cores_per_task, part->environment);
    }
    return *list;
}

#include "launcher/agent/part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/program/gpu_env.h"
#include "launcher/program/part_linkage.h"
#include "launcher/program/pmi_choice.h"
#include "launcher/program/pmi_env.h"
#include "launcher/program/spec_build.h"
#include "launcher/program/spec_env.h"

/* What the caller saw of GPUs, on a machine that may be another one, gives way to what the tasks
 * are given. */
static void open_gpus(struct part *part, const struct spec_part *what)
{
    size_t kept = 0;
    if (!part->launch->gpus_assigned || (what->gpu_bind && strcmp(what->gpu_bind, "none") == 0))
        return;
    part->gpu_views = mem_array(part->launch->ngpus + 1ul, sizeof(*part->gpu_views));
    for (size_t i = 0; i < part->count; i++) {
        if (gpu_env_says(part->environment[i]))
            free(part->environment[i]);
        else
            part->environment[kept++] = part->environment[i];
    }
    part->environment[part->count = kept] = NULL;
}

char *const *part_gpus(const struct part *part, const struct launch_task *what)
{
    static char *const nothing[] = {NULL};
    const struct launch *launch = part->launch;
    if (!part->gpu_views)
        return nothing;
    bool none = what->gpus == LAYOUT_NO_GPUS;
    char ***view = &part->gpu_views[none ? launch->ngpus : what->gpus];
    if (!*view)
        *view = gpu_env_make(part->topo, none ? NULL : launch->gpus[what->gpus], part->environment);
    return *view;
}

static void open_pmi(struct part *part, bool pmix_served)
{
    if (!part->path)
        return;
    struct linkage_source program =
        part_linkage_source(part->path, part->directory, part->environment);
    part->pmi = pmi_choice_read(part->launch->spec->pmi, pmix_served, &program);
}

void part_serve(struct part *part, const char *memory)
{
    part->pmi_env =
        pmi_env_make(part->pmi, part->environment, memory, launch_is_crowded(part->launch));
}

void part_open(struct part *part, const struct launch *launch, size_t number,
               const struct topo *topo, bool pmix_served)
{
    const struct spec *spec = launch->spec;
    const struct spec_part *what = &spec->parts[number];
    part->launch = launch;
    part->topo = topo;
    part->environment = spec_part_environment(spec, what);
    while (part->environment[part->count])
        part->count++;
    open_gpus(part, what);
    part->directory = what->chdir ? what->chdir : spec->directory;
    part->umask = what->umask >= 0 ? what->umask : spec->umask;
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (spec_has_rlimit(spec, i))
            spawn_limit(&part->limits[i], i, spec->rlimits[i].rlim_cur);
    for (size_t i = 0; i < what->nrlimits; i++)
        spawn_limit(&part->limits[what->rlimits[i].resource], what->rlimits[i].resource,
                    (rlim_t)what->rlimits[i].soft);
    part->path =
        spawn_find(what->argv[0], spec_env_value(part->environment, "PATH"), part->directory);
    part->missing = part->path ? 0 : errno;
    open_pmi(part, pmix_served);
}

void part_close(struct part *part)
{
    for (uint32_t i = 0; part->gpu_views && i <= part->launch->ngpus; i++)
        spec_free_words(part->gpu_views[i]);
    free(part->gpu_views);
    spec_free_words(part->pmi_env);
    spec_free_words(part->environment);
    free(part->path);
}

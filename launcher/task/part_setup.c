/* What the tasks of a part share on this node: program, environment, limits, the PMI they are offered. */
#include "launcher/task/part_setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/environment/environment.h"
#include "launcher/environment/gpu_environment.h"
#include "launcher/environment/openmp_environment.h"
#include "launcher/environment/pmi_environment.h"
#include "launcher/linkage/executable.h"
#include "launcher/linkage/mpi_abi.h"
#include "launcher/linkage/part_linkage.h"
#include "launcher/linkage/pmi_choice.h"
#include "launcher/spec/spec_build.h"
#include "launcher/task/task_environment.h"

/* Without what each task is given. What the caller saw of GPUs, on a machine that may be another one,
 * gives way to what the tasks are given, too. */
static void open_environment(struct part_setup *part, const struct spec_part *what)
{
    const struct launch *launch = part->launch;
    char **list = spec_part_environment(launch->spec, what);
    bool gpus = launch->gpus_assigned && !(what->gpu_bind && strcmp(what->gpu_bind, "none") == 0);
    if (gpus)
        part->gpu_views = mem_array(launch->ngpus + 1ul, sizeof(*part->gpu_views));
    for (size_t i = 0; list[i]; i++) {
        if (task_environment_are_own(launch, list[i]) || (gpus && gpu_environment_says(list[i])))
            free(list[i]);
        else
            list[part->count++] = list[i];
    }
    list[part->count] = NULL;
    part->environment = list;
}

static void open_pmi(struct part_setup *part, bool pmix_served)
{
    if (!part->path)
        return;
    struct shared_libraries_source program =
        part_linkage_source(part->path, part->directory, part->environment);
    program.mpi_abi = part->mpi_abi;
    if (part->launch->spec->nparts == 1 && part->launch->nnodes == 1) {
        part->pmi = pmi_choice_read(part->launch->spec->pmi, pmix_served, &program);
        return;
    }
    program.last = mpi_library_names_mpi;
    struct shared_libraries *linkage = shared_libraries_read(&program, NULL);
    part->pmi = pmi_choice_of(part->launch->spec->pmi, pmix_served, linkage);
    struct mpi_library use = linkage ? mpi_library_of(linkage) : (struct mpi_library){0};
    part->family = use.speaks & part->pmi ? use.family : MPI_FAMILY_UNKNOWN;
    shared_libraries_free(linkage);
}

/* ---- the library of the MPI ABI ---- */

static void set_library_path(struct part_setup *part, const char *value)
{
    static const char name[] = "LD_LIBRARY_PATH=";
    char **entry = part->environment;
    while (*entry && strncmp(*entry, name, sizeof(name) - 1) != 0)
        entry++;
    if (!*entry) {
        part->environment = mem_resize(part->environment, part->count + 2, sizeof(char *));
        entry = &part->environment[part->count++];
        entry[0] = entry[1] = NULL;
    }
    free(*entry);
    *entry = mem_format("%s%s", name, value);
}

static int check_program(const struct part_setup *part, struct error *err)
{
    struct shared_libraries_source program =
        part_linkage_source(part->path, part->directory, part->environment);
    program.mpi_abi = part->mpi_abi;
    program.last = mpi_library_names_mpi;
    struct shared_libraries *linkage = shared_libraries_read(&program, err);
    bool lenient = part->launch->spawned || part->launch->spec->nparts > 1;
    int rc = linkage ? mpi_abi_accepts(linkage, part->mpi_abi, lenient, err) : -1;
    shared_libraries_free(linkage);
    return rc;
}

static bool runs_without(const struct part_setup *part)
{
    struct shared_libraries_source program =
        part_linkage_source(part->path, part->directory, part->environment);
    program.last = mpi_library_names_mpi;
    struct shared_libraries *linkage = shared_libraries_read(&program, NULL);
    bool runs = part->launch->spec->mpi_is_default && linkage && !mpi_abi_is_for(linkage);
    shared_libraries_free(linkage);
    return runs;
}

static int choose_mpi(struct part_setup *part, struct scratch *scratch, struct error *err)
{
    const char *before = env_value(part->environment, "LD_LIBRARY_PATH");
    const char *directory = scratch_directory_name(scratch, err);
    part->mpi_abi =
        directory ? mpi_abi_find(part->launch->spec->mpi, part->environment, err) : NULL;
    if (!part->mpi_abi || check_program(part, err) < 0) {
        if (!runs_without(part))
            return -1;
        error_clear(err);
        free(part->mpi_abi);
        part->mpi_abi = NULL;
        return 0;
    }
    if (scratch_directory_make(scratch) < 0)
        return error_set(err, "cannot make %s: %s; TMPDIR may name another directory", directory,
                         strerror(errno));
    char *value = mpi_abi_library_path(part->mpi_abi, directory, before, err);
    if (value)
        set_library_path(part, value);
    free(value);
    return value ? 0 : -1;
}

/* The copy of a staged program; NULL: it is not staged. A relative path begins where the task starts,
 * or, as that of --stage does, where tprun was typed. Caller frees. */
static char *staged_program(const struct part_setup_source *source, const char *program,
                            const char *directory)
{
    const char *caller = source->launch->spec->directory;
    char *staged = stage_place_find(source->stage, program, directory);
    return staged || !caller ? staged : stage_place_find(source->stage, program, caller);
}

void part_setup_open(struct part_setup *part, const struct part_setup_source *source, size_t number)
{
    const struct spec *spec = source->launch->spec;
    const struct spec_part *what = &spec->parts[number];
    part->launch = source->launch;
    part->topo = source->topo;
    open_environment(part, what);
    part->directory = part_linkage_directory(spec, what);
    part->umask = what->umask >= 0 ? what->umask : spec->umask;
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (spec_has_rlimit(spec, i))
            exec_limit(&part->limits[i], i, spec->rlimits[i].rlim_cur);
    for (size_t i = 0; i < what->nrlimits; i++)
        exec_limit(&part->limits[what->rlimits[i].resource], what->rlimits[i].resource,
                   (rlim_t)what->rlimits[i].soft);
    part->openmp = mem_array(part->launch->ncpus, sizeof(*part->openmp));
    struct error err = ERROR_INIT;
    char *staged = staged_program(source, what->argv[0], part->directory);
    struct executable_source program = {.name = staged ? staged : what->argv[0],
                                        .search = env_value(part->environment, "PATH"),
                                        .directory = part->directory};
    part->refused = executable_check(&program, &part->path, &err);
    if (!part->refused && spec->mpi && choose_mpi(part, source->scratch, &err) < 0)
        part->refused = EXIT_FAILURE;
    part->refusal = part->refused ? mem_copy_text(error_text(&err)) : NULL;
    error_clear(&err);
    free(staged);
    open_pmi(part, source->pmix_served);
}

void part_setup_serve(struct part_setup *part, const char *memory)
{
    const struct launch *launch = part->launch;
    part->pmi_env = pmi_environment_make(part->pmi, part->environment, memory,
                                         launch->spec->memory_kinds, launch_is_crowded(launch));
}

void part_setup_close(struct part_setup *part)
{
    for (uint32_t i = 0; part->gpu_views && i <= part->launch->ngpus; i++)
        string_list_free(part->gpu_views[i]);
    free(part->gpu_views);
    for (uint32_t i = 0; i < part->launch->ncpus; i++)
        string_list_free(part->openmp[i]);
    free(part->openmp);
    string_list_free(part->pmi_env);
    string_list_free(part->environment);
    free(part->directory);
    free(part->refusal);
    free(part->mpi_abi);
    free(part->path);
}

char *const *part_setup_gpus(const struct part_setup *part, const struct launch_task *what)
{
    static char *const nothing[] = {NULL};
    const struct launch *launch = part->launch;
    if (!part->gpu_views)
        return nothing;
    bool none = what->gpus == LAYOUT_NO_GPUS;
    char ***view = &part->gpu_views[none ? launch->ngpus : what->gpus];
    if (!*view)
        *view = gpu_environment_make(part->topo, none ? NULL : launch->gpus[what->gpus],
                                     part->environment);
    return *view;
}

char *const *part_setup_openmp(const struct part_setup *part, const struct launch_task *what)
{
    const struct launch *launch = part->launch;
    const struct spec_part *of = &launch->spec->parts[what->app];
    if (!of->cores_per_task || of->no_omp)
        return NULL;
    char ***list = &part->openmp[what->binding];
    if (!*list) {
        bool bound = !of->bind || strcmp(of->bind, "none") != 0;
        *list = openmp_environment_make(part->topo, bound ? launch->cpus[what->binding] : NULL,
                                        of->cores_per_task, part->environment);
    }
    return *list;
}

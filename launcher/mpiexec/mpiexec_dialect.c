/* Whose mpiexec is meant, which program that one would start, and what it leaves unbound. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/policy/policy.h"
#include "base/mem.h"
#include "launcher/linkage/mpi_abi.h"
#include "launcher/linkage/mpi_library.h"
#include "launcher/mpiexec/mpiexec_private.h"
#include "launcher/process/exec.h"
#include "launcher/spec/spec_build.h"

/* ---- the program ---- */

/* What the words make of a variable: they are applied in this order. */
static const char *words_variable(const struct string_list *words, const char *name,
                                  const char *value)
{
    static const char set[] = "--env=";
    size_t len = strlen(name);
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->list[i], *at = word + sizeof(set) - 1;
        if (strcmp(word, "--env-remove=*") == 0)
            value = NULL;
        else if (strncmp(word, set, sizeof(set) - 1) != 0 || strncmp(at, name, len) != 0)
            continue;
        else if (at[len] == '=')
            value = at + len + 1;
        else if (!at[len])
            value = getenv(name);
    }
    return value;
}

const char *mpiexec_variable(const struct mpiexec *mpiexec, const struct mpiexec_part *part,
                             const char *name)
{
    const char *value = getenv(name);
    value = words_variable(part->passes ? &part->pass : &mpiexec->pass, name, value);
    value = words_variable(&mpiexec->set, name, value);
    return words_variable(&part->set, name, value);
}

/* Where the part's tasks start, an absolute path; caller frees. */
static char *part_directory(const struct mpiexec_part *part)
{
    const char *own = mpiexec_value(&part->own, "--chdir=");
    if (own && own[0] == '/')
        return mem_copy_text(own);
    char *here = getcwd(NULL, 0);
    char *whole = own ? mem_format("%s/%s", here ? here : ".", own) : NULL;
    if (!whole)
        return here ? here : mem_copy_text("/");
    free(here);
    return whole;
}

/* Open MPI's looks into the directory where tasks start when PATH has no such program; MPICH's does
 * not. The look-up of the nodes is that of PATH, so the name gets a directory. */
void mpiexec_find_programs(struct mpiexec *mpiexec)
{
    for (size_t i = 0; i < mpiexec->nparts; i++) {
        struct mpiexec_part *part = &mpiexec->parts[i];
        if (!part->nprogram || mpiexec->dialect == MPIEXEC_HYDRA || strchr(part->program[0], '/'))
            continue;
        char *directory = part_directory(part);
        char *found =
            exec_find(part->program[0], mpiexec_variable(mpiexec, part, "PATH"), directory);
        char *beside = mem_format("./%s", part->program[0]);
        if (!found && (found = exec_find(beside, NULL, directory))) {
            part->found = beside;
            beside = NULL;
        }
        free(beside);
        free(found);
        free(directory);
    }
}

const char *mpiexec_program(const struct mpiexec_part *part)
{
    return part->found ? part->found : part->program[0];
}

/* ---- the dialect ---- */

/* That of the MPI which the part's program is linked with. */
static enum mpiexec_dialect part_dialect(const struct mpiexec *mpiexec,
                                         const struct mpiexec_part *part)
{
    struct error err = ERROR_INIT;
    enum mpi_family family = MPI_FAMILY_UNKNOWN;
    char *directory = part_directory(part);
    char *path =
        exec_find(mpiexec_program(part), mpiexec_variable(mpiexec, part, "PATH"), directory);
    struct shared_libraries_source source = {.path = path,
                                             .directory = directory,
                                             .library_path = getenv("LD_LIBRARY_PATH"),
                                             .last = mpi_library_names_mpi,
                                             .preloaded =
                                                 getenv("LD_PRELOAD") || getenv("LD_AUDIT")};
    const char *choice = mpiexec_value(&mpiexec->whole, "--mpi=");
    char *mpi_abi = choice ? mpi_abi_find(choice, environ, NULL) : NULL;
    source.mpi_abi = mpi_abi;
    struct shared_libraries *linkage = path ? shared_libraries_read(&source, &err) : NULL;
    if (linkage)
        family = mpi_library_of(linkage).family;
    shared_libraries_free(linkage);
    error_clear(&err);
    free(mpi_abi);
    free(path);
    free(directory);
    return family == MPI_FAMILY_MPICH      ? MPIEXEC_HYDRA
           : family == MPI_FAMILY_OPEN_MPI ? MPIEXEC_OPENMPI
                                           : MPIEXEC_EITHER;
}

void mpiexec_note_option(struct mpiexec *mpiexec, const struct mpiexec_option *option)
{
    if (option->shared)
        return;
    mpiexec->hydra |= option->dialect == MPIEXEC_HYDRA;
    mpiexec->openmpi |= option->dialect == MPIEXEC_OPENMPI;
}

void mpiexec_choose_by_options(struct mpiexec *mpiexec)
{
    if (mpiexec->dialect == MPIEXEC_EITHER && mpiexec->hydra != mpiexec->openmpi)
        mpiexec->dialect = mpiexec->hydra ? MPIEXEC_HYDRA : MPIEXEC_OPENMPI;
}

void mpiexec_choose_by_program(struct mpiexec *mpiexec)
{
    for (size_t i = 0; i < mpiexec->nparts && mpiexec->dialect == MPIEXEC_EITHER; i++)
        if (mpiexec->parts[i].nprogram)
            mpiexec->dialect = part_dialect(mpiexec, &mpiexec->parts[i]);
}

/* ---- cores are shared ---- */

/* Whether something says what tasks are bound to. So many tasks on each node does not. */
static bool part_binds(const struct spec_part *part)
{
    const char *level = part->per ? strchr(part->per, ':') : NULL;
    bool per_node = level && (strcmp(level, ":node") == 0 || strcmp(level, ":n") == 0);
    return part->bind || part->cores_per_task || part->gpus_per_task || part->gpu_bind ||
           part->rankfile || part->shape || (part->map && strcmp(part->map, "slot") != 0) ||
           (part->per && !per_node);
}

/* Two of them run beside each other, and none waits for the other. So that they do not meet on the
 * same few cores while others are idle, tasks are bound only where that is asked for. A part that
 * goes on behind the one before is bound as that one is. */
void mpiexec_adapt(struct spec *spec)
{
    spec->overlap = true;
    spec->abort_may_succeed = true;
    for (size_t i = 0; i < spec->nparts; i++) {
        struct spec_part *part = &spec->parts[i];
        struct layout_part layout = spec_part_layout(part);
        bool own = policy_is_own(&layout) || part->rankfile;
        if ((i == 0 || own) && !part_binds(part))
            part->bind = mem_copy_text("none");
    }
}

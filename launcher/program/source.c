#include "launcher/program/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/program/here.h"
#include "launcher/program/nodes_build.h"
#include "launcher/program/source_build.h"

const char *source_get(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0] ? value : NULL;
}

/* ---- an R file ---- */

static struct nodes *file_nodes(const struct source *source, double now, struct error *err)
{
    struct nodes *nodes = nodes_read_R(source_get("TPRUN_R"), now, err);
    if (!nodes)
        error_prefix(err, "%s in the environment", source_variable(source));
    return nodes;
}

static char *file_identity(const struct source *source)
{
    (void)source;
    return nodes_R_identity(source_get("TPRUN_R"));
}

/* ---- this machine ---- */

struct nodes *source_machine(char *name)
{
    struct hostfile_entry own = {.login = here_name()};
    struct hostfile file = {.entries = &own, .count = 1};
    struct nodes *nodes = nodes_from_entries(&file, name);
    free(own.login);
    return nodes;
}

static struct nodes *machine_nodes(const struct source *source, double now, struct error *err)
{
    (void)now;
    (void)err;
    return source_machine(mem_copy_text(source->name));
}

static char *machine_identity(const struct source *source)
{
    return mem_copy_text(source->name);
}

/* ---- all of them ---- */

/* Flux stands before the others: it is often started inside of another's job and then hands out
 * parts of that. */
static const struct source sources[] = {
    {SOURCE_ENCLOSING,
     "the enclosing program",
     {"TPRUN_PROGRAM"},
     NULL,
     enclosing_nodes,
     enclosing_identity},
    {SOURCE_FILE, "an R file", {"TPRUN_R"}, NULL, file_nodes, file_identity},
    {SOURCE_BATCH, "Flux", {"FLUX_JOB_ID", "FLUX_URI"}, NULL, flux_nodes, batch_identity},
    {SOURCE_BATCH, "Slurm", {"SLURM_JOB_ID", "SLURM_JOBID"}, NULL, slurm_nodes, batch_identity},
    {SOURCE_BATCH, "PBS", {"PBS_JOBID"}, NULL, pbs_nodes, batch_identity},
    {SOURCE_BATCH, "LSF", {"LSB_JOBID"}, NULL, lsf_nodes, batch_identity},
    {SOURCE_BATCH, "Grid Engine", {"PE_HOSTFILE"}, NULL, grid_engine_nodes, grid_engine_identity},
    {SOURCE_BATCH,
     "MPI Operator",
     {"K_MPI_JOB_ROLE", "KUBERNETES_SERVICE_HOST"},
     kubernetes_is_there,
     kubernetes_nodes,
     kubernetes_identity},
    {SOURCE_MACHINE, "this machine", {NULL}, NULL, machine_nodes, machine_identity},
};

const char *source_variable(const struct source *source)
{
    for (size_t i = 0; i < SOURCE_MAX_VARIABLES && source->variables[i]; i++)
        if (source_get(source->variables[i]))
            return source->variables[i];
    return source->variables[0];
}

bool source_is_there(const struct source *source)
{
    const char *variable = source_variable(source);
    return source->is_there ? source->is_there() : !variable || source_get(variable);
}

const struct source *source_find(unsigned kinds)
{
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        if ((sources[i].kind & kinds) && source_is_there(&sources[i]))
            return &sources[i];
    return NULL;
}

const struct source *source_named(const char *name)
{
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        if (strcmp(sources[i].name, name) == 0)
            return &sources[i];
    return NULL;
}

const char *source_name(const struct source *source)
{
    return source->name;
}

struct nodes *source_nodes(const struct source *source, double now, struct error *err)
{
    struct nodes *nodes = source->nodes(source, now, err);
    if (!nodes)
        return NULL;
    nodes->from = source;
    nodes->identity = source_identity(source);
    return nodes;
}

char *source_identity(const struct source *source)
{
    return source->identity(source);
}

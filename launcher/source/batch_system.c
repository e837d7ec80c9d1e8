/* The table of sources, and which of them is there. */
#include "launcher/source/batch_system.h"

#include <string.h>

#include "base/mem.h"
#include "launcher/source/batch_files.h"
#include "launcher/source/batch_system_private.h"
#include "launcher/source/enclosing_program.h"
#include "launcher/source/flux_job.h"
#include "launcher/source/kubernetes_job.h"
#include "launcher/source/node_list_private.h"
#include "launcher/source/slurm_job.h"

/* ---- an R file ---- */

static struct node_list *file_nodes(const struct batch_system *source, double now,
                                    struct error *err)
{
    struct node_list *nodes = node_list_read_R(NULL, batch_system_get("TPRUN_R"), now, err);
    if (!nodes)
        error_prefix(err, "%s in the environment", batch_system_variable(source));
    return nodes;
}

static char *file_identity(const struct batch_system *source)
{
    (void)source;
    return node_list_R_identity(batch_system_get("TPRUN_R"));
}

/* ---- this machine ---- */

static struct node_list *machine_nodes(const struct batch_system *source, double now,
                                       struct error *err)
{
    (void)now;
    (void)err;
    return batch_system_machine(mem_copy_text(source->name));
}

static char *machine_identity(const struct batch_system *source)
{
    return mem_copy_text(source->name);
}

/* ---- all of them ---- */

/* Flux stands before the others: it is often started inside of another's job and then hands out
 * parts of that. */
static const struct batch_system sources[] = {
    {BATCH_SYSTEM_ENCLOSING,
     "the enclosing program",
     {"TPRUN_PROGRAM"},
     NULL,
     enclosing_program_nodes,
     enclosing_program_identity},
    {BATCH_SYSTEM_FILE, "an R file", {"TPRUN_R"}, NULL, file_nodes, file_identity},
    {BATCH_SYSTEM_BATCH, "Flux", {"FLUX_JOB_ID", "FLUX_URI"}, NULL, flux_nodes, batch_identity},
    {BATCH_SYSTEM_BATCH,
     "Slurm",
     {"SLURM_JOB_ID", "SLURM_JOBID"},
     NULL,
     slurm_nodes,
     batch_identity},
    {BATCH_SYSTEM_BATCH, "PBS", {"PBS_JOBID"}, NULL, pbs_nodes, batch_identity},
    {BATCH_SYSTEM_BATCH, "LSF", {"LSB_JOBID"}, NULL, lsf_nodes, batch_identity},
    {BATCH_SYSTEM_BATCH,
     "Grid Engine",
     {"PE_HOSTFILE"},
     NULL,
     grid_engine_nodes,
     grid_engine_identity},
    {BATCH_SYSTEM_BATCH,
     "MPI Operator",
     {"K_MPI_JOB_ROLE", "KUBERNETES_SERVICE_HOST"},
     kubernetes_is_there,
     kubernetes_nodes,
     kubernetes_identity},
    {BATCH_SYSTEM_MACHINE, "this machine", {NULL}, NULL, machine_nodes, machine_identity},
};

const struct batch_system *batch_system_find(unsigned kinds)
{
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        if ((sources[i].kind & kinds) && batch_system_is_there(&sources[i]))
            return &sources[i];
    return NULL;
}

const struct batch_system *batch_system_named(const char *name)
{
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        if (strcmp(sources[i].name, name) == 0)
            return &sources[i];
    return NULL;
}

struct node_list *batch_system_nodes(const struct batch_system *source,
                                     struct enclosing_program *program, double now,
                                     struct error *err)
{
    bool opened = program && source->kind == BATCH_SYSTEM_ENCLOSING;
    struct node_list *nodes =
        opened ? enclosing_program_take_nodes(program) : source->nodes(source, now, err);
    if (!nodes)
        return NULL;
    nodes->from = source;
    nodes->identity = batch_system_identity(source);
    return nodes;
}

#include "launcher/source/batch_system.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file_text.h"
#include "base/mem.h"
#include "launcher/process/localhost.h"
#include "launcher/source/batch_nodelist.h"
#include "launcher/source/batch_system_private.h"
#include "launcher/source/node_list_private.h"
#include "launcher/spec/field_words.h"

const char *batch_system_get(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0] ? value : NULL;
}

/* ---- an R file ---- */

static struct node_list *file_nodes(const struct batch_system *source, double now,
                                    struct error *err)
{
    struct node_list *nodes = node_list_read_R(batch_system_get("TPRUN_R"), now, err);
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

struct node_list *batch_system_machine(char *name)
{
    struct hostfile_entry own = {.login = localhost_name()};
    struct hostfile file = {.entries = &own, .count = 1};
    struct node_list *nodes = node_list_from_entries(&file, name);
    free(own.login);
    return nodes;
}

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
     enclosing_nodes,
     enclosing_identity},
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

const char *batch_system_variable(const struct batch_system *source)
{
    for (size_t i = 0; i < BATCH_SYSTEM_MAX_VARIABLES && source->variables[i]; i++)
        if (batch_system_get(source->variables[i]))
            return source->variables[i];
    return source->variables[0];
}

bool batch_system_is_there(const struct batch_system *source)
{
    const char *variable = batch_system_variable(source);
    return source->is_there ? source->is_there() : !variable || batch_system_get(variable);
}

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

const char *batch_system_name(const struct batch_system *source)
{
    return source->name;
}

struct node_list *batch_system_nodes(const struct batch_system *source, double now,
                                     struct error *err)
{
    struct node_list *nodes = source->nodes(source, now, err);
    if (!nodes)
        return NULL;
    nodes->from = source;
    nodes->identity = batch_system_identity(source);
    return nodes;
}

char *batch_system_identity(const struct batch_system *source)
{
    return source->identity(source);
}

/* The batch systems that tell of a job by its environment and by files. */

char *batch_identity(const struct batch_system *source)
{
    const char *variable = batch_system_variable(source);
    const char *what = strcmp(variable, "FLUX_URI") == 0 ? "instance" : "job";
    return mem_format("%s %s %s", source->name, what, batch_system_get(variable));
}

struct node_list *batch_refuse(const struct batch_system *source, const char *wanted,
                               struct error *err)
{
    const char *variable = batch_system_variable(source);
    error_set(err,
              "%s says that this is a job of %s, but %s is not set: unset %s to run on this "
              "machine, or name nodes with --hosts or -R",
              variable, source->name, wanted, variable);
    return NULL;
}

struct node_list *batch_broken(const struct batch_system *source, const char *variable,
                               struct error *err)
{
    char *job = batch_system_identity(source);
    error_prefix(err, "%s of %s", variable, job);
    error_set(err, "%s; unset %s to ignore that job, or name nodes with --hosts or -R",
              error_text(err), batch_system_variable(source));
    free(job);
    return NULL;
}

struct node_list *batch_nodes(const struct batch_system *source, struct hostfile *file,
                              const char *variable, bool cores, struct error *err)
{
    if (!file)
        return batch_broken(source, variable, err);
    char *job = batch_system_identity(source);
    struct node_list *nodes = node_list_from_entries(file, mem_format("%s (%s)", job, variable));
    nodes->limits_cores = cores;
    hostfile_free(file);
    free(job);
    return nodes;
}

/* The file that `variable` names, read by parse(). */
static struct hostfile *batch_file(const char *variable,
                                   struct hostfile *(*parse)(const char *, size_t, struct error *),
                                   struct error *err)
{
    const char *path = batch_system_get(variable);
    struct buf text = BUF_INIT;
    struct hostfile *file = NULL;
    if (strcmp(path, "-") == 0)
        error_set(err, "\"-\" is not the name of a file");
    else if (file_text_read(path, path, HOSTFILE_MAX_TEXT, &text, err) == 0) {
        file = parse(buf_bytes(&text), text.len, err);
        if (!file)
            error_prefix(err, "%s", path);
    }
    buf_free(&text);
    return file;
}

/* ---- PBS ---- */

/* OpenPBS writes a line for each MPI process (pbs_resources(7B), mpiprocs), Torque one for each of
 * the ppn processors of a node (qsub(1B)), unless it was told to write each node once: then
 * PBS_NUM_PPN, which only Torque sets, is how many. */
static int pbs_processors(struct hostfile *file, struct error *err)
{
    const char *text = batch_system_get("PBS_NUM_PPN");
    uint32_t ppn;
    if (!text)
        return 0;
    if (spec_number_decode(text, SPEC_MAX_NUMBER, &ppn, err) < 0)
        return error_prefix(err, "PBS_NUM_PPN");
    for (size_t i = 1; i < file->count; i++)
        if (strcmp(file->entries[i].login, file->entries[i - 1].login) == 0)
            return 0;
    for (size_t i = 0; i < file->count; i++)
        file->entries[i].limit = ppn;
    return 0;
}

struct node_list *pbs_nodes(const struct batch_system *source, double now, struct error *err)
{
    static const char variable[] = "PBS_NODEFILE";
    (void)now;
    if (!batch_system_get(variable))
        return batch_refuse(source, variable, err);
    struct hostfile *file = batch_file(variable, batch_slots, err);
    if (file && pbs_processors(file, err) < 0) {
        hostfile_free(file);
        file = NULL;
    }
    /* A line of OpenPBS is a process, however many cores that has. */
    return batch_nodes(source, file, variable, batch_system_get("PBS_NUM_PPN"), err);
}

/* ---- LSF: IBM Spectrum LSF, "Environment variables set for job execution" ---- */

/* LSB_DJOB_HOSTFILE has a line for each slot, LSB_MCPU_HOSTS each host with its slots. The
 * processors of LSB_AFFINITY_HOSTFILE are those of the cgroup or mask that LSF made. */
struct node_list *lsf_nodes(const struct batch_system *source, double now, struct error *err)
{
    static const char file[] = "LSB_DJOB_HOSTFILE", pairs[] = "LSB_MCPU_HOSTS";
    (void)now;
    if (batch_system_get(file))
        return batch_nodes(source, batch_file(file, batch_slots, err), file, true, err);
    if (batch_system_get(pairs))
        return batch_nodes(source, batch_pairs(batch_system_get(pairs), err), pairs, true, err);
    return batch_refuse(source, pairs, err);
}

/* ---- Grid Engine: sge_pe(5), "PE_HOSTFILE" ---- */

struct node_list *grid_engine_nodes(const struct batch_system *source, double now,
                                    struct error *err)
{
    static const char variable[] = "PE_HOSTFILE";
    (void)now;
    return batch_nodes(source, batch_file(variable, batch_table, err), variable, true, err);
}

/* JOB_ID alone would not tell a job: others use the name. */
char *grid_engine_identity(const struct batch_system *source)
{
    const char *job = batch_system_get("JOB_ID");
    return mem_format("%s job %s", source->name, job ? job : batch_system_get("PE_HOSTFILE"));
}

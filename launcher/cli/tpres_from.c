/* tpres make --from: the nodes of a batch job. */
#include <string.h>
#include <time.h>

#include "affinity/resource/excerpt.h"
#include "launcher/cli/tpres.h"
#include "launcher/program/source.h"

static const struct {
    const char *word, *name;
} systems[] = {
    {"slurm", "Slurm"},
    {"pbs", "PBS"},
    {"lsf", "LSF"},
    {"flux", "Flux"},
    {"sge", "Grid Engine"},
    {"kubernetes", "MPI Operator"},
    {"mpi-operator", "MPI Operator"},
};

static const struct source *find_system(const char *word, struct error *err)
{
    for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
        if (strcmp(systems[i].word, word) == 0)
            return source_named(systems[i].name);
    error_usage(err, "--from %s: expected slurm, pbs, lsf, flux, sge, kubernetes or auto",
                excerpt(word, strlen(word)).text);
    return NULL;
}

struct nodes *tpres_from(const char *word, struct error *err)
{
    bool any = strcmp(word, "auto") == 0;
    const struct source *source = any ? source_find(SOURCE_BATCH) : find_system(word, err);
    if (!source && any)
        error_set(err,
                  "--from auto: this is not inside a batch job (none of SLURM_JOB_ID, PBS_JOBID, "
                  "LSB_JOBID, PE_HOSTFILE, FLUX_JOB_ID and K_MPI_JOB_ROLE is set)");
    if (!source)
        return NULL;
    if (source_is_there(source))
        return source_nodes(source, (double)time(NULL), err);
    error_set(err, "--from %s: this is not inside a job of %s: %s is not set", word,
              source_name(source), source_variable(source));
    return NULL;
}

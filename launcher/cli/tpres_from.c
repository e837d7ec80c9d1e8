/* tpres make --from: the nodes of a batch job. */
#include <string.h>
#include <time.h>

#include "affinity/resource/excerpt.h"
#include "launcher/cli/tpres.h"
#include "launcher/program/source.h"

static const struct {
    const char *word, *name;
} systems[] = {
    {"slurm", "Slurm"}, {"pbs", "PBS"}, {"lsf", "LSF"}, {"flux", "Flux"}, {"sge", "Grid Engine"},
};

static const struct source *find_system(const char *word, struct error *err)
{
    for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
        if (strcmp(systems[i].word, word) == 0)
            return source_named(systems[i].name);
    error_usage(err, "--from %s is no batch system: slurm, pbs, lsf, flux, sge or auto is",
                excerpt(word, strlen(word)).text);
    return NULL;
}

struct nodes *tpres_from(const char *word, struct error *err)
{
    bool any = strcmp(word, "auto") == 0;
    const struct source *source = any ? source_find(SOURCE_BATCH) : find_system(word, err);
    if (!source && any)
        error_set(err, "--from auto: no batch system's job is here, whose variables say so");
    if (!source)
        return NULL;
    if (source_is_there(source))
        return source_nodes(source, (double)time(NULL), err);
    error_set(err, "--from %s: this is no job of %s: %s is not set", word, source_name(source),
              source_variable(source));
    return NULL;
}

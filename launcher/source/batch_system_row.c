/* What the rows of the table of sources share: variables, names, refusals. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/process/localhost.h"
#include "launcher/source/batch_system_private.h"
#include "launcher/source/node_list_private.h"

const char *batch_system_get(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0] ? value : NULL;
}

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

const char *batch_system_name(const struct batch_system *source)
{
    return source->name;
}

char *batch_system_identity(const struct batch_system *source)
{
    return source->identity(source);
}

struct node_list *batch_system_machine(char *name)
{
    struct hostfile_entry own = {.login = localhost_name()};
    struct hostfile file = {.entries = &own, .count = 1};
    struct node_list *nodes = node_list_from_entries(&file, name);
    free(own.login);
    return nodes;
}

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

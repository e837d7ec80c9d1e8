/* What a user may have meant by a name that is not an option here. */
#include <string.h>

#include "base/near.h"
#include "launcher/cli/option.h"

/* Options of mpiexec, mpirun and srun that users bring along. */
static const struct option_hint {
    const char *name, *here;
} option_hints[] = {
    {"H", "--hosts"},
    {"host", "--hosts"},
    {"hostlist", "--hosts"},
    {"nodelist", "--hosts"},
    {"w", "--hosts"},
    {"f", "--hostfile"},
    {"machinefile", "--hostfile"},
    {"ppn", "--mppr N:n"},
    {"npernode", "--mppr N:n"},
    {"ntasks-per-node", "--mppr N:n"},
    {"cpus-per-task", "-c"},
    {"cpu-bind", "--bind-to"},
    {"distribution", "--map-by"},
    {"overcommit", "--oversubscribe"},
    {"report-bindings", "--display bind"},
    {"genv", "-x NAME=VALUE"},
    {"genvlist", "-x NAME"},
    {"genvall", "nothing: it is so by default"},
    {"envlist", "-x NAME"},
    {"envall", "nothing: it is so by default"},
    {"wdir", "--chdir"},
    {"wd", "--chdir"},
    {"label", "--label-io"},
    {"prepend-rank", "--label-io"},
    {"tag-output", "--label-io"},
    {"outfile-pattern", "--output"},
    {"output-filename", "--output"},
    {"errfile-pattern", "--error"},
    {"stdin", "--input"},
    {"timeout", "--time-limit"},
    {"launcher", "--bootstrap"},
    {"launcher-exec", "--ssh"},
    {"configfile", "the parts here, with a : between them"},
    {"app", "the parts here, with a : between them"},
    {"V", "--version"},
};

const char *option_elsewhere(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(option_hints) / sizeof(option_hints[0]); i++)
        if (strlen(option_hints[i].name) == len && memcmp(option_hints[i].name, name, len) == 0)
            return option_hints[i].here;
    return NULL;
}

const struct option *option_nearest(const char *name, size_t len)
{
    const struct option *nearest = NULL;
    size_t least = near_bound(len);
    if (!len || len > NEAR_MAX)
        return NULL;
    for (const struct option *option = option_table; option->name; option++) {
        size_t own = strlen(option->name);
        if (option->flags & OPTION_LATER)
            continue;
        if (len > 2 && own > len && memcmp(option->name, name, len) == 0)
            return option;
        size_t distance = near_distance(name, len, option->name, own);
        if (distance < least || (distance == least && !nearest)) {
            nearest = option;
            least = distance;
        }
    }
    return nearest;
}

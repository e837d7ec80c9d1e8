#include "launcher/agent/part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/program/spec_build.h"

static const char *value_of(char *const *environment, const char *name)
{
    size_t len = strlen(name);
    for (; *environment; environment++)
        if (strncmp(*environment, name, len) == 0 && (*environment)[len] == '=')
            return *environment + len + 1;
    return NULL;
}

void part_open(struct part *part, const struct spec *spec, const struct spec_part *what)
{
    part->environment = spec_part_environment(spec, what);
    while (part->environment[part->count])
        part->count++;
    part->directory = what->chdir ? what->chdir : spec->directory;
    part->umask = what->umask >= 0 ? what->umask : spec->umask;
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (spec_has_rlimit(spec, i))
            spawn_limit(&part->limits[i], i, spec->rlimits[i].rlim_cur);
    for (size_t i = 0; i < what->nrlimits; i++)
        spawn_limit(&part->limits[what->rlimits[i].resource], what->rlimits[i].resource,
                    (rlim_t)what->rlimits[i].soft);
    part->path = spawn_find(what->argv[0], value_of(part->environment, "PATH"), part->directory);
    part->missing = part->path ? 0 : errno;
}

void part_close(struct part *part)
{
    spec_free_words(part->environment);
    free(part->path);
}

#include "launcher/program/part_linkage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/process/spawn.h"
#include "launcher/program/spec_env.h"

/* A part's own directory may be relative to the caller's. */
static char *part_directory(const struct spec *spec, const struct spec_part *part)
{
    const char *caller = spec->directory ? spec->directory : "/";
    if (!part->chdir)
        return mem_copy_text(caller);
    return part->chdir[0] == '/' ? mem_copy_text(part->chdir)
                                 : mem_format("%s/%s", caller, part->chdir);
}

struct linkage_source part_linkage_source(const char *path, const char *directory,
                                          char *const *environment)
{
    return (struct linkage_source){.path = path,
                                   .directory = directory,
                                   .library_path = spec_env_value(environment, "LD_LIBRARY_PATH"),
                                   .preloaded = spec_env_value(environment, "LD_PRELOAD") ||
                                                spec_env_value(environment, "LD_AUDIT")};
}

struct linkage *part_linkage_read(const struct spec *spec, const struct spec_part *part,
                                  struct error *err)
{
    char **environment = spec_part_environment(spec, part);
    char *directory = part_directory(spec, part);
    char *path = spawn_find(part->argv[0], spec_env_value(environment, "PATH"), directory);
    struct linkage *linkage = NULL;
    struct linkage_source source = part_linkage_source(path, directory, environment);
    if (path)
        linkage = linkage_read(&source, err);
    else
        error_set(err, "%s cannot be run: %s", part->argv[0],
                  errno == ENOENT && !strchr(part->argv[0], '/') ? "it is not found along PATH"
                                                                 : strerror(errno));
    free(path);
    free(directory);
    spec_free_words(environment);
    return linkage;
}

#include "launcher/program/part_linkage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/process/spawn.h"
#include "launcher/program/pmi_choice.h"
#include "launcher/program/spec_env.h"
#include "launcher/program/spec_words.h"

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

/* ---- a part's program ---- */

struct place {
    char **environment;
    char *directory;
    char *path; /* NULL: it is not there, errno */
};

static struct linkage_source place_open(struct place *place, const struct spec *spec,
                                        const struct spec_part *part)
{
    place->environment = spec_part_environment(spec, part);
    place->directory = part_directory(spec, part);
    place->path =
        spawn_find(part->argv[0], spec_env_value(place->environment, "PATH"), place->directory);
    return part_linkage_source(place->path, place->directory, place->environment);
}

static void place_close(struct place *place)
{
    free(place->path);
    free(place->directory);
    spec_free_words(place->environment);
}

struct linkage *part_linkage_read(const struct spec *spec, const struct spec_part *part,
                                  struct error *err)
{
    struct place place;
    struct linkage *linkage = NULL;
    struct linkage_source source = place_open(&place, spec, part);
    if (place.path)
        linkage = linkage_read(&source, err);
    else
        error_set(err, "%s cannot be run: %s", part->argv[0],
                  errno == ENOENT && !strchr(part->argv[0], '/') ? "it is not found along PATH"
                                                                 : strerror(errno));
    place_close(&place);
    return linkage;
}

/* A program that is not there may be elsewhere. */
static bool part_needs_pmix(const struct spec *spec, const struct spec_part *part)
{
    struct place place;
    struct linkage_source source = place_open(&place, spec, part);
    bool needs = !place.path || pmi_choice_read(spec->pmi, true, &source) & SPEC_PMI_X;
    place_close(&place);
    return needs;
}

bool part_linkage_needs_pmix(const struct spec *spec)
{
    if (!(spec_pmi_served & SPEC_PMI_X) || !(spec->pmi & (SPEC_PMI_X | SPEC_PMI_AUTO)))
        return false;
    for (size_t i = 0; i < spec->nparts; i++)
        if (part_needs_pmix(spec, &spec->parts[i]))
            return true;
    return false;
}

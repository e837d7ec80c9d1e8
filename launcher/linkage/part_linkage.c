/* The program of a part looked up and read as its tasks would have it: PATH, LD_LIBRARY_PATH, --mpi. */
#include "launcher/linkage/part_linkage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/environment/environment.h"
#include "launcher/linkage/mpi_abi.h"
#include "launcher/linkage/pmi_choice.h"
#include "launcher/process/exec.h"
#include "launcher/spec/field_words.h"

char *part_linkage_directory(const struct spec *spec, const struct spec_part *part)
{
    const char *caller = spec->directory ? spec->directory : "/";
    if (!part->chdir)
        return mem_copy_text(caller);
    return part->chdir[0] == '/' ? mem_copy_text(part->chdir)
                                 : mem_format("%s/%s", caller, part->chdir);
}

struct shared_libraries_source part_linkage_source(const char *path, const char *directory,
                                                   char *const *environment)
{
    return (struct shared_libraries_source){
        .path = path,
        .directory = directory,
        .library_path = env_value(environment, "LD_LIBRARY_PATH"),
        .preloaded = env_value(environment, "LD_PRELOAD") || env_value(environment, "LD_AUDIT")};
}

/* ---- a part's program ---- */

struct place {
    char **environment;
    char *directory;
    char *path;       /* NULL: it is not there */
    char *mpi_abi;    /* of --mpi; NULL: not given, or not there */
    struct error err; /* what is not there */
};

/* --mpi is one of TPRUN_OPTIONS, and says nothing about this program. */
static bool place_runs_without(const struct spec *spec,
                               const struct shared_libraries_source *source)
{
    struct shared_libraries *linkage =
        spec->mpi_is_default ? shared_libraries_read(source, NULL) : NULL;
    bool runs = linkage && !mpi_abi_is_for(linkage);
    shared_libraries_free(linkage);
    return runs;
}

static struct shared_libraries_source place_open(struct place *place, const struct spec *spec,
                                                 const struct spec_part *part)
{
    const char *name = part->argv[0];
    place->err = (struct error)ERROR_INIT;
    place->environment = spec_part_environment(spec, part);
    place->directory = part_linkage_directory(spec, part);
    place->path = exec_find(name, env_value(place->environment, "PATH"), place->directory);
    if (!place->path)
        error_set(&place->err, "%s cannot be run: %s", name,
                  errno == ENOENT && !strchr(name, '/') ? "it is not found along PATH"
                                                        : strerror(errno));
    struct shared_libraries_source source =
        part_linkage_source(place->path, place->directory, place->environment);
    place->mpi_abi = NULL;
    if (place->path && spec->mpi && !place_runs_without(spec, &source))
        place->mpi_abi = mpi_abi_find(spec->mpi, place->environment, &place->err);
    source.mpi_abi = place->mpi_abi;
    return source;
}

static void place_close(struct place *place)
{
    error_clear(&place->err);
    free(place->mpi_abi);
    free(place->path);
    free(place->directory);
    string_list_free(place->environment);
}

struct shared_libraries *part_linkage_read(const struct spec *spec, const struct spec_part *part,
                                           bool (*last)(const char *name), struct error *err)
{
    struct place place;
    struct shared_libraries *linkage = NULL;
    struct shared_libraries_source source = place_open(&place, spec, part);
    source.last = last;
    if (place.err.text)
        error_set(err, "%s", error_text(&place.err));
    else
        linkage = shared_libraries_read(&source, err);
    if (linkage && place.mpi_abi &&
        mpi_abi_accepts(linkage, place.mpi_abi, spec->nparts > 1, err) < 0) {
        shared_libraries_free(linkage);
        linkage = NULL;
    }
    place_close(&place);
    return linkage;
}

bool part_linkage_needs_pmix(const struct spec *spec)
{
    bool needs = false;
    if (!(spec_pmi_served & SPEC_PMI_X) || !(spec->pmi & (SPEC_PMI_X | SPEC_PMI_AUTO)))
        return false;
    for (size_t i = 0; i < spec->nparts && !needs; i++) {
        struct place place;
        struct shared_libraries_source source = place_open(&place, spec, &spec->parts[i]);
        /* a program that is not here may be on other machines */
        needs = place.err.text || pmi_choice_foresee(spec->pmi, &source) & SPEC_PMI_X;
        place_close(&place);
    }
    return needs;
}

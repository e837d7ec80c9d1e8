/* --pmi auto: the dialects that a program is offered, by the libraries it is linked with. */
#include "launcher/linkage/pmi_choice.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/linkage/mpi_library.h"
#include "launcher/spec/spec.h"

#define SIMPLE ((unsigned)(SPEC_PMI_1 | SPEC_PMI_2))

/* Before it is known whether PMIx can be served. */
static unsigned called_for(const struct shared_libraries *linkage)
{
    if (!linkage || linkage->kind != SHARED_LIBRARIES_DYNAMIC)
        return SIMPLE | SPEC_PMI_X;
    if (linkage->closed)
        return SIMPLE;
    struct mpi_library use = mpi_library_of(linkage);
    if (!use.how)
        return SIMPLE | SPEC_PMI_X;
    if (!(use.speaks & SPEC_PMI_X))
        return SIMPLE;
    return use.speaks == SPEC_PMI_X ? SPEC_PMI_X : SIMPLE | SPEC_PMI_X;
}

unsigned pmi_choice_of(unsigned pmi, bool pmix_served, const struct shared_libraries *linkage)
{
    const unsigned served = pmix_served ? SIMPLE | SPEC_PMI_X : SIMPLE;
    if (!(pmi & SPEC_PMI_AUTO))
        return pmi & served;
    unsigned choice = called_for(linkage) & served;
    return choice ? choice : SIMPLE;
}

/* ---- what was foreseen ---- */

struct foreseen {
    char *path, *directory, *library_path, *cache, *mpi_abi; /* the last three may be NULL */
    bool preloaded;
    unsigned pmi, choice;
};
static _Atomic(struct foreseen *) foreseen; /* made in another thread than it is taken in */

static void foreseen_free(struct foreseen *old)
{
    if (!old)
        return;
    free(old->path);
    free(old->directory);
    free(old->library_path);
    free(old->cache);
    free(old->mpi_abi);
    free(old);
}

static char *copy_or_null(const char *text)
{
    return text ? mem_copy_text(text) : NULL;
}

static bool same_text(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

static bool take_foreseen(unsigned pmi, const struct shared_libraries_source *source,
                          unsigned *choice)
{
    struct foreseen *old = atomic_exchange(&foreseen, NULL);
    bool same = old && old->pmi == pmi && old->preloaded == source->preloaded &&
                same_text(old->path, source->path) &&
                same_text(old->directory, source->directory) &&
                same_text(old->library_path, source->library_path) &&
                same_text(old->cache, source->cache) && same_text(old->mpi_abi, source->mpi_abi);
    if (same)
        *choice = old->choice;
    foreseen_free(old);
    return same;
}

unsigned pmi_choice_read(unsigned pmi, bool pmix_served,
                         const struct shared_libraries_source *source)
{
    /* without PMIx all programs are offered the same */
    if (!(pmi & SPEC_PMI_AUTO) || !pmix_served)
        return pmi_choice_of(pmi, pmix_served, NULL);
    unsigned known;
    if (take_foreseen(pmi, source, &known))
        return known;
    struct shared_libraries_source part = *source;
    part.last = mpi_library_names_mpi;
    struct shared_libraries *linkage = shared_libraries_read(&part, NULL);
    unsigned choice = pmi_choice_of(pmi, pmix_served, linkage);
    shared_libraries_free(linkage);
    return choice;
}

unsigned pmi_choice_foresee(unsigned pmi, const struct shared_libraries_source *source)
{
    struct foreseen *now = mem_alloc(sizeof(*now));
    *now = (struct foreseen){.path = mem_copy_text(source->path),
                             .directory = mem_copy_text(source->directory),
                             .library_path = copy_or_null(source->library_path),
                             .cache = copy_or_null(source->cache),
                             .mpi_abi = copy_or_null(source->mpi_abi),
                             .preloaded = source->preloaded,
                             .pmi = pmi,
                             .choice = pmi_choice_read(pmi, true, source)};
    foreseen_free(atomic_exchange(&foreseen, now));
    return now->choice;
}

/* --pmi auto: the dialects that a program is offered, by the libraries it is linked with. */
#include "launcher/linkage/pmi_choice.h"

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

unsigned pmi_choice_read(unsigned pmi, bool pmix_served,
                         const struct shared_libraries_source *source)
{
    /* without PMIx all programs are offered the same */
    if (!(pmi & SPEC_PMI_AUTO) || !pmix_served)
        return pmi_choice_of(pmi, pmix_served, NULL);
    struct shared_libraries_source part = *source;
    part.last = mpi_library_names_mpi;
    struct shared_libraries *linkage = shared_libraries_read(&part, NULL);
    unsigned choice = pmi_choice_of(pmi, pmix_served, linkage);
    shared_libraries_free(linkage);
    return choice;
}

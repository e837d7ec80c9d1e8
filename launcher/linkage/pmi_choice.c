#include "launcher/linkage/pmi_choice.h"

#include "launcher/linkage/mpi_library.h"
#include "launcher/spec/spec.h"

#define SIMPLE ((unsigned)(SPEC_PMI_1 | SPEC_PMI_2))

/* Before it is known whether PMIx can be served. */
static unsigned called_for(const struct linkage *linkage)
{
    if (!linkage || linkage->kind != LINKAGE_DYNAMIC)
        return SIMPLE | SPEC_PMI_X;
    if (linkage->closed)
        return SIMPLE;
    struct mpi_use use = mpi_use_of(linkage);
    if (!use.how)
        return SIMPLE | SPEC_PMI_X;
    if (!(use.speaks & SPEC_PMI_X))
        return SIMPLE;
    return use.speaks == SPEC_PMI_X ? SPEC_PMI_X : SIMPLE | SPEC_PMI_X;
}

unsigned pmi_choice_of(unsigned pmi, bool pmix_served, const struct linkage *linkage)
{
    const unsigned served = pmix_served ? SIMPLE | SPEC_PMI_X : SIMPLE;
    if (!(pmi & SPEC_PMI_AUTO))
        return pmi & served;
    unsigned choice = called_for(linkage) & served;
    return choice ? choice : SIMPLE;
}

unsigned pmi_choice_read(unsigned pmi, bool pmix_served, const struct linkage_source *source)
{
    /* without PMIx all programs are offered the same */
    if (!(pmi & SPEC_PMI_AUTO) || !pmix_served)
        return pmi_choice_of(pmi, pmix_served, NULL);
    struct linkage_source part = *source;
    part.last = mpi_use_names_mpi;
    struct linkage *linkage = linkage_read(&part, NULL);
    unsigned choice = pmi_choice_of(pmi, pmix_served, linkage);
    linkage_free(linkage);
    return choice;
}

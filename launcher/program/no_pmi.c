/* Tasks that never spoke PMI although their program is linked with an MPI: perhaps each took itself
 * for the only one. */
#include "launcher/program/no_pmi.h"

#include <stdlib.h>

#include "affinity/sets/idset.h"
#include "base/mem.h"
#include "launcher/linkage/mpi_library.h"
#include "launcher/linkage/part_linkage.h"
#include "launcher/linkage/pmi_choice.h"

struct no_pmi {
    struct idset *ranks;
};

struct no_pmi *no_pmi_new(void)
{
    struct no_pmi *no_pmi = mem_alloc(sizeof(*no_pmi));
    no_pmi->ranks = idset_new();
    return no_pmi;
}

void no_pmi_free(struct no_pmi *no_pmi)
{
    if (!no_pmi)
        return;
    idset_free(no_pmi->ranks);
    free(no_pmi);
}

void no_pmi_add(struct no_pmi *no_pmi, const struct idset *ranks)
{
    struct idset *both = idset_union(no_pmi->ranks, ranks);
    idset_free(no_pmi->ranks);
    no_pmi->ranks = both;
}

/* False where its program has no MPI, or that cannot be told. */
static bool explain_part(const struct spec *spec, const struct spec_part *part, uint32_t count,
                         struct buf *lines)
{
    struct shared_libraries *linkage = part_linkage_read(spec, part, mpi_library_names_mpi, NULL);
    struct mpi_library use = {0};
    struct buf offer = BUF_INIT;
    if (linkage)
        use = mpi_library_of(linkage);
    if (use.mpi) {
        buf_printf(lines,
                   "%u task%s of %s ran without speaking PMI, each perhaps as rank 0 of 1: it is "
                   "linked with %s (%s), which uses %s; ",
                   count, count > 1 ? "s" : "", part->argv[0], use.mpi, use.mpi_library->name,
                   use.how);
        unsigned choice = pmi_choice_of(spec->pmi, spec_pmi_served & SPEC_PMI_X, linkage);
        if (mpi_library_say(&use, choice, spec_pmi_served, &offer))
            buf_printf(lines, "that was offered, so they never called MPI_Init, or lost %s",
                       use.speaks & choice & SPEC_PMI_X ? "PMIX_NAMESPACE" : "PMI_FD");
        else
            buf_add_text(lines, buf_text(&offer));
        buf_add_char(lines, '\n');
    }
    buf_free(&offer);
    shared_libraries_free(linkage);
    return use.mpi;
}

void no_pmi_explain(const struct no_pmi *no_pmi, const struct spec *spec,
                    const struct layout *layout, struct buf *lines)
{
    bool said = false;
    if (idset_count(no_pmi->ranks) < 2)
        return;
    uint32_t *counts =
        mem_array(spec->nparts, sizeof(*counts)); /* by part; 0: some task was not silent */
    for (uint32_t rank = 0; rank < layout->ntasks; rank++)
        counts[layout->tasks[rank].app]++;
    for (uint32_t rank = 0; rank < layout->ntasks; rank++)
        if (!idset_has(no_pmi->ranks, rank))
            counts[layout->tasks[rank].app] = 0;
    for (size_t i = 0; i < spec->nparts && !said; i++)
        said = counts[i] && explain_part(spec, &spec->parts[i], counts[i], lines);
    free(counts);
}

/*
 * pmi_choice - which dialects of PMI the tasks of a part are offered. All sets are of enum
 * spec_pmi.
 *
 * What --pmi names is offered to every program. With auto it depends on the libraries of a program:
 *
 *     Open MPI and its kin, libpmix        PMIx
 *     MPICH and its kin, libpmi, libpmi2   PMI-1 and PMI-2
 *     none, and closed (shared_libraries.h)         PMI-1 and PMI-2, which cost next to nothing
 *     another MPI, none that is known, a   all
 *     script, a static program
 *
 * All at once is not for everyone, see pmi_environment.h. PMIx is offered where it can be served; a
 * program that speaks nothing else is then offered the others, as one is that nothing is known of.
 */
#ifndef LAUNCHER_LINKAGE_PMI_CHOICE_H
#define LAUNCHER_LINKAGE_PMI_CHOICE_H

#include <stdbool.h>

#include "launcher/linkage/shared_libraries.h"

/* For a program of this linkage; NULL: one that nothing is known of. */
unsigned pmi_choice_of(unsigned pmi, bool pmix_served, const struct shared_libraries *linkage);

/* For the program that is there. It is looked at only where that matters, and no further than to
 * its MPI. */
unsigned pmi_choice_read(unsigned pmi, bool pmix_served,
                         const struct shared_libraries_source *source);

/* The same, where PMIx is served, by the manager: the agent of this machine, which is forked from
 * it, asks for the first program again, and is answered without looking. Once: a program may be
 * replaced while others run. */
unsigned pmi_choice_foresee(unsigned pmi, const struct shared_libraries_source *source);

#endif

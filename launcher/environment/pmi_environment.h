/*
 * pmi_environment - the environment variables that tasks need to make use of the PMI they are
 * offered, beside those that lead to its server.
 *
 *     MPIR_CVAR_PMI_VERSION=1
 *         beside PMIx (2 where PMI-1 is not offered): MPICH 5 refuses to start where it finds both,
 *         unless it is told which. x where PMIx is all there is: MPICH 4.2 and 4.3 look for PMI-1
 *         otherwise.
 *     HWLOC_COMPONENTS=-gl
 *         The hwloc of an MPI otherwise connects to X servers :0 to :9, whoever's they are, and
 *         waits without end for one that does not answer. Any user can listen under their names
 *         where there is no X server, as on most nodes.
 *     PMIX_MCA_ptl_base_max_msg_size=4095
 *         In MiB. A client of openpmix 6.1 or later otherwise closes its connection when a message
 *         of more than 32 MiB comes: what a fence collects, or what one task has put. 0 means no
 *         limit, but refuses all messages in 6.1. More than 4 GiB do not fit the format.
 *     OMPI_MCA_schizo=^orte
 *         Open MPI 4 and before take a task for a singleton when they do not know its launcher;
 *         without that component they ask PMIx. Open MPI 5 has no such thing.
 *     OMPI_MCA_orte_externally_bound=1, OMPI_MCA_hwloc_base_binding_policy=none
 *         Open MPI leaves tasks where they were bound.
 *
 *     OMPI_MCA_btl_vader_backing_directory, ..._btl_sm_..., ..._osc_sm_..., ..._osc_rdma_...
 *         The memory that tasks share lies in a directory that is removed with what is in it. Open
 *         MPI would put it beside everybody's, and leave it behind tasks that are killed.
 *     OMPI_MCA_mpi_oversubscribe=1
 *         Where tasks have to share processors, one that waits lets others have its own.
 *     OMPI_MCA_mpi_memory_alloc_kinds
 *         The kinds of memory that MPI is asked for. MPICH asks for them by PMI.
 *
 * What the user set of these stays. TPRUN_DEFAULTS repeats the others (environment.h).
 */
#ifndef LAUNCHER_ENVIRONMENT_PMI_ENVIRONMENT_H
#define LAUNCHER_ENVIRONMENT_PMI_ENVIRONMENT_H

#include <stdbool.h>

enum spec_pmi {
    SPEC_PMI_NONE = 0,
    SPEC_PMI_1 = 1,
    SPEC_PMI_2 = 2,
    SPEC_PMI_X = 4,
    SPEC_PMI_AUTO = 8 /* by itself: what the program calls for, see pmi_choice.h */
};

#define PMI_ENVIRONMENT_MAX 12 /* entries of a list */

/* What tasks that are offered this set of enum spec_pmi have set beside what they inherit: a
 * NULL-terminated list of NAME=VALUE; caller frees with string_list_free(). `memory` is the
 * directory for memory that they share, NULL: there is none; `kinds` of memory that are asked for,
 * or NULL; `crowded` as launch_is_crowded(). */
char **pmi_environment_make(unsigned offered, char *const *environment, const char *memory,
                            const char *kinds, bool crowded);

#endif

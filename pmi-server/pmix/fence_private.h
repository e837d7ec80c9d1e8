/*
 * fence_private - PMIx_Fence(), and who enters none any more: owners see fence.h.
 */
#ifndef PMI_SERVER_PMIX_FENCE_PRIVATE_H
#define PMI_SERVER_PMIX_FENCE_PRIVATE_H

#include "pmi-server/pmix/library.h"
#include "pmi-server/pmix/server.h"

/* These ranks have died, and the program goes on: fences that wait for them fail. */
void fences_fail_ranks(struct pmix_job *job, const struct idset *ranks);
/* openpmix waits for none any more that has ended here, in what is to be of all. */
void fences_count_out(struct pmix_job *job);

/* struct pmix_feature */
void fences_open(struct pmix_job *job);
void fences_free(struct pmix_job *job);

/* openpmix's thread; `data` is the host's from here on. */
pmix_status_t fence_upcall(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                           size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t done,
                           void *cbdata);

#endif

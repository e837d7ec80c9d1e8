/*
 * publish_lookup - PMIx_Publish(), PMIx_Lookup() and PMIx_Unpublish(). All in openpmix's thread.
 */
#ifndef PMI_SERVER_PMIX_PUBLISH_LOOKUP_H
#define PMI_SERVER_PMIX_PUBLISH_LOOKUP_H

#include "pmi-server/pmix/library.h"

pmix_status_t publish_upcall(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                             pmix_op_cbfunc_t done, void *cbdata);
pmix_status_t lookup_upcall(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                            size_t ninfo, pmix_lookup_cbfunc_t done, void *cbdata);
pmix_status_t unpublish_upcall(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                               size_t ninfo, pmix_op_cbfunc_t done, void *cbdata);
void publish_lookup_finalized(const pmix_proc_t *proc); /* a task has */

#endif

/*
 * query - PMIx_Query_info(): what tasks ask about the program.
 */
#ifndef PMI_SERVER_PMIX_QUERY_H
#define PMI_SERVER_PMIX_QUERY_H

#include "pmi-server/pmix/library.h"

/* openpmix's thread. */
pmix_status_t query_upcall(pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries,
                           pmix_info_cbfunc_t done, void *cbdata);

#endif

/*
 * direct_modex_request_private - direct modex on the asking node: what one task of another node has
 * put and committed.
 */
#ifndef PMI_SERVER_PMIX_DIRECT_MODEX_REQUEST_PRIVATE_H
#define PMI_SERVER_PMIX_DIRECT_MODEX_REQUEST_PRIVATE_H

#include "pmi-server/pmix/library.h"

pmix_status_t direct_modex_upcall(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                                  pmix_modex_cbfunc_t done, void *cbdata);

#endif

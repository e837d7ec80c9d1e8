/*
 * module - the table of upcalls in the form that the loaded openpmix reads.
 *
 * PMIx_server_init() copies a struct by the size of its own version's, and what a place in it means
 * has changed between versions. So the table is made for the version that was loaded, whatever the
 * headers of the build are.
 */
#ifndef PMI_SERVER_PMIX_MODULE_H
#define PMI_SERVER_PMIX_MODULE_H

#include <stddef.h>

#include "pmi-server/pmix/library.h"

typedef void module_upcall(void);

struct module_slots {
    module_upcall **at; /* malloc()ed; openpmix keeps none of it */
    size_t count;
};

/* For a version that is known. What it does not have is left out; where its struct is not known
 * exactly, the upcalls that all versions have in the same places are followed by NULLs. */
struct module_slots module_make(const struct pmix_version *version);

/* What openpmix calls, in its own thread, up to client_connected2, by feature. openpmix is given
 * what module_make() makes of it. */
extern const pmix_server_module_t pmix_upcalls;
/* What only newer versions have. */
pmix_status_t tool_connected2_upcall(pmix_info_t *info, size_t ninfo,
                                     pmix_tool_connection_cbfunc_t done, void *cbdata);
pmix_status_t log2_upcall(const pmix_proc_t *client, const pmix_info_t data[], size_t ndata,
                          const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t done,
                          void *cbdata);

#endif

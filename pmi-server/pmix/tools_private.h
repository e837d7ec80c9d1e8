/*
 * tools_private - who connects without having been started by a program: owners see tools.h.
 */
#ifndef PMI_SERVER_PMIX_TOOLS_PRIVATE_H
#define PMI_SERVER_PMIX_TOOLS_PRIVATE_H

#include "pmi-server/pmix/library.h"
#include "pmi-server/pmix/server.h"

void tools_free(struct pmix_host *host);
/* Who called is of this name, and still here: a task of a namespace, or a tool. Only then may
 * openpmix be answered. */
bool caller_is_known(const struct pmix_host *host, const char *name);

/* openpmix's thread. */
void tools_connected_upcall(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t done,
                            void *cbdata);

#endif

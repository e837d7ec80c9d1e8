/*
 * tools_private - who connects without having been started by a program: owners see tools.h.
 */
#ifndef PMI_SERVER_PMIX_TOOLS_PRIVATE_H
#define PMI_SERVER_PMIX_TOOLS_PRIVATE_H

#include "pmi-server/pmix/library.h"
#include "pmi-server/pmix/server.h"

void tools_free(struct pmix_host *host);
/* A namespace or a tool of this name is here: openpmix may be answered about it. */
bool requester_is_known(const struct pmix_host *host, const char *name);

/* openpmix's thread. */
void tools_connected_upcall(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t done,
                            void *cbdata);

#endif

/*
 * direct_modex_request - what ops->post() has brought from another node: for owners of a server.
 */
#ifndef PMI_SERVER_PMIX_DIRECT_MODEX_REQUEST_H
#define PMI_SERVER_PMIX_DIRECT_MODEX_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct pmix_job;

/* `from_node` is a node id of the job's map. -1 with a sentence for what is malformed. */
int pmix_namespace_posted(struct pmix_job *job, uint32_t from_node, const void *bytes, size_t len,
                          struct error *err);

#endif

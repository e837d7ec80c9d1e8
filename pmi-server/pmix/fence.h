/*
 * fence - fences of a namespace, between its nodes: for owners of a server.
 */
#ifndef PMI_SERVER_PMIX_FENCE_H
#define PMI_SERVER_PMIX_FENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct pmix_job;

/* The task's process has ended. True where it enters no fence of all from this number on and all
 * nodes have to know: pmix_namespace_missing() there. (False: it ended without a finalize.) */
bool pmix_namespace_gone(struct pmix_job *job, uint32_t local_rank, uint64_t *from);
void pmix_namespace_missing(struct pmix_job *job, uint32_t rank, uint64_t from);
/* What ops->exchange() began is done. -1 with a sentence for what is malformed or of no round that
 * is open. */
int pmix_namespace_exchanged(struct pmix_job *job, uint64_t id, const void *bytes, size_t len,
                             struct error *err);

#endif

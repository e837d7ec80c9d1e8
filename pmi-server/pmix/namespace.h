/*
 * job - a namespace of a host: owners see host.h.
 */
#ifndef PMI_SERVER_PMIX_NAMESPACE_H
#define PMI_SERVER_PMIX_NAMESPACE_H

#include "pmi-server/pmix/server.h"

void job_forget(struct pmix_job *job); /* freed; openpmix has let go of it */

#endif

/*
 * namespace - a namespace of a host: owners see server.h.
 */
#ifndef PMI_SERVER_PMIX_NAMESPACE_H
#define PMI_SERVER_PMIX_NAMESPACE_H

#include "pmi-server/pmix/server.h"

void namespace_forget(struct pmix_job *job); /* freed; openpmix has let go of it */

#endif

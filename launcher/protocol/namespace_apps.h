/*
 * namespace_apps - the parts of a spec, as PMIx tells of the parts of a job.
 */
#ifndef LAUNCHER_PROTOCOL_NAMESPACE_APPS_H
#define LAUNCHER_PROTOCOL_NAMESPACE_APPS_H

#include "launcher/spec/spec.h"
#include "pmi-server/service/service.h"

/* [nparts], of so many tasks each; they borrow of the spec. Caller frees. */
struct namespace_app *namespace_apps_of_spec(const struct spec *spec, const uint32_t *sizes);

#endif

/*
 * program_request - what a tprun asks of the instance that it runs in: to be the manager of this program.
 *
 *     {"version": "0.1", "spec": {...}, "variables": {"TPRUN_PROGRAM": "17", ...}, "files": [...]}
 *
 * `variables` are those by which the caller, a task, knows its own program; `files` are those that the spec names to the
 * manager (request_files.h).
 */
#ifndef LAUNCHER_PROTOCOL_PROGRAM_REQUEST_H
#define LAUNCHER_PROTOCOL_PROGRAM_REQUEST_H

#include <jansson.h>

#include "base/error.h"
#include "launcher/spec/spec.h"

#define BATCH_VARIABLE "TPRUN_BATCH" /* in tasks of an instance: the name of its agents' sockets */

json_t *program_request_to_json(const struct spec *spec); /* new reference */
/* On the host of this name. Sets the variables in this process's environment. NULL with a sentence; the caller
 * frees the spec. */
struct spec *program_request_take(const json_t *value, const char *host, struct error *err);

#endif

/*
 * program_request - what a tprun asks of the instance that it runs in: to be the manager of this program.
 *
 *     {"version": ..., "variables": {...}, "spec": {...}, "files": [...]}
 *
 * The first two are those of each request (instance_request.h); `files` are those that the spec names
 * (request_files.h).
 */
#ifndef LAUNCHER_PROTOCOL_PROGRAM_REQUEST_H
#define LAUNCHER_PROTOCOL_PROGRAM_REQUEST_H

#include <jansson.h>

#include "base/error.h"
#include "launcher/spec/spec.h"

/* New reference; NULL with a sentence: a file cannot be read. */
json_t *program_request_to_json(const struct spec *spec, struct error *err);
/* Sets the variables in this process's environment. NULL with a sentence; the caller frees the spec. */
struct spec *program_request_take(const json_t *value, struct error *err);

#endif

/*
 * program_request - what a tprun asks of the instance that it runs in: to be the manager of this
 * program.
 *
 *     {"version": ..., "variables": {...}, "spec": {...}, "files": [...], "stage": [...]}
 *
 * In a FRAME_PROGRAM the environment stands behind it (environment_block.h), and not in the spec, which
 * is spec_bare(); of `tpctl new` it is in the spec. The first two are those of each
 * request (instance_request.h); `files` are those that the spec names (request_files.h); `stage` are
 * those whose bytes follow, in FRAME_STAGE_DATA (stage_list.h).
 */
#ifndef LAUNCHER_PROTOCOL_PROGRAM_REQUEST_H
#define LAUNCHER_PROTOCOL_PROGRAM_REQUEST_H

#include <jansson.h>

#include "base/error.h"
#include "launcher/protocol/stage_list.h"
#include "launcher/spec/spec.h"

/* The list is one of files to stage; NULL: there are none. New reference; NULL with a sentence: a
 * file cannot be read. */
json_t *program_request_to_json(const struct spec *spec, const struct stage_list *list,
                                struct error *err);
/* Sets the variables in this process's environment. NULL with a sentence; the caller frees the
 * spec. */
struct spec *program_request_take(const json_t *value, struct error *err);
/* What follows it, into an empty list, which is to be cleared in any case. 0, or -1 with a
 * sentence. */
int program_request_stage(const json_t *value, struct stage_list *list, struct error *err);

#endif

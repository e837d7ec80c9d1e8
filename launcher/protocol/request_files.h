/*
 * request_files - files that options name, sent along to a program's manager, which may be on
 * another host.
 *
 *     [{"path": "r.json", "text": "{...}"}, ...]
 */
#ifndef LAUNCHER_PROTOCOL_REQUEST_FILES_H
#define LAUNCHER_PROTOCOL_REQUEST_FILES_H

#include <jansson.h>

#include "base/error.h"
#include "launcher/spec/spec.h"

/* Those of this spec, read here. New reference; NULL with a sentence. */
json_t *request_files_read(const struct spec *spec, struct error *err);
/* They become those of this spec. 0, or -1 with a sentence. */
int request_files_take(struct spec *spec, const json_t *files, struct error *err);

#endif

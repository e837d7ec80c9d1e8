/*
 * request_files - files that a program's manager reads or writes by name, where that manager may be on another host than
 * who named them: are they the same there?
 *
 * A file is known by its number and its file system's; one that is to be written by those of its directory.
 */
#ifndef LAUNCHER_PROTOCOL_REQUEST_FILES_H
#define LAUNCHER_PROTOCOL_REQUEST_FILES_H

#include <jansson.h>

#include "base/error.h"
#include "launcher/spec/spec.h"

/* As they are on this host. New reference. */
json_t *request_files_describe(const struct spec *spec);
/* They are the same on this host, which has that name. 0, or -1 with a sentence. */
int request_files_check(const struct spec *spec, const json_t *described, const char *host,
                        struct error *err);

#endif

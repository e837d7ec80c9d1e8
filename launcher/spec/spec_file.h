/*
 * spec_file - files that options name, for who reads them: of this host, or, of a spec that was
 * sent to another one, what came along with it.
 */
#ifndef LAUNCHER_SPEC_SPEC_FILE_H
#define LAUNCHER_SPEC_SPEC_FILE_H

#include <stddef.h>

#include "base/buf.h"
#include "launcher/spec/spec.h"

/* Append the file `path` to *text: the text that came with a spec from another host, else a file of
 * this host, also where `spec` is NULL. `name` is for messages. 0, or -1 with a sentence, also for
 * more than `max` bytes. */
int spec_file_read(const struct spec *spec, const char *path, const char *name, size_t max,
                   struct buf *text, struct error *err);

/* What came along; copied. */
void spec_file_add(struct spec *spec, const char *path, const char *text);
void spec_files_clear(struct spec *spec);

#endif

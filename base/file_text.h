/*
 * file_text - the whole of a file that the command line names.
 */
#ifndef BASE_FILE_TEXT_H
#define BASE_FILE_TEXT_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/* All of the file, or of stdin for "-", behind what `text` holds, less a byte order mark where that
 * is nothing; `name` is for messages. 0, or -1
 * with a sentence, which more than `max` bytes are too. */
int file_text_read(const char *path, const char *name, size_t max, struct buf *text,
                   struct error *err);

/* "KIND PATH" or "KIND on stdin"; caller frees. */
char *file_text_name(const char *kind, const char *path);

#endif

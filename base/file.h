/*
 * file - small files whole, such as those of /proc and /sys.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/buf.h"

/* Append all that there is to `out`. 0, or -1 with errno; what was read before a failure stays. */
int file_read(const char *path, struct buf *out);

/* Write the text in one go into a file that is there. 0, or -1 with errno. */
int file_write(const char *path, const char *text);

/* Write all of it, however many calls that takes. 0, or -1 with errno. */
int file_write_all(int fd, const char *bytes, size_t len);

#endif

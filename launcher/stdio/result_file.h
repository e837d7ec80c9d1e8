/*
 * result_file - a file that an option names, such as --draw: a result that is written once.
 *
 * It is complete or not there: written beside its place under a name of its own and renamed. Its
 * mode is 0666 less the umask, or that of the file it replaces; a symbolic link is followed. A
 * directory, or anything else that is not a regular file, is never replaced.
 */
#ifndef LAUNCHER_STDIO_RESULT_FILE_H
#define LAUNCHER_STDIO_RESULT_FILE_H

#include <stddef.h>

#include "base/error.h"

/* Could it be written? Asked before there is anything to write, so that no host is started in
 * vain. 0, or -1 with a sentence that begins with the option. */
int result_file_check(const char *option, const char *path, struct error *err);
int result_file_write(const char *option, const char *path, const char *bytes, size_t len,
                      struct error *err);

#endif

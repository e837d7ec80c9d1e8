/*
 * store - directories and files that outlive a process, relative to open directories.
 *
 * Nothing here follows a symbolic link in the last part of a name.
 */
#ifndef LAUNCHER_PROGRAM_STORE_H
#define LAUNCHER_PROGRAM_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Open the directory `name`, made with mode 0700 where it is missing. It must be this user's and
 * closed to others. `path` is for messages. The descriptor, or -1 with a sentence (errno stays). */
int store_open_private(int dir, const char *name, const char *path, struct error *err);

/* The whole file as text (caller frees), at most `max` bytes; NULL with errno. */
char *store_read(int dir, const char *name, size_t max, size_t *len);

/* The same of an open file. */
char *store_read_open(int fd, size_t max, size_t *len);

/* Replace a file by rename; 0, or -1 with errno. Only one process may write a name at a time. */
int store_write(int dir, const char *name, const void *bytes, size_t len);

/* A new file under a name by chance that begins with ".new-", open for writing, or -1 with errno. */
int store_open_draft(int dir, char *name, size_t size);
/* The same, with these bytes, and closed; 0, or -1 with errno: then there is no file. */
int store_draft(int dir, char *name, size_t size, const void *bytes, size_t len);

/* Remove a file or a whole tree; 0 also where there is none, or -1 with errno. */
int store_remove(int dir, const char *name);

/* Take the write lock of an open file (open file description lock: it holds until the last copy
 * of the descriptor is closed). 0, or -1 with errno: EAGAIN where another has it,
 * or EINTR while waiting for that. */
int store_lock(int fd, bool wait);
bool store_locked(int fd); /* by another open file description */

#endif

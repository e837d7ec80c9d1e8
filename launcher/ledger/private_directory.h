/*
 * private_directory - directories and files that outlive a process, relative to open directories.
 *
 * Nothing here follows a symbolic link in the last part of a name.
 */
#ifndef LAUNCHER_LEDGER_PRIVATE_DIRECTORY_H
#define LAUNCHER_LEDGER_PRIVATE_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Open the directory `name`, made with mode 0700 where it is missing. It must be this user's and
 * closed to others. `path` is for messages. The descriptor, or -1 with a sentence (errno stays). */
int private_directory_open_private(int dir, const char *name, const char *path, struct error *err);

/* The whole file as text (caller frees), at most `max` bytes; NULL with errno. */
char *private_directory_read(int dir, const char *name, size_t max, size_t *len);

/* The same of an open file. */
char *private_directory_read_open(int fd, size_t max, size_t *len);

/* Replace a file, which a reader finds whole; 0, or -1 with errno. Only one process may write a
 * name at a time. The file of before stays as its draft, which the next write writes over: who
 * reads while two writes come may find parts of both. So no write makes a file or replaces one by
 * rename, for which file systems wait for a disk. */
int private_directory_write(int dir, const char *name, const void *bytes, size_t len);
/* The same of a file that is most likely not there yet. */
int private_directory_write_new(int dir, const char *name, const void *bytes, size_t len);
/* Take the last private_directory_write() of the name back: it is what it was before, or is not
 * there. */
void private_directory_undo(int dir, const char *name, bool was_there);
#define PRIVATE_DIRECTORY_DRAFT(name) "." name ".new"

/* Take the write lock of an open file (open file description lock: it holds until the last copy
 * of the descriptor is closed). 0, or -1 with errno: EAGAIN where another has it,
 * or EINTR while waiting for that. */
int private_directory_lock(int fd, bool wait);

/* The same for one byte of it, without waiting. */
int private_directory_lock_byte(int fd, uint64_t at);
void private_directory_unlock_byte(int fd, uint64_t at);
/* Whether another open file description has locked it. True also where that cannot be told. */
bool private_directory_is_locked(int fd, uint64_t at);
/* Calls `each` with bytes from `first` on that others have locked, in no order. 0, or -1 with
 * errno. */
int private_directory_each_locked(int fd, uint64_t first, void (*each)(uint64_t at, void *arg),
                                  void *arg);

#endif

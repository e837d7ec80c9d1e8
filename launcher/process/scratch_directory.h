/*
 * scratch_directory - directories for files of a program on this node, of mode 0700.
 *
 * The names are chosen when they are first asked for: for files below $TMPDIR or /tmp, for memory that
 * tasks share below /dev/shm. They stand in memory that is shared with processes forked later: the one
 * that chose them may be killed at any point, and whoever forked it removes the directories.
 *
 * The process that makes one owns it (owned_directory.h); where all were killed that could have
 * removed it, the next program that makes one here does.
 *
 * NULL is fine everywhere and is directories that are never made.
 */
#ifndef LAUNCHER_PROCESS_SCRATCH_DIRECTORY_H
#define LAUNCHER_PROCESS_SCRATCH_DIRECTORY_H

#include "base/error.h"

struct scratch;

/* It has no name yet; before the fork. NULL where no memory can be shared. Lives as long as the
 * process. */
struct scratch *scratch_directory_new(void);

/* Of files: the directory is there only once it was made. Borrowed; NULL with a sentence. */
const char *scratch_directory_name(struct scratch *scratch, struct error *err);
/* The one that was named is made now if it is not there; by any thread. 0, or -1 with errno. */
int scratch_directory_make(struct scratch *scratch);
/* Of memory: made now if it is not there. Borrowed; NULL with a sentence. */
const char *scratch_directory_make_memory(struct scratch *scratch, struct error *err);
/* Those that are there are removed with all that is in them; links are not followed. */
void scratch_directory_remove(struct scratch *scratch);

#endif

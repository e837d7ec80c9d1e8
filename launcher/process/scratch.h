/*
 * scratch - directories for files of a program on this node, of mode 0700.
 *
 * Each is made when it is first needed: for files below $TMPDIR or /tmp, for memory that tasks share
 * below /dev/shm. Where they are stands in memory that is shared with processes forked later: the
 * one that made them may be killed at any point, and whoever forked it removes the directories.
 *
 * NULL is fine everywhere and is directories that are never made.
 */
#ifndef LAUNCHER_PROCESS_SCRATCH_H
#define LAUNCHER_PROCESS_SCRATCH_H

#include "base/error.h"

struct scratch;

/* None is made yet; before the fork. NULL where no memory can be shared. Lives as long as the
 * process. */
struct scratch *scratch_new(void);

/* The directory, made now if there is none. Borrowed; NULL with a sentence. */
const char *scratch_make(struct scratch *scratch, struct error *err);
const char *scratch_make_memory(struct scratch *scratch, struct error *err);
/* Removed with all that is in them; links are not followed. */
void scratch_remove(struct scratch *scratch);

#endif

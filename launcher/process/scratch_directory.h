/*
 * scratch_directory - directories for files of a program on this node, of mode 0700.
 *
 * The names are chosen when they are first asked for: for files below $TMPDIR or /tmp, for memory
 * that tasks share below /dev/shm. They stand in memory that is shared with processes forked later:
 * the one that chose them may be killed at any point, and whoever forked it removes the
 * directories.
 *
 * The process that makes one owns it (owned_directory.h), and so do those that were forked with
 * that memory: it stays for as long as one of them lives, which may still need it. Where all were
 * killed, the next program that makes one here removes it.
 *
 * NULL is fine everywhere and is directories that are never made.
 */
#ifndef LAUNCHER_PROCESS_SCRATCH_DIRECTORY_H
#define LAUNCHER_PROCESS_SCRATCH_DIRECTORY_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct scratch;

/* It has no name yet; before the fork. NULL where no memory can be shared. Lives as long as the
 * process. `instance` is that of the instance's agent on this machine (borrowed); NULL: the program
 * is in none. */
struct scratch *scratch_directory_new(struct scratch *instance);

/* Of files: the directory is there only once it was made. Borrowed; NULL with a sentence. */
const char *scratch_directory_name(struct scratch *scratch, struct error *err);
/* The same where it was asked for before, by whatever process; else NULL. */
const char *scratch_directory_chosen(struct scratch *scratch);
/* The one that was named is made now if it is not there; by any thread. 0, or -1 with errno. */
int scratch_directory_make(struct scratch *scratch);
/* Of memory: made now if it is not there. Borrowed; NULL with a sentence. */
const char *scratch_directory_make_memory(struct scratch *scratch, struct error *err);
/* ---- the epilog of a program here, which is run once, by whoever is left (hook_run.h) ---- */

enum scratch_epilog { EPILOG_NONE, EPILOG_OWED, EPILOG_BEGUN };
void scratch_directory_owe_epilog(struct scratch *scratch, double timeout); /* s */
double scratch_directory_epilog_timeout(const struct scratch *scratch);     /* 0: it owes none */
/* Programs of the instance have an epilog of this time, here or elsewhere; the instance learns it,
 * and those around it. Included in scratch_directory_owe_epilog(). */
void scratch_directory_expect_epilog(struct scratch *scratch, double timeout);
/* Those of programs in this instance on nodes of which this one knows nothing. */
void scratch_directory_expect_inner_epilogs(struct scratch *scratch, double seconds);
/* How long the epilogs of all programs that were ever in this instance take at most; 0: it had
 * none. Finite. */
double scratch_directory_inner_epilogs(const struct scratch *scratch);
enum scratch_epilog scratch_directory_epilog(const struct scratch *scratch);
/* It is begun now. False where it is not owed, or another process has begun it. */
bool scratch_directory_begin_epilog(struct scratch *scratch);

/* The process that made this, and is to be the last here: it runs what is owed in the end. 0:
 * none. */
pid_t scratch_directory_maker(const struct scratch *scratch);

/* Those that are there are removed with all that is in them; links are not followed. While an
 * epilog is owed they stay: who runs it needs the files. */
void scratch_directory_remove(struct scratch *scratch);

#endif

/*
 * state_directory - contexts of programs that are over, for as long as somebody may ask for them.
 *
 *     $XDG_STATE_HOME/tprun, else ~/.local/state/tprun
 *         NAME@HOST/            an instance, by the name of its directory, and where that was
 *             17/               a program: spec.json, R.json, slots.json, events; saved output
 *             empty/18/         one that is empty (empty_programs.h): spec.json, events
 *             index-2           what a list shows of each (state_index.h)
 *
 * All is mode 0700 and the user's own. It may be on a slow file system: no run waits for it. A
 * context appears whole, by a rename. STATE_MAX_AGE and STATE_MAX_COUNT keep it bounded.
 */
#ifndef LAUNCHER_LEDGER_STATE_DIRECTORY_H
#define LAUNCHER_LEDGER_STATE_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/ledger/context_record.h"

#define STATE_MAX_AGE (90 * 24 * 3600) /* seconds; older contexts are removed */
#define STATE_MAX_COUNT 10000 /* contexts of an instance; the oldest above that are removed */
#define STATE_MAX_OUTPUT ((uint64_t)4 << 30) /* bytes of saved output of an instance */

/* Where it is; NULL: there is no such place, for neither XDG_STATE_HOME nor a home but / is known.
 * Caller frees. */
char *state_directory_path(void);
/* The same of an instance on this host. */
char *state_directory_instance_path(const char *instance);
/* Of an instance on this host. With `make` it is made where it is missing, unless there is no home,
 * or root would make it where another user owns the directory. The descriptor, or -1 with a
 * sentence; without `make` -1 without one where it is not there. */
int state_directory_open(const char *instance, bool make, struct error *err);

/* Of an open one of an instance: the directory of those that are empty. With `make` it is made
 * where it is missing. The descriptor, which functions below take as well; or -1 as above. */
int state_directory_open_empty(int state, bool make, struct error *err);

struct kept_context {
    char name[40]; /* of its directory; "": it was there before */
    uint64_t inode;
};

/* Add a context. One that is there with the same log is the same; where another has its number it
 * is ID.2, and so on. Files of output in that directory (-1: none) are copied. 0, or -1 with a
 * sentence. */
int state_directory_put(int state, const struct completed_context *context, int output,
                        struct kept_context *kept, struct error *err);
/* Of the contexts whose saved output is more than STATE_MAX_OUTPUT together the oldest lose
 * theirs. */
void state_directory_limit_output(int state);
/* Remove what is too old, or too much, and once a day instances of which all is too old. */
void state_directory_limit(int state);

/* Calls `each` with the names of all contexts, and the inodes of their directories, in no order. */
void state_directory_each(int state, void (*each)(void *arg, const char *name, uint64_t inode),
                          void *arg);
/* Whether there is a context of this name. */
bool state_directory_has(int state, const char *name);
/* Calls `each` with the names of all instances of this host of which something is kept, in no
 * order. */
void state_directory_instances(void (*each)(void *arg, const char *instance), void *arg);
/* Remove a context. 0, or -1 with a sentence. */
int state_directory_remove(int state, const char *name, struct error *err);
/* The highest number there is, also of those that are empty; 0: none. */
uint64_t state_directory_highest(int state);

#endif

/*
 * context_directory - the directories of programs, made and kept for the next ones. For the files
 * of the ledger.
 */
#ifndef LAUNCHER_LEDGER_CONTEXT_DIRECTORY_H
#define LAUNCHER_LEDGER_CONTEXT_DIRECTORY_H

#include <stdbool.h>

#include "launcher/ledger/instance_directory.h"

#define CONTEXT_ENDING ".end-" /* and the id: of one that somebody is removing */

/* Make a program's directory, or take a spare one that is left of a program that is over. 0, or -1
 * with errno. */
int ledger_make_context(struct instance *instance, const char *id);
/* Remove it, once its context is kept (completed.h). Nothing happens where it is not there, or
 * another process removes it. */
void ledger_remove_context(struct instance *instance, const char *id);
/* Go on with removals that did not come to their end: the process was killed, or the context could
 * not be kept then. `stays` (or NULL) is told of each that still cannot be kept, with a sentence.
 * False: other processes are removing some now. */
bool ledger_finish_contexts(struct instance *instance,
                            void (*stays)(void *arg, const char *id, const struct error *why),
                            void *arg);

#endif

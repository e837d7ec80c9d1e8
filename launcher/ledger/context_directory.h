/*
 * context_directory - the directories of programs, made and kept for the next ones. For the files
 * of the ledger.
 */
#ifndef LAUNCHER_LEDGER_CONTEXT_DIRECTORY_H
#define LAUNCHER_LEDGER_CONTEXT_DIRECTORY_H

#include <stdbool.h>

#include "launcher/ledger/instance_directory.h"

#define CONTEXT_ENDING ".end-" /* and the id: of one that somebody is removing */

/* A program's directory, made or taken from those that are over: 0, or -1 with errno. */
int ledger_make_context(struct instance *instance, const char *id);
/* Removed, once what its log says is kept (completed.h); it is no failure where it is not there. */
void ledger_remove_context(struct instance *instance, const char *id);
/* What processes that were killed, or had no space for what is to be kept, began to remove is
 * removed. `stays` (or NULL) hears of each for which there is still none, with a sentence. False:
 * others that live are at some. */
bool ledger_finish_contexts(struct instance *instance,
                            void (*stays)(void *arg, const char *id, const struct error *why),
                            void *arg);

#endif

/*
 * context_directory - the directories of programs, made and kept for the next ones. For the files of the ledger.
 */
#ifndef LAUNCHER_LEDGER_CONTEXT_DIRECTORY_H
#define LAUNCHER_LEDGER_CONTEXT_DIRECTORY_H

#include "launcher/ledger/instance_directory.h"

#define CONTEXT_ENDING ".end-" /* and the id: of one that somebody is removing */

/* A program's directory, made or taken from those that are over: 0, or -1 with
 * errno. Removed, once what its log says is kept (completed.h), which is no failure where it is not there; and what others did not finish. */
int ledger_make_context(struct instance *instance, const char *id);
void ledger_remove_context(struct instance *instance, const char *id);
void ledger_tidy_contexts(struct instance *instance);

#endif

/*
 * empty_programs - programs that hold nothing and run nothing (RFC 8: empty). No process of theirs
 * lives, so their contexts are in the state directory (state_directory.h), where a boot and the end
 * of the runtime directory leave them:
 *
 *     NAME@HOST/empty/17/       spec.json: what was asked for; events: "new"
 *
 * Nothing gives one resources or tasks yet: "tpctl terminate" makes it complete, or it is removed
 * when nothing has happened to it for 90 days.
 */
#ifndef LAUNCHER_LEDGER_EMPTY_PROGRAMS_H
#define LAUNCHER_LEDGER_EMPTY_PROGRAMS_H

#include "base/error.h"
#include "launcher/ledger/state_directory.h"

/* A new one of the instance of this name. Its spec is kept when this returns 0; kept->name is its
 * id then. -1 with a sentence. */
int empty_program_add(const char *instance, const struct completed_context *context,
                      struct kept_context *kept, struct error *err);
/* End the empty program of this id: write the events "finish" and "complete" with this exit status
 * and reason (one line), and move it to the complete programs. 0, also if another process did it
 * first; -1 with a sentence. */
int empty_program_end(int state, const char *id, int status, const char *reason, struct error *err);
/* Move the programs that are complete but still in `empty`, because whoever ended them was
 * killed. */
void empty_programs_finish(int state, int empty);

#endif

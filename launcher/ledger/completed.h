/*
 * completed - the contexts of programs that are complete: a file of the instance, to which each is
 * appended when it ends, until they are moved to the state directory.
 *
 * A run makes no file for its end and waits for no slow disk: its directory is for the next
 * program, its files become one record (context_record.h) of the instance's file "completed".
 * Moving is done by a process that nobody waits for (tpmove), or by a command that lists programs.
 */
#ifndef LAUNCHER_LEDGER_COMPLETED_H
#define LAUNCHER_LEDGER_COMPLETED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "launcher/ledger/context_record.h"
#include "launcher/ledger/instance_directory.h"

#define COMPLETED_MAX (256u << 20) /* bytes; what comes later is dropped until they are moved */
#define COMPLETED_DUE (256u << 10) /* bytes after which they are moved in any case, each time */
#define COMPLETED_PAUSE 5          /* s without an end after which the next is moved at once */
#define COMPLETED_PRESSING                                                                         \
    (16u << 20) /* bytes after which also a run inside another has them moved */

/* What kind of program starts tpmove at its end. */
enum completed_mover {
    MOVER_RUN,
    MOVER_INSTANCE, /* its programs have appended, too */
    MOVER_INSIDE    /* a program of an instance: tpmove may be ended with the instance */
};

/* Append the context of a program that is over, from its directory `dir`, which no other process
 * uses any more. A log that does not say how the program ended gets the event "lost". False: it
 * cannot be appended, for the reason in errno. True also where nothing is to be kept: there is no
 * log, or TPRUN_KEEP=0 is in the environment. */
bool completed_append(struct instance *instance, const char *id, int dir);
/* Whether this reason (an errno of completed_append()) may pass: then the directory has to stay,
 * and it is tried again later. */
bool completed_may_later(int why);

/* All that there is now, appended to `out`. 0, or -1 with a sentence; no file is no record. */
int completed_read(struct instance *instance, struct buf *out, struct error *err);

/* Move all to the state directory. 0, or -1 with one sentence: what could not be moved stays. What
 * is appended meanwhile may stay as well. One process at a time does it: where another does,
 * nothing is done, and it is 0. */
int completed_move(struct instance *instance, struct error *err);
/* Keep the state directory within its limits, which may take long. */
void completed_limit(struct instance *instance);
/* This process appended something, and it is time for completed_move(). */
bool completed_is_due(const struct instance *instance, enum completed_mover mover);

#endif

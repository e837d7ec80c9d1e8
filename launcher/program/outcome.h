/*
 * outcome - how a program ended, and whose doing it was.
 *
 * The first abnormal end in time decides status and message; at one time, that of the lowest rank.
 * What tprun ended afterwards is counted, not blamed. Ranks that ended in the same way make one
 * line. All texts and sets that are passed in are copied.
 */
#ifndef LAUNCHER_PROGRAM_OUTCOME_H
#define LAUNCHER_PROGRAM_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "base/buf.h"

#define OUTCOME_TIME_LIMIT 124
#define OUTCOME_ABORTED 1 /* of an abort with code 0 */

struct outcome;

struct outcome *outcome_new(void);
void outcome_free(struct outcome *outcome); /* NULL is fine */
/* Names by number of the node; borrowed. Before any end is reported. */
void outcome_set_hosts(struct outcome *outcome, const char *const *hosts);
/* An abort with code 0 gives 0, as other launchers have it; else OUTCOME_ABORTED. */
void outcome_abort_may_succeed(struct outcome *outcome);

/* Tasks ended badly at `time` (ns, this machine's clock). `why` as agents say it: exit, signal,
 * unfinalized, start, abort, aborted, pmi. Of exit and signal `text` says more, if it is not NULL.
 * `nodes` is where they were; with no ranks it is a node that is to blame. The abort of a task and
 * its exit with the same code are one end, an abort, in whatever order they are told. */
void outcome_task_ended(struct outcome *outcome, uint64_t time, const char *why, int status,
                        const char *text, const struct idset *ranks, const struct idset *nodes);
/* Something else ended the program: the exit status and the whole line. */
void outcome_other(struct outcome *outcome, uint64_t time, int status, const char *line);
/* The same, and the line is shown even if another end was the first. */
void outcome_always(struct outcome *outcome, uint64_t time, int status, const char *line);
/* Tasks were sent this signal because tprun was, and a line has said so: that they die of it, or
 * exit with 128 and its number, is not shown again. The status stays theirs. */
void outcome_signal_sent(struct outcome *outcome, int number);
/* Tasks that ended after tprun told them to: counted once each, and not blamed. */
void outcome_killed(struct outcome *outcome, const struct idset *ranks);

/* The exit status; lines (without "tprun: ") are appended to `lines`, each with a newline. */
int outcome_status(const struct outcome *outcome, struct buf *lines);
bool outcome_is_clean(const struct outcome *outcome); /* nothing bad happened so far */
/* Ranks that ended badly; borrowed. */
const struct idset *outcome_dead(const struct outcome *outcome);

#endif

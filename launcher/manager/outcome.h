/*
 * outcome - how a program ended, and whose doing it was.
 *
 * The first abnormal end in time decides status and message. What tprun ended afterwards is
 * counted, not blamed. Ranks of one fate make one line.
 */
#ifndef LAUNCHER_MANAGER_OUTCOME_H
#define LAUNCHER_MANAGER_OUTCOME_H

#include <stdint.h>

#include "affinity/sets/idset.h"
#include "base/buf.h"

#define OUTCOME_TIME_LIMIT 124
#define OUTCOME_ABORTED 1 /* of an abort with code 0 */

struct verdict;

struct verdict *outcome_new(void);
void outcome_free(struct verdict *verdict);
/* Names by number of the node; borrowed. Before anything is told. */
void outcome_set_hosts(struct verdict *verdict, const char *const *hosts);
/* An abort with code 0 gives 0, as other launchers have it; else OUTCOME_ABORTED. */
void outcome_abort_may_succeed(struct verdict *verdict);

/* Tasks ended badly at `time` (ns, this machine's clock). `why` as agents say it: exit, signal,
 * unfinalized, start, abort, aborted, pmi. Of exit and signal `text` says more, if it
 * is not NULL. `nodes` is where they were; with no ranks it is a node that is
 * to blame. All are copied. */
void outcome_ended(struct verdict *verdict, uint64_t time, const char *why, int status,
                   const char *text, const struct idset *ranks, const struct idset *nodes);
/* Something else ended the program: the exit status and the whole line. */
void outcome_other(struct verdict *verdict, uint64_t time, int status, const char *line);
/* The same, and the line is said even if another end was the first. */
void outcome_always(struct verdict *verdict, uint64_t time, int status, const char *line);
/* Tasks were sent this signal because tprun was, which is said by whoever did it: that they die of
 * it, or exit with 128 and its number, is not said again. The status stays theirs. */
void outcome_told(struct verdict *verdict, int number);
/* From an agent's last word: tasks that ended after they were told to. */
void outcome_victims(struct verdict *verdict, const struct idset *ranks);

/* The exit status; lines (without "tprun: ") are appended to `lines`, each with a newline. */
int outcome_give(const struct verdict *verdict, struct buf *lines);
int outcome_empty(const struct verdict *verdict); /* nothing bad happened so far */

#endif

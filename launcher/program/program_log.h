/*
 * program_log - the events of a program, written down: tprun-events(7) says which there are.
 *
 * What is told is kept until program_log_write(), so that what happens at once is one write; nobody
 * may hear of an event before that. There is a log from program_log_attach() on. A log that cannot
 * be written harms nothing, and is told once by a note, as one that is full is.
 */
#ifndef LAUNCHER_PROGRAM_PROGRAM_LOG_H
#define LAUNCHER_PROGRAM_PROGRAM_LOG_H

#include <jansson.h>
#include <stdint.h>

#include "launcher/ledger/ledger_entry.h"
#include "launcher/protocol/task_report.h"
#include "launcher/spec/spec.h"

#define PROGRAM_LOG_MAX                                                                            \
    (128u << 20) /* bytes of a log after which task groups are not written any more */

struct program_log;

struct program_log *program_log_new(void (*note)(void *owner, const char *text), void *owner);
void program_log_free(struct program_log *log); /* NULL is fine */

/* The program is in the ledger: "new", "pending", which are written at once. Both are borrowed for
 * the call. Once; NULL, and any later call, does nothing. */
void program_log_attach(struct program_log *log, struct ledger_entry *entry,
                        const struct spec *spec);
/* Takes the context, NULL: none. */
void program_log_event(struct program_log *log, const char *name, json_t *context);
void program_log_write(struct program_log *log);

/* Of a program that keeps agents: "idle" until then (seconds of the epoch), or with 0 "used".
 * Written at once. */
void program_log_agents_used(struct program_log *log, double until);

/* ---- tasks ---- */

/* A group is about to be launched: "launch". `launch` is FRAME_LAUNCH's JSON; all is borrowed. */
void program_log_launch(struct program_log *log, uint32_t group, const json_t *launch,
                        const uint32_t *tree_node, uint32_t nnodes);
/* FRAME_STARTED of a node of the tree: "tasks-started" once all nodes of the group have said it. */
void program_log_started(struct program_log *log, uint32_t group, uint32_t node,
                         const json_t *started);
/* Tasks that ended: "tasks-ended", and before it what is known of their start. */
void program_log_ended(struct program_log *log, uint32_t group, const struct done_report *report);

#endif

/*
 * exit_report - what a task group of this node reports upwards: prepared, started, bad ends at
 * once, and with the last word how every task ended, merged with what agents below said in theirs.
 *
 * Nothing is sent once the uplink is lost. Ranks are ranks of the program. The messages are those
 * of launcher/protocol/task_report.h.
 */
#ifndef LAUNCHER_AGENT_EXIT_REPORT_H
#define LAUNCHER_AGENT_EXIT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/agent/uplink.h"
#include "launcher/protocol/task_report.h"

struct exit_report;

struct exit_report *exit_report_new(struct uplink *uplink, uint32_t group);
void exit_report_free(struct exit_report *report);

void exit_report_prepared(struct exit_report *report, const struct prepared_report *what);
void exit_report_started(struct exit_report *report, const struct started_report *what);
/* Ranks ended badly just now; see struct ended_report. NULL: no single task is to blame. */
void exit_report_ended(struct exit_report *report, const struct idset *ranks, const char *why,
                       int status, const char *text);
void exit_report_ended_rank(struct exit_report *report, uint32_t rank, const char *why, int status,
                            const char *text);
/* It was then, as clock_monotonic_ns() counts. */
void exit_report_ended_rank_at(struct exit_report *report, uint64_t at, uint32_t rank,
                               const char *why, int status, const char *text);

/* Kept for the last word. */
void exit_report_add(struct exit_report *report, int status, bool killed_by_tprun,
                     const struct idset *ranks);
void exit_report_add_rank(struct exit_report *report, int status, bool killed_by_tprun,
                          uint32_t rank);
void exit_report_add_usage(struct exit_report *report, int status, bool killed_by_tprun,
                           const struct task_usage *usage);
void exit_report_add_silent(struct exit_report *report, uint32_t rank);
/* The last word of an agent below. Returns the nodes that it is of, NULL where it does not say;
 * caller frees. */
struct idset *exit_report_merge(struct exit_report *report, const struct frame *frame);
/* The last word, of this node and of the nodes below that take part. */
void exit_report_done(struct exit_report *report, const struct idset *below);

#endif

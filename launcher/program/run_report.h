/*
 * run_report - what happened to a program, for --report and --timing: made of its log when it is
 * over.
 *
 *     {"version": 1, "id": "17", "state": "complete", "status": 0, ... as tpctl info --format=json
 *      "R": {...}, "tasks": [...],
 *      "stages": [{"name": "allocate", "seconds": 0.004}, {"name": "launch", ...},
 *                 {"name": "run", ...}, {"name": "end", ...}]}
 *
 * A stage that the program did not come to is not there. Source: launcher/ledger/program_json.h.
 */
#ifndef LAUNCHER_PROGRAM_RUN_REPORT_H
#define LAUNCHER_PROGRAM_RUN_REPORT_H

#include "base/error.h"
#include "launcher/ledger/ledger_entry.h"

struct run_report;

/* Of a program whose log is complete; NULL: it did not come so far as to have one. `status` and
 * `reason` are what it ends with. */
struct run_report *run_report_new(const struct ledger_entry *entry, int status, const char *reason);
void run_report_free(struct run_report *report);

char *run_report_text(const struct run_report *report); /* JSON; caller frees */
/* A line; caller frees. */
char *run_report_timing(const struct run_report *report);

#endif

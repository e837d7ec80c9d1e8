/*
 * program_json - what is known of a program as JSON, for those who list programs and ask about one.
 *
 *     {"id": "17", "state": "complete", "lost": false, "ntasks": 4, "nnodes": 1,
 *      "command": ["./app"], "t_new": 1770000000.1, "t_start": 1770000000.2,
 *      "t_end": 1770000009.7, "status": 0, "reason": ""}
 *
 * Times are seconds since the epoch; what is not known is null. Source: RFC 8, getinfo.
 */
#ifndef LAUNCHER_LEDGER_PROGRAM_JSON_H
#define LAUNCHER_LEDGER_PROGRAM_JSON_H

#include <jansson.h>

#include "launcher/ledger/program_record.h"

/* As above; new reference. */
json_t *program_to_json(const char *id, const struct program_record *record);

/* Add "taskmap" (RFC 34) and "nodes" [{"id", "host"}] of the first task group, "groups" of all if
 * there are more than one, and "tasks", for each {"rank", "node", "local_rank", "app", "cpus",
 * "gpus", "host", "pid", "state", "status", "signal", "t_start", "t_end", "maxrss_kib", "utime",
 * "stime"}: as the kernel had them. The record has tasks. */
void program_add_tasks(json_t *program, const struct program_record *record);

#endif

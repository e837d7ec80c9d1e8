/*
 * task_list - the tasks of a program that run, as a table for people and as JSON: what tpctl ps and
 * top show.
 */
#ifndef LAUNCHER_TPCTL_TASK_LIST_H
#define LAUNCHER_TPCTL_TASK_LIST_H

#include <jansson.h>

#include "base/buf.h"
#include "launcher/protocol/control_answer.h"

#define TASK_LIST_MAX                                                                              \
    64 /* of so many tasks each has a line; of more, those of a host in one state share one */

/* Append the table, with a line of titles. */
void task_list_text(struct buf *out, const struct control_answer *answer);
/* {"version":1, "program":ID, "tasks":[...], "silent":[HOST, ...]}; new reference. */
json_t *task_list_json(const struct control_answer *answer, const char *program);

#endif

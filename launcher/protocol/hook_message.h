/*
 * hook_message - that a node is to run its prolog or its epilog (--prolog, --epilog), and how that
 * ended.
 *
 *     {"hook": "prolog", "timeout": 60.0, "directory": "/home/a",
 *      "environment": ["PATH=/bin", ...]}
 *     {"hook": "prolog", "ran": true, "seconds": 0.2, "fault": "it ended with exit status 3",
 *      "output": "..."}
 *
 * The files themselves are staged (stage_list.h). A node that has no prolog answers that none ran;
 * from the first message on it owes its epilog.
 */
#ifndef LAUNCHER_PROTOCOL_HOOK_MESSAGE_H
#define LAUNCHER_PROTOCOL_HOOK_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "launcher/protocol/stage_list.h"

struct hook_order {
    enum stage_kind kind; /* STAGE_PROLOG or STAGE_EPILOG */
    double timeout;       /* s; INFINITY: none */
    char *directory;
    char **environment; /* NULL-terminated */
};

struct hook_report {
    enum stage_kind kind;
    bool ran;
    double seconds;
    char *fault;  /* NULL: it went well */
    char *output; /* the last of what it wrote; NULL: nothing */
};

json_t *hook_order_to_json(const struct hook_order *order); /* new reference */
/* Fills it; it is to be cleared in any case. 0, or -1 with a sentence. */
int hook_order_from_json(struct hook_order *order, const json_t *value, struct error *err);
void hook_order_clear(struct hook_order *order);
/* It is for that hook; its environment says so, too. */
void hook_order_set_kind(struct hook_order *order, enum stage_kind kind);
/* Takes NAME=VALUE, in place of one of that name. */
void hook_order_set(struct hook_order *order, char *variable);

json_t *hook_report_to_json(const struct hook_report *report); /* new reference */
int hook_report_from_json(struct hook_report *report, const json_t *value, struct error *err);
void hook_report_clear(struct hook_report *report);

#endif

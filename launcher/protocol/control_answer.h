/*
 * control_answer - what a manager answers to a control_request. FRAME_CONTROL:
 *
 *     {"status":0, ...}                        done
 *     {"status":N,"error":"a sentence"}        not done; N is the exit status of who asked
 *
 * and with either what is known: "reached", a set of ranks that were sent a signal; "missed",
 * [[RANKS, "why"], ...]; "silent", hosts that did not answer in time (RFC 29); "nodes", [{"host":
 * ..., and what inquiry.h has of its tasks}].
 */
#ifndef LAUNCHER_PROTOCOL_CONTROL_ANSWER_H
#define LAUNCHER_PROTOCOL_CONTROL_ANSWER_H

#include <jansson.h>
#include <stddef.h>

#include "affinity/sets/idset.h"
#include "base/error.h"
#include "launcher/protocol/inquiry.h"

enum { CONTROL_DONE = 0, CONTROL_REFUSED = 1, CONTROL_UNKNOWN = 3, CONTROL_NOT_NOW = 4 };

struct control_missed {
    struct idset *ranks;
    char *why; /* "has ended" */
};

struct control_node {
    char *host;
    struct inquiry_answer tasks;
};

struct control_answer { /* owns all; zeroed is an empty one */
    int status;
    char *error;           /* NULL where the status is 0 */
    struct idset *reached; /* NULL: no signal was sent */
    struct control_missed *missed;
    size_t nmissed;
    char *silent; /* NULL: all answered */
    struct control_node *nodes;
    size_t nnodes;
};

/* It is not done, for this reason. */
void control_answer_refuse(struct control_answer *answer, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Takes the ranks, which are passed over where there are none. */
void control_answer_miss(struct control_answer *answer, struct idset *ranks, const char *why);
/* An empty one of this host; borrowed until the next call. */
struct control_node *control_answer_add_node(struct control_answer *answer, const char *host);

json_t *control_answer_to_json(const struct control_answer *answer); /* new reference */
/* Any JSON: 0, or -1 with a sentence. control_answer_clear() either way. */
int control_answer_from_json(struct control_answer *answer, const json_t *value, struct error *err);
void control_answer_clear(struct control_answer *answer);

#endif

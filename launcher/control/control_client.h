/*
 * control_client - a command's side of a program's control socket: it connects, asks, and waits for
 * the answer, each within a time. For processes without a loop.
 */
#ifndef LAUNCHER_CONTROL_CONTROL_CLIENT_H
#define LAUNCHER_CONTROL_CONTROL_CLIENT_H

#include <stdbool.h>

#include "base/error.h"
#include "launcher/protocol/control_answer.h"
#include "launcher/protocol/control_request.h"

#define CONTROL_CLIENT_PATIENCE 6.0 /* s: agents have 3 to answer the manager */

enum control_outcome {
    CONTROL_SAID,   /* there is an answer, which may be a refusal */
    CONTROL_SILENT, /* none came in time, or nonsense did: a sentence says so */
    CONTROL_GONE, /* nobody listens, or whoever did has gone: what the program's files say counts */
    CONTROL_FOREIGN, /* another user listens there: a sentence */
};

/* Ask the manager of the program whose directory this is. A program that has just begun does not
 * listen yet: while there is no socket and lives() says that the program is there, it is waited
 * for. The answer is the caller's to clear in any case. */
enum control_outcome control_ask(int dir, const struct control_request *request, double patience,
                                 bool (*lives)(void *arg), void *arg, struct control_answer *answer,
                                 struct error *err);
/* The same of a request after which one stays: *kept is the connection where the answer is good,
 * which the caller closes, else -1. */
enum control_outcome control_ask_and_stay(int dir, const struct control_request *request,
                                          double patience, bool (*lives)(void *arg), void *arg,
                                          struct control_answer *answer, int *kept,
                                          struct error *err);

#endif

/*
 * control_request - what a command asks of a program's manager over its control socket.
 * FRAME_CONTROL:
 *
 *     {"version":1,"method":"signal","number":15,"ranks":"0-3"}     no ranks: all
 *     {"version":1,"method":"terminate","grace":5.0}   no grace: --kill-grace of the program
 *     {"version":1,"method":"ps"}
 *     {"version":1,"method":"save"}                    save output from now on
 *     {"version":1,"method":"input","ranks":"0"}       for these: FRAME_STDIN follows
 */
#ifndef LAUNCHER_PROTOCOL_CONTROL_REQUEST_H
#define LAUNCHER_PROTOCOL_CONTROL_REQUEST_H

#include <jansson.h>

#include "affinity/sets/idset.h"
#include "base/error.h"

#define CONTROL_VERSION 1

enum control_method {
    CONTROL_METHOD_SIGNAL,
    CONTROL_METHOD_TERMINATE,
    CONTROL_METHOD_PS,
    CONTROL_METHOD_SAVE,
    CONTROL_METHOD_INPUT,
    CONTROL_NMETHODS
};

struct control_request {
    enum control_method method;
    int number;          /* of a signal */
    struct idset *ranks; /* of the program; NULL: all */
    double grace;        /* s, INFINITY too; below 0: not said */
};

const char *control_method_name(enum control_method method);

json_t *control_request_to_json(const struct control_request *request); /* new reference */
/* Any JSON: 0, or -1 with a sentence. control_request_clear() either way. */
int control_request_from_json(struct control_request *request, const json_t *value,
                              struct error *err);
void control_request_clear(struct control_request *request);

#endif

/*
 * remote_command_request - what a tpctl asks of the instance that it runs in: to be run beside the
 * instance's manager, where files and processes are, with the streams and the terminal of who asks.
 *
 *     {"version": ..., "variables": {...},
 *      "command": {"words": ["info", "17"], "terminal": "24x80 ...", "merged": false,
 *                  "streams": ["none", "bytes", "terminal"], "environment": {"TERM": "xterm"}}}
 *
 * Behind it the caller sends, over the same link, what it reads (FRAME_STDIN, FRAME_STDIN_END),
 * signals (FRAME_SIGNAL) and the size of its terminal (FRAME_TERMINAL); and FRAME_OUTPUT without
 * bytes for a stream that nobody reads any more. It is sent what the command writes (FRAME_OUTPUT;
 * without bytes: that stream has ended), FRAME_SIGNAL when the command has stopped, FRAME_TERMINAL
 * when it has changed the mode of its terminal (rank: 1 for keys one by one, else 0), and at the
 * end FRAME_END.
 */
#ifndef LAUNCHER_PROTOCOL_REMOTE_COMMAND_REQUEST_H
#define LAUNCHER_PROTOCOL_REMOTE_COMMAND_REQUEST_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

enum command_stream {
    COMMAND_STREAM_NONE, /* it is empty, or read by nobody */
    COMMAND_STREAM_BYTES,
    COMMAND_STREAM_TERMINAL
};

struct remote_command_request {
    char **words; /* behind the command's name */
    enum command_stream streams[3];
    bool merged;    /* stderr goes where stdout goes */
    char *terminal; /* how it is set, see terminal_modes.h; NULL: the caller has none */
};

#define COMMAND_WORDS_MAX 65536
#define COMMAND_HERE                                                                               \
    "TPCTL_HERE" /* in the command's environment: it was sent here, and is not to be sent on */

/* With version and variables of this process; new reference. */
json_t *remote_command_request_to_json(const struct remote_command_request *request);
/* The words of a command, which is the key "command"; sets version's and other variables in this
 * process. -1 with a sentence. The caller clears either way. */
int remote_command_request_take(struct remote_command_request *request, const json_t *value,
                                struct error *err);
void remote_command_request_clear(struct remote_command_request *request);

#endif

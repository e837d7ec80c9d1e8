/*
 * remote_command_serve - a tpctl that was typed on another host of an instance, run beside the
 * instance's manager.
 *
 * It is a child of this process, with pipes and a terminal in place of the caller's streams. What
 * goes between the two sides is in launcher/protocol/remote_command_request.h; the other side is
 * launcher/tpctl/remote_command_ask.c.
 */
#ifndef LAUNCHER_CLI_REMOTE_COMMAND_SERVE_H
#define LAUNCHER_CLI_REMOTE_COMMAND_SERVE_H

#include "base/error.h"
#include "launcher/protocol/remote_command_request.h"

/* Run it, until the caller has all of it or is gone. `caller` is taken. 0, or -1 with a sentence:
 * it was not started, and the descriptor is still open. */
int remote_command_serve(int caller, const struct remote_command_request *request,
                         struct error *err);

#endif

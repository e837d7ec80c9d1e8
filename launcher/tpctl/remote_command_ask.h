/*
 * remote_command_ask - a tpctl in an instance, on a host that does not have the instance's files:
 * it has itself run beside the instance's manager, by way of the agent of its own host, and lends
 * it its streams, its terminal and its signals.
 */
#ifndef LAUNCHER_TPCTL_REMOTE_COMMAND_ASK_H
#define LAUNCHER_TPCTL_REMOTE_COMMAND_ASK_H

#include <stdbool.h>

#include "launcher/command/method.h"

/* `words` are those of the command line. True: they were run there, with this exit status. False:
 * nothing of it needs the instance's files, or they are here. */
bool remote_command_ask(const struct method_program *program, char *const *words, int *status);

#endif

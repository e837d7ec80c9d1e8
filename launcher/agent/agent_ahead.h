/*
 * agent_ahead - an agent that is there before its program: what it does until then.
 */
#ifndef LAUNCHER_AGENT_AGENT_AHEAD_H
#define LAUNCHER_AGENT_AGENT_AHEAD_H

#include <stdbool.h>

#include "launcher/agent/agent.h"

/* Begins a PMIx server, where there is openpmix, and waits for the link, which is the config's then,
 * as is the server. False: no program came, and nothing is left to do. */
bool agent_ahead_wait(struct agent_config *config);

#endif

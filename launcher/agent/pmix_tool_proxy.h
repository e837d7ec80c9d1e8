/*
 * pmix_tool_proxy - PMIx tools of the user that connect to this node's host of openpmix (--tools).
 *
 * They come to a port of the agent's own, whose address is in a file of the program's scratch
 * directory, as openpmix's tools look for it; what they and the host say to each other is passed on
 * here. So whose a tool is the kernel says, a tool that dies or does not read is this file's
 * business and never openpmix's, and what waits for one is counted.
 */
#ifndef LAUNCHER_AGENT_PMIX_TOOL_PROXY_H
#define LAUNCHER_AGENT_PMIX_TOOL_PROXY_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "pmi-server/pmix/server.h"

#define TOOL_END_PATIENCE                                                                          \
    5.0 /* s at the end for a tool to read what is for it, and to close its connection */

struct tools;

struct tool_proxy_config {
    struct ev_loop *loop;
    struct pmix_host *host;
    const char *directory; /* for the file */
    const char *name;      /* of the program, for that */
    const char *server;    /* its namespace, and its rank */
    uint32_t node;
    void (*note)(void *arg, const char *text); /* for people */
    void *arg;
};

/* All in config is borrowed during the call but loop, host and arg. NULL with a sentence. */
struct tools *tool_proxy_new(const struct tool_proxy_config *config, struct error *err);
/* Nothing more comes for tools: none is let in any more. Those that are in get all that openpmix
 * has for them, and then the end of their connection. True once all have closed theirs, or
 * TOOL_END_PATIENCE after the first call; to be called in each turn of the loop until then. */
bool tool_proxy_end(struct tools *tools);
void tool_proxy_free(struct tools *tools);
const char *tool_proxy_file(const struct tools *tools);
void tool_proxy_came(struct tools *tools, uint32_t number); /* pmix_host_ops' tool_came() */

#endif

/*
 * pmix_tools - the door for PMIx tools to the host of openpmix of this node (--tools), and who is told of it.
 */
#ifndef LAUNCHER_AGENT_PMIX_TOOLS_H
#define LAUNCHER_AGENT_PMIX_TOOLS_H

#include <ev.h>

#include "launcher/agent/pmix_tool_proxy.h"
#include "launcher/agent/uplink.h"
#include "launcher/process/scratch_directory.h"
#include "launcher/protocol/launch.h"

struct pmix_tools_config { /* all borrowed; the uplink for as long as the door is open */
    struct ev_loop *loop;
    struct uplink *uplink;
    struct scratch *scratch;
    struct pmix_host *host;
    const struct pmix_server_config *server;
};

/* With the first task, whose environment says where the server is. NULL with a sentence; freed by
 * tool_proxy_free(). */
struct tools *pmix_tools_open(const struct pmix_tools_config *config, const struct launch *launch,
                              struct error *err);

#endif

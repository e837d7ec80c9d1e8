/* The door for tools to the host of openpmix of this node, and who is told of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/agent/internal.h"
#include "launcher/agent/pmix_tool_proxy.h"

static void pmix_tools_note(void *arg, const char *text)
{
    struct agent *agent = arg;
    struct frame frame = {
        .type = FRAME_NOTE, .node = uplink_node(agent->uplink), .bytes = text, .len = strlen(text)};
    uplink_send(agent->uplink, &frame);
}

/* One line is enough: on other nodes the file has a name that is like this one. */
static void announce(struct agent *agent, const struct launch *launch, const struct tools *tools)
{
    if (launch->node)
        return;
    char *text =
        mem_format("PMIx tools on %s: --uri file:%s", launch->hosts[0], tool_proxy_file(tools));
    pmix_tools_note(agent, text);
    free(text);
}

struct tools *pmix_tools(struct agent *agent, struct pmix_host *host,
                         const struct pmix_server_config *server, const struct launch *launch,
                         struct error *err)
{
    if (scratch_directory_make(agent->config->scratch) < 0) {
        error_set(err, "cannot make %s, which tools need: %s; TMPDIR may name another place",
                  server->tmpdir, strerror(errno));
        return NULL;
    }
    char *name = mem_format("tprun.%s.%s", launch->instance_id ?: "0", launch->program);
    struct tool_proxy_config config = {.loop = agent->loop,
                                       .host = host,
                                       .directory = server->tmpdir,
                                       .name = name,
                                       .server = server->program,
                                       .node = uplink_node(agent->uplink),
                                       .note = pmix_tools_note,
                                       .arg = agent};
    pmix_server_let_tools(host, name);
    struct tools *tools = tool_proxy_new(&config, err);
    if (tools)
        announce(agent, launch, tools);
    free(name);
    return tools;
}

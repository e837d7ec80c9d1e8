/* The door for tools to the host of openpmix of this node, opened with the first task. */
#include "launcher/agent/pmix_tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/tools.h"

static void pmix_tools_note(void *arg, const char *text)
{
    uplink_note(arg, "%s", text);
}

struct tools *pmix_tools_open(const struct pmix_tools_config *config, const struct launch *launch,
                              struct error *err)
{
    const char *directory = config->server->tmpdir;
    if (scratch_directory_make(config->scratch) < 0) {
        error_set(err, "cannot make %s, which tools need: %s; TMPDIR may name another place",
                  directory, strerror(errno));
        return NULL;
    }
    char *name = mem_format("tprun.%s.%s", launch->instance_id ?: "0", launch->program);
    struct tool_proxy_config proxy = {.loop = config->loop,
                                      .host = config->host,
                                      .directory = directory,
                                      .name = name,
                                      .server = config->server->program,
                                      .node = uplink_node(config->uplink),
                                      .note = pmix_tools_note,
                                      .arg = config->uplink};
    pmix_server_let_tools(config->host, name);
    struct tools *tools = tool_proxy_new(&proxy, err);
    if (tools &&
        !launch->node) /* one line is enough: other nodes' files have names like this one */
        uplink_note(config->uplink, "PMIx tools on %s: --uri file:%s", launch->hosts[0],
                    tool_proxy_file(tools));
    free(name);
    return tools;
}

/*
 * Tools: who connects without having been started by a program, see server.h.
 */
#include "pmi-server/pmix/tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/listeners.h"
#include "pmi-server/pmix/namespace_private.h"
#include "pmi-server/pmix/tcp_peers.h"
#include "pmi-server/pmix/tools_private.h"
#include "pmi-server/pmix/upcall_queue.h"

struct tools {
    char *name;        /* of all, up to their own */
    uint32_t expected; /* 0: none */
    uint16_t port;     /* that it comes from */
    struct idset *in;  /* numbers of those that have come */
};

/* ---- openpmix's thread ---- */

static void tool_arrived(struct pmix_host *host, struct upcall *event);

/* Which connection it is about, openpmix does not say: it is the one whose greeting was just read. */
void tools_connected_upcall(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t done,
                            void *cbdata)
{
    struct upcall *event = upcall_new(tool_arrived, NULL);
    (void)info, (void)ninfo;
    event->port = tcp_peers_unanswered(listeners_port());
    event->tool_done = done;
    event->cbdata = cbdata;
    upcall_queue_push(event);
}

/* ---- coming and going ---- */

static pmix_proc_t tool_name(const struct pmix_host *host, uint32_t number)
{
    pmix_proc_t proc = {.rank = 0};
    char *name = mem_format("%s.tool.%u.%u", host->tools->name, host->node, number);
    strncpy(proc.nspace, name, sizeof(proc.nspace) - 1);
    free(name);
    return proc;
}

static void tools_changed(struct pmix_host *host)
{
    for (const struct pmix_feature *feature = host->features; feature->name; feature++)
        if (feature->tools_changed)
            feature->tools_changed(host, (unsigned)idset_count(host->tools->in));
}

/* openpmix cannot refuse one without danger: it crashes. What is not answered stays unknown to it,
 * and is shut. */
static void tool_arrived(struct pmix_host *host, struct upcall *event)
{
    struct tools *tools = host->tools;
    if (!tools || !tools->expected || !event->port || tools->port != event->port) {
        tcp_peers_shut(listeners_port(), event->port);
        return;
    }
    uint32_t number = tools->expected;
    pmix_proc_t proc = tool_name(host, number);
    tools->expected = 0;
    idset_add(tools->in, number);
    tools_changed(host);
    event->tool_done(PMIX_SUCCESS, &proc, event->cbdata);
    host->ops->tool_came(host->arg, number);
}

void pmix_server_expect_tool(struct pmix_host *host, uint32_t number, uint16_t port)
{
    if (!host->tools)
        return;
    host->tools->expected = number;
    host->tools->port = port;
}

void pmix_server_tool_left(struct pmix_host *host, uint32_t number)
{
    if (!host->tools || !idset_has(host->tools->in, number))
        return;
    pmix_proc_t proc = tool_name(host, number);
    pending_requests_drop(host->requests, proc.nspace);
    host->library->deregister_nspace(proc.nspace, library_ignore_end, NULL);
    idset_remove(host->tools->in, number);
    tools_changed(host);
}

bool caller_is_known(const struct pmix_host *host, const char *name)
{
    bool known = namespace_find(host, name);
    if (known || !host->tools)
        return known;
    IDSET_FOREACH(number, host->tools->in)
    known |= !strcmp(tool_name(host, number).nspace, name);
    return known;
}

void pmix_server_let_tools(struct pmix_host *host, const char *name)
{
    host->tools = mem_alloc(sizeof(*host->tools));
    host->tools->name = mem_copy_text(name);
    host->tools->in = idset_new();
}

void tools_free(struct pmix_host *host)
{
    if (!host->tools)
        return;
    idset_free(host->tools->in);
    free(host->tools->name);
    free(host->tools);
}

uint16_t pmix_server_port(const struct pmix_host *host)
{
    (void)host;
    return listeners_port();
}

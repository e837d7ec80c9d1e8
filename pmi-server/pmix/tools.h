/*
 * tools - programs of the same user that connect to a server and that no program started: for its
 * owner.
 *
 * openpmix 4.2.2 to ?: a tool's word is taken for who it is, nothing bounds what waits to be read
 * by one, and the server crashes where one goes before it is answered or is refused. So a tool's
 * connection comes by way of the owner, who knows whose it is, keeps openpmix's end of it open for
 * as long as it answers, and says when a tool lags. Tools that come by another way are not
 * answered, and shut.
 */
#ifndef PMI_SERVER_PMIX_TOOLS_H
#define PMI_SERVER_PMIX_TOOLS_H

#include <stdint.h>

struct pmix_host;

/* From now on tools are let in; their namespaces are this name with ".tool.NODE.NUMBER". */
void pmix_server_let_tools(struct pmix_host *host, const char *name);
/* The server's port on the loopback interface; 0 before there is a job with a task here, and where
 * it is none of IPv4. */
uint16_t pmix_server_port(const struct pmix_host *host);
/* The connection that comes from this port is that of the tool of this number. ops->tool_came()
 * follows; until then none is expected but this one. Number 0: it is given up. */
void pmix_server_expect_tool(struct pmix_host *host, uint32_t number, uint16_t port);
void pmix_server_tool_left(struct pmix_host *host, uint32_t number);

#endif

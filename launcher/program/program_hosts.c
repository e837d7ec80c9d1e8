/* Hosts of a program, by the numbers that its tree has for them. */
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "launcher/program/program_private.h"

const char *program_host_name(const struct program *program, uint32_t node)
{
    const struct host_table *hosts = program_start_hosts(program->start);
    return hosts && node < host_count(hosts) ? host_names(hosts)[node] : NULL;
}

char *program_hosts_text(const struct program *program, const struct idset *nodes)
{
    struct hostlist *hosts = hostlist_new();
    IDSET_FOREACH(node, nodes)
    {
        if (program_host_name(program, node))
            hostlist_append(hosts, program_host_name(program, node));
    }
    char *text = hostlist_encode(hosts);
    hostlist_free(hosts);
    return text;
}

uint32_t program_find_host(const struct program *program, const char *name, struct error *err)
{
    const struct host_table *hosts = program_start_hosts(program->start);
    uint32_t at = 0, count = hosts ? host_count(hosts) : 0;
    while (at < count && strcmp(host_names(hosts)[at], name) != 0)
        at++;
    if (at == count || host_at(hosts, at)->state == HOST_UNUSED)
        error_set(err, "the instance has no agent there");
    else if (host_at(hosts, at)->state == HOST_STARTING)
        error_set(err, "the instance's agent there is not up yet");
    else if (host_at(hosts, at)->state != HOST_UP)
        error_set(err, "the instance has no agent there: %s",
                  host_at(hosts, at)->failure ?: "it is another name of a host");
    else if (program_start_lacks(program->start, at))
        error_set(err, "%s", program_start_lacks(program->start, at));
    else
        return at;
    return UINT32_MAX;
}

bool program_is_here(const struct program *program, const struct idset *nodes)
{
    const struct host_table *hosts = program_start_hosts(program->start);
    bool here = false;
    IDSET_FOREACH(node, nodes)
    {
        here |= hosts && node < host_count(hosts) && host_at(hosts, node)->node->here;
    }
    return here;
}

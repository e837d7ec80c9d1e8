/* What all programs of an instance read of it: read once, by the process that forks their managers. */
#include <stddef.h>

#include "launcher/instance/resources_private.h"
#include "launcher/ledger/topology_cache.h"
#include "launcher/source/nodes_from_options.h"

/* By this process, or by that which it was forked from. They are never freed: a forked process that
 * does so copies every page of them. */
static struct {
    struct node_list *nodes;  /* of the enclosing program; NULL: nothing was read */
    struct host_table *hosts; /* of these */
    bool are_used;
} read_ahead;

void resources_read_ahead(void)
{
    struct error ignored = ERROR_INIT; /* who needs it says why it cannot be read */
    struct spec *any = spec_new();
    struct enclosing_program *program = enclosing_program_read_ahead();
    host_table_free(read_ahead.hosts);
    read_ahead.hosts = NULL;
    read_ahead.are_used = false;
    if (program)
        topology_cache_read_ahead(program->instance);
    read_ahead.nodes = program ? node_list_from_spec(any, program, 0, &ignored) : NULL;
    if (read_ahead.nodes)
        read_ahead.hosts = host_table_new(read_ahead.nodes);
    enclosing_program_free(program);
    spec_free(any);
    error_clear(&ignored);
}

static bool takes_all(const struct spec *spec)
{
    return !spec->resources && !spec->hosts && !spec->hostfile && !spec->exclude &&
           !spec->requires && !spec->on;
}

struct node_list *resources_take_ahead(struct resources *resources)
{
    struct enclosing_program *program = resources->outer.program;
    if (!read_ahead.nodes || read_ahead.are_used || !program || !program->was_read_ahead ||
        !takes_all(resources->spec))
        return NULL;
    program->R = NULL; /* as where the nodes are made of it */
    resources->keeps_hosts = read_ahead.are_used = true;
    resources->hosts = read_ahead.hosts;
    return read_ahead.nodes;
}

/* Which hosts that have no agent yet are needed by tasks that are spawned, for program/spawn.c. As at the
 * beginning, no more of a large R are started than are likely to be used. */
#include "launcher/plan/spawn_hosts.h"

#include <stdlib.h>

#include "affinity/sets/host_index.h"
#include "base/buf.h"
#include "base/mem.h"
#include "launcher/instance/host_lines.h"

struct host_need { /* the choice, while it is made */
    const struct spawn_request *request;
    const struct host_table *hosts;
    const struct idset *started;
    bool *usable; /* by host: something is free there */
    size_t *left; /* by host: cores that no part counts on yet; SIZE_MAX: nobody knows */
    struct idset *chosen;
};

/* It has no agent, and may get one: not being another name of a host that has. */
static bool is_without_agent(const struct host_table *hosts, uint32_t index)
{
    const struct host *host = host_at(hosts, index);
    return !host->topo && host->state != HOST_DUPLICATE;
}

/* What is free on each host, where that is known. */
static void spawn_hosts_count_cores(struct host_need *choice)
{
    struct rset *unused = spawn_plan_unused(choice->request);
    struct host_index *index = unused ? rset_host_index(unused) : NULL;
    for (uint32_t i = 0; i < host_count(choice->hosts); i++) {
        const struct host *host = host_at(choice->hosts, i);
        size_t at = index ? host_index_find(index, host->node->host) : HOST_INDEX_NONE;
        bool without = is_without_agent(choice->hosts, i);
        if (without && !host->node->cores)
            choice->left[i] = SIZE_MAX;
        else if (at != HOST_INDEX_NONE && (without || host->state == HOST_UP))
            choice->left[i] = idset_count(unused->nodes[at].children->cores);
        choice->usable[i] = choice->left[i];
    }
    host_index_free(index);
    rset_free(unused);
}

/* What failed before is tried again only for those that ask for it by name. */
static bool may_serve(const struct host_need *choice, size_t part, uint32_t index)
{
    const struct hostlist *named = choice->request->hosts[part];
    const struct host *host = host_at(choice->hosts, index);
    if (is_without_agent(choice->hosts, index) &&
        (idset_has(choice->started, index) || (!named && host->failure)))
        return false;
    return choice->usable[index] && spawn_plan_host_named(host->node, named);
}

/* How many of these cores are still needed after such hosts have given theirs; what has no agent is
 * added to *chosen. */
static size_t count_on(struct host_need *choice, size_t part, size_t need, struct idset *chosen)
{
    for (uint32_t i = 0; need && i < host_count(choice->hosts); i++) {
        size_t left = choice->left[i], share = left < need ? left : need;
        if (is_without_agent(choice->hosts, i) != (chosen != NULL) || !share ||
            !may_serve(choice, part, i))
            continue;
        need -= share;
        if (left != SIZE_MAX)
            choice->left[i] -= share;
        if (chosen)
            idset_add(chosen, i);
    }
    return need;
}

/* Where all that there is would not do, and no host is named, none is started in vain. */
static void spawn_hosts_choose_for(struct host_need *choice, size_t part, bool all)
{
    const struct spec_part *what = &choice->request->spec->parts[part];
    struct idset *chosen = idset_new();
    size_t need = (size_t)(what->ntasks ? what->ntasks : 1) *
                  (what->cores_per_task ? what->cores_per_task : 1);
    need = count_on(choice, part, need, NULL);
    need = count_on(choice, part, need, chosen);
    if (!need || choice->request->hosts[part]) {
        for (uint32_t i = 0; all && i < host_count(choice->hosts); i++)
            if (is_without_agent(choice->hosts, i) && may_serve(choice, part, i))
                idset_add(chosen, i);
        idset_add_set(choice->chosen, chosen);
    }
    idset_free(chosen);
}

/* By number; where that says that there is enough, but it does not do, all that there are. */
struct idset *spawn_hosts_choose(const struct spawn_request *request, const struct idset *started)
{
    const struct host_table *hosts = resources_hosts(request->resources);
    struct host_need choice = {
        .request = request, .hosts = hosts, .started = started, .chosen = idset_new()};
    bool any = false;
    for (uint32_t i = 0; i < host_count(hosts) && !any; i++)
        any = is_without_agent(hosts, i) && !idset_has(started, i);
    if (!any)
        return choice.chosen;
    choice.usable = mem_array(host_count(hosts), sizeof(bool));
    choice.left = mem_array(host_count(hosts), sizeof(size_t));
    for (int all = 0; all < 2 && idset_empty(choice.chosen); all++) {
        spawn_hosts_count_cores(&choice);
        for (size_t i = 0; i < request->spec->nparts; i++)
            spawn_hosts_choose_for(&choice, i, all);
    }
    free(choice.left);
    free(choice.usable);
    return choice.chosen;
}

void spawn_hosts_explain(const struct host_table *hosts, const struct idset *started,
                         struct error *err)
{
    struct host_lines *lines = host_lines_new();
    struct buf text = BUF_INIT;
    IDSET_FOREACH(node, started)
    {
        const struct host *host = host_at(hosts, node);
        if (host->failure)
            host_lines_add(lines, host_names(hosts)[node], host->failure, host->elapsed);
    }
    for (size_t i = 0; i < host_lines_count(lines); i++) {
        char *line = host_lines_nth(lines, i);
        buf_printf(&text, "%s%s", text.len ? "; " : "", line);
        free(line);
    }
    if (text.len)
        error_set(err, "%s", buf_text(&text));
    buf_free(&text);
    host_lines_free(lines);
}

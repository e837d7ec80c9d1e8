/* Hosts of the run that have no agent yet: which of them tasks that are added need. As at the
 * beginning, no more of a large R are started than are likely to be used. */
#include "launcher/program/spawn_hosts.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "launcher/instance/host_lines.h"
#include "launcher/instance/host_lines.h"
#include "affinity/sets/host_index.h"

struct host_need { /* the choice, while it is made */
    const struct spawn_base *base;
    const struct spec *spec;
    struct hostlist *const *hosts; /* by part; NULL: all */
    const struct idset *started;
    bool *usable; /* by host: something is free there */
    size_t *left; /* by host: cores that no part counts on yet; SIZE_MAX: nobody knows */
    struct idset *chosen;
};

/* It has no agent, and may get one: not being another name of a host that has. */
static bool is_without_agent(const struct spawn_base *base, size_t index)
{
    const struct host *host = host_at(base->hosts, (uint32_t)index);
    return !host->topo && host->state != HOST_DUPLICATE;
}

static bool is_any_without_agent(const struct spawn_base *base, const struct idset *started)
{
    for (size_t i = 0; i < host_count(base->hosts); i++)
        if (is_without_agent(base, i) && !idset_has(started, (uint32_t)i))
            return true;
    return false;
}

static void spawn_hosts_count_cores(struct host_need *choice)
{
    const struct spawn_base *base = choice->base;
    struct rset *unused = spawn_resources_unused(base);
    struct host_index *index = unused ? rset_host_index(unused) : NULL;
    for (size_t i = 0; i < host_count(base->hosts); i++) {
        const struct node *node = host_at(base->hosts, i)->node;
        size_t at = index ? host_index_find(index, node->host) : HOST_INDEX_NONE;
        if (is_without_agent(base, i) && !node->cores)
            choice->left[i] = SIZE_MAX;
        else if (at != HOST_INDEX_NONE &&
                 (is_without_agent(base, i) || host_at(base->hosts, (uint32_t)i)->state == HOST_UP))
            choice->left[i] = idset_count(unused->nodes[at].children->cores);
        choice->usable[i] = choice->left[i];
    }
    host_index_free(index);
    rset_free(unused);
}

/* What failed before is tried again only for those that ask for it by name. */
static bool may_serve(const struct host_need *choice, size_t part, size_t index)
{
    const struct hostlist *hosts = choice->hosts[part];
    if (is_without_agent(choice->base, index) &&
        (idset_has(choice->started, (uint32_t)index) ||
         (!hosts && host_at(choice->base->hosts, (uint32_t)index)->failure)))
        return false;
    return choice->usable[index] &&
           spawn_resources_host_named(host_at(choice->base->hosts, (uint32_t)index)->node, hosts);
}

/* How many of these cores are still needed after such hosts have given theirs; what has no agent is
 * added to *chosen. */
static size_t count_on(struct host_need *choice, size_t part, size_t need, struct idset *chosen)
{
    const struct spawn_base *base = choice->base;
    for (size_t i = 0; need && i < host_count(base->hosts); i++) {
        size_t left = choice->left[i], share = left < need ? left : need;
        if (is_without_agent(base, i) != (chosen != NULL) || !share || !may_serve(choice, part, i))
            continue;
        need -= share;
        if (left != SIZE_MAX)
            choice->left[i] -= share;
        if (chosen)
            idset_add(chosen, (uint32_t)i);
    }
    return need;
}

static void choose_all(struct host_need *choice, size_t part, struct idset *chosen)
{
    for (size_t i = 0; i < host_count(choice->base->hosts); i++)
        if (is_without_agent(choice->base, i) && may_serve(choice, part, i))
            idset_add(chosen, (uint32_t)i);
}

/* Where all that there is would not do, and no host is named, none is started in vain. */
static void spawn_hosts_choose(struct host_need *choice, size_t part, bool all)
{
    const struct spec_part *what = &choice->spec->parts[part];
    struct idset *chosen = idset_new(), *both = NULL;
    size_t need = (size_t)(what->ntasks ? what->ntasks : 1) *
                  (what->cores_per_task ? what->cores_per_task : 1);
    need = count_on(choice, part, need, NULL);
    need = count_on(choice, part, need, chosen);
    if (!need || choice->hosts[part]) {
        if (all)
            choose_all(choice, part, chosen);
        both = idset_union(choice->chosen, chosen);
        idset_free(choice->chosen);
        choice->chosen = both;
    }
    idset_free(chosen);
}

/* By number; where that says that there is enough, but it does not do, all that there are. */
static void choose_hosts(struct host_need *choice)
{
    for (int all = 0; all < 2 && idset_empty(choice->chosen); all++) {
        spawn_hosts_count_cores(choice);
        for (size_t i = 0; i < choice->spec->nparts; i++)
            spawn_hosts_choose(choice, i, all);
    }
}

bool spawn_hosts_start(const struct spawn_base *base, const struct spec *spec,
                       struct hostlist *const *hosts, struct idset *started)
{
    if (!is_any_without_agent(base, started))
        return false;
    struct host_need choice = {.base = base,
                               .spec = spec,
                               .hosts = hosts,
                               .started = started,
                               .usable = mem_array(host_count(base->hosts), sizeof(bool)),
                               .left = mem_array(host_count(base->hosts), sizeof(size_t)),
                               .chosen = idset_new()};
    choose_hosts(&choice);
    bool any = !idset_empty(choice.chosen);
    if (any)
        agents_late(base->agents, choice.chosen);
    IDSET_FOREACH(node, choice.chosen)
    {
        idset_add(started, node);
    }
    idset_free(choice.chosen);
    free(choice.left);
    free(choice.usable);
    return any;
}

void spawn_hosts_explain(const struct spawn_base *base, const struct idset *started,
                         struct error *err)
{
    struct host_lines *lines = host_lines_new();
    struct buf text = BUF_INIT;
    IDSET_FOREACH(node, started)
    {
        const struct host *host = host_at(base->hosts, node);
        if (host->failure)
            host_lines_add(lines, host_names(base->hosts)[node], host->failure, host->elapsed);
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

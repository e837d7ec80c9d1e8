/* Hosts of the run that have no agent yet: which of them tasks that are added need. As at the
 * beginning, no more of a large R are woken than are likely to be used. */
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "launcher/instance/host_lines.h"
#include "launcher/manager/internal.h"
#include "affinity/sets/host_index.h"

struct dormant { /* the choice, while it is made */
    struct manager *manager;
    const struct spec *spec;
    struct hostlist *const *hosts; /* by part; NULL: all */
    const struct idset *woken;
    bool *usable; /* by host: something is free there */
    size_t *left; /* by host: cores that no part counts on yet; SIZE_MAX: nobody knows */
    struct idset *chosen;
};

/* It has no agent, and may get one: not being another name of a host that has. */
static bool is_dormant(const struct manager *manager, size_t index)
{
    const struct host *host = host_at(manager->hosts, (uint32_t)index);
    return !host->topo && host->state != HOST_DUPLICATE;
}

static bool is_any_dormant(const struct manager *manager, const struct idset *woken)
{
    for (size_t i = 0; i < host_count(manager->hosts); i++)
        if (is_dormant(manager, i) && !idset_has(woken, (uint32_t)i))
            return true;
    return false;
}

static void spawn_hosts_count_cores(struct dormant *dormant)
{
    struct manager *manager = dormant->manager;
    struct rset *unused = spawn_resources_unused(manager);
    struct host_index *index = unused ? rset_host_index(unused) : NULL;
    for (size_t i = 0; i < host_count(manager->hosts); i++) {
        const struct node *node = host_at(manager->hosts, i)->node;
        size_t at = index ? host_index_find(index, node->host) : HOST_INDEX_NONE;
        if (is_dormant(manager, i) && !node->cores)
            dormant->left[i] = SIZE_MAX;
        else if (at != HOST_INDEX_NONE &&
                 (is_dormant(manager, i) || spawn_resources_host_up(manager, i)))
            dormant->left[i] = idset_count(unused->nodes[at].children->cores);
        dormant->usable[i] = dormant->left[i];
    }
    host_index_free(index);
    rset_free(unused);
}

/* What failed before is tried again only for those that ask for it by name. */
static bool may_serve(const struct dormant *dormant, size_t part, size_t index)
{
    const struct hostlist *hosts = dormant->hosts[part];
    if (is_dormant(dormant->manager, index) &&
        (idset_has(dormant->woken, (uint32_t)index) ||
         (!hosts && host_at(dormant->manager->hosts, (uint32_t)index)->failure)))
        return false;
    return dormant->usable[index] &&
           spawn_resources_host_named(host_at(dormant->manager->hosts, (uint32_t)index)->node,
                                      hosts);
}

/* How many of these cores are still needed after such hosts have given theirs; what is dormant is
 * added to *chosen. */
static size_t count_on(struct dormant *dormant, size_t part, size_t need, struct idset *chosen)
{
    const struct manager *manager = dormant->manager;
    for (size_t i = 0; need && i < host_count(manager->hosts); i++) {
        size_t left = dormant->left[i], share = left < need ? left : need;
        if (is_dormant(manager, i) != (chosen != NULL) || !share || !may_serve(dormant, part, i))
            continue;
        need -= share;
        if (left != SIZE_MAX)
            dormant->left[i] -= share;
        if (chosen)
            idset_add(chosen, (uint32_t)i);
    }
    return need;
}

static void choose_all(struct dormant *dormant, size_t part, struct idset *chosen)
{
    for (size_t i = 0; i < host_count(dormant->manager->hosts); i++)
        if (is_dormant(dormant->manager, i) && may_serve(dormant, part, i))
            idset_add(chosen, (uint32_t)i);
}

/* Where all that there is would not do, and no host is named, none is woken in vain. */
static void spawn_hosts_choose(struct dormant *dormant, size_t part, bool all)
{
    const struct spec_part *what = &dormant->spec->parts[part];
    struct idset *chosen = idset_new(), *both = NULL;
    size_t need = (size_t)(what->ntasks ? what->ntasks : 1) *
                  (what->cores_per_task ? what->cores_per_task : 1);
    need = count_on(dormant, part, need, NULL);
    need = count_on(dormant, part, need, chosen);
    if (!need || dormant->hosts[part]) {
        if (all)
            choose_all(dormant, part, chosen);
        both = idset_union(dormant->chosen, chosen);
        idset_free(dormant->chosen);
        dormant->chosen = both;
    }
    idset_free(chosen);
}

/* By number; where that says that there is enough, but it does not do, all that there are. */
static void choose_hosts(struct dormant *dormant)
{
    for (int all = 0; all < 2 && idset_empty(dormant->chosen); all++) {
        spawn_hosts_count_cores(dormant);
        for (size_t i = 0; i < dormant->spec->nparts; i++)
            spawn_hosts_choose(dormant, i, all);
    }
}

bool spawn_hosts_wake(struct manager *manager, const struct spec *spec,
                      struct hostlist *const *hosts, struct idset *woken)
{
    if (!is_any_dormant(manager, woken))
        return false;
    struct dormant dormant = {.manager = manager,
                              .spec = spec,
                              .hosts = hosts,
                              .woken = woken,
                              .usable = mem_array(host_count(manager->hosts), sizeof(bool)),
                              .left = mem_array(host_count(manager->hosts), sizeof(size_t)),
                              .chosen = idset_new()};
    choose_hosts(&dormant);
    bool any = !idset_empty(dormant.chosen);
    if (any)
        agents_late(manager->agents, dormant.chosen);
    IDSET_FOREACH(node, dormant.chosen)
    {
        idset_add(woken, node);
    }
    idset_free(dormant.chosen);
    free(dormant.left);
    free(dormant.usable);
    return any;
}

void spawn_hosts_explain(const struct manager *manager, const struct idset *woken,
                         struct error *err)
{
    struct host_lines *lines = host_lines_new();
    struct buf text = BUF_INIT;
    IDSET_FOREACH(node, woken)
    {
        const struct host *host = host_at(manager->hosts, node);
        if (host->failure)
            host_lines_add(lines, host_names(manager->hosts)[node], host->failure, host->elapsed);
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

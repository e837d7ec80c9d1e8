/* Hosts that rank files and task maps name. */
#include <stdlib.h>
#include <string.h>

#include "affinity/policy/policy.h"
#include "affinity/taskmap/taskmap_scheme.h"
#include "base/mem.h"
#include "launcher/manager/internal.h"
#include "launcher/process/localhost.h"
#include "launcher/spec/spec_build.h"

/* Names of this machine that the list of nodes does not have: it is known by any of them. */
static void add_aliases(struct rankfile *file, const uint32_t *node, const char *own)
{
    const char *names[LOCALHOST_MAX_LOOKUPS];
    uint32_t host[LOCALHOST_MAX_LOOKUPS];
    bool here[LOCALHOST_MAX_LOOKUPS] = {false};
    size_t count = 0;
    for (uint32_t i = 0; i < file->nhosts; i++) {
        if (node[i] != RANKFILE_NO_NODE ||
            rankfile_relative(file->hosts[i].name) != RANKFILE_NO_NODE)
            continue;
        if (localhost_is_literal(file->hosts[i].name)) {
            file->hosts[i].alias = mem_copy_text(own);
        } else if (count < LOCALHOST_MAX_LOOKUPS) {
            names[count] = file->hosts[i].name;
            host[count++] = i;
        }
    }
    if (count)
        localhost_resolve(names, here, count);
    for (size_t i = 0; i < count; i++)
        if (here[i])
            file->hosts[host[i]].alias = mem_copy_text(own);
}

static const char *name_of_here(const struct manager *manager)
{
    for (size_t i = 0; i < manager->nodes->count; i++)
        if (manager->nodes->list[i].here)
            return manager->nodes->list[i].host;
    return NULL;
}

/* A host that is not there is refused before any agent is started. */
static int check_rankfile(struct manager *manager, struct rankfile *file, uint32_t nranks,
                          struct error *err)
{
    uint32_t *node = mem_array(file->nhosts, sizeof(*node)),
             nhosts = (uint32_t)manager->nodes->count;
    const char *own = name_of_here(manager);
    rankfile_find_nodes(file, 0, host_names(manager->hosts), nhosts, node, NULL);
    if (own)
        add_aliases(file, node, own);
    int rc = rankfile_find_nodes(file, nranks, host_names(manager->hosts), nhosts, node, err);
    free(node);
    return rc;
}

int placement_hosts_open(struct manager *manager, struct error *err)
{
    const struct spec *spec = manager->spec;
    manager->rankfiles = mem_array(spec->nparts, sizeof(*manager->rankfiles));
    for (size_t i = 0; i < spec->nparts; i++) {
        const struct spec_part *part = &spec->parts[i];
        struct rankfile **file = &manager->rankfiles[i];
        if (spec_part_rankfile(part, file, err) < 0 ||
            (*file && check_rankfile(manager, *file, part->ntasks ? part->ntasks : (*file)->nranks,
                                     err) < 0))
            return -1;
    }
    return 0;
}

void placement_hosts_close(struct manager *manager)
{
    for (size_t i = 0; manager->rankfiles && i < manager->spec->nparts; i++)
        rankfile_free(manager->rankfiles[i]);
    free(manager->rankfiles);
}

/* ---- which hosts are wanted ---- */

static void want_of_file(const struct manager *manager, const struct rankfile *file, bool *named)
{
    uint32_t *node = mem_array(file->nhosts, sizeof(*node));
    rankfile_find_nodes(file, 0, host_names(manager->hosts), (uint32_t)manager->nodes->count, node,
                        NULL);
    for (uint32_t i = 0; i < file->nhosts; i++)
        if (node[i] != RANKFILE_NO_NODE)
            named[node[i]] = true;
    free(node);
}

static void want_of_map(const struct manager *manager, const struct taskmap *map, bool *named)
{
    for (size_t i = 0; i < map->nblocks; i++)
        for (uint32_t j = 0; j < map->blocks[i].nnodes; j++)
            if (map->blocks[i].node + j < manager->nodes->count)
                named[map->blocks[i].node + j] = true;
}

/* False where the part leaves open which hosts it uses. */
static bool want_of_part(const struct manager *manager, size_t part, bool *named)
{
    struct taskmap_scheme deal;
    if (manager->rankfiles[part]) {
        want_of_file(manager, manager->rankfiles[part], named);
        return true;
    }
    if (taskmap_scheme_parse(manager->spec->parts[part].taskmap, &deal, NULL) < 0)
        return false;
    bool map = deal.scheme == TASKMAP_SCHEME_MAP;
    if (map)
        want_of_map(manager, deal.map, named);
    taskmap_scheme_free(&deal);
    return map;
}

/* Goes along with the part before. */
static bool joins_part_before(const struct manager *manager, size_t part)
{
    struct layout_part layout = spec_part_layout(&manager->spec->parts[part]);
    layout.rankfile = manager->rankfiles[part];
    return part > 0 && !policy_is_own(&layout);
}

bool placement_hosts_want(struct manager *manager)
{
    bool *named = mem_array(manager->nodes->count, sizeof(*named));
    manager->named = true;
    for (size_t i = 0; i < manager->spec->nparts && manager->named; i++)
        manager->named = joins_part_before(manager, i) || want_of_part(manager, i, named);
    for (size_t i = 0; i < manager->nodes->count && manager->named; i++) {
        const struct idset *cores = manager->free_cores[i];
        manager->wanted[i] = named[i] && !(cores && idset_empty(cores));
        manager->spare[i] = false;
    }
    free(named);
    return manager->named;
}

/* Which hosts are wanted, for program_start.c: by counts, or as rank files and task maps name them. */
#include "launcher/plan/host_choice.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/policy/policy.h"
#include "affinity/taskmap/taskmap_scheme.h"
#include "base/mem.h"
#include "launcher/process/localhost.h"
#include "launcher/spec/spec_build.h"
#include "launcher/spec/spec_check.h"

struct host_choice {
    const struct spec *spec;
    const struct resources *resources;
    const struct host_table *hosts;
    struct rankfile **rankfiles; /* by part; NULL where it has none */
    uint32_t nlooked;            /* the first so many hosts were looked at; no other is wanted */
    bool *wanted;                /* by host: has something free, and is likely to be needed */
    bool *spare; /* has something free: wanted if the others do not suffice; see is_spare() */
    bool by_name;
    size_t hosts_needed; /* of likely_hosts(); SIZE_MAX: no telling */
};

/* ---- rank files ---- */

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

/* A host that is not there is refused before any agent is started. */
static int check_rankfile(const struct host_table *hosts, struct rankfile *file, uint32_t nranks,
                          struct error *err)
{
    uint32_t *node = mem_array(file->nhosts, sizeof(*node)), count = host_count(hosts);
    const char *own = NULL; /* name of this machine, if it is there */
    for (uint32_t i = 0; i < count && !own; i++)
        own = host_at(hosts, i)->node->here ? host_names(hosts)[i] : NULL;
    rankfile_find_nodes(file, 0, host_names(hosts), count, node, NULL);
    if (own)
        add_aliases(file, node, own);
    int rc = rankfile_find_nodes(file, nranks, host_names(hosts), count, node, err);
    free(node);
    return rc;
}

struct host_choice *host_choice_new(const struct spec *spec, const struct resources *resources,
                                    const struct host_table *hosts, struct error *err)
{
    struct host_choice *choice = mem_alloc(sizeof(*choice));
    choice->spec = spec;
    choice->resources = resources;
    choice->hosts = hosts;
    choice->wanted = mem_array(host_count(hosts), sizeof(*choice->wanted));
    choice->spare = mem_array(host_count(hosts), sizeof(*choice->spare));
    choice->rankfiles = mem_array(spec->nparts, sizeof(*choice->rankfiles));
    for (size_t i = 0; i < spec->nparts; i++) {
        const struct spec_part *part = &spec->parts[i];
        struct rankfile **file = &choice->rankfiles[i];
        if (spec_part_rankfile(part, file, err) == 0 &&
            (!*file ||
             check_rankfile(hosts, *file, part->ntasks ? part->ntasks : (*file)->nranks, err) == 0))
            continue;
        host_choice_free(choice);
        return NULL;
    }
    return choice;
}

void host_choice_free(struct host_choice *choice)
{
    if (!choice)
        return;
    for (size_t i = 0; i < choice->spec->nparts; i++)
        rankfile_free(choice->rankfiles[i]);
    free(choice->rankfiles);
    free(choice->wanted);
    free(choice->spare);
    free(choice);
}

struct rankfile *host_choice_rankfile(const struct host_choice *choice, size_t part)
{
    return choice->rankfiles[part];
}

bool host_choice_is_by_name(const struct host_choice *choice)
{
    return choice->by_name;
}

bool host_choice_wants(const struct host_choice *choice, uint32_t host)
{
    return host < choice->nlooked && choice->wanted[host];
}

struct idset *host_choice_wanted(const struct host_choice *choice)
{
    struct idset *wanted = idset_new();
    for (uint32_t i = 0; i < choice->nlooked; i++)
        if (choice->wanted[i])
            idset_add(wanted, i);
    return wanted;
}

/* Nothing of what R gives of it is free. */
static bool is_full(const struct host_choice *choice, uint32_t host)
{
    const struct idset *cores = resources_free_of_R(choice->resources, host);
    return cores && idset_empty(cores);
}

static bool is_spare(const struct host_choice *choice, uint32_t host)
{
    return host < choice->nlooked ? choice->spare[host] : !is_full(choice, host);
}

/* ---- by name ---- */

static void want_of_map(const struct host_table *hosts, const struct taskmap *map, bool *named)
{
    for (size_t i = 0; i < map->nblocks; i++)
        for (uint32_t j = 0; j < map->blocks[i].nnodes; j++)
            if (map->blocks[i].node + j < host_count(hosts))
                named[map->blocks[i].node + j] = true;
}

/* False where the part leaves open which hosts it uses. */
static bool want_of_part(const struct host_choice *choice, size_t part, bool *named)
{
    const struct rankfile *file = choice->rankfiles[part];
    struct taskmap_scheme deal;
    if (file) {
        uint32_t *node = mem_array(file->nhosts, sizeof(*node));
        rankfile_find_nodes(file, 0, host_names(choice->hosts), host_count(choice->hosts), node,
                            NULL);
        for (uint32_t i = 0; i < file->nhosts; i++)
            if (node[i] != RANKFILE_NO_NODE)
                named[node[i]] = true;
        free(node);
        return true;
    }
    if (taskmap_scheme_parse(choice->spec->parts[part].taskmap, &deal, NULL) < 0)
        return false;
    bool map = deal.scheme == TASKMAP_SCHEME_MAP;
    if (map)
        want_of_map(choice->hosts, deal.map, named);
    taskmap_scheme_free(&deal);
    return map;
}

static bool choose_by_name(struct host_choice *choice)
{
    bool *named = mem_array(host_count(choice->hosts), sizeof(*named));
    bool all = true;
    choice->nlooked = host_count(choice->hosts);
    for (size_t i = 0; i < choice->spec->nparts && all; i++) {
        struct layout_part layout = spec_part_layout(&choice->spec->parts[i]);
        layout.rankfile = choice->rankfiles[i];
        bool joins_part_before = i > 0 && !policy_is_own(&layout);
        all = joins_part_before || want_of_part(choice, i, named);
    }
    for (uint32_t i = 0; i < choice->nlooked && all; i++) {
        choice->wanted[i] = named[i] && !is_full(choice, i);
        choice->spare[i] = false;
    }
    free(named);
    return all;
}

/* ---- by counts ---- */

/* Whether a policy fills a node before the next: then the first nodes of R that have cores enough
 * will do. All words but node do; map strings and :span are not looked into. */
static bool fills_nodes(const char *map)
{
    static const char *const words[] = {"slot",    "core", "hwthread", "l1cache", "l2cache",
                                        "l3cache", "numa", "socket",   "package", "board"};
    for (size_t i = 0; map && i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(map, words[i]) == 0)
            return true;
    return !map;
}

/* Cores that the run is likely to need; SIZE_MAX: no telling. */
static size_t likely_cores(const struct spec *spec)
{
    size_t cores = 0;
    for (size_t i = 0; i < spec->nparts; i++) {
        const struct spec_part *part = &spec->parts[i];
        if (!fills_nodes(part->map) || part->mppr || part->bind || part->per || part->taskmap ||
            part->rankfile || part->fill)
            return SIZE_MAX;
        cores += (size_t)(part->ntasks ? part->ntasks : 1) *
                 (part->cores_per_task ? part->cores_per_task : 1);
    }
    return cores;
}

/* Of the free cores of a host those that are likely to be used: with -g no more than go with its
 * GPUs. */
static size_t likely_share(const struct host_choice *choice, uint32_t host, size_t cores)
{
    const struct spec_part *part = &choice->spec->parts[0];
    const struct idset *gpus = host_at(choice->hosts, host)->node->gpus;
    if (!gpus || !part->gpus_per_task || choice->spec->nparts > 1)
        return cores;
    size_t most =
        idset_count(gpus) / part->gpus_per_task * (part->cores_per_task ? part->cores_per_task : 1);
    return most < cores ? most : cores;
}

/* The most hosts that the run can be on, whatever they have: what -N says, or the number of blocks where
 * a cyclic task map gives each host one block of ranks. SIZE_MAX: that cannot be told. */
static size_t likely_hosts(const struct spec *spec)
{
    const struct spec_part *part = &spec->parts[0];
    struct taskmap_scheme deal;
    size_t hosts = SIZE_MAX;
    if (spec->nnodes)
        return spec->nnodes;
    if (spec->nparts > 1 || !part->ntasks || !part->oversubscribe || !spec->overlap ||
        taskmap_scheme_parse(part->taskmap, &deal, NULL) < 0)
        return SIZE_MAX;
    if (deal.scheme == TASKMAP_SCHEME_CYCLIC)
        hosts = (part->ntasks + deal.chunk - 1) / deal.chunk;
    taskmap_scheme_free(&deal);
    return hosts;
}

/* A run on a few of many hosts need not wake them all, nor look at them: where R says what each host
 * has, the search stops when there are enough. A host of which nothing is known counts as one that
 * has room. */
static void choose_by_count(struct host_choice *choice)
{
    const struct spec *spec = choice->spec;
    size_t cores = likely_cores(spec), found = 0, count = 0;
    bool ask_all = false, all_known = host_nodes(choice->hosts)->R;
    choice->hosts_needed = likely_hosts(spec);
    choice->nlooked = host_count(choice->hosts);
    /* With -N and --oversubscribe any hosts would do, but those with room for all are better: which these are
     * has to be asked. */
    for (size_t i = 0; spec->nnodes && i < spec->nparts; i++)
        ask_all |= spec->parts[i].oversubscribe;
    for (uint32_t i = 0; i < choice->nlooked; i++) {
        bool wants_more = count < choice->hosts_needed && (spec->nnodes || found < cores);
        if (all_known && !wants_more) {
            choice->nlooked = i;
            break;
        }
        const struct idset *known = resources_free_of_R(choice->resources, i);
        size_t nfree = known ? idset_count(known) : 0;
        size_t share = nfree ? likely_share(choice, i, nfree) : 0;
        bool wanted = known ? share && wants_more : ask_all || count < choice->hosts_needed;
        found += share;
        count += wanted;
        choice->wanted[i] = wanted;
        choice->spare[i] = !wanted && (!known || nfree);
    }
}

/* ---- the choice ---- */

void host_choice_make(struct host_choice *choice)
{
    choice->by_name = choose_by_name(choice);
    if (!choice->by_name)
        choose_by_count(choice);
}

void host_choice_take_all(struct host_choice *choice)
{
    choice->nlooked = host_count(choice->hosts);
    for (uint32_t i = 0; i < choice->nlooked; i++) {
        choice->wanted[i] = true;
        choice->spare[i] = false;
    }
}

void host_choice_take_only(struct host_choice *choice, const struct rset *set)
{
    choice->nlooked = host_count(choice->hosts);
    for (uint32_t i = 0; i < choice->nlooked; i++) {
        choice->wanted[i] = rset_find_rank(set, host_at(choice->hosts, i)->node->target);
        choice->spare[i] = false;
    }
}

void host_choice_drop_full(struct host_choice *choice)
{
    for (uint32_t i = 0; i < choice->nlooked; i++) {
        choice->wanted[i] &= !is_full(choice, i);
        choice->spare[i] &= !is_full(choice, i);
    }
}

bool host_choice_add_spare(struct host_choice *choice)
{
    bool any = false;
    for (uint32_t i = 0; i < host_count(choice->hosts); i++) {
        bool spare = is_spare(choice, i);
        any |= spare;
        choice->wanted[i] = spare || (i < choice->nlooked && choice->wanted[i]);
        choice->spare[i] = false;
    }
    choice->nlooked = host_count(choice->hosts);
    return any;
}

bool host_choice_is_short(const struct host_choice *choice)
{
    size_t up = 0;
    for (uint32_t i = 0; i < choice->nlooked; i++)
        up += choice->wanted[i] && host_at(choice->hosts, i)->topo;
    return !choice->by_name && choice->hosts_needed != SIZE_MAX && up < choice->hosts_needed;
}

bool host_choice_can_spare_failed(const struct host_choice *choice, bool elsewhere)
{
    const struct spec *spec = choice->spec;
    bool up = false;
    bool open = elsewhere || spec->nnodes || likely_cores(spec) != SIZE_MAX || spec->agents_only;
    if (resources_on(choice->resources) || spec_has_shape(spec) || choice->by_name || !open)
        return false;
    for (uint32_t i = 0; i < host_count(choice->hosts); i++) {
        const struct host *host = host_at(choice->hosts, i);
        if (host->failure && !host->unreached && !spec->agents_only)
            return false;
        up |= host->topo || is_spare(choice, i);
    }
    return up;
}

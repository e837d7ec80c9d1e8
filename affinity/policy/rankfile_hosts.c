/* Which allocated node a name in a rank file means. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/policy/rankfile.h"
#include "affinity/sets/hostlist.h"
#include "base/edit_distance.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/search.h"
#include "base/text.h"

struct entry {
    const char *name;
    uint32_t host;
};

struct entries { /* sorted by name, then host */
    struct entry *list;
    uint32_t count;
};

struct finder {
    const char *const *hosts;
    uint32_t nhosts;
    struct entries full;   /* all names */
    struct entries begins; /* of names with a dot, what is before it; these texts are owned */
};

/* "node1" of "node1.cluster"; NULL for a name without a dot, and for an address. Caller frees. */
static char *short_name(const char *name)
{
    size_t len = strcspn(name, ".");
    if (!name[len] || !len || name[strspn(name, "0123456789.")] == '\0')
        return NULL;
    return mem_copy_text_n(name, len);
}

static int by_name(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : x->host < y->host ? -1 : x->host > y->host;
}

struct entry_search {
    const struct entries *all;
    const char *name;
};

static bool entry_before(const void *arg, size_t i)
{
    const struct entry_search *search = arg;
    return strcmp(search->all->list[i].name, search->name) < 0;
}

/* The first entry of this name, or NULL; with `alone` NULL too where there are several. */
static const struct entry *find_entry(const struct entries *all, const char *name, bool alone)
{
    size_t low = search_first(all->count, entry_before, &(struct entry_search){all, name});
    const struct entry *entry = &all->list[low];
    if (low == all->count || strcmp(entry->name, name) != 0)
        return NULL;
    bool several = low + 1 < all->count && strcmp(entry[1].name, name) == 0;
    return alone && several ? NULL : entry;
}

static uint32_t find_name(const struct finder *finder, const char *name)
{
    const struct entry *found = find_entry(&finder->full, name, false);
    char *begin = found ? NULL : short_name(name);
    if (begin)
        found = find_entry(&finder->full, begin, false);
    else if (!found)
        found = find_entry(&finder->begins, name, true);
    free(begin);
    return found ? found->host : RANKFILE_NO_NODE;
}

uint32_t rankfile_relative(const char *name)
{
    uint64_t value;
    if (name[0] != '+' || (name[1] != 'n' && name[1] != 'N') ||
        !number_parse(name + 2, RANKFILE_NO_NODE - 1, &value))
        return RANKFILE_NO_NODE;
    return (uint32_t)value;
}

/* ---- what is not there ---- */

static int refuse_name(const struct finder *finder, const char *name, struct error *err)
{
    struct hostlist *list = hostlist_new();
    for (uint32_t i = 0; i < finder->nhosts; i++)
        hostlist_append(list, finder->hosts[i]);
    char *all = hostlist_encode(list);
    const char **names = mem_array(finder->nhosts + 1ul, sizeof(*names));
    memcpy(names, finder->hosts, finder->nhosts * sizeof(*names));
    const char *nearest = edit_distance_word(names, name, strlen(name));
    error_set(err, "host %s is not allocated (allocated: %.200s%s)%s%s",
              excerpt(name, strlen(name)).text, all, strlen(all) > 200 ? "..." : "",
              nearest ? "; the nearest is " : "", nearest ? nearest : "");
    hostlist_free(list);
    free(names);
    free(all);
    return -1;
}

static int rankfile_hosts_check_ranks(const struct rankfile *file, uint32_t nranks,
                                      const struct finder *finder, const uint32_t *node,
                                      struct error *err)
{
    for (uint32_t rank = 0; rank < nranks && rank < file->nranks; rank++) {
        const struct rankfile_rank *placed = &file->ranks[rank];
        const char *name = file->hosts[placed->host].name;
        if (node[placed->host] != RANKFILE_NO_NODE)
            continue;
        if (rankfile_relative(name) == RANKFILE_NO_NODE)
            refuse_name(finder, name, err);
        else if (finder->nhosts == 1)
            error_set(err, "no node %.20s: only one node is allocated, +n0", name);
        else
            error_set(err, "no node %.20s: %u nodes are allocated, +n0 to +n%u", name,
                      finder->nhosts, finder->nhosts - 1);
        return error_prefix(err, "%s:%u: rank %u", file->name, placed->line, rank);
    }
    return 0;
}

int rankfile_find_nodes(const struct rankfile *file, uint32_t nranks, const char *const *hosts,
                        uint32_t nhosts, uint32_t *node, struct error *err)
{
    struct finder finder = {.hosts = hosts, .nhosts = nhosts};
    struct entries *full = &finder.full, *begins = &finder.begins;
    full->list = mem_array(nhosts, sizeof(struct entry));
    begins->list = mem_array(nhosts, sizeof(struct entry));
    for (uint32_t i = 0; i < nhosts; i++) {
        char *begin = short_name(hosts[i]);
        full->list[full->count++] = (struct entry){hosts[i], i};
        if (begin)
            begins->list[begins->count++] = (struct entry){begin, i};
    }
    qsort(full->list, full->count, sizeof(struct entry), by_name);
    qsort(begins->list, begins->count, sizeof(struct entry), by_name);
    for (uint32_t i = 0; i < file->nhosts; i++) {
        const char *name = file->hosts[i].alias ? file->hosts[i].alias : file->hosts[i].name;
        uint32_t relative = rankfile_relative(name);
        if (relative != RANKFILE_NO_NODE)
            node[i] = relative < nhosts ? relative : RANKFILE_NO_NODE;
        else
            node[i] = find_name(&finder, name);
    }
    int rc = rankfile_hosts_check_ranks(file, nranks, &finder, node, err);
    for (uint32_t i = 0; i < begins->count; i++)
        free((char *)(uintptr_t)begins->list[i].name);
    free(full->list);
    free(begins->list);
    return rc;
}

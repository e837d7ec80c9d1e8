#include "affinity/resource/constraint.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/resource/constraint_private.h"
#include "base/mem.h"
#include "base/table.h"

const char *const constraint_names[CONSTRAINT_KINDS] = {
    [CONSTRAINT_AND] = "and",           [CONSTRAINT_OR] = "or",
    [CONSTRAINT_NOT] = "not",           [CONSTRAINT_PROPERTIES] = "properties",
    [CONSTRAINT_HOSTLIST] = "hostlist", [CONSTRAINT_RANKS] = "ranks",
};

struct constraint *constraint_new(enum constraint_kind kind)
{
    struct constraint *fresh = mem_alloc(sizeof(*fresh));
    fresh->kind = kind;
    if (kind >= CONSTRAINT_PROPERTIES)
        fresh->values = json_array();
    if (kind == CONSTRAINT_HOSTLIST)
        fresh->hosts.list = hostlist_new();
    if (kind == CONSTRAINT_RANKS)
        fresh->ranks = idset_new();
    return fresh;
}

void constraint_free(struct constraint *constraint)
{
    if (!constraint)
        return;
    for (size_t i = 0; i < constraint->nparts; i++)
        constraint_free(constraint->parts[i]);
    free(constraint->parts);
    json_decref(constraint->values);
    idset_free(constraint->ranks);
    hostlist_free(constraint->hosts.list);
    free(constraint->hosts.slots);
    free(constraint);
}

void constraint_add(struct constraint *to, struct constraint *part)
{
    size_t n = to->nparts;
    if ((n & (n - 1)) == 0)
        to->parts = mem_resize(to->parts, n ? 2 * n : 1, sizeof(struct constraint *));
    to->parts[to->nparts++] = part;
}

static int constraint_add_property(const char *value, struct error *err)
{
    if (value[*value == '^'])
        return 0;
    return error_set(err, "constraint: a property's name is missing%s",
                     *value ? " behind ^" : " between the quotes");
}

static int constraint_add_ranks(struct constraint *leaf, const char *value, struct error *err)
{
    struct idset *more = idset_decode(value, err);
    if (!more)
        return error_prefix(err, "constraint: ranks");
    struct idset *all = idset_union(leaf->ranks, more);
    idset_free(more);
    idset_free(leaf->ranks);
    leaf->ranks = all;
    return 0;
}

static int constraint_add_hosts(struct constraint *leaf, const char *value, size_t *nhosts,
                                struct error *err)
{
    size_t before = hostlist_count(leaf->hosts.list);
    if (hostlist_append_text(leaf->hosts.list, value, err) < 0)
        return error_prefix(err, "constraint: hosts");
    *nhosts += hostlist_count(leaf->hosts.list) - before;
    if (*nhosts <= CONSTRAINT_MAX_HOSTS)
        return 0;
    return error_set(err, "constraint: more than %u hosts in all", CONSTRAINT_MAX_HOSTS);
}

int constraint_add_value(struct constraint *leaf, const char *value, size_t *nhosts,
                         struct error *err)
{
    int rc = 0;
    if (leaf->kind == CONSTRAINT_PROPERTIES)
        rc = constraint_add_property(value, err);
    else if (leaf->kind == CONSTRAINT_RANKS)
        rc = constraint_add_ranks(leaf, value, err);
    else
        rc = constraint_add_hosts(leaf, value, nhosts, err);
    if (rc == 0)
        json_array_append_new(leaf->values, json_string(value));
    return rc;
}

/* The slot of a host: the one that has it, or the free one where it would be. */
static uint32_t *constraint_host_slot(const struct constraint_hosts *hosts, const char *host)
{
    size_t at = table_hash_text(host) >> 20 & (hosts->size - 1);
    while (hosts->slots[at] && strcmp(hostlist_nth(hosts->list, hosts->slots[at] - 1), host) != 0)
        at = (at + 1) & (hosts->size - 1);
    return &hosts->slots[at];
}

void constraint_settle(struct constraint *leaf)
{
    struct constraint_hosts *hosts = &leaf->hosts;
    if (!hosts->list)
        return;
    size_t count = hostlist_count(hosts->list);
    for (hosts->size = 2; hosts->size < 2 * count;)
        hosts->size *= 2;
    hosts->slots = mem_array(hosts->size, sizeof(*hosts->slots));
    for (size_t i = 0; i < count; i++)
        *constraint_host_slot(hosts, hostlist_nth(hosts->list, i)) = (uint32_t)i + 1;
}

bool constraint_has_host(const struct constraint_hosts *hosts, const char *host)
{
    return *constraint_host_slot(hosts, host) != 0;
}

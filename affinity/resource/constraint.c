#include "affinity/resource/constraint.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/resource/constraint_private.h"
#include "base/mem.h"

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
        fresh->hosts = hostlist_new();
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
    for (size_t i = 0; i < constraint->nranks; i++)
        idset_free(constraint->ranks[i]);
    free(constraint->ranks);
    hostlist_free(constraint->hosts);
    free(constraint);
}

/* Room for one more of n pointers, twice as much whenever it is used up. */
static void *constraint_room(void *pointers, size_t n)
{
    return n & (n - 1) ? pointers : mem_resize(pointers, n ? 2 * n : 1, sizeof(void *));
}

void constraint_add(struct constraint *to, struct constraint *part)
{
    to->parts = constraint_room(to->parts, to->nparts);
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
    leaf->ranks = constraint_room(leaf->ranks, leaf->nranks);
    leaf->ranks[leaf->nranks++] = more;
    return 0;
}

static int constraint_add_hosts(struct constraint *leaf, const char *value, size_t *nhosts,
                                struct error *err)
{
    size_t before = hostlist_count(leaf->hosts);
    if (hostlist_append_text(leaf->hosts, value, err) < 0)
        return error_prefix(err, "constraint: hosts");
    *nhosts += hostlist_count(leaf->hosts) - before;
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

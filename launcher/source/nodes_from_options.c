/* From -R, --hosts, --hostfile, --topology or a source to a list of nodes. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/constraint.h"
#include "base/buf.h"
#include "base/file_text.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/text.h"
#include "launcher/source/batch_system.h"
#include "launcher/source/hostfile.h"
#include "launcher/source/node_list.h"
#include "launcher/source/node_list_private.h"

/* --- R ------------------------------------------------------------------------------------ */

static bool R_keeps(const struct rset_node *node, void *arg)
{
    return host_index_find(arg, node->host) != HOST_INDEX_NONE;
}

/* R names the nodes of the list, and no others. */
static void R_follow(struct node_list *nodes)
{
    if (!nodes->R)
        return;
    struct host_index *index = host_index_new(nodes->count);
    for (size_t i = 0; i < nodes->count; i++)
        host_index_add(index, nodes->list[i].host, i);
    struct rset *less = rset_select(nodes->R, R_keeps, index);
    rset_free(nodes->R);
    nodes->R = less;
    host_index_free(index);
}

/* --- hosts -------------------------------------------------------------------------------- */

static struct node_list *nodes_from_hosts(const char *text, struct error *err)
{
    struct hostfile *file = hostfile_from_hostlist(text, err);
    if (!file) {
        error_usage(err, "--hosts: %s", error_text(err));
        return NULL;
    }
    struct node_list *nodes = node_list_from_entries(file, mem_copy_text("--hosts"));
    hostfile_free(file);
    return nodes;
}

static struct node_list *nodes_from_hostfile(const char *path, struct error *err)
{
    struct buf text = BUF_INIT;
    struct node_list *nodes = NULL;
    struct hostfile *file = NULL;
    char *name = file_text_name("hostfile", path);
    if (file_text_read(path, name, HOSTFILE_MAX_TEXT, &text, err) == 0)
        file = hostfile_parse(name, buf_bytes(&text), text.len, err);
    if (file)
        nodes = node_list_from_entries(file, mem_copy_text(name));
    hostfile_free(file);
    buf_free(&text);
    free(name);
    return nodes;
}

static struct node_list *nodes_named(const struct spec *spec, double now, struct error *err)
{
    if (spec->resources)
        return node_list_read_R(spec->resources, now, err);
    if (spec->hosts)
        return nodes_from_hosts(spec->hosts, err);
    if (spec->hostfile)
        return nodes_from_hostfile(spec->hostfile, err);
    return batch_system_nodes(batch_system_find(BATCH_SYSTEM_ALL), now, err);
}

/* drop[i] for each node that is not to be used; NULL with a sentence. */
static bool *nodes_unwanted(struct node_list *nodes, const struct rset *R, const struct spec *spec,
                            struct error *err)
{
    bool *drop = node_list_excluded(nodes, spec->exclude, err);
    if (!drop || !spec->requires || node_list_require(nodes, R, spec->requires, drop, err) == 0)
        return drop;
    free(drop);
    return NULL;
}

static int nodes_leave_out(struct node_list *nodes, const struct spec *spec, struct error *err)
{
    if (!nodes->count)
        return error_set(err, "%s names no host", nodes->source);
    if (!spec || (!spec->exclude && !spec->requires))
        return 0;
    bool *drop = nodes_unwanted(nodes, nodes->R, spec, err);
    if (!drop)
        return -1;
    node_list_drop(nodes, drop);
    R_follow(nodes);
    free(drop);
    return 0;
}

/* Takes the nodes, which may be NULL, and gives them back ready for use. */
static struct node_list *nodes_finish(struct node_list *nodes, const struct spec *spec,
                                      struct error *err)
{
    if (!nodes)
        return NULL;
    node_list_find_here(nodes);
    if (nodes_leave_out(nodes, spec, err) < 0) {
        node_list_free(nodes);
        return NULL;
    }
    node_list_join_here(nodes);
    /* Without an R, a node's target is its place in the list. */
    for (size_t i = 0; i < nodes->count && !nodes->R; i++)
        nodes->list[i].target = (uint32_t)i;
    return nodes;
}

/* An R file has an instance of its own; hosts that were named are taken for a part of what there
 * is without their being named. */
static char *nodes_identity(const struct spec *spec)
{
    return spec->resources
               ? node_list_R_identity(spec->resources)
               : batch_system_identity(batch_system_find(
                     BATCH_SYSTEM_ENCLOSING | BATCH_SYSTEM_BATCH | BATCH_SYSTEM_MACHINE));
}

struct node_list *node_list_from_spec(const struct spec *spec, double now, struct error *err)
{
    struct node_list *nodes = nodes_finish(nodes_named(spec, now, err), spec, err);
    if (nodes && !nodes->identity)
        nodes->identity = nodes_identity(spec);
    return nodes;
}

struct node_list *node_list_from_source(unsigned kinds, double now, struct error *err)
{
    const struct batch_system *source = batch_system_find(kinds);
    return source ? nodes_finish(batch_system_nodes(source, now, err), NULL, err) : NULL;
}

/* --- topologies --------------------------------------------------------------------------- */

struct topologies {
    struct node_list *nodes;
    char **descriptions;    /* one a node */
    struct node_list *from; /* of -R; or NULL */
    struct hostfile *file;  /* all hosts of all topologies, in order */
    size_t *which;          /* for each host of the file, its topology */
};

static int topologies_read(struct topologies *all, const struct spec *spec, struct error *err)
{
    for (size_t i = 0; i < spec->ntopologies; i++) {
        const char *text = spec->topologies[i];
        char *hosts = mem_copy_text_n(text, strcspn(text, "="));
        struct hostfile *file = hostfile_from_hostlist(hosts, err);
        free(hosts);
        if (!file)
            return error_usage(err, "--topology: %s", error_text(err));
        for (size_t j = 0; j < file->count; j++) {
            struct hostfile *to = all->file;
            to->entries = array_grow(to->entries, to->count, sizeof(to->entries[0]));
            all->which = array_grow(all->which, to->count, sizeof(all->which[0]));
            all->which[to->count] = i;
            to->entries[to->count++] = file->entries[j];
        }
        file->count = 0; /* the texts moved */
        hostfile_free(file);
    }
    return 0;
}

static int topologies_add(struct topologies *all, const struct spec *spec, struct host_index *index,
                          struct host_index *in_R, size_t at, struct error *err)
{
    const char *host = node_list_host_of(all->file->entries[at].login);
    const char *text = spec->topologies[all->which[at]];
    size_t before = all->nodes->count;
    struct node *node = node_list_add(all->nodes, index, host, (uint32_t)before, 0);
    if (all->nodes->count == before)
        return error_usage(err, "--topology: %s is described twice", host);
    all->descriptions[before] = mem_copy_text(strchr(text, '=') + 1);
    if (!all->from)
        return 0;
    size_t found = host_index_find(in_R, host);
    if (found == HOST_INDEX_NONE)
        return error_usage(err, "--topology: %s is not in %s", host, all->from->source);
    node->target = all->from->list[found].target;
    node_list_add_cores(node, all->from->list[found].cores, all->from->list[found].gpus);
    return 0;
}

static int topologies_build(struct topologies *all, const struct spec *spec, struct error *err)
{
    size_t count = all->file->count, nfrom = all->from ? all->from->count : 0;
    struct host_index *index = host_index_new(count), *in_R = host_index_new(nfrom);
    int rc = 0;
    all->descriptions = mem_array(count + 1, sizeof(char *));
    for (size_t i = 0; i < nfrom; i++)
        host_index_add(in_R, all->from->list[i].host, i);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = topologies_add(all, spec, index, in_R, i, err);
    host_index_free(index);
    host_index_free(in_R);
    return rc;
}

static int topologies_leave_out(struct topologies *all, const struct spec *spec, struct error *err)
{
    size_t kept = 0;
    bool *drop = nodes_unwanted(all->nodes, all->from ? all->from->R : NULL, spec, err);
    if (!drop)
        return -1;
    for (size_t i = 0; i < all->nodes->count; i++) {
        if (drop[i])
            free(all->descriptions[i]);
        else
            all->descriptions[kept++] = all->descriptions[i];
    }
    all->descriptions[kept] = NULL;
    node_list_drop(all->nodes, drop);
    free(drop);
    return 0;
}

static int topologies_make(struct topologies *all, const struct spec *spec, double now,
                           struct error *err)
{
    if (spec->resources && !(all->from = node_list_read_R(spec->resources, now, err)))
        return -1;
    if (topologies_read(all, spec, err) < 0 || topologies_build(all, spec, err) < 0)
        return -1;
    if (topologies_leave_out(all, spec, err) < 0)
        return -1;
    if (all->from) {
        all->nodes->R = all->from->R;
        all->from->R = NULL;
        R_follow(all->nodes);
    }
    return 0;
}

struct node_list *node_list_from_topologies(const struct spec *spec, double now,
                                            char ***descriptions, struct error *err)
{
    struct topologies all = {0};
    all.nodes = node_list_new(mem_copy_text("--topology"));
    all.file = mem_alloc(sizeof(*all.file));
    if (topologies_make(&all, spec, now, err) < 0) {
        node_list_free(all.nodes);
        string_list_free(all.descriptions);
        all.nodes = NULL;
        all.descriptions = NULL;
    }
    *descriptions = all.descriptions;
    node_list_free(all.from);
    hostfile_free(all.file);
    free(all.which);
    return all.nodes;
}

/* A list of nodes from an R, or from a list of hosts. */

struct rset *node_list_decode_R(const char *text, size_t len, double now, struct error *err)
{
    struct rset *R = rset_decode(text, len, err);
    if (!R || rset_check_time(R, now, err) == 0)
        return R;
    rset_free(R);
    return NULL;
}

struct node_list *node_list_from_rset(struct rset *R, char *source)
{
    struct node_list *nodes = node_list_new(source);
    struct host_index *index = host_index_new(R->nnodes);
    nodes->R = R;
    for (size_t i = 0; i < R->nnodes; i++) {
        const struct rset_node *from = &R->nodes[i];
        struct node *node = node_list_add(nodes, index, from->host, from->rank, 0);
        node_list_add_cores(node, from->children->cores, from->children->gpus);
    }
    host_index_free(index);
    return nodes;
}

struct rset *node_list_read_set(const char *path, const char *name, double now, struct error *err)
{
    struct buf text = BUF_INIT;
    struct rset *R = NULL;
    if (file_text_read(path, name, RSET_MAX_TEXT, &text, err) == 0) {
        R = node_list_decode_R(buf_bytes(&text), text.len, now, err);
        if (!R)
            error_prefix(err, "%s", name);
    }
    buf_free(&text);
    return R;
}

struct node_list *node_list_read_R(const char *path, double now, struct error *err)
{
    char *name = file_text_name("R file", path);
    struct rset *R = node_list_read_set(path, name, now, err);
    if (R)
        return node_list_from_rset(R, name);
    free(name);
    return NULL;
}

char *node_list_R_identity(const char *path)
{
    char *real = strcmp(path, "-") == 0 ? NULL : realpath(path, NULL);
    char *identity = file_text_name("R file", real ? real : path);
    free(real);
    return identity;
}

struct node_list *node_list_from_entries(const struct hostfile *file, char *source)
{
    struct node_list *nodes = node_list_new(source);
    struct host_index *index = host_index_new(file->count);
    for (size_t i = 0; i < file->count; i++)
        node_list_add(nodes, index, file->entries[i].login, (uint32_t)nodes->count,
                      file->entries[i].limit);
    host_index_free(index);
    return nodes;
}

/* Nodes that a constraint matches (--requires). */

#define MAX_NAMES 20 /* properties that are listed */

/* Nodes that no R names have a rank, a name, and no property. */
static struct rset *plain_R(const struct node_list *nodes)
{
    struct rset *R = rset_new();
    struct idset *core = idset_new();
    idset_add(core, 0); /* a node of R has one; no constraint looks at it */
    for (size_t i = 0; i < nodes->count; i++)
        rset_append(R, nodes->list[i].target, nodes->list[i].host, core, NULL);
    idset_free(core);
    return R;
}

/* What nodes could have been asked for. */
static char *property_names(const struct rset *R)
{
    struct buf names = BUF_INIT;
    const char *name;
    json_t *ranks;
    size_t count = 0;
    json_object_foreach(R->properties, name, ranks)
    {
        if (count++ < MAX_NAMES)
            buf_printf(&names, "%s%s", count > 1 ? ", " : "", excerpt(name, strlen(name)).text);
    }
    if (count > MAX_NAMES)
        buf_printf(&names, " and %zu more", count - MAX_NAMES);
    if (!count)
        buf_add_text(&names, "none");
    return buf_take_text(&names);
}

/* Why a property that is asked for is not there. */
static void nodes_from_options_say_unknown(struct buf *out, const struct node_list *nodes,
                                           const struct rset *R, const char *name)
{
    struct excerpt shown = excerpt(name, strlen(name));
    buf_printf(out, "no node of %s has the property %s", nodes->source, shown.text);
    if (!R) {
        buf_add_text(out, ": properties come from an R (-R FILE)");
        return;
    }
    char *names = property_names(R);
    buf_printf(out, "; known properties: %s", names);
    free(names);
}

static int nodes_from_options_refuse(const struct node_list *nodes, const struct rset *R,
                                     const char *text, const char *unknown, struct error *err)
{
    struct buf why = BUF_INIT;
    if (unknown)
        nodes_from_options_say_unknown(&why, nodes, R, unknown);
    else
        buf_printf(&why, "no node of %s matches", nodes->source);
    error_usage(err, "--requires %s: %s", excerpt(text, strlen(text)).text, buf_text(&why));
    buf_free(&why);
    return -1;
}

int node_list_require(struct node_list *nodes, const struct rset *R, const char *constraint,
                      bool *drop, struct error *err)
{
    struct constraint *wanted = constraint_decode(constraint, err);
    if (!wanted)
        return error_usage(err, "--requires: %s", error_text(err));
    struct rset *plain = R ? NULL : plain_R(nodes);
    struct idset *match = constraint_match(wanted, R ? R : plain);
    const char *unknown = constraint_unknown_property(wanted, R ? R : plain);
    bool any = false;
    for (size_t i = 0; i < nodes->count; i++) {
        drop[i] = drop[i] || !idset_has(match, nodes->list[i].target);
        any = any || !drop[i];
    }
    int rc = any ? 0 : nodes_from_options_refuse(nodes, R, constraint, unknown, err);
    if (any && unknown) {
        struct buf text = BUF_INIT;
        buf_add_text(&text, "--requires: ");
        nodes_from_options_say_unknown(&text, nodes, R, unknown);
        nodes->note = buf_take_text(&text);
    }
    idset_free(match);
    rset_free(plain);
    constraint_free(wanted);
    return rc;
}

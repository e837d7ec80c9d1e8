/* From -R, --hosts, --hostfile, --topology or a source to a list of nodes. */
#include "launcher/source/nodes_from_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file_text.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/source/batch_system.h"
#include "launcher/source/hostfile.h"
#include "launcher/source/node_list_private.h"
#include "launcher/spec/spec_file.h"

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
    struct host_index *index = node_list_index(nodes);
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

static struct node_list *nodes_from_hostfile(const struct spec *spec, struct error *err)
{
    const char *path = spec->hostfile;
    struct buf text = BUF_INIT;
    struct node_list *nodes = NULL;
    struct hostfile *file = NULL;
    char *name = file_text_name("hostfile", path);
    if (spec_file_read(spec, path, name, HOSTFILE_MAX_TEXT, &text, err) == 0)
        file = hostfile_parse(name, buf_bytes(&text), text.len, err);
    if (file)
        nodes = node_list_from_entries(file, mem_copy_text(name));
    hostfile_free(file);
    buf_free(&text);
    free(name);
    return nodes;
}

static struct node_list *nodes_named(const struct spec *spec, struct enclosing_program *program,
                                     double now, struct error *err)
{
    if (spec->resources)
        return node_list_read_R(spec, spec->resources, now, err);
    if (spec->hosts)
        return nodes_from_hosts(spec->hosts, err);
    if (spec->hostfile)
        return nodes_from_hostfile(spec, err);
    return batch_system_nodes(batch_system_find(BATCH_SYSTEM_ALL), program, now, err);
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

struct node_list *node_list_from_spec(const struct spec *spec, struct enclosing_program *program,
                                      double now, struct error *err)
{
    struct node_list *nodes = nodes_finish(nodes_named(spec, program, now, err), spec, err);
    if (!nodes || nodes->identity)
        return nodes;
    /* An R file has an instance of its own; hosts that were named are taken for a part of what there
     * is without their being named. */
    nodes->identity =
        spec->resources && spec->is_sent ? file_text_name("R file", spec->resources)
        : spec->resources
            ? node_list_R_identity(spec->resources)
            : batch_system_identity(batch_system_find(BATCH_SYSTEM_ENCLOSING | BATCH_SYSTEM_BATCH |
                                                      BATCH_SYSTEM_MACHINE));
    return nodes;
}

struct node_list *node_list_from_source(unsigned kinds, double now, struct error *err)
{
    const struct batch_system *source = batch_system_find(kinds);
    return source ? nodes_finish(batch_system_nodes(source, NULL, now, err), NULL, err) : NULL;
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
    size_t count = all->file->count;
    struct host_index *index = host_index_new(count);
    struct host_index *in_R = all->from ? node_list_index(all->from) : NULL;
    int rc = 0;
    all->descriptions = mem_array(count + 1, sizeof(char *));
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
    if (spec->resources && !(all->from = node_list_read_R(spec, spec->resources, now, err)))
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

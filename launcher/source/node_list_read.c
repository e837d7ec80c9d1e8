/* A list of nodes from an R, or from a list of hosts: what every source of nodes comes to. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file_text.h"
#include "base/mem.h"
#include "launcher/source/hostfile.h"
#include "launcher/source/node_list_private.h"
#include "launcher/spec/spec_file.h"

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

struct rset *node_list_read_set(const struct spec *spec, const char *path, const char *name,
                                double now, struct error *err)
{
    struct buf text = BUF_INIT;
    struct rset *R = NULL;
    if (spec_file_read(spec, path, name, RSET_MAX_TEXT, &text, err) == 0) {
        R = node_list_decode_R(buf_bytes(&text), text.len, now, err);
        if (!R)
            error_prefix(err, "%s", name);
    }
    buf_free(&text);
    return R;
}

struct node_list *node_list_read_R(const struct spec *spec, const char *path, double now,
                                   struct error *err)
{
    char *name = file_text_name("R file", path);
    struct rset *R = node_list_read_set(spec, path, name, now, err);
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

/* A list of nodes from an R, or from a list of hosts. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/program/file_text.h"
#include "launcher/program/nodes.h"
#include "launcher/program/nodes_build.h"

struct rset *nodes_decode_R(const char *text, size_t len, double now, struct error *err)
{
    struct rset *R = rset_decode(text, len, err);
    if (!R || rset_check_time(R, now, err) == 0)
        return R;
    rset_free(R);
    return NULL;
}

struct nodes *nodes_from_rset(struct rset *R, char *source)
{
    struct nodes *nodes = nodes_new(source);
    struct nodes_index *index = nodes_index_new(R->nnodes);
    nodes->R = R;
    for (size_t i = 0; i < R->nnodes; i++) {
        const struct rset_node *from = &R->nodes[i];
        struct node *node = nodes_add(nodes, index, from->host, from->rank, 0);
        nodes_add_cores(node, from->children->cores, from->children->gpus);
    }
    nodes_index_free(index);
    return nodes;
}

struct rset *nodes_read_set(const char *path, const char *name, double now, struct error *err)
{
    struct buf text = BUF_INIT;
    struct rset *R = NULL;
    if (file_text_read(path, name, RSET_MAX_TEXT, &text, err) == 0) {
        R = nodes_decode_R(buf_bytes(&text), text.len, now, err);
        if (!R)
            error_prefix(err, "%s", name);
    }
    buf_free(&text);
    return R;
}

struct nodes *nodes_read_R(const char *path, double now, struct error *err)
{
    char *name = file_text_name("R file", path);
    struct rset *R = nodes_read_set(path, name, now, err);
    if (R)
        return nodes_from_rset(R, name);
    free(name);
    return NULL;
}

char *nodes_R_identity(const char *path)
{
    char *real = strcmp(path, "-") == 0 ? NULL : realpath(path, NULL);
    char *identity = file_text_name("R file", real ? real : path);
    free(real);
    return identity;
}

struct nodes *nodes_from_entries(const struct hostfile *file, char *source)
{
    struct nodes *nodes = nodes_new(source);
    struct nodes_index *index = nodes_index_new(file->count);
    for (size_t i = 0; i < file->count; i++)
        nodes_add(nodes, index, file->entries[i].login, (uint32_t)nodes->count,
                  file->entries[i].limit);
    nodes_index_free(index);
    return nodes;
}

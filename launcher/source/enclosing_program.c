/* The program that this process is a task of: read from the task's environment or its instance, for whoever
 * draws from it, and as a source of nodes. */
#include "launcher/source/enclosing_program.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/resource/scheduling.h"
#include "base/buf.h"
#include "base/file_text.h"
#include "base/mem.h"
#include "launcher/ledger/instance_directory.h"
#include "launcher/source/batch_system_private.h"
#include "launcher/source/node_list_private.h"

#define ENCLOSING_MAX_IDENTITY 65536

static bool enclosing_is_here(const struct rset_node *node, void *arg)
{
    (void)arg;
    return node_list_is_here(node->host);
}

/* The program says what it holds in its tasks' environment; what is too long for that is read where
 * its instance is. Its times are not looked at: the program runs. */
static struct rset *enclosing_read(const struct enclosing_program *program, struct error *err)
{
    const char *given = batch_system_get("TPRUN_ENCLOSING_R");
    if (given)
        return rset_decode(given, strlen(given), err);
    if (!program->instance || program->id[strspn(program->id, "0123456789")]) {
        error_set(err, "its resources are not known on this host (TPRUN_ENCLOSING_R is not set)");
        return NULL;
    }
    char *path = mem_format("%s/programs/%s/R.json", program->path, program->id);
    struct buf text = BUF_INIT;
    struct rset *R = NULL;
    if (file_text_read(path, path, RSET_MAX_TEXT, &text, err) == 0) {
        R = rset_decode(buf_bytes(&text), text.len, err);
        if (!R)
            error_prefix(err, "%s", path);
    }
    buf_free(&text);
    free(path);
    return R;
}

struct enclosing_program *enclosing_program_open(struct error *err)
{
    struct enclosing_program found = {.id = batch_system_get("TPRUN_PROGRAM"),
                                      .programs = batch_system_get("TPRUN_ENCLOSING"),
                                      .path = batch_system_get("TPRUN_INSTANCE"),
                                      .instance_id = batch_system_get("TPRUN_INSTANCE_ID")};
    if (!found.id || !found.programs || !found.path)
        return NULL;
    found.instance_id = found.instance_id ? found.instance_id : "";
    found.instance = instance_open_outer(found.path, found.instance_id);
    found.R = enclosing_read(&found, err);
    if (!found.R) {
        instance_close(found.instance);
        error_prefix(err, "this run is a task of program %s", found.id);
        return NULL;
    }
    if (!found.instance) {
        struct rset *part = rset_select(found.R, enclosing_is_here, NULL);
        rset_free(found.R);
        found.R = part;
    }
    struct enclosing_program *program = mem_alloc(sizeof(*program));
    *program = found;
    return program;
}

void enclosing_program_free(struct enclosing_program *program)
{
    if (!program)
        return;
    instance_close(program->instance);
    rset_free(program->R);
    free(program);
}

/* ---- as a source of nodes ---- */

struct node_list *enclosing_program_take_nodes(struct enclosing_program *program)
{
    char *name = mem_format("program %s (TPRUN_PROGRAM)", batch_system_get("TPRUN_PROGRAM"));
    struct node_list *nodes;
    if (program && program->R->nnodes) {
        scheduling_rerank(program->R);
        nodes = node_list_from_rset(program->R, name);
        program->R = NULL;
    } else {
        nodes = batch_system_machine(name);
    }
    nodes->enclosed = true; /* this machine's cores: those that the mask of its task allows */
    return nodes;
}

struct node_list *enclosing_program_nodes(const struct batch_system *source, double now,
                                          struct error *err)
{
    struct enclosing_program *program = enclosing_program_open(NULL);
    struct node_list *nodes = enclosing_program_take_nodes(program);
    (void)source;
    (void)now;
    (void)err;
    enclosing_program_free(program);
    return nodes;
}

char *enclosing_program_identity(const struct batch_system *source)
{
    struct buf text = BUF_INIT;
    const char *instance = batch_system_get("TPRUN_INSTANCE");
    char *path = instance ? mem_format("%s/identity", instance) : NULL;
    bool known = path && file_text_read(path, path, ENCLOSING_MAX_IDENTITY, &text, NULL) == 0;
    (void)source;
    char *identity = known ? mem_copy_text_n(buf_bytes(&text), strcspn(buf_text(&text), "\n"))
                           : mem_copy_text("this machine");
    buf_free(&text);
    free(path);
    return identity;
}

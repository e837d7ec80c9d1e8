#include "launcher/source/enclosing_program.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/source/batch_system_private.h"
#include "launcher/source/node_list.h"

static bool enclosing_is_here(const struct rset_node *node, void *arg)
{
    (void)arg;
    return node_list_is_here(node->host);
}

/* The program says what it holds in its tasks' environment; what is too long for that is read where
 * its instance is. */
static struct rset *enclosing_read(const struct enclosing_program *program, struct error *err)
{
    const char *text = batch_system_get("TPRUN_ENCLOSING_R");
    if (text)
        return rset_decode(text, strlen(text), err);
    if (!program->instance || program->id[strspn(program->id, "0123456789")]) {
        error_set(err, "its resources are not known on this host (TPRUN_ENCLOSING_R is not set)");
        return NULL;
    }
    char *path = mem_format("%s/programs/%s/R.json", program->path, program->id);
    struct rset *R = node_list_read_set(path, path, 0, err);
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

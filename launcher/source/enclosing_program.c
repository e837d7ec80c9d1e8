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

/* By this process, or by that which it was forked from. */
static struct {
    char *variables;
    struct buf text;
    struct rset *R; /* NULL: nothing was read */
} read_ahead;

/* What names a program, as one text; caller frees. */
static char *enclosing_variables(const struct enclosing_program *program)
{
    return mem_format("%s\n%s\n%s\n%s", program->id, program->programs, program->path,
                      program->instance_id);
}

static bool was_read_ahead(const struct enclosing_program *program, const struct buf *text)
{
    if (!read_ahead.R || text->len != read_ahead.text.len ||
        memcmp(buf_bytes(text), buf_bytes(&read_ahead.text), text->len) != 0)
        return false;
    char *variables = enclosing_variables(program);
    bool same = strcmp(variables, read_ahead.variables) == 0;
    free(variables);
    return same;
}

/* The program says what it holds in its tasks' environment; what is too long for that is read where
 * its instance is. *name (caller frees) says where it was found. */
static int enclosing_text(const struct enclosing_program *program, struct buf *text, char **name,
                          struct error *err)
{
    const char *given = batch_system_get("TPRUN_ENCLOSING_R");
    if (given) {
        *name = mem_copy_text("TPRUN_ENCLOSING_R");
        buf_add_text(text, given);
        return 0;
    }
    if (!program->instance || program->id[strspn(program->id, "0123456789")])
        return error_set(err,
                         "its resources are not known on this host (TPRUN_ENCLOSING_R is not set)");
    *name = mem_format("%s/programs/%s/R.json", program->path, program->id);
    return file_text_read(*name, *name, RSET_MAX_TEXT, text, err);
}

/* The text is kept. Its times are not looked at: the program runs. */
static struct rset *enclosing_read(struct enclosing_program *program, struct buf *text,
                                   struct error *err)
{
    struct rset *R = NULL;
    char *name = NULL;
    if (enclosing_text(program, text, &name, err) == 0) {
        program->was_read_ahead = was_read_ahead(program, text);
        R = program->was_read_ahead ? read_ahead.R : rset_decode(buf_bytes(text), text->len, err);
        if (!R)
            error_prefix(err, "%s", name);
    }
    free(name);
    return R;
}

static void free_unless_ahead(struct rset *R)
{
    if (R != read_ahead.R)
        rset_free(R);
}

/* The text of R is kept. */
static struct enclosing_program *open_with_text(struct buf *text, struct error *err)
{
    struct enclosing_program found = {.id = batch_system_get("TPRUN_PROGRAM"),
                                      .programs = batch_system_get("TPRUN_ENCLOSING"),
                                      .path = batch_system_get("TPRUN_INSTANCE"),
                                      .instance_id = batch_system_get("TPRUN_INSTANCE_ID")};
    if (!found.id || !found.programs || !found.path)
        return NULL;
    found.instance_id = found.instance_id ? found.instance_id : "";
    found.instance = instance_open_outer(found.path, found.instance_id);
    found.R = enclosing_read(&found, text, err);
    if (!found.R) {
        instance_close(found.instance);
        error_prefix(err, "this run is a task of program %s", found.id);
        return NULL;
    }
    if (!found.instance) {
        struct rset *part = rset_select(found.R, enclosing_is_here, NULL);
        free_unless_ahead(found.R);
        found.R = part;
        found.was_read_ahead = false;
    }
    struct enclosing_program *program = mem_alloc(sizeof(*program));
    *program = found;
    return program;
}

struct enclosing_program *enclosing_program_open(struct error *err)
{
    struct buf text = BUF_INIT;
    struct enclosing_program *program = open_with_text(&text, err);
    buf_free(&text);
    return program;
}

void enclosing_program_free(struct enclosing_program *program)
{
    if (!program)
        return;
    instance_close(program->instance);
    free_unless_ahead(program->R);
    free(program);
}

struct enclosing_program *enclosing_program_read_ahead(void)
{
    struct error ignored = ERROR_INIT; /* who needs it says why it cannot be read */
    struct buf text = BUF_INIT;
    struct enclosing_program *program = open_with_text(&text, &ignored);
    error_clear(&ignored);
    if (program && program->instance && !program->was_read_ahead) {
        rset_free(read_ahead.R);
        free(read_ahead.variables);
        buf_free(&read_ahead.text);
        read_ahead.variables = enclosing_variables(program);
        read_ahead.text = text;
        read_ahead.R = program->R;
        program->was_read_ahead = true;
    } else {
        buf_free(&text);
    }
    if (program && program->was_read_ahead)
        return program;
    enclosing_program_free(program);
    return NULL;
}

/* ---- as a source of nodes ---- */

struct node_list *enclosing_program_take_nodes(struct enclosing_program *program)
{
    char *name = mem_format("program %s (TPRUN_PROGRAM)", batch_system_get("TPRUN_PROGRAM"));
    struct node_list *nodes;
    if (program && program->R->nnodes) {
        struct rset *R = program->R == read_ahead.R ? rset_copy(program->R) : program->R;
        scheduling_rerank(R);
        nodes = node_list_from_rset(R, name);
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

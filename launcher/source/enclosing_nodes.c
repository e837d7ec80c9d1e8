/* The program that this process is a task of: what it holds, on its nodes. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/scheduling.h"
#include "base/buf.h"
#include "base/file_text.h"
#include "base/mem.h"
#include "launcher/source/batch_system_private.h"
#include "launcher/source/enclosing_program.h"
#include "launcher/source/node_list_private.h"

#define ENCLOSING_MAX_IDENTITY 65536

/* What the program holds, with its properties and topology; ranks are counted anew from 0. Where
 * nobody says, its task is given what this machine lets it have: the mask that it was bound with. */
struct node_list *enclosing_nodes(const struct batch_system *source, double now, struct error *err)
{
    char *name =
        mem_format("program %s (%s)", batch_system_get(source->variables[0]), source->variables[0]);
    struct enclosing_program *program = enclosing_program_open(NULL);
    (void)now;
    (void)err;
    struct node_list *nodes = program && program->R->nnodes
                                  ? node_list_from_rset(scheduling_rerank(program->R), name)
                                  : batch_system_machine(name);
    enclosing_program_free(program);
    nodes->enclosed = true;
    return nodes;
}

char *enclosing_identity(const struct batch_system *source)
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

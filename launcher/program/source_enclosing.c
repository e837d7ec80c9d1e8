/* The program that this process is a task of: what it holds, on its nodes. */
#include <stdlib.h>
#include <string.h>

#include "affinity/pool/locality.h"
#include "base/buf.h"
#include "base/mem.h"
#include "launcher/program/file_text.h"
#include "launcher/program/nodes_build.h"
#include "launcher/program/source_build.h"

#define ENCLOSING_MAX_IDENTITY 65536

/* A file of the instance; false where it is not there: the instance may be on another host. */
static bool enclosing_read(const char *name, size_t max, struct buf *text)
{
    const char *instance = source_get("TPRUN_INSTANCE");
    char *path = instance ? mem_format("%s/%s", instance, name) : NULL;
    bool read = path && file_text_read(path, path, max, text, NULL) == 0;
    free(path);
    return read;
}

/* Another host may have an instance of the same path, which is another one. */
static bool enclosing_is_it(void)
{
    struct buf text = BUF_INIT;
    const char *id = source_get("TPRUN_INSTANCE_ID");
    bool it = !id || (enclosing_read("id", ENCLOSING_MAX_IDENTITY, &text) && text.len &&
                      strncmp(buf_text(&text), id, text.len) == 0);
    buf_free(&text);
    return it;
}

/* What the program holds; NULL where that is nothing (--overlap), or not known here. A number is
 * one of an instance, and another host may have an instance of the same name: there a program of
 * this number is another, and as a rule not one of as many nodes. */
static struct rset *enclosing_claim(const char *program)
{
    struct buf text = BUF_INIT;
    struct rset *R = NULL;
    char *name = mem_format("programs/%s/R.json", program);
    if (!program[strspn(program, "0123456789")] && enclosing_is_it() &&
        enclosing_read(name, RSET_MAX_TEXT, &text))
        R = rset_decode(buf_bytes(&text), text.len, NULL);
    const char *nnodes = source_get("TPRUN_NNODES");
    if (R && nnodes && strtoull(nnodes, NULL, 10) != R->nnodes) {
        rset_free(R);
        R = NULL;
    }
    buf_free(&text);
    free(name);
    return R;
}

/* What the program holds, with its properties and topology; ranks are counted anew from 0. Where
 * nobody says, its task is given what this machine lets it have: the mask that it was bound with. */
struct nodes *enclosing_nodes(const struct source *source, double now, struct error *err)
{
    const char *program = source_get(source->variables[0]);
    char *name = mem_format("program %s (%s)", program, source->variables[0]);
    struct rset *R = enclosing_claim(program);
    (void)now;
    (void)err;
    struct nodes *nodes = R ? nodes_from_rset(locality_rerank(R), name) : source_machine(name);
    rset_free(R);
    nodes->enclosed = true;
    return nodes;
}

char *enclosing_identity(const struct source *source)
{
    struct buf text = BUF_INIT;
    bool known = enclosing_read("identity", ENCLOSING_MAX_IDENTITY, &text);
    (void)source;
    char *identity = known ? mem_copy_text_n(buf_bytes(&text), strcspn(buf_text(&text), "\n"))
                           : mem_copy_text("this machine");
    buf_free(&text);
    return identity;
}

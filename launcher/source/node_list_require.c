/* Nodes that a constraint matches (--requires), and what is said where none does. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/constraint.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "launcher/source/node_list_private.h"

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

/* Why a property that is asked for is not there, and what nodes could have been asked for. */
static void require_say_unknown(struct buf *out, const struct node_list *nodes,
                                const struct rset *R, const char *unknown)
{
    const char *name;
    json_t *ranks;
    size_t count = 0;
    buf_printf(out, "no node of %s has the property %s", nodes->source,
               excerpt(unknown, strlen(unknown)).text);
    if (!R) {
        buf_add_text(out, ": properties come from an R (-R FILE)");
        return;
    }
    buf_add_text(out, "; known properties: ");
    json_object_foreach(R->properties, name, ranks)
    {
        if (count++ < MAX_NAMES)
            buf_printf(out, "%s%s", count > 1 ? ", " : "", excerpt(name, strlen(name)).text);
    }
    if (count > MAX_NAMES)
        buf_printf(out, " and %zu more", count - MAX_NAMES);
    if (!count)
        buf_add_text(out, "none");
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
    struct buf why = BUF_INIT;
    if (unknown)
        require_say_unknown(&why, nodes, R, unknown);
    else
        buf_printf(&why, "no node of %s matches", nodes->source);
    if (!any) {
        error_usage(err, "--requires %s: %s", excerpt(constraint, strlen(constraint)).text,
                    buf_text(&why));
    } else if (unknown) { /* the source may have a note already */
        char *before = nodes->note;
        nodes->note = mem_format("%s%s--requires: %s", before ? before : "", before ? "\n" : "",
                                 buf_text(&why));
        free(before);
    }
    buf_free(&why);
    idset_free(match);
    rset_free(plain);
    constraint_free(wanted);
    return any ? 0 : -1;
}

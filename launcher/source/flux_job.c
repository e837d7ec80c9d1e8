/* Flux gives out R itself, when asked by its own command. */
#include "launcher/source/flux_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/process/command_output.h"
#include "launcher/source/batch_system_private.h"
#include "launcher/source/node_list_private.h"

#define FLUX_SECONDS 20.0 /* for an answer of the instance, which may be on another host */

/* In a job (flux-run(1)) the R of that job; else that of the instance which FLUX_URI names
 * (flux-resource(1)), of which nodes that are down are no use. */
struct node_list *flux_nodes(const struct batch_system *source, double now, struct error *err)
{
    const char *id = batch_system_get("FLUX_JOB_ID");
    const char *const of_job[] = {"flux", "job", "info", id, "R", NULL};
    const char *const of_instance[] = {"flux", "resource", "R", "-s", "up", NULL};
    const char *variable = batch_system_variable(source);
    char *job = batch_system_identity(source);
    struct buf text = BUF_INIT;
    struct rset *R = NULL;
    if (id && id[0] == '-')
        error_set(err, "\"%.80s\" is not the number of a job", id);
    else if (command_output_output(id ? of_job : of_instance, FLUX_SECONDS, RSET_MAX_TEXT, &text,
                                   err) == 0)
        R = node_list_decode_R(buf_bytes(&text), text.len, now, err);
    buf_free(&text);
    struct node_list *nodes =
        R ? node_list_from_rset(R, mem_format("%s (%s)", job, variable)) : NULL;
    if (!nodes) {
        error_prefix(err, "the R of %s", job);
        error_set(err, "%s; unset %s to ignore Flux, or name nodes with --hosts or -R",
                  error_text(err), variable);
    }
    free(job);
    return nodes;
}

/*
 * Refusals about GPUs where not one task can have any.
 */
#include <stdlib.h>

#include "affinity/layout/builder.h"
#include "base/buf.h"

static void add_option(struct buf *out, const struct run *run)
{
    if (policy_is_per_gpu(&run->policy))
        buf_printf(out, "--per %u:gpu", run->policy.per_count);
    else
        buf_printf(out, "-g %u", run->policy.gpus_per_task);
}

int refuse_gpus(const struct builder *builder, const struct run *run, const struct plans *plans,
                struct error *err)
{
    const struct layout_request *request = builder->request;
    const struct kind *best = plans->plans[0].kind;
    const char *beside = run != builder->runs ? " left by the parts before" : "";
    struct buf option = BUF_INIT;
    add_option(&option, run);
    for (uint32_t i = 1; i < plans->nplans; i++)
        if (plans->plans[i].kind->ngpus > best->ngpus)
            best = plans->plans[i].kind;
    const char *host = request->nodes[best->example].host;
    if (best->ngpus == 0 && request->nnodes == 1)
        error_set(err, "%s: %s has no GPU%s; without %s tasks run on its cores alone",
                  buf_text(&option), host, beside, buf_text(&option));
    else if (best->ngpus == 0)
        error_set(err, "%s: none of the %u nodes has a GPU%s; without %s tasks run on cores alone",
                  buf_text(&option), request->nnodes, beside, buf_text(&option));
    else
        error_set(err, "%s: no node has so many GPUs%s; the largest, %s, has %u; -g %u would run",
                  buf_text(&option), beside, host, best->ngpus, best->ngpus);
    buf_free(&option);
    return -1;
}

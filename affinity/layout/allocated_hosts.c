/* What rank files, task maps and shapes have in common: what they count, what stands against it. */
#include "affinity/layout/allocated_hosts.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/node_count.h"
#include "base/mem.h"
#include "base/text.h"

void allocated_make(struct allocated *allocated, const struct layout_request *request)
{
    uint32_t nhosts = request->hosts ? request->nhosts : request->nnodes;
    *allocated = (struct allocated){.hosts = request->hosts,
                                    .nhosts = nhosts,
                                    .node = mem_array(nhosts, sizeof(*allocated->node))};
    memset(allocated->node, 0xff, nhosts * sizeof(*allocated->node));
    for (uint32_t node = 0; node < request->nnodes; node++)
        allocated->node[request->hosts ? request->positions[node] : node] = node;
    if (request->hosts)
        return;
    allocated->own = mem_array(nhosts, sizeof(*allocated->own));
    for (uint32_t i = 0; i < nhosts; i++)
        allocated->own[i] = request->nodes[i].host;
    allocated->hosts = allocated->own;
}

void allocated_free(struct allocated *allocated)
{
    free(allocated->node);
    free(allocated->own);
}

/* ---- what they stand against ---- */

static int refuse_beside(const char *exact, const char *says, const char *other, struct error *err)
{
    return error_usage(err, "%s says %s: leave out %s", exact, says, other);
}

static int check_rankfile(const struct layout_part *part, struct error *err)
{
    const struct {
        bool given;
        const char *option;
    } others[] = {{part->taskmap, "--taskmap"},  {part->map, "--map-by"},
                  {part->bind, "--bind-to"},     {part->order, "--order (or --rank-by)"},
                  {part->mppr, "--mppr"},        {part->cores_per_task, "-c"},
                  {part->per, "--per"},          {part->gpus_per_task, "-g"},
                  {part->gpu_bind, "--gpu-bind"}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (others[i].given)
            return refuse_beside("--rankfile", "where each rank runs and what it is bound to",
                                 others[i].option, err);
    const struct rankfile *file = part->rankfile;
    if (part->ntasks > file->nranks)
        return error_usage(err,
                           "-n %u: %s places only rank%s 0%s%.0u; ask for -n %u or fewer, or add "
                           "lines",
                           part->ntasks, file->name, file->nranks > 1 ? "s" : "",
                           file->nranks > 1 ? " to " : "", file->nranks - 1, file->nranks);
    return 0;
}

static int check_shape(const struct layout_part *part, struct error *err)
{
    const struct {
        bool given;
        const char *option;
    } never[] = {{part->cores_per_task, "-c"},
                 {part->gpus_per_task, "-g"},
                 {part->per, "--per"},
                 {part->rankfile, "--rankfile"},
                 {part->taskmap, "--taskmap"}};
    bool ordered = part->order && strcmp(part->order, "natural") != 0;
    const struct {
        bool given;
        const char *option;
    } mapped[] = {{ordered, "--order (or --rank-by)"},
                  {part->mppr, "--mppr"},
                  {part->gpu_bind, "--gpu-bind"}};
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
        if (never[i].given)
            return refuse_beside("--shape", "what each task gets", never[i].option, err);
    for (size_t i = 0; i < sizeof(mapped) / sizeof(mapped[0]) && !part->map && !part->bind; i++)
        if (mapped[i].given)
            return error_usage(err,
                               "--shape binds each task to a slot of its own: leave out %s, or "
                               "have tasks placed over what is allocated, by --map-by or --bind-to",
                               mapped[i].option);
    return 0;
}

const char *allocated_fill_name(const struct layout_part *part)
{
    return part->fill ? "-n all" : "--per without -n";
}

int allocated_check_part(const struct layout_part *part, const struct taskmap_scheme *scheme,
                         struct error *err)
{
    if (part->shape && check_shape(part, err) < 0)
        return -1;
    if (part->rankfile)
        return check_rankfile(part, err);
    if (scheme->scheme != TASKMAP_SCHEME_NONE && part->order)
        return refuse_beside("--taskmap", "how ranks are numbered", "--order (or --rank-by)", err);
    if ((scheme->scheme == TASKMAP_SCHEME_BLOCK || scheme->scheme == TASKMAP_SCHEME_CYCLIC) &&
        (part->per || part->fill) && !part->ntasks)
        return error_usage(err,
                           "%s takes all that fits, which --taskmap %s cannot deal out; give a %s",
                           allocated_fill_name(part), part->taskmap, part->fill ? "number" : "-n");
    return 0;
}

/* ---- numbers ---- */

uint32_t allocated_ntasks(const struct placement *placement)
{
    if (placement->rankfile)
        return placement->rankfile->nranks;
    return placement->taskmap.scheme == TASKMAP_SCHEME_MAP
               ? (uint32_t)placement->taskmap.map->ntasks
               : 0;
}

/* A rank file may place more ranks than are asked for, as Open MPI has it; a map is of all. */
int allocated_check_ntasks(const struct placement *placement, struct error *err)
{
    uint32_t placed = allocated_ntasks(placement);
    if (!placed || placed == placement->ntasks ||
        (placement->rankfile && placed > placement->ntasks))
        return 0;
    if (placement->rankfile)
        return error_usage(err,
                           "%s places %u ranks, and %u are asked for: add lines, or ask for fewer",
                           placement->rankfile->name, placed, placement->ntasks);
    return error_usage(err,
                       "--taskmap: the map places %u task%s, and %u %s asked for: leave -n out, "
                       "or make them agree",
                       placed, placed == 1 ? "" : "s", placement->ntasks,
                       placement->ntasks == 1 ? "is" : "are");
}

int allocated_check_slots(const struct layout_part *part, struct error *err)
{
    if (!part->nslots || part->ntasks <= part->nslots)
        return 0;
    return error_usage(err,
                       "-n %u: --shape gives %u slot%s, and each takes one task; ask for fewer "
                       "tasks, or for more slots",
                       part->ntasks, part->nslots, part->nslots == 1 ? "" : "s");
}

static const char *exact_name(const struct placement *placement)
{
    return placement->rankfile ? placement->rankfile->name : "--taskmap";
}

/* The first placement decides which nodes the program has; a later one keeps to them. */
int allocated_check_nodes(const struct layout_request *request, struct node_choice *choice,
                          const struct placement *placement, const bool *used, struct error *err)
{
    if (!request->node_count)
        return 0;
    if (placement->number == 0) {
        choice->count = 0;
        for (uint32_t node = 0; node < request->nnodes; node++)
            if (used[node])
                choice->nodes[choice->count++] = node;
        if (choice->count != request->node_count)
            return error_usage(err, "-N %u: %s uses %u node%s; leave -N out, or make them agree",
                               request->node_count, exact_name(placement), choice->count,
                               choice->count == 1 ? "" : "s");
        return 0;
    }
    bool *chosen = mem_array(request->nnodes, sizeof(*chosen));
    int rc = 0;
    for (uint32_t i = 0; i < choice->count; i++)
        chosen[choice->nodes[i]] = true;
    for (uint32_t node = 0; node < request->nnodes && rc == 0; node++)
        if (used[node] && !chosen[node])
            rc = error_usage(err,
                             "-N %u: %s uses %s, which is none of the nodes of the parts before",
                             request->node_count, exact_name(placement), request->nodes[node].host);
    free(chosen);
    return rc;
}

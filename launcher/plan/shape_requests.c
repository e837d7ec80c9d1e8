/* What the shapes of all parts of a program are given out of one R, for shape_allocation.c. */
#include "launcher/plan/shape_requests.h"

#include <stdlib.h>

#include "affinity/resource/scheduling.h"
#include "base/mem.h"

void shape_requests_free(struct shape_requests *allotment)
{
    if (!allotment)
        return;
    for (size_t i = 0; i < allotment->nparts; i++)
        treepool_grant_free(allotment->parts[i]);
    free(allotment->parts);
    rset_free(allotment->R);
    free(allotment);
}

/* ---- all that was granted, as one R ---- */

static bool is_granted(const struct rset_node *node, void *arg)
{
    const struct shape_requests *allotment = arg;
    for (size_t i = 0; i < allotment->nparts; i++)
        if (rset_find_rank(allotment->parts[i]->R, node->rank))
            return true;
    return false;
}

/* The nodes of R that have something granted, with all that goes with an R, and on each only what
 * was granted. */
static struct rset *join_parts(struct shape_requests *allotment, const struct rset *R)
{
    struct rset *nodes = rset_select(R, is_granted, allotment), *joined = rset_new();
    for (size_t i = 0; i < nodes->nnodes; i++) {
        struct idset *cores = idset_new(), *gpus = idset_new();
        for (size_t part = 0; part < allotment->nparts; part++) {
            const struct rset_node *node =
                rset_find_rank(allotment->parts[part]->R, nodes->nodes[i].rank);
            if (!node)
                continue;
            idset_add_set(cores, node->children->cores);
            idset_add_set(gpus, node->children->gpus);
        }
        rset_append(joined, nodes->nodes[i].rank, nodes->nodes[i].host, cores, gpus);
        idset_free(cores);
        idset_free(gpus);
    }
    scheduling_describe(joined, R);
    for (size_t i = 0; i < allotment->nparts; i++)
        joined->nslots += allotment->parts[i]->R->nslots;
    rset_free(nodes);
    return joined;
}

/* ---- the parts in order ---- */

static enum treepool_answer shape_requests_serve(struct shape_requests *allotment,
                                                 const struct rset *R, const struct rset *held,
                                                 struct request *const *requests, struct error *err)
{
    const struct rset **taken = mem_array(allotment->nparts + 1, sizeof(*taken));
    enum treepool_answer answer = TREEPOOL_GRANTED;
    size_t ntaken = 0;
    if (held)
        taken[ntaken++] = held;
    for (size_t i = 0; i < allotment->nparts && answer == TREEPOOL_GRANTED; i++) {
        struct rset *gone = ntaken ? rset_union_hosts(taken, ntaken) : NULL;
        answer = treepool_allocate(R, gone, requests[i], NULL, &allotment->parts[i], err);
        rset_free(gone);
        if (answer == TREEPOOL_GRANTED)
            taken[ntaken++] = allotment->parts[i]->R;
        else if (allotment->nparts > 1)
            error_prefix(err, "part %zu", i + 1);
    }
    free(taken);
    return answer;
}

static struct shape_requests *allotment_new(size_t nparts)
{
    struct shape_requests *allotment = mem_alloc(sizeof(*allotment));
    allotment->nparts = nparts;
    allotment->parts = mem_array(nparts, sizeof(struct treepool_grant *));
    return allotment;
}

enum treepool_answer shape_requests_make(const struct rset *R, const struct rset *held,
                                         struct request *const *requests, size_t nparts,
                                         struct shape_requests **allotment, struct error *err)
{
    struct shape_requests *made = allotment_new(nparts);
    enum treepool_answer answer = shape_requests_serve(made, R, held, requests, err);
    if (answer == TREEPOOL_GRANTED) {
        made->R = nparts > 1 ? join_parts(made, R) : rset_copy(made->parts[0]->R);
        *allotment = made;
        return answer;
    }
    shape_requests_free(made);
    if (answer != TREEPOOL_BUSY || nparts < 2)
        return answer;
    /* Would they fit with everything free? Each alone does. */
    struct shape_requests *trial = allotment_new(nparts);
    struct error why = ERROR_INIT;
    bool fit = shape_requests_serve(trial, R, NULL, requests, &why) == TREEPOOL_GRANTED;
    shape_requests_free(trial);
    if (!fit)
        error_set(err, "%s; the parts before it take the rest, whatever others hold",
                  error_text(&why));
    error_clear(&why);
    return fit ? TREEPOOL_BUSY : TREEPOOL_NEVER;
}

/* ---- slots ---- */

json_t *shape_requests_slots(const struct shape_requests *allotment)
{
    json_t *list = json_array();
    for (size_t part = 0; part < allotment->nparts; part++) {
        const struct treepool_grant *grant = allotment->parts[part];
        for (size_t i = 0; i < grant->nslots; i++) {
            const struct treepool_slot *slot = &grant->slots[i];
            const char *host = rset_find_rank(grant->R, slot->rank)->host;
            char *cores = idset_encode(slot->cores), *gpus = idset_encode(slot->gpus);
            json_array_append_new(list, json_pack("{s:I, s:I, s:s, s:s, s:s}", "part",
                                                  (json_int_t)part, "rank", (json_int_t)slot->rank,
                                                  "host", host, "cores", cores, "gpus", gpus));
            free(cores);
            free(gpus);
        }
    }
    return json_pack("{s:i, s:o}", "version", 1, "slots", list);
}

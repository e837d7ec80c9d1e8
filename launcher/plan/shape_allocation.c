/* What is allocated to the parts of a program by their shapes, and who runs in which slot. */
#include "launcher/plan/shape_allocation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/resource/scheduling.h"
#include "affinity/shape/shape.h"
#include "base/mem.h"
#include "launcher/ledger/instance_lock.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/plan/shape_requests.h"
#include "launcher/spec/spec_check.h"

#define GRANT_TRIES 100 /* races for the same cores that may be lost before it is given up */

struct shape_allocation {
    const struct spec *spec;
    struct resources *resources;
    struct host_choice *choice;
    struct request **requests;    /* by part */
    bool early;                   /* the nodes' R is allocated from, before any agent starts */
    struct rset *known;           /* else what is allocated from, made of topologies; or NULL */
    struct shape_requests *given; /* NULL: nothing so far */
    struct layout_slot **slots;   /* by part */
};

/* ---- before there is anything ---- */

/* Whether R says where on the nodes cores and GPUs are, and all of it is the run's: then it needs no
 * agent to know what to give. */
static bool R_will_do(const struct node_list *nodes)
{
    if (!nodes->R || nodes->R->nnodes != nodes->count)
        return false;
    const char *writer = json_string_value(json_object_get(nodes->R->scheduling, "writer"));
    if (!writer || strcmp(writer, SCHEDULING_WRITER) != 0 ||
        json_array_size(json_object_get(nodes->R->scheduling, "children")) == 0)
        return false;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct node *node = &nodes->list[i];
        const struct rset_node *same = rset_find_rank(nodes->R, node->target);
        if (!same || !node->cores || !idset_equal(node->cores, same->children->cores))
            return false;
    }
    return true;
}

int shape_allocation_open(const struct spec *spec, struct resources *resources,
                          struct host_choice *choice, struct shape_allocation **shapes,
                          struct error *err)
{
    *shapes = NULL;
    if (!spec_has_shape(spec))
        return 0;
    struct shape_allocation *made = mem_alloc(sizeof(*made));
    made->spec = spec;
    made->resources = resources;
    made->choice = choice;
    made->requests = mem_array(spec->nparts, sizeof(struct request *));
    made->slots = mem_array(spec->nparts, sizeof(struct layout_slot *));
    made->early = R_will_do(host_nodes(resources_hosts(resources)));
    for (size_t i = 0; i < spec->nparts; i++) {
        struct shape *shape = shape_decode(spec->parts[i].shape, err);
        made->requests[i] = shape ? request_from_shape(shape, err) : NULL;
        shape_free(shape);
        if (made->requests[i])
            continue;
        shape_allocation_free(made);
        return error_prefix(err, "--shape");
    }
    *shapes = made;
    return 0;
}

void shape_allocation_free(struct shape_allocation *shapes)
{
    if (!shapes)
        return;
    for (size_t i = 0; i < shapes->spec->nparts; i++) {
        request_free(shapes->requests[i]);
        free(shapes->slots[i]);
    }
    free(shapes->requests);
    free(shapes->slots);
    rset_free(shapes->known);
    shape_requests_free(shapes->given);
    free(shapes);
}

/* ---- allocation and claim ---- */

static struct shape_requests *allocate(const struct shape_allocation *shapes,
                                       const struct rset *held, struct error *err)
{
    const struct rset *R =
        shapes->early ? host_nodes(resources_hosts(shapes->resources))->R : shapes->known;
    struct shape_requests *given = NULL;
    if (shape_requests_make(R, held, shapes->requests, shapes->spec->nparts, &given, err) !=
        TREEPOOL_GRANTED)
        error_prefix(err, "--shape");
    return given;
}

static int write_slots(const struct shape_allocation *shapes, struct error *err)
{
    struct ledger_entry *entry = resources_entry(shapes->resources);
    if (!entry)
        return 0;
    json_t *slots = shape_requests_slots(shapes->given);
    int rc = entry_write(entry, "slots.json", slots, err);
    json_decref(slots);
    return rc;
}

static int take_and_claim(struct shape_allocation *shapes, int *turn, struct error *err)
{
    struct resources *resources = shapes->resources;
    for (int tries = 0; tries < GRANT_TRIES; tries++) {
        error_clear(err);
        if (!shapes->early) {
            rset_free(shapes->known);
            shapes->known = resources_R(resources, err);
            if (!shapes->known)
                return -1;
        }
        if (!(shapes->given = allocate(shapes, resources_held(resources), err)))
            return -1;
        int lost = resources_claim(resources, shapes->given->R, err);
        if (lost == 0)
            return write_slots(shapes, err);
        shape_requests_free(shapes->given);
        shapes->given = NULL;
        if (lost < 0)
            return -1;
        if (*turn < 0)
            *turn = instance_turn(resources_instance(resources));
        if (resources_refresh(resources, err) < 0)
            return -1;
        host_choice_drop_full(shapes->choice);
    }
    return error_prefix(err, "lost the race for free cores %d times", GRANT_TRIES);
}

int shape_allocation_take(struct shape_allocation *shapes, struct error *err)
{
    if (!shapes || shapes->given)
        return 0;
    int turn = -1, result = take_and_claim(shapes, &turn, err);
    if (turn >= 0)
        close(turn);
    return result;
}

int shape_allocation_early(struct shape_allocation *shapes, struct error *err)
{
    if (!shapes)
        return 0;
    if (!shapes->early) {
        host_choice_take_all(shapes->choice);
        return 0;
    }
    if (shape_allocation_take(shapes, err) < 0)
        return -1;
    host_choice_take_only(shapes->choice, shapes->given->R);
    return 0;
}

struct rset *shape_allocation_try(const struct shape_allocation *shapes, const struct rset *held,
                                  bool *known, struct error *err)
{
    *known = shapes->early || shapes->known;
    struct shape_requests *given = *known ? allocate(shapes, held, err) : NULL;
    struct rset *set = given ? rset_copy(given->R) : NULL;
    shape_requests_free(given);
    return set;
}

/* ---- what was given ---- */

const struct rset *shape_allocation_R(const struct shape_allocation *shapes)
{
    return shapes && shapes->given ? shapes->given->R : NULL;
}

const struct rset_node *shape_allocation_of(const struct shape_allocation *shapes, uint32_t host)
{
    const struct rset *R = shape_allocation_R(shapes);
    return R ? rset_find_rank(R, host_at(resources_hosts(shapes->resources), host)->node->target)
             : NULL;
}

static bool has_gpus(const struct treepool_grant *given)
{
    for (size_t i = 0; i < given->nslots; i++)
        if (!idset_empty(given->slots[i].gpus))
            return true;
    return false;
}

/* Slots name nodes of R, a layout its own. */
static int place_slots(const struct layout_node *nodes, uint32_t nnodes,
                       const struct treepool_grant *given, struct layout_slot **placed,
                       struct error *err)
{
    struct layout_slot *slots = *placed = mem_array(given->nslots, sizeof(*slots));
    int rc = 0;
    struct ranked *ranked = mem_array(nnodes, sizeof(*ranked));
    for (uint32_t i = 0; i < nnodes; i++)
        ranked[i] = (struct ranked){nodes[i].target, i};
    qsort(ranked, nnodes, sizeof(*ranked), ranked_compare);
    for (size_t i = 0; i < given->nslots && rc == 0; i++) {
        const struct treepool_slot *slot = &given->slots[i];
        struct ranked wanted = {.rank = slot->rank};
        const struct ranked *found =
            bsearch(&wanted, ranked, nnodes, sizeof(*ranked), ranked_compare);
        if (found)
            slots[i] = (struct layout_slot){(uint32_t)found->index, slot->cores, slot->gpus};
        else /* two names of one machine, in an R that was allocated from before anybody looked */
            rc = error_set(err,
                           "--shape: %s was allocated, but its machine is another node as well: "
                           "name it once in R, or leave one out (--exclude)",
                           rset_find_rank(given->R, slot->rank)->host);
    }
    free(ranked);
    return rc;
}

/* With --map-by or --bind-to tasks are mapped over what was allocated, and see the GPUs of that
 * which are next to them. */
int shape_allocation_fill_parts(struct shape_allocation *shapes, struct layout_part *parts,
                                const struct layout_node *nodes, uint32_t nnodes, struct error *err)
{
    for (size_t i = 0; shapes && i < shapes->spec->nparts; i++) {
        const struct treepool_grant *given = shapes->given->parts[i];
        struct layout_part *part = &parts[i];
        part->nslots = (uint32_t)given->nslots;
        if (part->map || part->bind) {
            if (!part->gpu_bind && has_gpus(given))
                part->gpu_bind = "closest";
            continue;
        }
        free(shapes->slots[i]);
        if (place_slots(nodes, nnodes, given, &shapes->slots[i], err) < 0)
            return -1;
        part->slots = shapes->slots[i];
    }
    return 0;
}

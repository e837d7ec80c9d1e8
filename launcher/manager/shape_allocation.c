/* What is allocated to the parts of a program by their shapes, and who runs in which slot. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/resource/scheduling.h"
#include "affinity/shape/shape.h"
#include "base/mem.h"
#include "launcher/manager/internal.h"
#include "launcher/plan/shape_requests.h"
#include "launcher/spec/spec_check.h"

#define GRANT_TRIES 100 /* races for the same cores that may be lost before it is given up */

struct grant {
    struct request **requests; /* by part */
    bool early;                /* the nodes' R is allocated from, before any agent starts */
    struct rset *stock; /* else what is allocated from, made of topologies; NULL: the nodes' R */
    struct shape_requests *given; /* NULL: nothing so far */
    struct layout_slot **slots;   /* by part */
};

/* ---- before there is anything ---- */

static struct request *shape_allocation_read_request(const char *text, struct error *err)
{
    struct shape *shape = shape_decode(text, err);
    struct request *request = shape ? request_from_shape(shape, err) : NULL;
    shape_free(shape);
    return request;
}

static bool has_topology(const struct rset *R)
{
    const char *writer = json_string_value(json_object_get(R->scheduling, "writer"));
    return writer && strcmp(writer, SCHEDULING_WRITER) == 0 &&
           json_array_size(json_object_get(R->scheduling, "children")) > 0;
}

/* Whether R says where on the nodes cores and GPUs are, and all of it is the run's: then it needs no
 * agent to know what to give. */
static bool R_will_do(const struct node_list *nodes)
{
    if (!nodes->R || nodes->R->nnodes != nodes->count || !has_topology(nodes->R))
        return false;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct node *node = &nodes->list[i];
        const struct rset_node *same = rset_find_rank(nodes->R, node->target);
        if (!same || !node->cores || !idset_equal(node->cores, same->children->cores))
            return false;
    }
    return true;
}

static void want_granted(struct manager *manager)
{
    for (size_t i = 0; i < manager->nodes->count; i++) {
        manager->wanted[i] = shape_allocation_node(manager, i);
        manager->spare[i] = false;
    }
}

static void want_all(struct manager *manager)
{
    for (size_t i = 0; i < manager->nodes->count; i++) {
        manager->wanted[i] = true;
        manager->spare[i] = false;
    }
}

int shape_allocation_open(struct manager *manager, struct error *err)
{
    const struct spec *spec = manager->spec;
    if (!spec_has_shape(spec))
        return 0;
    struct grant *grant = manager->grant = mem_alloc(sizeof(*grant));
    grant->requests = mem_array(spec->nparts, sizeof(struct request *));
    grant->slots = mem_array(spec->nparts, sizeof(struct layout_slot *));
    for (size_t i = 0; i < spec->nparts; i++) {
        grant->requests[i] = shape_allocation_read_request(spec->parts[i].shape, err);
        if (!grant->requests[i])
            return error_prefix(err, "--shape");
    }
    grant->early = R_will_do(manager->nodes);
    return 0;
}

int shape_allocation_early(struct manager *manager, struct error *err)
{
    if (!manager->grant)
        return 0;
    if (!manager->grant->early) {
        want_all(manager);
        return 0;
    }
    if (shape_allocation_take(manager, err) < 0)
        return -1;
    want_granted(manager);
    return 0;
}

void shape_allocation_close(struct manager *manager)
{
    struct grant *grant = manager->grant;
    for (size_t i = 0; grant && i < manager->spec->nparts; i++) {
        request_free(grant->requests[i]);
        free(grant->slots[i]);
    }
    if (grant) {
        free(grant->requests);
        free(grant->slots);
        rset_free(grant->stock);
        shape_requests_free(grant->given);
    }
    free(grant);
}

/* ---- allocation and claim ---- */

static struct shape_requests *allocate(const struct manager *manager, const struct rset *held,
                                       struct error *err)
{
    const struct grant *grant = manager->grant;
    struct shape_requests *given = NULL;
    if (shape_requests_make(grant->early ? manager->nodes->R : grant->stock, held, grant->requests,
                            manager->spec->nparts, &given, err) != TREEPOOL_GRANTED)
        error_prefix(err, "--shape");
    return given;
}

static void drop_allotment(struct grant *grant)
{
    shape_requests_free(grant->given);
    grant->given = NULL;
}

/* 0: it is ours now; 1: somebody else was faster. */
static int claim(struct manager *manager, struct error *err)
{
    if (!manager->entry || manager->spec->overlap)
        return 0;
    return entry_claim(manager->entry, manager->grant->given->R, err);
}

static int write_slots(struct manager *manager, struct error *err)
{
    if (!manager->entry)
        return 0;
    json_t *slots = shape_requests_slots(manager->grant->given);
    int rc = entry_write(manager->entry, "slots.json", slots, err);
    json_decref(slots);
    return rc;
}

static int take_stock(struct manager *manager, struct error *err)
{
    rset_free(manager->grant->stock);
    manager->grant->stock = resources_R(manager, err);
    return manager->grant->stock ? 0 : -1;
}

static int take_and_claim(struct manager *manager, int *turn, struct error *err)
{
    struct grant *grant = manager->grant;
    for (int tries = 0; tries < GRANT_TRIES; tries++) {
        error_clear(err);
        if (!grant->early && take_stock(manager, err) < 0)
            return -1;
        if (!(grant->given = allocate(manager, manager->held, err)))
            return -1;
        int lost = claim(manager, err);
        if (lost == 0)
            return write_slots(manager, err);
        drop_allotment(grant);
        if (lost < 0)
            return -1;
        if (*turn < 0)
            *turn = instance_turn(manager->instance);
        if (resources_read_unheld(manager, err) < 0)
            return -1;
    }
    return error_prefix(err, "lost the race for free cores %d times", GRANT_TRIES);
}

int shape_allocation_take(struct manager *manager, struct error *err)
{
    if (!manager->grant || manager->grant->given)
        return 0;
    int turn = -1, result = take_and_claim(manager, &turn, err);
    if (turn >= 0)
        close(turn);
    return result;
}

struct rset *shape_allocation_wish(struct manager *manager, bool *known, struct error *err)
{
    const struct grant *grant = manager->grant;
    *known = grant->early || grant->stock;
    struct shape_requests *given = *known ? allocate(manager, NULL, err) : NULL;
    struct rset *wish = given ? rset_copy(given->R) : NULL;
    shape_requests_free(given);
    return wish;
}

/* ---- what was given ---- */

const struct rset *shape_allocation_R(const struct manager *manager)
{
    return manager->grant && manager->grant->given ? manager->grant->given->R : NULL;
}

const struct rset_node *shape_allocation_node(const struct manager *manager, size_t index)
{
    const struct rset *R = shape_allocation_R(manager);
    return R ? rset_find_rank(R, manager->nodes->list[index].target) : NULL;
}

static bool has_gpus(const struct treepool_grant *given)
{
    for (size_t i = 0; i < given->nslots; i++)
        if (!idset_empty(given->slots[i].gpus))
            return true;
    return false;
}

/* Two names of one machine, in an R that was allocated from before anybody looked. */
static int refuse_node(const struct treepool_grant *given, uint32_t rank, struct error *err)
{
    return error_set(err,
                     "--shape: %s was allocated, but its machine is another node as well: name it "
                     "once in R, or leave one out (--exclude)",
                     rset_find_rank(given->R, rank)->host);
}

/* Slots name nodes of R, a layout its candidates. */
static int place_slots(const struct manager *manager, const struct treepool_grant *given,
                       struct layout_slot **placed, struct error *err)
{
    struct layout_slot *slots = *placed = mem_array(given->nslots, sizeof(*slots));
    int rc = 0;
    struct ranked *ranked = mem_array(manager->ncandidates, sizeof(*ranked));
    for (uint32_t i = 0; i < manager->ncandidates; i++)
        ranked[i] = (struct ranked){manager->candidates[i].target, i};
    qsort(ranked, manager->ncandidates, sizeof(*ranked), ranked_compare);
    for (size_t i = 0; i < given->nslots && rc == 0; i++) {
        const struct treepool_slot *slot = &given->slots[i];
        struct ranked wanted = {.rank = slot->rank};
        const struct ranked *found =
            bsearch(&wanted, ranked, manager->ncandidates, sizeof(*ranked), ranked_compare);
        if (found)
            slots[i] = (struct layout_slot){(uint32_t)found->index, slot->cores, slot->gpus};
        else
            rc = refuse_node(given, slot->rank, err);
    }
    free(ranked);
    return rc;
}

/* With --map-by or --bind-to tasks are mapped over what was allocated, and see the GPUs of that
 * which are next to them. */
int shape_allocation_fill_parts(struct manager *manager, struct error *err)
{
    struct grant *grant = manager->grant;
    for (size_t i = 0; grant && i < manager->spec->nparts; i++) {
        const struct treepool_grant *given = grant->given->parts[i];
        struct layout_part *part = &manager->parts[i];
        part->nslots = (uint32_t)given->nslots;
        if (part->map || part->bind) {
            if (!part->gpu_bind && has_gpus(given))
                part->gpu_bind = "closest";
            continue;
        }
        free(grant->slots[i]);
        if (place_slots(manager, given, &grant->slots[i], err) < 0)
            return -1;
        part->slots = grant->slots[i];
    }
    return 0;
}

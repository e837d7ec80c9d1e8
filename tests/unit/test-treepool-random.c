/*
 * Random requests to random small machines: what is granted is free, given once, and what was asked
 * for; what is not granted does not fit, as tests/unit/pool-brute.c finds out by trying everything.
 * POOL_REQUESTS is their number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/scheduling.h"
#include "affinity/treepool/treepool.h"
#include "base/buf.h"
#include "base/hash_table.h"
#include "base/mem.h"
#include "tests/unit/pool-brute.h"
#include "tests/unit/unit.h"

#define MAX_NODES 4
#define MAX_CORES 14
#define MAX_GPUS 5
#define REQUESTS 20000

struct world {
    struct brute_node nodes[MAX_NODES];
    uint32_t nnodes;
    struct rset *R, *held;
    struct buf topology; /* JSON, for failures */
};

static uint32_t below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

/* ---- machines ---- */

struct maker {
    struct brute_node *node;
    struct buf *json;
    uint64_t *seed;
    uint32_t ncores, ngpus;
};

static struct idset *ids_of(uint32_t bits)
{
    struct idset *set = idset_new();
    for (uint32_t i = 0; i < 32; i++)
        if (bits >> i & 1)
            idset_add(set, i);
    return set;
}

static uint32_t bits_of(const struct idset *set)
{
    uint32_t bits = 0;
    IDSET_FOREACH(id, set)
    bits |= 1u << id;
    return bits;
}

static void write_ids(struct maker *m, const char *key, uint32_t bits)
{
    struct idset *set = ids_of(bits);
    char *text = idset_encode(set);
    buf_printf(m->json, "\"%s\":\"%s\",", key, text);
    free(text);
    idset_free(set);
}

static uint32_t make_ids(uint32_t *next, uint32_t most, uint32_t n)
{
    uint32_t bits = 0;
    for (; n > 0 && *next < most; n--)
        bits |= 1u << (*next)++;
    return bits;
}

static void make_children(struct maker *m, int index, const char *name, uint32_t depth);

/* Cores and GPUs that lie directly in a domain: many in the innermost, now and then elsewhere. */
static void make_domain(struct maker *m, const char *name, int up, uint32_t depth)
{
    int index = m->node->ndomains++;
    struct brute_domain *d = &m->node->domains[index];
    bool inner = name && strcmp(name, "numa") == 0;
    uint32_t kind = depth == 0 ? 1 + below(m->seed, 8) : inner ? 0 : below(m->seed, 4);
    bool leaf = kind == 0;
    *d = (struct brute_domain){name, up, 0, 0};
    d->cores = make_ids(&m->ncores, MAX_CORES, leaf ? below(m->seed, 5) : below(m->seed, 6) / 5);
    d->gpus = make_ids(&m->ngpus, MAX_GPUS, leaf ? below(m->seed, 3) : below(m->seed, 6) / 5);
    buf_add_char(m->json, '{');
    write_ids(m, "cores", d->cores);
    write_ids(m, "gpus", d->gpus);
    if (kind > 0)
        make_children(m, index, depth == 1 || kind == 8 ? "numa" : "socket", depth + 1);
    m->json->len--; /* the last comma */
    buf_add_char(m->json, '}');
    if (up >= 0 && up != index) {
        m->node->domains[up].cores |= d->cores;
        m->node->domains[up].gpus |= d->gpus;
    }
}

static void make_children(struct maker *m, int index, const char *name, uint32_t depth)
{
    uint32_t n = 1 + below(m->seed, 3);
    buf_printf(m->json, "\"%s\":[", name);
    for (uint32_t i = 0; i < n; i++) {
        make_domain(m, name, index, depth);
        buf_add_char(m->json, ',');
    }
    m->json->len--;
    buf_add_text(m->json, "],");
}

/* Most own all that the tree has; some lack a core, some have one that no domain has. */
static void make_own(struct maker *m)
{
    struct brute_node *node = m->node;
    node->own_cores = node->domains[0].cores;
    node->own_gpus = node->domains[0].gpus;
    if (below(m->seed, 4) == 0)
        node->own_cores &= ~(1u << below(m->seed, MAX_CORES));
    if (below(m->seed, 4) == 0 || !node->own_cores)
        node->own_cores |= 1u << (MAX_CORES + below(m->seed, 2));
}

static void make_free(struct brute_node *node, uint64_t *seed)
{
    uint32_t way = below(seed, 4), cores = 0, gpus = 0;
    if (way == 1) {
        cores = below(seed, 1u << 20) & below(seed, 1u << 20);
        gpus = below(seed, 32) & below(seed, 32);
    } else if (way == 2) {
        const struct brute_domain *d = &node->domains[below(seed, (uint32_t)node->ndomains)];
        cores = d->cores;
        gpus = d->gpus;
    } else if (way == 3) {
        cores = 1u << below(seed, MAX_CORES);
    }
    node->free_cores = node->own_cores & ~cores;
    node->free_gpus = node->own_gpus & ~gpus;
}

static void add_nodes(struct world *world)
{
    char host[16];
    for (uint32_t i = 0; i < world->nnodes; i++) {
        const struct brute_node *node = &world->nodes[i];
        uint32_t hc = node->own_cores & ~node->free_cores, hg = node->own_gpus & ~node->free_gpus;
        struct idset *cores = ids_of(node->own_cores), *gpus = ids_of(node->own_gpus);
        struct idset *held_cores = ids_of(hc), *held_gpus = ids_of(hg);
        snprintf(host, sizeof(host), "h%u", i);
        rset_append(world->R, 2 * i + 1, host, cores, gpus);
        if (hc || hg)
            rset_append(world->held, MAX_NODES - i + 4 * (uint32_t)world->held->nnodes, host,
                        held_cores, held_gpus);
        idset_free(cores);
        idset_free(gpus);
        idset_free(held_cores);
        idset_free(held_gpus);
    }
}

/* The tree of a node of its own, or the first one's once more. */
static void make_node(struct world *world, uint32_t i, struct buf *first, uint64_t *seed)
{
    struct buf json = BUF_INIT;
    struct maker m = {&world->nodes[i], &json, seed, 0, 0};
    if (i > 0 && below(seed, 2)) {
        *m.node = world->nodes[0];
    } else {
        make_domain(&m, NULL, 0, 0);
        make_own(&m);
    }
    make_free(m.node, seed);
    if (i == 0)
        buf_add_text(first, buf_text(&json));
    buf_printf(&world->topology, "%s{\"ranks\":\"%u\",\"topo\":%s}", i ? "," : "", 2 * i + 1,
               json.len ? buf_text(&json) : buf_text(first));
    buf_free(&json);
}

static void world_make(struct world *world, uint64_t *seed)
{
    json_error_t bad;
    struct buf first = BUF_INIT;
    *world = (struct world){.nnodes = 1 + below(seed, MAX_NODES), .R = rset_new()};
    world->held = rset_new();
    buf_add_text(&world->topology, "{\"writer\":\"TreePool\",\"children\":[");
    for (uint32_t i = 0; i < world->nnodes; i++)
        make_node(world, i, &first, seed);
    buf_add_text(&world->topology, "]}");
    buf_free(&first);
    add_nodes(world);
    world->R->scheduling = json_loads(buf_text(&world->topology), 0, &bad);
    if (!world->R->scheduling)
        fail_msg("%s: %s", buf_text(&world->topology), bad.text);
}

static void world_free(struct world *world)
{
    rset_free(world->R);
    rset_free(world->held);
    buf_free(&world->topology);
}

/* ---- requests ---- */

static void random_amounts(struct request_need *need, uint64_t *seed, uint32_t cores)
{
    need->cores = count_of(below(seed, cores));
    if (below(seed, 3) == 0)
        need->gpus = count_of(1 + below(seed, 2));
}

static void random_inner(struct request_need *need, uint64_t *seed, bool outer)
{
    bool socket = outer && below(seed, 2);
    need->locality = mem_copy_text(socket ? "socket" : "numa");
    need->count = count_of(1 + below(seed, 3) % 2 + below(seed, 6) / 5);
    need->exclusive = below(seed, 5) == 0;
    if (socket && below(seed, 4) == 0) {
        need->inner = mem_alloc(sizeof(*need->inner));
        need->ninner = 1;
        random_inner(need->inner, seed, false);
        if (below(seed, 2))
            return;
    }
    random_amounts(need, seed, 4);
    if (!need->cores.max && !need->gpus.max && !need->ninner && !need->exclusive)
        need->cores = count_of(1);
}

static struct count random_range(uint64_t *seed, uint32_t least)
{
    struct count count = count_of(least);
    if (below(seed, 4))
        return count;
    count.max += 1 + below(seed, 3);
    count.operator= '+';
    count.operand = 1;
    return count;
}

static void random_within(struct request *request, uint64_t *seed)
{
    request->nwithin = below(seed, 4) ? 0 : 1 + below(seed, 2);
    request->within = mem_array(request->nwithin, sizeof(*request->within));
    for (size_t i = 0; i < request->nwithin; i++)
        request->within[i] =
            (struct request_within){mem_copy_text(request->nwithin == 2 && i == 0 ? "socket"
                                                  : request->nwithin == 2         ? "numa"
                                                  : below(seed, 2)                ? "socket"
                                                                                  : "numa"),
                                    count_of(1 + below(seed, 2)), below(seed, 4) == 0};
}

static bool need_has_core(const struct request_need *need)
{
    bool has = need->cores.max || (need->exclusive && need->locality);
    for (size_t i = 0; i < need->ninner; i++)
        has |= need_has_core(&need->inner[i]);
    return has;
}

static struct request *random_request(uint64_t *seed)
{
    struct request *request = mem_alloc(sizeof(*request));
    if (below(seed, 2))
        request->nodes = random_range(seed, 1 + below(seed, 3));
    request->node_exclusive = below(seed, 10) == 0;
    random_within(request, seed);
    request->slots = random_range(seed, 1 + below(seed, 4) % 3);
    request->slot.count = count_of(1);
    bool numa =
        request->nwithin && strcmp(request->within[request->nwithin - 1].locality, "numa") == 0;
    if (!numa && below(seed, 3) == 0) {
        request->slot.ninner = 1 + below(seed, 4) / 3;
        request->slot.inner = mem_array(request->slot.ninner, sizeof(*request->slot.inner));
        for (size_t i = 0; i < request->slot.ninner; i++)
            random_inner(&request->slot.inner[i], seed, !request->nwithin);
        if (below(seed, 3) == 0)
            random_amounts(&request->slot, seed, 3);
    } else {
        random_amounts(&request->slot, seed, 7);
    }
    if (!need_has_core(&request->slot))
        request->slot.cores = count_of(1);
    if (request->nwithin) { /* one range at a time outside of the slot is enough */
        request->slots = count_of(request->slots.min);
        request->within[0].count = random_range(seed, request->within[0].count.min);
    }
    if (request->slot.cores.max)
        request->slot.cores = random_range(seed, request->slot.cores.min);
    return request;
}

static void free_need(struct request_need *need)
{
    for (size_t i = 0; i < need->ninner; i++)
        free_need(&need->inner[i]);
    free(need->inner);
    free(need->locality);
}

static void free_request(struct request *request)
{
    for (size_t i = 0; i < request->nwithin; i++)
        free(request->within[i].locality);
    free(request->within);
    free_need(&request->slot);
    free(request);
}

static void write_need(struct buf *out, const struct request_need *need)
{
    buf_printf(out, "[core=%u-%u;gpu=%u", need->cores.min, need->cores.max, need->gpus.min);
    for (size_t i = 0; i < need->ninner; i++) {
        buf_printf(out, ";%s=%u%s/", need->inner[i].locality, need->inner[i].count.min,
                   need->inner[i].exclusive ? "{x}" : "");
        write_need(out, &need->inner[i]);
    }
    buf_add_char(out, ']');
}

/* Request and pool, for failures. */
static char *describe(const struct world *world, const struct request *request)
{
    struct buf out = BUF_INIT;
    if (request->nodes.max)
        buf_printf(&out, "node=%u-%u%s/", request->nodes.min, request->nodes.max,
                   request->node_exclusive ? "{x}" : "");
    for (size_t i = 0; i < request->nwithin; i++)
        buf_printf(&out, "%s=%u-%u%s/", request->within[i].locality, request->within[i].count.min,
                   request->within[i].count.max, request->within[i].exclusive ? "{x}" : "");
    buf_printf(&out, "slot=%u-%u/", request->slots.min, request->slots.max);
    write_need(&out, &request->slot);
    buf_printf(&out, "%s of %s; free cores/GPUs:", request->node_exclusive ? " {x}" : "",
               buf_text(&world->topology));
    for (uint32_t i = 0; i < world->nnodes; i++)
        buf_printf(&out, " %x/%x of %x/%x", world->nodes[i].free_cores, world->nodes[i].free_gpus,
                   world->nodes[i].own_cores, world->nodes[i].own_gpus);
    return buf_take_text(&out);
}

/* ---- what has to hold ---- */

/* What a request comes to, with the least of every range in a slot. */
struct outcome {
    uint32_t nnodes, nslots; /* 0: it cannot be met; nodes: only where they are counted */
};

static uint32_t slots_of_a_piece(const struct request *request)
{
    uint32_t n = request->nwithin ? request->slots.min : 1;
    for (size_t i = 1; i < request->nwithin; i++)
        n *= request->within[i].count.min;
    return n;
}

static struct outcome outcome_of_nodes(uint32_t *pieces, uint32_t nnodes, const struct count *nodes,
                                       const struct count *top)
{
    struct outcome out = {0, 0};
    for (; out.nnodes < nodes->max; out.nnodes++) {
        uint32_t best = 0;
        for (uint32_t i = 0; i < nnodes; i++)
            best = pieces[i] > pieces[best] ? i : best;
        if (pieces[best] < top->min)
            break;
        out.nslots += pieces[best];
        pieces[best] = 0;
    }
    return out.nnodes < nodes->min ? (struct outcome){0, 0} : out;
}

/* `all`: with everything free. */
static struct outcome brute_outcome(const struct world *world, const struct request *request,
                                    bool all)
{
    const struct count *top = request->nwithin ? &request->within[0].count : &request->slots;
    uint32_t pieces[MAX_NODES], sum = 0;
    struct outcome out = {0, 0};
    for (uint32_t i = 0; i < world->nnodes; i++) {
        struct brute_node node = world->nodes[i];
        if (all) {
            node.free_cores = node.own_cores;
            node.free_gpus = node.own_gpus;
        }
        pieces[i] = brute_capacity(&node, request, top->max);
        sum += pieces[i];
    }
    if (request->nodes.max)
        out = outcome_of_nodes(pieces, world->nnodes, &request->nodes, top);
    else if (sum >= top->min)
        out.nslots = sum < top->max ? sum : top->max;
    out.nslots *= slots_of_a_piece(request);
    return out;
}

static const struct brute_node *node_of(const struct world *world, uint32_t rank)
{
    return &world->nodes[rank / 2];
}

/* What a need comes to, in all; false where whole domains are part of it. */
static bool sum_need(const struct request_need *need, uint32_t times, uint32_t *cores,
                     uint32_t *gpus)
{
    bool fixed = !need->exclusive;
    times *= need->count.min;
    *cores += times * need->cores.min;
    *gpus += times * need->gpus.min;
    for (size_t i = 0; i < need->ninner; i++)
        fixed &= sum_need(&need->inner[i], times, cores, gpus);
    return fixed;
}

/* With nothing but what the slot has it fits, and nothing is spare. */
static const char *check_slot(const struct world *world, const struct request *request,
                              const struct treepool_slot *slot)
{
    struct brute_node node = *node_of(world, slot->rank);
    struct request one = {.slots = count_of(1), .slot = request->slot};
    uint32_t cores = 0, gpus = 0;
    node.free_cores = bits_of(slot->cores);
    node.free_gpus = bits_of(slot->gpus);
    if (!brute_capacity(&node, &one, 1))
        return "a slot is not what was asked for";
    if (sum_need(&request->slot, 1, &cores, &gpus) &&
        (cores != idset_count(slot->cores) || gpus != idset_count(slot->gpus)))
        return "a slot has more than was asked for";
    return NULL;
}

static bool has_claims(const struct request *request)
{
    bool has = request->node_exclusive;
    for (size_t i = 0; i < request->nwithin; i++)
        has |= request->within[i].exclusive;
    return has;
}

/* Nothing twice, nothing that others hold, and R is the slots (and what is claimed beside). */
static const char *check_sets(const struct world *world, const struct request *request,
                              const struct treepool_grant *grant)
{
    uint32_t cores[MAX_NODES] = {0}, gpus[MAX_NODES] = {0};
    for (size_t i = 0; i < grant->nslots; i++) {
        const struct treepool_slot *slot = &grant->slots[i];
        uint32_t c = bits_of(slot->cores), g = bits_of(slot->gpus), n = slot->rank / 2;
        if (cores[n] & c || gpus[n] & g)
            return "something is given twice";
        cores[n] |= c;
        gpus[n] |= g;
    }
    for (uint32_t i = 0; i < world->nnodes; i++) {
        const struct rset_node *node = rset_find_rank(grant->R, 2 * i + 1);
        uint32_t c = node ? bits_of(node->children->cores) : 0;
        uint32_t g = node ? bits_of(node->children->gpus) : 0;
        if (c & ~world->nodes[i].free_cores || g & ~world->nodes[i].free_gpus)
            return "something was not free";
        if (node && request->node_exclusive &&
            (c != world->nodes[i].own_cores || g != world->nodes[i].own_gpus))
            return "a node is not claimed whole";
        if (cores[i] & ~c || gpus[i] & ~g)
            return "R lacks what a slot has";
        if (!has_claims(request) && (cores[i] != c || gpus[i] != g))
            return "R has more than its slots";
    }
    return grant->R->nslots == grant->nslots ? NULL : "nslots is wrong";
}

/* As many slots and nodes as can be, and of these as many cores in a slot. */
static const char *check_numbers(const struct world *world, const struct request *request,
                                 const struct treepool_grant *grant)
{
    struct outcome best = brute_outcome(world, request, false);
    uint32_t cores = request->slot.cores.min;
    struct request more = *request;
    if (grant->nslots != best.nslots)
        return "the number of slots is wrong";
    if (best.nnodes && grant->R->nnodes != best.nnodes)
        return "the number of nodes is wrong";
    for (uint32_t n = cores + 1; n <= request->slot.cores.max; n++) {
        more.slot.cores.min = n;
        struct outcome now = brute_outcome(world, &more, false);
        if (now.nslots == best.nslots && now.nnodes == best.nnodes)
            cores = n;
    }
    more.slot.cores.min = cores;
    const char *wrong = NULL;
    for (size_t i = 0; i < grant->nslots && !wrong; i++)
        wrong = check_slot(world, &more, &grant->slots[i]);
    return wrong;
}

/* How coarse the finest domain is that holds these; or (cores 0) that has room for so many. */
static uint32_t coarseness(const struct brute_node *node, const struct scheduling_tree *tree,
                           uint32_t cores, uint32_t gpus, uint32_t ncores, uint32_t ngpus)
{
    uint32_t best = UINT32_MAX;
    for (int i = 0; i < node->ndomains; i++) {
        uint32_t c = i ? node->domains[i].cores : UINT32_MAX, g = i ? node->domains[i].gpus : c;
        bool fits = cores ? !(cores & ~c) && !(gpus & ~g)
                          : (uint32_t)__builtin_popcount(c & node->free_cores) >= ncores &&
                                (uint32_t)__builtin_popcount(g & node->free_gpus) >= ngpus;
        if (fits && tree->domains[i].height < best)
            best = tree->domains[i].height;
    }
    return best;
}

/* One slot is not split where any node has a finer domain with room for it. */
static const char *check_locality(const struct world *world, const struct request *request,
                                  const struct treepool_grant *grant)
{
    const struct request_need *need = &request->slot;
    uint32_t finest = UINT32_MAX, got = 0;
    if (grant->nslots != 1 || need->ninner || request->nwithin || request->node_exclusive ||
        need->cores.max != need->cores.min || !need->cores.max)
        return NULL;
    struct scheduling *locality = scheduling_read(world->R->scheduling, NULL);
    for (uint32_t i = 0; i < world->nnodes; i++) {
        const struct scheduling_tree *tree = &locality->trees[scheduling_find(locality, 2 * i + 1)];
        uint32_t here = coarseness(&world->nodes[i], tree, 0, 0, need->cores.min, need->gpus.min);
        finest = here < finest ? here : finest;
        if (grant->slots[0].rank == 2 * i + 1)
            got = coarseness(&world->nodes[i], tree, bits_of(grant->slots[0].cores),
                             bits_of(grant->slots[0].gpus), 0, 0);
    }
    scheduling_free(locality);
    return got <= finest ? NULL : "a slot is split and need not be";
}

static const char *check_grant(const struct world *world, const struct request *request,
                               const struct treepool_grant *grant)
{
    const char *wrong = check_sets(world, request, grant);
    if (!wrong)
        wrong = check_numbers(world, request, grant);
    return wrong ? wrong : check_locality(world, request, grant);
}

static bool same_grants(const struct treepool_grant *a, const struct treepool_grant *b)
{
    json_t *x = rset_to_json(a->R), *y = rset_to_json(b->R);
    bool same = json_equal(x, y) && a->nslots == b->nslots;
    for (size_t i = 0; same && i < a->nslots; i++)
        same = a->slots[i].rank == b->slots[i].rank &&
               idset_equal(a->slots[i].cores, b->slots[i].cores) &&
               idset_equal(a->slots[i].gpus, b->slots[i].gpus);
    json_decref(x);
    json_decref(y);
    return same;
}

static const char *check_again(const struct world *world, const struct request *request,
                               const struct treepool_grant *first)
{
    struct treepool_grant *second;
    treepool_allocate(world->R, world->held, request, NULL, &second, NULL);
    bool same = second && same_grants(first, second);
    treepool_grant_free(second);
    return same ? NULL : "the same request gives something else";
}

static const char *check_request(const struct world *world, const struct request *request)
{
    struct error err = ERROR_INIT;
    struct treepool_grant *grant;
    enum treepool_answer answer =
        treepool_allocate(world->R, world->held, request, NULL, &grant, &err);
    const char *wrong = NULL;
    if (answer == TREEPOOL_GRANTED)
        wrong = check_grant(world, request, grant);
    else if (brute_outcome(world, request, false).nslots)
        wrong = "it fits and is not granted";
    else if (!err.text || strchr(err.text, '\n'))
        wrong = "there is no sentence";
    else if ((brute_outcome(world, request, true).nslots > 0) != (answer == TREEPOOL_BUSY))
        wrong = answer == TREEPOOL_BUSY ? "it never fits, and is called busy" : "busy, not never";
    if (!wrong && grant)
        wrong = check_again(world, request, grant);
    treepool_grant_free(grant);
    error_clear(&err);
    return wrong;
}

static uint32_t number_of_requests(void)
{
    const char *text = getenv("POOL_REQUESTS");
    return text && *text ? (uint32_t)atoi(text) : REQUESTS;
}

static void test_random_requests_are_met_where_they_fit_and_only_there(void **state)
{
    (void)state;
    assert_true(number_of_requests() > 0);
    for (uint32_t i = 0; i < number_of_requests(); i++) {
        uint64_t seed = hash_table_hash(49, i);
        struct world world;
        world_make(&world, &seed);
        struct request *request = random_request(&seed);
        const char *wrong = check_request(&world, request);
        if (wrong)
            fail_msg("request %u: %s: %s", i, wrong, describe(&world, request));
        free_request(request);
        world_free(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_requests_are_met_where_they_fit_and_only_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <stdlib.h>
#include <string.h>

#include "affinity/resource/scheduling.h"
#include "affinity/treepool/treepool.h"
#include "base/buf.h"
#include "tests/unit/limit.h"
#include "tests/unit/vectors.h"

/* A pool and what was granted from it so far. */
struct world {
    struct rset *R;
    struct treepool_grant *grants[32];
    size_t ngrants;
};

static struct world world_of(const json_t *R)
{
    struct error err = ERROR_INIT;
    struct world world = {.R = rset_from_json(R, &err)};
    if (!world.R)
        fail_msg("%s", error_text(&err));
    return world;
}

/* R of one word a node "COREs[/GPUs]", all of one topology (JSON with ' for "; NULL: none). */
static struct world world_make(const char *nodes, const char *topo)
{
    struct world world = {.R = rset_new()};
    char *copy = strdup(nodes), *rest = copy, *word, host[16];
    while ((word = strsep(&rest, " ")) && *word) {
        char *gpus = strchr(word, '/');
        if (gpus)
            *gpus++ = '\0';
        struct idset *c = idset_decode(word, NULL), *g = idset_decode(gpus ? gpus : "", NULL);
        snprintf(host, sizeof(host), "n%zu", world.R->nnodes);
        rset_append(world.R, (uint32_t)world.R->nnodes, host, c, g);
        idset_free(c);
        idset_free(g);
    }
    free(copy);
    if (!topo)
        return world;
    char *json = strdup(topo);
    for (char *at = json; (at = strchr(at, '\'')); at++)
        *at = '"';
    json_t *tree = json_loads(json, 0, NULL);
    assert_non_null(tree);
    char ranks[32];
    snprintf(ranks, sizeof(ranks), world.R->nnodes > 1 ? "0-%zu" : "0", world.R->nnodes - 1);
    world.R->scheduling = json_pack("{s:s, s:[{s:s, s:o}]}", "writer", "TreePool", "children",
                                    "ranks", ranks, "topo", tree);
    assert_non_null(world.R->scheduling);
    free(json);
    return world;
}

static struct rset *world_held(const struct world *world)
{
    const struct rset *sets[32];
    for (size_t i = 0; i < world->ngrants; i++)
        sets[i] = world->grants[i]->R;
    return rset_union_hosts(sets, world->ngrants);
}

static void world_free(struct world *world)
{
    for (size_t i = 0; i < world->ngrants; i++)
        treepool_grant_free(world->grants[i]);
    rset_free(world->R);
}

static void world_release(struct world *world, size_t index)
{
    treepool_grant_free(world->grants[index]);
    world->grants[index] = world->grants[--world->ngrants];
}

static struct request *request_of(const char *text)
{
    struct error err = ERROR_INIT;
    struct shape *shape = shape_decode(text, &err);
    struct request *request = shape ? request_from_shape(shape, &err) : NULL;
    if (!request)
        fail_msg("%s: %s", text, error_text(&err));
    shape_free(shape);
    return request;
}

static enum treepool_answer world_ask(struct world *world, const char *shape,
                                      const char *constraint, struct error *err)
{
    struct request *request = request_of(shape);
    struct rset *held = world_held(world);
    struct constraint *only = constraint ? constraint_decode(constraint, err) : NULL;
    struct treepool_grant *grant;
    enum treepool_answer answer = treepool_allocate(world->R, held, request, only, &grant, err);
    assert_int_equal(answer == TREEPOOL_GRANTED, grant != NULL);
    if (grant)
        world->grants[world->ngrants++] = grant;
    constraint_free(only);
    rset_free(held);
    request_free(request);
    return answer;
}

static struct treepool_grant *world_grant(struct world *world, const char *shape)
{
    struct error err = ERROR_INIT;
    if (world_ask(world, shape, NULL, &err) != TREEPOOL_GRANTED)
        fail_msg("%s: %s", shape, error_text(&err));
    return world->grants[world->ngrants - 1];
}

/* "0:0-3/0 0:4-7/1": rank, cores and GPUs of each slot. */
static char *slots_text(const struct treepool_grant *grant)
{
    char *text = strdup("");
    for (size_t i = 0; i < grant->nslots; i++) {
        char *cores = idset_encode(grant->slots[i].cores), *old = text;
        char *gpus = idset_encode(grant->slots[i].gpus);
        assert_true(asprintf(&text, "%s%s%u:%s%s%s", old, i ? " " : "", grant->slots[i].rank, cores,
                             *gpus ? "/" : "", gpus) > 0);
        free(cores);
        free(gpus);
        free(old);
    }
    return text;
}

static void expect_slots(struct world *world, const char *shape, const char *slots)
{
    char *text = slots_text(world_grant(world, shape));
    if (strcmp(text, slots) != 0)
        fail_msg("%s: %s, not %s", shape, text, slots);
    free(text);
}

static void expect_answer(struct world *world, const char *shape, enum treepool_answer answer,
                          const char *sentence)
{
    struct error err = ERROR_INIT;
    enum treepool_answer got = world_ask(world, shape, NULL, &err);
    if (got != answer)
        fail_msg("%s: %d, not %d: %s", shape, got, answer, error_text(&err));
    assert_string_equal(error_text(&err), sentence);
    error_clear(&err);
}

/* ---- vectors ---- */

static const char *children_ranks(const json_t *R)
{
    const json_t *children = json_object_get(json_object_get(R, "scheduling"), "children");
    return json_string_value(json_object_get(json_array_get(children, 0), "ranks"));
}

static void expect_vector(struct world *world, const json_t *item)
{
    struct treepool_grant *grant = world_grant(world, vectors_text(item, "shape"));
    json_t *R = rset_to_json(grant->R), *want = json_object_get(item, "R_lite");
    json_t *got = json_object_get(json_object_get(R, "execution"), "R_lite");
    if (!json_equal(got, want))
        fail_msg("%s: %s", vectors_text(item, "id"), json_dumps(got, 0));
    assert_string_equal(children_ranks(R), vectors_text(item, "allocated_children_ranks"));
    assert_int_equal(grant->R->nslots, json_integer_value(json_object_get(item, "nslots")));
    assert_int_equal(grant->nslots, grant->R->nslots);
    json_decref(R);
    struct rset *inside = rset_copy(grant->R);
    scheduling_rerank(inside);
    R = rset_to_json(inside);
    assert_string_equal(children_ranks(R), vectors_text(item, "sub_instance_ranks"));
    json_decref(R);
    rset_free(inside);
}

static void expect_cluster(const char *name, size_t count)
{
    json_t *table = vectors_load("rfc49_treepool"), *item;
    json_t *cluster = json_object_get(table, name);
    struct world world = world_of(json_object_get(cluster, "R"));
    size_t i;
    assert_int_equal(json_array_size(vectors_list(cluster, "vectors")), count);
    json_array_foreach(vectors_list(cluster, "vectors"), i, item) expect_vector(&world, item);
    world_free(&world);
    json_decref(table);
}

static void test_cluster_A_of_the_rfc_is_granted_as_it_says(void **state)
{
    (void)state;
    expect_cluster("cluster_A", 11);
}

static void test_cluster_B_of_the_rfc_is_granted_as_it_says(void **state)
{
    (void)state;
    expect_cluster("cluster_B", 9);
}

/* ---- what the RFC leaves open ---- */

static const json_t *ambiguous(json_t *table, size_t index, const char *key)
{
    return json_object_get(json_array_get(vectors_list(table, "ambiguous"), index), key);
}

static void expect_lite(const struct treepool_grant *grant, const json_t *want)
{
    json_t *R = rset_to_json(grant->R);
    assert_non_null(want);
    assert_true(json_equal(json_object_get(json_object_get(R, "execution"), "R_lite"), want));
    json_decref(R);
}

static void world_topology(struct world *world, const json_t *topology)
{
    world->R->scheduling = json_incref((json_t *)topology);
}

static void test_an_intact_domain_is_taken_before_a_slot_is_split(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc49_treepool");
    struct world world = world_make("0-7/0-1 0-7/0-1", NULL);
    world_topology(&world, ambiguous(table, 0, "topology"));
    expect_slots(&world, "slot=1/node/[core=2;gpu=1]", "0:0-1/0");
    expect_slots(&world, "slot=1/node/core=3", "0:4-6");
    world_grant(&world, json_string_value(ambiguous(table, 0, "then")));
    expect_lite(world.grants[2], ambiguous(table, 0, "locality_first"));
    world_free(&world);
    json_decref(table);
}

static void test_the_first_domain_that_fits_is_taken_not_the_fullest(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc49_treepool");
    struct world world = world_make("0-7", NULL);
    world_topology(&world, ambiguous(table, 1, "topology"));
    expect_slots(&world, "slot=1/core=4", "0:0-3");
    expect_slots(&world, "slot=1/core=2", "0:4-5");
    world_release(&world, 0);
    world_grant(&world, json_string_value(ambiguous(table, 1, "then")));
    expect_lite(world.grants[1], ambiguous(table, 1, "first_fit"));
    world_free(&world);
    json_decref(table);
}

/* ---- where others stop short ---- */

static struct world world_cluster_A(void)
{
    json_t *table = vectors_load("rfc49_treepool");
    struct world world = world_of(json_object_get(json_object_get(table, "cluster_A"), "R"));
    json_decref(table);
    return world;
}

static void test_what_several_levels_leave_is_put_together(void **state)
{
    (void)state;
    struct world world = world_cluster_A();
    assert_int_equal(world_grant(&world, "node/slot=5/core=23")->nslots, 5);
    assert_int_equal(world_grant(&world, "node/slot=17/core=7")->nslots, 17);
    expect_slots(&world, "node/slot/core=20", "2:0-19");
    world_free(&world);
}

#define TWO_NUMA "{'numa':[{'cores':'0-3','gpus':'0'},{'cores':'4-7','gpus':'1'}]}"

/* A table of requests to a pool of its own each, one after the other. */
struct step {
    const char *shape;
    const char *slots;
};

struct story {
    const char *nodes, *topo;
    struct step steps[6];
};

static const struct story stories[] = {
    /* whole domains, and so many of them */
    {"0-7/0-1", TWO_NUMA, {{"slot/numa{x}", "0:0-3/0"}, {"slot/numa{x}", "0:4-7/1"}}},
    {"0-7/0-1", TWO_NUMA, {{"slot/numa=2{x}", "0:0-7/0-1"}}},
    {"0-7/0-1 0-7/0-1", TWO_NUMA, {{"slot/core=1", "0:0"}, {"slot/numa=2{x}", "1:0-7/0-1"}}},
    {"0-7/0-1",
     TWO_NUMA,
     {{"slot/numa=2/core=2", "0:0-1,4-5"}, {"slot/numa=2/core=2", "0:2-3,6-7"}}},
    {"0-7/0-1", TWO_NUMA, {{"slot/[numa/core=3;core=2]", "0:0-4"}}},
    {"0-7/0-1 0-7/0-1",
     TWO_NUMA,
     {{"node=2/numa=2/slot=2/core=2", "0:0-1 0:2-3 0:4-5 0:6-7 1:0-1 1:2-3 1:4-5 1:6-7"}}},
    {"0-7/0-1",
     TWO_NUMA,
     {{"node/numa{x}/slot=2/core=1", "0:0 0:1"}, {"slot=2/core=2", "0:4-5 0:6-7"}}},
    /* whole nodes */
    {"0-7/0-1 0-7/0-1", TWO_NUMA, {{"slot/core=1", "0:0"}, {"slot/node{x}", "1:0-7/0-1"}}},
    {"0-7/0-1 0-7/0-1",
     TWO_NUMA,
     {{"node{x}/slot=2/core=3", "0:0-2 0:4-6"}, {"slot/core=1", "1:0"}}},
    {"0-7/0-1 0-7/0-1",
     TWO_NUMA,
     {{"slot/[core=1;gpu=1]", "0:0/0"}, {"slot=1/node{x}", "1:0-7/0-1"}}},
    /* a GPU that no NUMA domain has; a domain with both cores and domains */
    {"0-7/0-1",
     "{'socket':[{'gpus':'0-1','numa':[{'cores':'0-3'},{'cores':'4-7'}]}]}",
     {{"slot/[core=2;gpu=1]", "0:0-1/0"}, {"slot/[core=3;gpu=1]", "0:2-4/1"}}},
    {"0-7",
     "{'socket':[{'cores':'0-1','numa':[{'cores':'2-4'},{'cores':'5-7'}]}]}",
     {{"slot/core=3", "0:2-4"}, {"slot/core=5", "0:0-1,5-7"}}},
    /* cores as near to the GPU as there are */
    {"0-7/0-1",
     TWO_NUMA,
     {{"slot/core=4", "0:0-3"},
      {"slot/[core=2;gpu=1]", "0:4-5/1"},
      {"slot/[core=2;gpu=1]", "0:6-7/0"}}},
    {"0-7/0-1", TWO_NUMA, {{"slot/core=1", "0:0"}, {"slot/[core=6;gpu=1]", "0:1-2,4-7/1"}}},
    {"0-8/0-2",
     "{'socket':[{'numa':[{'cores':'0-2','gpus':'0'},{'cores':'3-5','gpus':'1'}]},{'numa':[{'cores'"
     ":'6-8','gpus':'2'}]}]}",
     {{"slot/core=2", "0:0-1"},
      {"slot/core=2", "0:3-4"},
      {"slot/core=3", "0:6-8"},
      {"slot/[core=2;gpu=2]", "0:2,5/0-1"}}},
    /* unequal depths meet at the leaves */
    {"0-6",
     "{'socket':[{'cores':'0-2'},{'numa':[{'cores':'3-4'},{'cores':'5-6'}]}]}",
     {{"slot/core=2", "0:0-1"}, {"slot/core=2", "0:3-4"}, {"slot/core=3", "0:2,5-6"}}},
    /* no topology: the node is one locality */
    {"0-3 0-7", NULL, {{"slot/core=2", "0:0-1"}, {"slot=3/core=2", "0:2-3 1:0-1 1:2-3"}}},
    /* part of a node is owned: of domains only that counts */
    {"2-5", TWO_NUMA, {{"slot/numa{x}", "0:2-3"}, {"slot/core=2", "0:4-5"}}},
    {"2-7,9", TWO_NUMA, {{"slot/core=7", "0:2-7,9"}}},
    /* the roomiest domains, so that none is left over */
    {"0-7",
     "{'numa':[{'cores':'0-1'},{'cores':'2-3'},{'cores':'4-7'}]}",
     {{"slot=4/numa=2/core=1", "0:0,4 0:2,5 0:1,6 0:3,7"}}},
    /* as many as possible: nodes, then slots, then what is in a slot */
    {"0-7 0-7 0-3", NULL, {{"node=1-3/slot/core=6", "0:0-5 1:0-5"}}},
    {"0-7 0-7 0-3",
     NULL,
     {{"node=2/slot=1-4/core=2", "0:0-1 0:2-3 0:4-5 0:6-7 1:0-1 1:2-3 1:4-5 1:6-7"}}},
    {"0-7 0-5", NULL, {{"slot=1+/core=3", "1:0-2 1:3-5 0:0-2 0:3-5"}}},
    {"0-7 0-5", NULL, {{"slot=1,3,9/core=3", "1:0-2 1:3-5 0:0-2"}}},
    {"0-7 0-5", NULL, {{"slot=2/node/core=2+", "1:0-5 0:0-5"}}},
    {"0-7 0-5", NULL, {{"slot/core=1-16:2:*", "0:0-7"}}},
    {"0-7/0-1", TWO_NUMA, {{"slot/numa=1-4/core=3", "0:0-2,4-6"}}},
};

static void test_slots_are_where_they_belong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
        struct world world = world_make(stories[i].nodes, stories[i].topo);
        for (const struct step *step = stories[i].steps; step->shape; step++)
            expect_slots(&world, step->shape, step->slots);
        world_free(&world);
    }
}

/* Too many slots to try everything for. */
static void test_many_slots_of_two_domains_use_up_both_sides(void **state)
{
    (void)state;
    struct world world =
        world_make("0-399", "{'numa':[{'cores':'0-99'},{'cores':'100-199'},{'cores':'200-399'}]}");
    assert_int_equal(world_grant(&world, "slot=200/numa=2/core=1")->nslots, 200);
    world_free(&world);
}

static void test_a_claim_is_more_than_its_slots(void **state)
{
    (void)state;
    struct world world = world_make("0-7/0-1", TWO_NUMA);
    struct rset *R = world_grant(&world, "node/numa{x}/slot=2/core=1")->R;
    struct idset *cores = idset_decode("0-3", NULL), *gpus = idset_decode("0", NULL);
    assert_true(idset_equal(R->nodes[0].children->cores, cores));
    assert_true(idset_equal(R->nodes[0].children->gpus, gpus));
    assert_int_equal(R->nslots, 2);
    idset_free(cores);
    idset_free(gpus);
    world_free(&world);
}

/* ---- refusals ---- */

static const struct {
    const char *nodes, *topo, *before, *shape;
    enum treepool_answer answer;
    const char *sentence;
} refusals[] = {
    {"0-7 0-3", NULL, NULL, "slot/core=9", TREEPOOL_NEVER,
     "a slot needs 9 cores of a node: the largest node has 8"},
    {"0-7/0-1", TWO_NUMA, NULL, "slot/numa/core=5", TREEPOOL_NEVER,
     "a slot needs 5 cores of a numa: the largest numa has 4"},
    {"0-7/0-1", TWO_NUMA, NULL, "slot/[core=1;gpu=3]", TREEPOOL_NEVER,
     "a slot needs 3 GPUs of a node: the most that a node has is 2"},
    {"0-7/0-1", TWO_NUMA, NULL, "slot/socket{x}", TREEPOOL_NEVER,
     "no node has a locality \"socket\": there is \"numa\""},
    {"0-7", NULL, NULL, "slot/numa{x}", TREEPOOL_NEVER,
     "no node has a locality \"numa\": the resource set says nothing of what is inside its nodes "
     "(RFC 49)"},
    {"0-7 0-7", NULL, NULL, "slot=3/node/core=2", TREEPOOL_NEVER,
     "3 nodes with 1 slot of 2 cores each: there are only 2"},
    {"0-7 0-7", NULL, NULL, "node/slot=3/core=3", TREEPOOL_NEVER,
     "1 node with 3 slots of 3 cores: 0 of 2 have room for that; the most that a node holds is 2, "
     "even with all of it free"},
    {"0-7 0-7", NULL, NULL, "slot=5/core=4", TREEPOOL_NEVER,
     "5 slots of 4 cores: there is room for 4, even with all of it free"},
    {"0-7/0-1", TWO_NUMA, NULL, "node/numa=3/slot=2/core=1", TREEPOOL_NEVER,
     "1 node with 2 slots of 1 core in each of 3 \"numa\": 0 of 1 have room for that; the most "
     "that "
     "a node holds is 2, even with all of it free"},
    {"0-7/0-1", TWO_NUMA, NULL, "slot=3/numa{x}", TREEPOOL_NEVER,
     "3 slots of 1 entirely free \"numa\": there is room for 2, even with all of it free"},
    {"0-7 0-7", NULL, "slot=1/core=2", "slot=2/node{x}", TREEPOOL_BUSY,
     "2 whole nodes: 1 of 2 has room for that now; 2 of 16 cores are held by others"},
    {"0-7/0-1", TWO_NUMA, "slot/[core=3;gpu=2]", "slot=2/[core=2;gpu=1]", TREEPOOL_BUSY,
     "2 slots of 2 cores and 1 GPU: there is room for 0 now; 3 of 8 cores and 2 of 2 GPUs are held "
     "by others"},
};

static void test_refusals_say_what_is_missing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct world world = world_make(refusals[i].nodes, refusals[i].topo);
        if (refusals[i].before)
            world_grant(&world, refusals[i].before);
        expect_answer(&world, refusals[i].shape, refusals[i].answer, refusals[i].sentence);
        world_free(&world);
    }
}

static void expect_refused(struct world *world, const char *shape, const char *constraint,
                           const char *sentence)
{
    struct error err = ERROR_INIT;
    assert_int_equal(world_ask(world, shape, constraint, &err), TREEPOOL_NEVER);
    assert_string_equal(error_text(&err), sentence);
    error_clear(&err);
}

/* So many localities within one another, each with these cores and the name "a". */
static char *nested_topo(uint32_t depth, const char *cores)
{
    struct buf text = BUF_INIT;
    for (uint32_t i = 0; i < depth; i++)
        buf_printf(&text, "{'cores':'%s','a':[", cores);
    buf_printf(&text, "{'cores':'%s'}", cores);
    for (uint32_t i = 0; i < depth; i++)
        buf_add_text(&text, "]}");
    return buf_take_text(&text);
}

/* BEFORE, a name so often, AFTER. */
static char *nested_shape(const char *before, const char *name, uint32_t count, const char *after)
{
    struct buf text = BUF_INIT;
    buf_add_text(&text, before);
    for (uint32_t i = 0; i < count; i++)
        buf_add_text(&text, name);
    buf_add_text(&text, after);
    return buf_take_text(&text);
}

static void test_localities_of_one_name_within_one_another_take_no_time(void **state)
{
    static const uint32_t counts[] = {1, 16, 31};
    char *topo = nested_topo(31, "0-3");
    (void)state;
    limit_cpu(20);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct world world = world_make("0-3", topo);
        char *shape = nested_shape("slot", "/a", counts[i], "/core");
        expect_slots(&world, shape, "0:0");
        free(shape);
        world_free(&world);
    }
    free(topo);
}

/* Likewise where they lie between node and slot, shared, whole or of any number. */
static void test_slots_in_localities_of_one_name_within_one_another_take_no_time(void **state)
{
    static const struct {
        const char *name;
        uint32_t count;
        const char *slot, *slots;
    } cases[] = {
        {"/a", 16, "/slot/core", "0:0"},
        {"/a", 31, "/slot/core", "0:0"},
        {"/a{x}", 16, "/slot/core", "0:0"},
        {"/a{x}", 31, "/slot/core", "0:0"},
        {"/a", 16, "/slot=4/core", "0:0 0:1 0:2 0:3"},
        {"/a=1+", 16, "/slot/core", "0:3 0:2 0:1 0:0"},
        {"/a", 15, "/slot/a/a{x}", "0:0-3"},
    };
    char *topo = nested_topo(31, "0-3");
    (void)state;
    limit_cpu(2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world world = world_make("0-3", topo);
        char *shape = nested_shape("node", cases[i].name, cases[i].count, cases[i].slot);
        expect_slots(&world, shape, cases[i].slots);
        free(shape);
        world_free(&world);
    }
    free(topo);
}

static void test_a_search_without_end_is_given_up(void **state)
{
    char *topo = nested_topo(31, "0-63");
    struct world world = world_make("0-63", topo);
    char *shape = nested_shape("node", "/a=1,3", 16, "/slot/core");
    (void)state;
    limit_cpu(20);
    expect_answer(&world, shape, TREEPOOL_NEVER,
                  "there are too many ways to place such slots on these nodes, and after 268 "
                  "million domains the search ends: fewer localities within one another, or fewer "
                  "ranges, take less");
    free(shape);
    world_free(&world);
    free(topo);
}

static void test_a_constraint_says_which_nodes_may_be_used(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct world world = world_make("0-7 0-7 0-7", NULL);
    assert_int_equal(world_ask(&world, "slot/core=1", "rank:2", &err), TREEPOOL_GRANTED);
    assert_int_equal(world.grants[0]->slots[0].rank, 2);
    expect_refused(&world, "slot/core=1", "rank:7",
                   "no node matches the constraint {\"ranks\":[\"7\"]}");
    expect_refused(&world, "slot=2/node{x}", "rank:0", "2 whole nodes: there is only 1");
    world_free(&world);
}

static void test_nodes_that_state_too_little_memory_or_storage_are_passed_over(void **state)
{
    (void)state;
    struct world world = world_make(
        "0-3", "{'numa':[{'cores':'0-1','memory':4},{'cores':'2-3','memory':4}],"
               "'storage':[{'path':'/a','capacity':1},{'path':'/b','capacity':2,'unit':'TiB'}]}");
    world_grant(&world, "slot/[core;memory=8]");
    world_grant(&world, "slot/[core;storage=2048]");
    expect_refused(&world, "slot/[core;memory=9]", NULL,
                   "no node states as much memory as 9 GiB: the most is 8 GiB");
    expect_refused(&world, "slot/[core;storage=2049]", NULL,
                   "no node states as much storage as 2049 GiB: the most is 2048 GiB");
    world_free(&world);
    world = world_make("0-3", NULL);
    world_grant(&world, "slot/[core;memory=9]"); /* nothing stated: any */
    world_free(&world);
}

/* ---- R ---- */

static void test_the_R_of_an_allocation_has_what_belongs_to_it_and_no_more(void **state)
{
    (void)state;
    struct world world = world_make("0-7/0-1 0-7/0-1 0-7/0-1", TWO_NUMA);
    world.R->properties = json_pack("{s:s, s:s, s:s, s:s}", "ssd", "0,2", "slow", "2", "+inner",
                                    "0-2", "disk@fast", "0-1");
    world.R->starttime = 5;
    world.R->expiration = 7;
    world.R->nslots = 3;
    struct treepool_grant *grant = world_grant(&world, "slot=2/node{x}");
    json_t *R = rset_to_json(grant->R);
    json_t *want =
        json_pack("{s:i, s:{s:[{s:s, s:{s:s, s:s}}], s:[s], s:i, s:{s:s, s:s}, s:i, s:i},"
                  " s:{s:s, s:[{s:s, s:O}]}}",
                  "version", 1, "execution", "R_lite", "rank", "0-1", "children", "core", "0-7",
                  "gpu", "0-1", "nodelist", "n[0-1]", "nslots", 2, "properties", "ssd", "0",
                  "disk@fast", "0-1", "starttime", 5, "expiration", 7, "scheduling", "writer",
                  "TreePool", "children", "ranks", "0-1", "topo",
                  json_object_get(
                      json_array_get(json_object_get(world.R->scheduling, "children"), 0), "topo"));
    assert_non_null(want);
    if (!json_equal(R, want))
        fail_msg("%s", json_dumps(R, 0));
    json_decref(want);
    json_decref(R);
    world_free(&world);
}

static void test_what_is_held_is_matched_by_host(void **state)
{
    (void)state;
    struct request *request = request_of("slot/core=4");
    struct world world = world_make("0-3 0-3", NULL);
    struct rset *held = rset_new();
    struct idset *some = idset_decode("0-1", NULL), *more = idset_decode("2", NULL);
    rset_append(held, 1, "elsewhere", some, NULL);
    rset_append(held, 5, "n0", some, NULL);
    rset_append(held, 6, "n0", more, NULL); /* a host twice is one host */
    struct treepool_grant *grant;
    assert_int_equal(treepool_allocate(world.R, held, request, NULL, &grant, NULL),
                     TREEPOOL_GRANTED);
    assert_int_equal(grant->slots[0].rank, 1);
    treepool_grant_free(grant);
    struct error err = ERROR_INIT;
    request_free(request);
    request = request_of("slot=2/core=2");
    idset_add(some, 3);
    rset_append(held, 7, "n1", some, NULL);
    assert_int_equal(treepool_allocate(world.R, held, request, NULL, &grant, &err), TREEPOOL_BUSY);
    assert_string_equal(error_text(&err), "2 slots of 2 cores: there is room for 0 now; 6 of 8 "
                                          "cores are held by others");
    error_clear(&err);
    idset_free(some);
    idset_free(more);
    rset_free(held);
    request_free(request);
    world_free(&world);
}

static void test_what_is_given_back_can_be_had_again(void **state)
{
    (void)state;
    struct world world = world_cluster_A();
    expect_slots(&world, "slot=16/node{x}",
                 "0:0-119/0-7 1:0-119/0-7 2:0-119/0-7 3:0-119/0-7 "
                 "4:0-119/0-7 5:0-119/0-7 6:0-119/0-7 7:0-119/0-7 8:0-119/0-7 9:0-119/0-7 "
                 "10:0-119/0-7 11:0-119/0-7 12:0-119/0-7 13:0-119/0-7 14:0-119/0-7 15:0-119/0-7");
    expect_answer(&world, "slot/core", TREEPOOL_BUSY,
                  "1 slot of 1 core: there is room for 0 now; 1920 of 1920 cores and 128 of 128 "
                  "GPUs are held by others");
    world_release(&world, 0);
    expect_slots(&world, "slot/core", "0:0");
    world_free(&world);
}

static void test_a_topology_that_is_not_right_is_refused(void **state)
{
    (void)state;
    struct world world = world_make("0-3", "{'numa':[{'cores':'0-1'},{'cores':'1-3'}]}");
    expect_refused(&world, "slot/core", NULL,
                   "ranks \"0\": topo: core 1 is in two domains side by side: domains must "
                   "lie within one another or apart");
    world_free(&world);
}

static void test_another_writer_or_no_children_means_no_localities(void **state)
{
    (void)state;
    struct world world = world_make("0-3", NULL);
    world.R->scheduling = json_pack("{s:s}", "writer", "TreePool");
    expect_slots(&world, "slot/core=3", "0:0-2");
    json_decref(world.R->scheduling);
    world.R->scheduling = json_pack("{s:s, s:i}", "writer", "fluxion", "graph", 4);
    struct treepool_grant *grant = world_grant(&world, "slot/core");
    assert_true(json_equal(grant->R->scheduling, world.R->scheduling));
    world_free(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cluster_A_of_the_rfc_is_granted_as_it_says),
        cmocka_unit_test(test_cluster_B_of_the_rfc_is_granted_as_it_says),
        cmocka_unit_test(test_an_intact_domain_is_taken_before_a_slot_is_split),
        cmocka_unit_test(test_the_first_domain_that_fits_is_taken_not_the_fullest),
        cmocka_unit_test(test_what_several_levels_leave_is_put_together),
        cmocka_unit_test(test_slots_are_where_they_belong),
        cmocka_unit_test(test_many_slots_of_two_domains_use_up_both_sides),
        cmocka_unit_test(test_a_claim_is_more_than_its_slots),
        cmocka_unit_test(test_refusals_say_what_is_missing),
        cmocka_unit_test(test_localities_of_one_name_within_one_another_take_no_time),
        cmocka_unit_test(test_slots_in_localities_of_one_name_within_one_another_take_no_time),
        cmocka_unit_test(test_a_search_without_end_is_given_up),
        cmocka_unit_test(test_a_constraint_says_which_nodes_may_be_used),
        cmocka_unit_test(test_nodes_that_state_too_little_memory_or_storage_are_passed_over),
        cmocka_unit_test(test_the_R_of_an_allocation_has_what_belongs_to_it_and_no_more),
        cmocka_unit_test(test_what_is_held_is_matched_by_host),
        cmocka_unit_test(test_what_is_given_back_can_be_had_again),
        cmocka_unit_test(test_a_topology_that_is_not_right_is_refused),
        cmocka_unit_test(test_another_writer_or_no_children_means_no_localities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

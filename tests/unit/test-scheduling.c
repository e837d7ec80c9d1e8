#include <stdlib.h>
#include <string.h>

#include "affinity/resource/scheduling.h"
#include "affinity/treepool/treepool.h"
#include "tests/unit/limit.h"
#include "tests/unit/vectors.h"

/* JSON with ' for ". */
static json_t *json_of(const char *text)
{
    json_error_t bad;
    char *copy = strdup(text);
    for (char *at = copy; (at = strchr(at, '\'')); at++)
        *at = '"';
    json_t *value = json_loads(copy, 0, &bad);
    if (!value)
        fail_msg("%s: %s", text, bad.text);
    free(copy);
    return value;
}

static struct scheduling *read_scheduling(const char *text)
{
    struct error err = ERROR_INIT;
    json_t *scheduling = json_of(text);
    struct scheduling *locality = scheduling_read(scheduling, &err);
    if (!locality)
        fail_msg("%s: %s", text, error_text(&err));
    json_decref(scheduling);
    return locality;
}

#define ENTRY(ranks, topo)                                                                         \
    "{'writer':'TreePool','children':[{'ranks':'" ranks "','topo':" topo "}]}"

/* ---- reading ---- */

static void expect_ids(const struct idset *set, const char *text)
{
    char *got = idset_encode(set);
    assert_string_equal(got, text);
    free(got);
}

static void test_a_domain_has_all_that_is_at_and_below_it(void **state)
{
    (void)state;
    struct scheduling *locality = read_scheduling(
        ENTRY("0", "{'cores':'12','socket':[{'cores':'0','gpus':'2','rack':[{'cores':'1-3','gpus':"
                   "'0'},{'cores':'4'}]},{'cores':'8-11'}]}"));
    const struct scheduling_tree *tree = &locality->trees[0];
    static const struct {
        const char *name, *cores, *gpus;
        uint32_t up, end, height;
    } want[] = {
        {NULL, "0-4,8-12", "0,2", 0, 5, 2}, {"socket", "0-4", "0,2", 0, 4, 1},
        {"rack", "1-3", "0", 1, 3, 0},      {"rack", "4", "", 1, 4, 0},
        {"socket", "8-11", "", 0, 5, 0},
    };
    assert_int_equal(tree->ndomains, 5);
    for (uint32_t i = 0; i < 5; i++) {
        const struct scheduling_domain *domain = &tree->domains[i];
        expect_ids(domain->cores, want[i].cores);
        expect_ids(domain->gpus, want[i].gpus);
        assert_true(!i == !domain->name && (!i || strcmp(domain->name, want[i].name) == 0));
        assert_int_equal(domain->up, want[i].up);
        assert_int_equal(domain->end, want[i].end);
        assert_int_equal(domain->height, want[i].height);
    }
    scheduling_free(locality);
}

static void test_a_domain_with_one_like_it_below_is_no_level_of_its_own(void **state)
{
    (void)state;
    struct scheduling *locality = read_scheduling(ENTRY(
        "0", "{'socket':[{'numa':[{'cores':'0-3','gpus':'0'}]},{'numa':[{'cores':'4-7'}]}]}"));
    const struct scheduling_tree *tree = &locality->trees[0];
    assert_int_equal(tree->domains[1].height, 0);
    assert_int_equal(tree->domains[2].height, 0);
    assert_int_equal(tree->domains[0].height, 1);
    scheduling_free(locality);
}

static void test_memory_and_storage_are_what_the_node_states(void **state)
{
    static const struct {
        const char *topo;
        double memory, storage; /* GiB */
    } cases[] = {
        {"{'cores':'0'}", 0, 0},
        {"{'memory':64}", 64, 0},
        {"{'memory':1.5}", 1.5, 0},
        {"{'numa':[{'memory':30},{'memory':31}]}", 61, 0},
        {"{'memory':64,'numa':[{'memory':30},{'memory':31}]}", 64, 0},
        {"{'memory':9,'socket':[{'numa':[{'memory':5}]},{'memory':5}]}", 10, 0},
        {"{'storage':[]}", 0, 0},
        {"{'storage':[{'path':'/a','capacity':200}]}", 0, 200},
        {"{'storage':[{'path':'/a','capacity':200,'unit':'GiB'},{'path':'/b','capacity':1.5,"
         "'unit':'TiB'}]}",
         0, 1536},
        {"{'storage':[{'path':'/a','capacity':512,'unit':'MiB'}]}", 0, 0.5},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scheduling_tree tree = {0};
        json_t *topo = json_of(cases[i].topo);
        assert_int_equal(scheduling_read_topo(topo, "0", &tree, NULL), 0);
        assert_true((double)tree.memory == cases[i].memory * 0x1p30);
        assert_true((double)tree.storage == cases[i].storage * 0x1p30);
        scheduling_tree_clear(&tree);
        json_decref(topo);
    }
}

static void test_nodes_of_one_kind_share_a_tree(void **state)
{
    (void)state;
    struct scheduling *locality = read_scheduling(
        "{'writer':'TreePool','children':[{'ranks':'0-9,20','topo':{'cores':'0'}},{'ranks':'10',"
        "'topo':{'cores':'0-1'}},{'ranks':'11-12','topo':{'cores':'0'}}]}");
    assert_int_equal(locality->ntrees, 2);
    assert_int_equal(scheduling_find(locality, 0), 0);
    assert_int_equal(scheduling_find(locality, 10), 1);
    assert_int_equal(scheduling_find(locality, 12), 0);
    assert_int_equal(scheduling_find(locality, 20), 0);
    assert_int_equal(scheduling_find(locality, 13), -1);
    assert_int_equal(scheduling_find(locality, 21), -1);
    scheduling_free(locality);
}

static void test_what_is_not_a_TreePool_is_not_looked_at(void **state)
{
    static const char *const texts[] = {"{}",
                                        "{'writer':'fluxion','children':4}",
                                        "{'writer':7}",
                                        "{'children':[{}]}",
                                        "{'writer':'TreePool'}",
                                        "{'writer':'treepool','x':1}"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct scheduling *locality = read_scheduling(texts[i]);
        assert_int_equal(locality->ntrees, 0);
        assert_int_equal(scheduling_find(locality, 0), -1);
        scheduling_free(locality);
    }
    struct scheduling *none = scheduling_read(NULL, NULL);
    assert_non_null(none);
    scheduling_free(none);
}

/* ---- what is wrong ---- */

#define RIGHT_ENTRY                                                                                \
    "; expected an object with only ranks, an idset in a string, and topo, an object (RFC 49)"

static const struct {
    const char *text, *sentence;
} bad[] = {
    {"{'writer':'TreePool','childs':[]}",
     "scheduling has a key beside writer and children, which is all there is for the writer "
     "TreePool (RFC 49)"},
    {"{'writer':'TreePool','children':[],'x':1}",
     "scheduling has a key beside writer and children, which is all there is for the writer "
     "TreePool (RFC 49)"},
    {"{'writer':'TreePool','children':{}}",
     "scheduling.children: expected an array of objects with ranks and topo (RFC 49)"},
    {"{'writer':'TreePool','children':[1]}", "scheduling.children[0]: not an object" RIGHT_ENTRY},
    {"{'writer':'TreePool','children':[{'topo':{}}]}",
     "scheduling.children[0]: ranks is missing or no text" RIGHT_ENTRY},
    {"{'writer':'TreePool','children':[{'ranks':3,'topo':{}}]}",
     "scheduling.children[0]: ranks is missing or no text" RIGHT_ENTRY},
    {"{'writer':'TreePool','children':[{'ranks':'0'}]}",
     "scheduling.children[0]: topo is missing or no object" RIGHT_ENTRY},
    {"{'writer':'TreePool','children':[{'ranks':'0','topo':[]}]}",
     "scheduling.children[0]: topo is missing or no object" RIGHT_ENTRY},
    {"{'writer':'TreePool','children':[{'ranks':'0','topo':{},'x':0}]}",
     "scheduling.children[0]: there is one key more" RIGHT_ENTRY},
    {ENTRY("", "{}"), "scheduling.children[0]: ranks is empty" RIGHT_ENTRY},
    {ENTRY("1-", "{}"), "scheduling.children[0].ranks: idset \"1-\": \"1-\" is not an id; "
                        "expected ascending ids and ranges, as in 0-3,7"},
    {"{'writer':'TreePool','children':[{'ranks':'0-4','topo':{}},{'ranks':'7,4','topo':{}}]}",
     "scheduling.children[1].ranks: idset \"7,4\": \"4\" does not ascend; expected ascending "
     "ids and ranges, as in 0-3,7"},
    {"{'writer':'TreePool','children':[{'ranks':'0-4','topo':{}},{'ranks':'4,7','topo':{}}]}",
     "rank 4 is in scheduling.children[0] and in scheduling.children[1]: expected one entry "
     "for each rank"},
    {ENTRY("0-3", "{'cores':[0,1]}"), "ranks \"0-3\": topo: cores: expected an idset in a string"},
    {ENTRY("0-3", "{'socket':[{},{'numa':[{'gpus':'0-'}]}]}"),
     "ranks \"0-3\": topo.socket[1].numa[0]: gpus: idset \"0-\": \"0-\" is not an id; expected "
     "ascending ids and ranges, as in 0-3,7"},
    {ENTRY("0", "{'numa':{'cores':'0'}}"),
     "ranks \"0\": topo: \"numa\": expected an array of domains; the keys of a domain are cores, "
     "gpus, memory and storage"},
    {ENTRY("0", "{'core':'0-3'}"),
     "ranks \"0\": topo: \"core\": expected an array of domains; the keys of a domain are cores, "
     "gpus, memory and storage"},
    {ENTRY("0", "{'numa':['0']}"), "ranks \"0\": topo.numa[0]: a domain must be an object"},
    {ENTRY("0", "{'':[]}"), "ranks \"0\": topo: the name of a domain is empty: expected socket, "
                            "numa or a name of the site's own"},
    {ENTRY("0", "{'numa':[{'gpus':'0'},{'gpus':'0-1'}]}"),
     "ranks \"0\": topo: GPU 0 is in two domains side by side: domains must lie within one "
     "another or apart"},
    {ENTRY("0", "{'socket':[{'cores':'0-3'}],'numa':[{'cores':'2-5'}]}"),
     "ranks \"0\": topo: core 2 is in two domains side by side: domains must lie within one "
     "another or apart"},
    {ENTRY("0", "{'memory':'64'}"), "ranks \"0\": topo: memory: expected a number from 0 up"},
    {ENTRY("0", "{'memory':-1}"), "ranks \"0\": topo: memory: expected a number from 0 up"},
    {ENTRY("0", "{'memory':1e300}"), "ranks \"0\": topo: memory: expected a number from 0 up"},
    {ENTRY("0", "{'storage':{}}"), "ranks \"0\": topo: storage: expected an array of objects"},
    {ENTRY("0", "{'storage':[7]}"), "ranks \"0\": topo.storage[0]: expected an object with path "
                                    "and capacity"},
    {ENTRY("0", "{'storage':[{'capacity':1}]}"),
     "ranks \"0\": topo.storage[0]: path: expected a mount point in a string"},
    {ENTRY("0", "{'storage':[{'path':'/a'}]}"),
     "ranks \"0\": topo.storage[0]: capacity: expected a number from 0 up"},
    {ENTRY("0", "{'storage':[{'path':'/a','capacity':1,'unit':'GB/s'}]}"),
     "ranks \"0\": topo.storage[0]: unknown unit \"GB/s\" (expected MB, GiB, TiB or the like)"},
    {ENTRY("0", "{'storage':[{'path':'/a','capacity':1,'unit':4}]}"),
     "ranks \"0\": topo.storage[0]: unit: expected a string such as MB, GiB or TiB"},
    {ENTRY("0", "{'storage':[{'path':'/a','capacity':1,'size':4}]}"),
     "ranks \"0\": topo.storage[0]: unknown key \"size\" of a storage (expected path, capacity or "
     "unit)"},
};

static void expect_bad(const json_t *scheduling, const char *sentence)
{
    struct error err = ERROR_INIT;
    struct scheduling *locality = scheduling_read(scheduling, &err);
    if (locality)
        fail_msg("taken, and not: %s", sentence);
    assert_string_equal(error_text(&err), sentence);
    error_clear(&err);
}

static void test_wrong_topologies_are_refused_with_their_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        json_t *scheduling = json_of(bad[i].text);
        expect_bad(scheduling, bad[i].sentence);
        json_decref(scheduling);
    }
}

/* Cores 0, N, 2N, ... of the first of N localities, then 1, N + 1, ... */
static json_t *interleaved_topo(uint32_t nlocalities, uint32_t ncores)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < nlocalities; i++) {
        struct idset *cores = idset_new();
        for (uint32_t core = 0; core < ncores; core++)
            idset_add(cores, i * 2 + core * nlocalities * 2);
        char *text = idset_encode(cores);
        json_array_append_new(list, json_pack("{s:s}", "cores", text));
        free(text);
        idset_free(cores);
    }
    return json_pack("{s:o}", "a", list);
}

static void test_many_localities_of_many_cores_take_no_time(void **state)
{
    json_t *topo = interleaved_topo(4000, 300);
    struct scheduling_tree tree = {0};
    (void)state;
    limit_cpu(8);
    assert_int_equal(scheduling_read_topo(topo, "0", &tree, NULL), 0);
    assert_int_equal(idset_count(tree.domains[0].cores), 4000 * 300);
    scheduling_tree_clear(&tree);
    json_decref(topo);
}

static void test_memory_in_all_is_less_than_any_machine_could_have(void **state)
{
    json_t *fits = json_of("{'socket':[{'numa':[{'memory':4e9},{'memory':4e9}]}]}");
    struct scheduling_tree tree = {0};
    (void)state;
    assert_int_equal(scheduling_read_topo(fits, "0", &tree, NULL), 0);
    assert_true(tree.memory == UINT64_C(8000000000) << 30);
    scheduling_tree_clear(&tree);
    json_decref(fits);
    json_t *scheduling =
        json_of(ENTRY("0", "{'socket':[{'numa':[{'memory':8e9},{'memory':8e9},{'memory':8e9}]}]}"));
    expect_bad(scheduling, "ranks \"0\": topo.socket[0].numa[1]: with this the domains state more "
                           "memory than 9000 PB, the most that a node may have");
    json_decref(scheduling);
}

static json_t *wrap(json_t *topo)
{
    return json_pack("{s:s, s:[{s:s, s:o}]}", "writer", "TreePool", "children", "ranks", "0",
                     "topo", topo);
}

static void test_depth_and_size_are_bounded(void **state)
{
    (void)state;
    json_t *topo = json_object(), *many = json_array(), *scheduling;
    for (int i = 0; i < SCHEDULING_MAX_DEPTH; i++)
        topo = json_pack("{s:[o]}", "g", topo);
    struct scheduling_tree tree = {0};
    assert_int_equal(scheduling_read_topo(topo, "0", &tree, NULL), 0);
    scheduling_tree_clear(&tree);
    topo = json_pack("{s:[o]}", "g", topo);
    struct error err = ERROR_INIT;
    assert_int_equal(scheduling_read_topo(topo, "0", &tree, &err), -1);
    assert_non_null(strstr(error_text(&err), "this is deeper than 32 levels"));
    error_clear(&err);
    scheduling_tree_clear(&tree);
    json_decref(topo);
    for (int i = 0; i < SCHEDULING_MAX_DOMAINS; i++)
        json_array_append_new(many, json_object());
    scheduling = wrap(json_pack("{s:o}", "numa", many));
    expect_bad(scheduling, "ranks \"0\": topo.numa[4095]: these are more than 4096 domains, the "
                           "most a node may have");
    json_decref(scheduling);
}

/* ---- trimming and renumbering ---- */

static bool kept(const struct rset_node *node, void *arg)
{
    return idset_has(arg, node->rank);
}

/* The same R, with hosts written as this tree writes them. */
static json_t *normal(const json_t *R)
{
    struct error err = ERROR_INIT;
    struct rset *set = rset_from_json(R, &err);
    if (!set)
        fail_msg("%s", error_text(&err));
    assert_int_equal(scheduling_check(set, &err), 0);
    json_t *again = rset_to_json(set);
    rset_free(set);
    return again;
}

static void expect_R(const struct rset *set, const json_t *R, const char *name)
{
    json_t *got = rset_to_json(set), *want = normal(R);
    if (!json_equal(got, want))
        fail_msg("%s: %s", name, json_dumps(got, 0));
    json_decref(got);
    json_decref(want);
}

static void expect_case(const struct rset *parent, const json_t *item)
{
    struct idset *ranks = idset_decode(vectors_text(item, "allocated_ranks"), NULL);
    struct rset *part = rset_select(parent, kept, ranks);
    json_t *trimmed = scheduling_trim(parent->scheduling, part);
    json_decref(part->scheduling);
    part->scheduling = trimmed;
    part->nslots = idset_count(ranks);
    expect_R(part, json_object_get(item, "allocated"), vectors_text(item, "name"));
    struct rset *inside = rset_copy(part);
    scheduling_rerank(inside);
    expect_R(inside, json_object_get(item, "sub_instance"), vectors_text(item, "name"));
    json_t *map = json_object_get(item, "rank_map"), *now;
    const char *old;
    json_object_foreach(map, old, now)
    {
        const struct rset_node *a = rset_find_rank(part, (uint32_t)atoi(old));
        const struct rset_node *b = rset_find_rank(inside, (uint32_t)json_integer_value(now));
        assert_true(a && b);
        assert_string_equal(a->host, b->host);
    }
    rset_free(inside);
    rset_free(part);
    idset_free(ranks);
}

static void test_vectors_of_trimming_and_renumbering_hold(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc49_treepool"), *item;
    json_t *cases = json_object_get(table, "allocated_R");
    struct rset *parent = rset_from_json(json_object_get(cases, "parent"), NULL);
    assert_non_null(parent);
    size_t i;
    assert_int_equal(json_array_size(vectors_list(cases, "cases")), 6);
    json_array_foreach(vectors_list(cases, "cases"), i, item) expect_case(parent, item);
    rset_free(parent);
    json_decref(table);
}

/* The same by allocation: the whole nodes of a case, asked for by their ranks. */
static void test_vectors_are_what_an_allocation_of_these_nodes_gives(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc49_treepool"), *item;
    json_t *cases = json_object_get(table, "allocated_R");
    struct rset *parent = rset_from_json(json_object_get(cases, "parent"), NULL);
    size_t i;
    json_array_foreach(vectors_list(cases, "cases"), i, item)
    {
        struct error err = ERROR_INIT;
        json_t *ranks = json_pack("{s:[s]}", "ranks", vectors_text(item, "allocated_ranks"));
        struct constraint *these = constraint_from_json(ranks, &err);
        struct rset *want = rset_from_json(json_object_get(item, "allocated"), NULL);
        struct request request = {.nodes = count_of((uint32_t)want->nnodes),
                                  .node_exclusive = true,
                                  .slots = count_of(1),
                                  .slot = {.count = count_of(1)}};
        struct treepool_grant *grant;
        if (treepool_allocate(parent, NULL, &request, these, &grant, &err) != TREEPOOL_GRANTED)
            fail_msg("%s: %s", vectors_text(item, "name"), error_text(&err));
        expect_R(grant->R, json_object_get(item, "allocated"), vectors_text(item, "name"));
        treepool_grant_free(grant);
        rset_free(want);
        constraint_free(these);
        json_decref(ranks);
    }
    rset_free(parent);
    json_decref(table);
}

static void test_trimming_leaves_what_it_does_not_know(void **state)
{
    static const char *const texts[] = {
        "{'writer':'fluxion','children':[{'ranks':'0-1','topo':{}}]}",
        "{'writer':'TreePool'}",
        "{'writer':'TreePool','children':4}",
        "{'writer':'TreePool','children':[3,{'ranks':'x'},{'topo':{}}]}",
    };
    (void)state;
    struct rset *none = rset_new();
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        json_t *scheduling = json_of(texts[i]), *trimmed = scheduling_trim(scheduling, none);
        assert_true(json_equal(scheduling, trimmed));
        json_decref(scheduling);
        json_decref(trimmed);
    }
    assert_null(scheduling_trim(NULL, none));
    rset_free(none);
}

static void test_renumbering_takes_properties_and_times_along(void **state)
{
    (void)state;
    struct rset *set = rset_new();
    struct idset *cores = idset_decode("0-1", NULL);
    rset_append(set, 3, "a", cores, NULL);
    rset_append(set, 4, "b", cores, NULL);
    rset_append(set, 9, "c", cores, NULL);
    set->properties = json_pack("{s:s, s:s, s:s}", "p", "4,9", "q@r", "3-4", "gone", "5");
    set->starttime = 3;
    set->expiration = 4;
    set->nslots = 2;
    scheduling_rerank(set);
    json_t *want = json_pack("{s:s, s:s}", "p", "1-2", "q@r", "0-1");
    assert_true(json_equal(set->properties, want));
    assert_true(set->starttime == 3 && set->expiration == 4 && set->nslots == 0);
    json_decref(want);
    rset_free(set);
    idset_free(cores);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_domain_has_all_that_is_at_and_below_it),
        cmocka_unit_test(test_a_domain_with_one_like_it_below_is_no_level_of_its_own),
        cmocka_unit_test(test_memory_and_storage_are_what_the_node_states),
        cmocka_unit_test(test_nodes_of_one_kind_share_a_tree),
        cmocka_unit_test(test_what_is_not_a_TreePool_is_not_looked_at),
        cmocka_unit_test(test_wrong_topologies_are_refused_with_their_place),
        cmocka_unit_test(test_many_localities_of_many_cores_take_no_time),
        cmocka_unit_test(test_memory_in_all_is_less_than_any_machine_could_have),
        cmocka_unit_test(test_depth_and_size_are_bounded),
        cmocka_unit_test(test_vectors_of_trimming_and_renumbering_hold),
        cmocka_unit_test(test_vectors_are_what_an_allocation_of_these_nodes_gives),
        cmocka_unit_test(test_trimming_leaves_what_it_does_not_know),
        cmocka_unit_test(test_renumbering_takes_properties_and_times_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

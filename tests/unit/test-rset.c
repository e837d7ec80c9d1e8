#include "tests/unit/vectors.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/resource/rset.h"
#include "base/buf.h"

#define LITE "{\"rank\":\"0-1\",\"children\":{\"core\":\"0-3\"}}"
#define WITH(more)                                                                                 \
    "{\"version\":1,\"execution\":{\"R_lite\":[" LITE "],\"nodelist\":[\"n[0-1]\"]" more "}}"

static struct rset *read_text(const char *text)
{
    struct error err = ERROR_INIT;
    struct rset *set = rset_decode(text, strlen(text), &err);
    if (!set)
        fail_msg("%s: %s", text, error_text(&err));
    return set;
}

/* Words "host:cores" or "host:cores/gpus"; ranks count from 0. */
static struct rset *make_set(const char *words)
{
    struct rset *set = rset_new();
    char *copy = strdup(words), *rest = copy, *word;
    while ((word = strsep(&rest, " ")) && *word) {
        char *cores = strchr(word, ':'), *gpus = strchr(word, '/');
        *cores++ = '\0';
        if (gpus)
            *gpus++ = '\0';
        struct idset *c = idset_decode(cores, NULL), *g = idset_decode(gpus ? gpus : "", NULL);
        rset_append(set, (uint32_t)set->nnodes, word, c, g);
        idset_free(c);
        idset_free(g);
    }
    free(copy);
    return set;
}

static void expect_set(struct rset *set, const char *words)
{
    char got[1024] = "";
    for (size_t i = 0; i < set->nnodes; i++) {
        const struct rset_node *node = &set->nodes[i];
        char *cores = idset_encode(node->children->cores);
        char *gpus = idset_encode(node->children->gpus);
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s:%s%s%s", i ? " " : "",
                 node->host, cores, *gpus ? "/" : "", gpus);
        free(cores);
        free(gpus);
    }
    assert_string_equal(got, words);
    rset_free(set);
}

/* R out of the R_lite and nodelist of a case. */
static json_t *wrap_case(json_t *item)
{
    return json_pack("{s:i, s:{s:O, s:O}}", "version", 1, "execution", "R_lite",
                     json_object_get(item, "R_lite"), "nodelist",
                     json_object_get(item, "nodelist"));
}

static void expect_hosts(const struct rset *set, json_t *hosts)
{
    const char *rank;
    json_t *host;
    assert_int_equal(set->nnodes, json_object_size(hosts));
    json_object_foreach(hosts, rank, host)
    {
        const struct rset_node *node = rset_find_rank(set, (uint32_t)atoi(rank));
        assert_non_null(node);
        assert_string_equal(node->host, json_string_value(host));
    }
}

static void test_the_example_of_the_rfc_reads_back_as_it_is(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc20_R");
    json_t *example = json_object_get(table, "example");
    struct rset *set = rset_from_json(example, NULL);
    assert_non_null(set);
    expect_hosts(set, json_object_get(json_object_get(table, "derived"), "hosts_by_rank"));
    assert_int_equal(set->nslots, 32);
    assert_true(set->starttime == 1676560542);
    json_t *again = rset_to_json(set);
    assert_true(json_equal(example, again));
    json_decref(again);
    rset_free(set);
    json_decref(table);
}

static void test_entries_and_hosts_are_joined_in_order_of_rank(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc20_R"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "checks"), i, item)
    {
        json_t *R = wrap_case(item);
        struct rset *set = rset_from_json(R, NULL);
        assert_non_null(set);
        expect_hosts(set, json_object_get(item, "hosts"));
        rset_free(set);
        json_decref(R);
    }
    json_decref(table);
}

static void test_wrong_vectors_are_refused(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc20_R"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "invalid"), i, item)
    {
        struct error err = ERROR_INIT;
        if (rset_from_json(json_object_get(item, "R"), &err))
            fail_msg("taken: %s", vectors_text(item, "why"));
        assert_non_null(err.text);
        error_clear(&err);
    }
    json_decref(table);
}

#define ENTRY(rank, core) "{\"rank\":\"" rank "\",\"children\":{\"core\":\"" core "\"}}"
#define NODES(lite, hosts)                                                                         \
    "{\"version\":1,\"execution\":{\"R_lite\":[" lite "],\"nodelist\":[" hosts "]}}"

static const struct {
    const char *text, *says; /* what the sentence has to name */
} bad_sets[] = {
    {"", "it is empty"},
    {"{", "not JSON"},
    {"[]", "an array"},
    {"{}", "missing key version"},
    {"{\"version\":\"1\"}", "version: expected an integer, got a string"},
    {"{\"version\":1.0}", "version: expected an integer, got a fraction"},
    {"{\"version\":1,\"version\":1}", "duplicate"},
    {"{\"version\":1,\"execution\":[]}", "execution: expected an object, got an array"},
    {"{\"version\":1,\"execution\":{}}", "missing key execution.R_lite"},
    {NODES("", ""), "execution.R_lite is empty"},
    {NODES("1", "\"a\""), "execution.R_lite[0] is an integer"},
    {NODES("{}", "\"a\""), "missing key execution.R_lite[0].rank"},
    {NODES("{\"rank\":0}", "\"a\""),
     "execution.R_lite[0].rank: expected an idset in a string, got an integer"},
    {NODES("{\"rank\":\"0\"}", "\"a\""), "missing key execution.R_lite[0].children"},
    {NODES(ENTRY("", "0"), "\"a\""), "execution.R_lite[0].rank is empty"},
    {NODES(ENTRY("0", ""), "\"a\""), "execution.R_lite[0].children.core is empty"},
    {NODES(ENTRY("0", "0,,1"), "\"a\""), "execution.R_lite[0].children.core"},
    {NODES(ENTRY("0", "0") "," ENTRY("1-0", "0"), "\"a\""), "execution.R_lite[1].rank"},
    {NODES(ENTRY("4294967296", "0"), "\"a\""), "4294967296"},
    {NODES(ENTRY("0", "0-4294967296"), "\"a\""), "0-4294967296"},
    {NODES(ENTRY("0-2", "0") "," ENTRY("5,2", "0"), "\"a\""), "does not ascend"},
    {NODES(ENTRY("0-2", "0") "," ENTRY("2,5", "0"), "\"a[0-4]\""),
     "rank 2 is in execution.R_lite[0]"},
    {NODES(ENTRY("7-9", "0") "," ENTRY("0-8", "0"), "\"a[0-8]\""), "rank 7 "},
    {NODES(ENTRY("0-1", "0"), "\"a\""), "has 1 host and execution.R_lite 2 ranks: rank 1 "},
    {NODES(ENTRY("3", "0") "," ENTRY("8-9", "0"), "\"a\",\"b\""), "rank 9 has no host"},
    {NODES(ENTRY("0", "0"), "\"a\",\"b\""), "has 2 hosts and execution.R_lite 1 rank: b "},
    {NODES(ENTRY("0", "0"), "7"), "execution.nodelist[0] is an integer"},
    {NODES(ENTRY("0", "0"), "\"a\",\"b[\""), "execution.nodelist[1]"},
    {NODES(ENTRY("0-2147483647", "0"), "\"a\""), "rank 1 has no host"},
    {NODES("{\"rank\":\"0\",\"children\":{\"core\":\"0\",\"gpu\":\"\"}}", "\"a\""),
     "children.gpu is empty"},
    {NODES("{\"rank\":\"0\",\"children\":{\"core\":\"0\",\"gpu\":3}}", "\"a\""),
     "children.gpu: expected an idset in a string, got an integer"},
    {WITH(",\"nslots\":0"), "nslots is 0"},
    {WITH(",\"nslots\":-4"), "nslots is -4"},
    {WITH(",\"nslots\":1.5"), "nslots: expected an integer, got a fraction"},
    {WITH(",\"starttime\":\"now\""), "starttime is a string"},
    {WITH(",\"starttime\":-1"), "starttime is negative"},
    {WITH(",\"starttime\":10,\"expiration\":10"), "expiration 10 is not after"},
    {WITH(",\"starttime\":10.5,\"expiration\":10.25"), "expiration 10.25"},
    {WITH(",\"expiration\":null"), "expiration is null"},
    {WITH(",\"properties\":[]"), "properties: expected an object, got an array"},
    {WITH(",\"properties\":{\"\":\"0\"}"), "is empty"},
    {WITH(",\"properties\":{\"fast\":0}"), "\"fast\" is an integer"},
    {WITH(",\"properties\":{\"fast\":\"0-\"}"), "\"fast\""},
    {WITH(",\"properties\":{\"fast\":\"0-2\"}"), "rank 2"},
    {WITH(",\"properties\":{\"a!b\":\"0\"}"), "a!b"},
    {WITH(",\"properties\":{\"a&b\":\"0\"}"), "a&b"},
    {WITH(",\"properties\":{\"a'b\":\"0\"}"), "a'b"},
    {WITH(",\"properties\":{\"a\\\"b\":\"0\"}"), "illegal"},
    {WITH(",\"properties\":{\"a^b\":\"0\"}"), "a^b"},
    {WITH(",\"properties\":{\"a`b\":\"0\"}"), "a`b"},
    {WITH(",\"properties\":{\"a|b\":\"0\"}"), "a|b"},
    {WITH(",\"properties\":{\"a(b\":\"0\"}"), "a(b"},
    {WITH(",\"properties\":{\"a)b\":\"0\"}"), "a)b"},
    {"{\"version\":1,\"scheduling\":1,\"execution\":{\"R_lite\":[" LITE
     "],\"nodelist\":[\"n[0-1]\"]}}",
     "scheduling: expected an object, got an integer"},
};

static void test_bad_sets_are_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_sets) / sizeof(bad_sets[0]); i++) {
        struct error err = ERROR_INIT;
        if (rset_decode(bad_sets[i].text, strlen(bad_sets[i].text), &err))
            fail_msg("taken: %s", bad_sets[i].text);
        if (!strstr(err.text, bad_sets[i].says))
            fail_msg("%s: \"%s\" does not say \"%s\"", bad_sets[i].text, err.text,
                     bad_sets[i].says);
        assert_null(strchr(err.text, '\n'));
        error_clear(&err);
    }
}

static void test_every_key_survives_a_round_trip(void **state)
{
    static const char *const good[] = {
        WITH(""),
        WITH(",\"nslots\":7"),
        WITH(",\"starttime\":1.5,\"expiration\":2"),
        WITH(",\"expiration\":1676562342"),
        WITH(",\"properties\":{\"amd-mi50@gpu\":\"0\",\"+batch\":\"0-1\"}"),
        NODES(ENTRY("0", "0") "," ENTRY("2147483647", "0,2-2147483647"), "\"a,b\""),
        "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0\",\"children\":{\"core\":\"1\","
        "\"gpu\":\"0,3\"}}],\"nodelist\":[\"a\"]},\"scheduling\":{\"writer\":\"x:y\",\"deep\":"
        "[1,{\"b\":null}],\"version\":2}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct rset *set = read_text(good[i]), *copy = rset_copy(set);
        json_t *want = json_loads(good[i], 0, NULL), *got = rset_to_json(copy);
        assert_true(json_equal(want, got));
        json_decref(want);
        json_decref(got);
        rset_free(set);
        rset_free(copy);
    }
}

static void test_zero_times_are_unset_and_unknown_keys_are_passed_over(void **state)
{
    (void)state;
    struct rset *set = read_text(WITH(",\"starttime\":0.0,\"expiration\":0,\"colour\":\"red\""));
    assert_true(set->starttime == 0 && set->expiration == 0);
    assert_int_equal(rset_check_time(set, 1e9, NULL), 0);
    json_t *R = rset_to_json(set);
    assert_null(json_object_get(json_object_get(R, "execution"), "starttime"));
    json_decref(R);
    rset_free(set);
}

static void test_a_set_is_valid_from_its_start_to_before_its_end(void **state)
{
    static const struct {
        double now;
        int rc;
        const char *says;
    } cases[] = {{99.9, -1, "1970-01-01T00:01:40Z"},
                 {100, 0, ""},
                 {199.9, 0, ""},
                 {200.5, -1, "expired at 1970-01-01T00:03:20Z"},
                 {1e300, -1, "200.5"}};
    (void)state;
    struct rset *set = read_text(WITH(",\"starttime\":100,\"expiration\":200.5"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        assert_int_equal(rset_check_time(set, cases[i].now, &err), cases[i].rc);
        if (cases[i].rc < 0 && !strstr(err.text, cases[i].says))
            fail_msg("%s", err.text);
        error_clear(&err);
    }
    rset_free(set);
}

static void test_equal_children_share_an_entry(void **state)
{
    (void)state;
    struct rset *set = make_set("a:0-3 b:0-1 c:0-3 d:0-3/0 e:0-1");
    assert_ptr_equal(set->nodes[0].children, set->nodes[2].children);
    json_t *R = rset_to_json(set);
    json_t *want = json_loads("{\"version\":1,\"execution\":{\"R_lite\":["
                              "{\"rank\":\"0,2\",\"children\":{\"core\":\"0-3\"}},"
                              "{\"rank\":\"1,4\",\"children\":{\"core\":\"0-1\"}},"
                              "{\"rank\":\"3\",\"children\":{\"core\":\"0-3\",\"gpu\":\"0\"}}],"
                              "\"nodelist\":[\"a,b,c,d,e\"]}}",
                              0, NULL);
    assert_true(json_equal(R, want));
    json_decref(R);
    json_decref(want);
    rset_free(set);
}

static bool keep_odd(const struct rset_node *node, void *arg)
{
    (void)arg;
    return node->rank & 1;
}

static void test_selection_keeps_ranks_and_trims_properties(void **state)
{
    (void)state;
    struct rset *set =
        read_text("{\"version\":1,\"scheduling\":{\"x\":1},\"execution\":{\"R_lite\":[" LITE
                  "],\"nodelist\":[\"n[0-1]\"],\"nslots\":2,\"expiration\":5,"
                  "\"properties\":{\"all\":\"0-1\",\"even\":\"0\",\"+q\":\"1\"}}}");
    struct rset *odd = rset_select(set, keep_odd, NULL);
    rset_free(set);
    assert_int_equal(odd->nslots, 0);
    assert_true(odd->expiration == 5);
    assert_int_equal(json_integer_value(json_object_get(odd->scheduling, "x")), 1);
    assert_string_equal(json_string_value(json_object_get(odd->properties, "all")), "1");
    assert_null(json_object_get(odd->properties, "even"));
    assert_non_null(json_object_get(odd->properties, "+q"));
    rset_drop_local_properties(odd);
    assert_null(json_object_get(odd->properties, "+q"));
    assert_null(rset_find_rank(odd, 0));
    assert_non_null(rset_find_rank(odd, 1));
    assert_non_null(rset_find_host(odd, "n1"));
    assert_null(rset_find_host(odd, "n0"));
    expect_set(odd, "n1:0-3");
}

static void test_subtraction_goes_by_host(void **state)
{
    static const struct {
        const char *set, *held, *rest;
    } cases[] = {
        {"a:0-3 b:0-3", "", "a:0-3 b:0-3"},
        {"a:0-3 b:0-3", "b:1-2", "a:0-3 b:0,3"},
        {"a:0-3 b:0-3", "x:0 y:0 a:0-9", "b:0-3"},
        {"a:0-3/0-1", "a:0/1", "a:1-3/0"},
        {"a:0-1 a:2-3", "a:1-2", "a:0 a:3"},
        {"a:0-7", "a:0 a:2 a:4-9", "a:1,3"},
        {"a:0", "a:0", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rset *set = make_set(cases[i].set), *held = make_set(cases[i].held);
        expect_set(rset_subtract_hosts(set, held), cases[i].rest);
        rset_free(set);
        rset_free(held);
    }
}

static void test_overlap_finds_the_first_common_host(void **state)
{
    static const struct {
        const char *a, *b, *host, *cores, *gpus;
    } cases[] = {
        {"a:0-3", "b:0-3", NULL, NULL, NULL},
        {"a:0-3", "a:4-7", NULL, NULL, NULL},
        {"a:0 b:0-3", "b:2-9 a:1", "b", "2-3", ""},
        {"a:0-3", "a:0 a:3", "a", "0,3", ""},
        {"a:0-3/0-1", "a:4-7/1-2", "a", "", "1"},
        {"a:0-3/0-1", "a:4-7/2-3", NULL, NULL, NULL},
        {"a:0-3/0-3", "a:3/1 a:9/3", "a", "3", "1,3"},
        {"", "a:0", NULL, NULL, NULL},
        {"a:0", "", NULL, NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rset *a = make_set(cases[i].a), *b = make_set(cases[i].b);
        struct rset_children common;
        const char *host = rset_overlap(a, b, &common);
        assert_ptr_equal(rset_overlap(a, b, NULL), host);
        assert_int_equal(host != NULL, cases[i].host != NULL);
        if (host) {
            char *cores = idset_encode(common.cores), *gpus = idset_encode(common.gpus);
            assert_string_equal(host, cases[i].host);
            assert_string_equal(cores, cases[i].cores);
            assert_string_equal(gpus, cases[i].gpus);
            free(cores);
            free(gpus);
            idset_free(common.cores);
            idset_free(common.gpus);
        }
        rset_free(a);
        rset_free(b);
    }
}

static void test_union_has_a_node_a_host(void **state)
{
    (void)state;
    struct rset *sets[2] = {make_set("b:0-1/0 a:3"), make_set("c:0 b:1-4/2")};
    expect_set(rset_union_hosts((const struct rset *const *)sets, 2), "a:3 b:0-4/0,2 c:0");
    expect_set(rset_union_hosts(NULL, 0), "");
    rset_free(sets[0]);
    rset_free(sets[1]);
}

static void test_many_distinct_nodes_take_linear_time(void **state)
{
    (void)state;
    struct rset *set = rset_new();
    for (uint32_t i = 0; i < 16384; i++) {
        struct idset *cores = idset_new();
        char host[16];
        idset_add_range(cores, i, i + 127);
        snprintf(host, sizeof(host), "n%u", i);
        rset_append(set, i, host, cores, NULL);
        idset_free(cores);
    }
    json_t *R = rset_to_json(set);
    struct rset *again = rset_from_json(R, NULL);
    assert_non_null(again);
    assert_int_equal(again->nnodes, 16384);
    assert_string_equal(rset_overlap(set, again, NULL), "n0");
    struct rset *none = rset_subtract_hosts(set, again);
    assert_int_equal(none->nnodes, 0);
    rset_free(none);
    rset_free(again);
    rset_free(set);
    json_decref(R);
}

static void expect_bulk_refused(const char *head, const char *piece, size_t size)
{
    size_t len = strlen(head), step = strlen(piece);
    char *text = malloc(size + step);
    struct error err = ERROR_INIT;
    memcpy(text, head, len);
    for (; len < size; len += step)
        memcpy(text + len, piece, step);
    assert_null(rset_decode(text, size, &err));
    assert_true(strlen(err.text) < 400);
    error_clear(&err);
    free(text);
}

static void test_a_hundred_megabytes_of_junk_are_refused(void **state)
{
    (void)state;
    expect_bulk_refused("", "[", 100u << 20);
    expect_bulk_refused("", "x", 100u << 20);
    expect_bulk_refused("{\"version\":1,\"x\":[0", ",0", 100u << 20);
    expect_bulk_refused("{\"version\":1,\"x\":[{}", ",{}", 100u << 20);
    expect_bulk_refused("\"", "a", 100u << 20);
    expect_bulk_refused("{}", " ", RSET_MAX_TEXT + 1);
}

/* R of so many nodes, each in an entry of its own. */
static char *text_of_entries(uint32_t count)
{
    struct buf text = BUF_INIT;
    buf_add_text(&text, "{\"version\":1,\"execution\":{\"R_lite\":[");
    for (uint32_t i = 0; i < count; i++)
        buf_printf(&text, "%s{\"rank\":\"%u\",\"children\":{\"core\":\"0\"}}", i ? "," : "", i);
    buf_printf(&text, "],\"nodelist\":[\"n[0-%u]\"]}}", count - 1);
    return buf_take_text(&text);
}

static void test_more_entries_than_any_machine_has_nodes_are_refused(void **state)
{
    struct error err = ERROR_INIT;
    char *most = text_of_entries(200000), *many = text_of_entries(1u << 20);
    (void)state;
    struct rset *set = rset_decode(most, strlen(most), &err);
    assert_non_null(set);
    assert_int_equal(set->nnodes, 200000);
    rset_free(set);
    assert_null(rset_decode(many, strlen(many), &err));
    assert_string_equal(error_text(&err),
                        "a resource set of 2097156 objects and arrays with 5242885 parts is too "
                        "large: 1048576 and 4194304 are the most that is read");
    error_clear(&err);
    free(most);
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_example_of_the_rfc_reads_back_as_it_is),
        cmocka_unit_test(test_entries_and_hosts_are_joined_in_order_of_rank),
        cmocka_unit_test(test_wrong_vectors_are_refused),
        cmocka_unit_test(test_bad_sets_are_refused_by_name),
        cmocka_unit_test(test_every_key_survives_a_round_trip),
        cmocka_unit_test(test_zero_times_are_unset_and_unknown_keys_are_passed_over),
        cmocka_unit_test(test_a_set_is_valid_from_its_start_to_before_its_end),
        cmocka_unit_test(test_equal_children_share_an_entry),
        cmocka_unit_test(test_selection_keeps_ranks_and_trims_properties),
        cmocka_unit_test(test_subtraction_goes_by_host),
        cmocka_unit_test(test_overlap_finds_the_first_common_host),
        cmocka_unit_test(test_union_has_a_node_a_host),
        cmocka_unit_test(test_many_distinct_nodes_take_linear_time),
        cmocka_unit_test(test_a_hundred_megabytes_of_junk_are_refused),
        cmocka_unit_test(test_more_entries_than_any_machine_has_nodes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

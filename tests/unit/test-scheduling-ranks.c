#include <stdlib.h>
#include <string.h>

#include "affinity/resource/scheduling_ranks.h"
#include "tests/unit/unit.h"

/* One core on each of hosts NAME0, NAME1, ..., with these ranks. JSON has ' for ", or is NULL. */
static struct rset *make_set(const char *name, const char *ranks, const char *cores,
                             const char *scheduling)
{
    struct rset *set = rset_new();
    struct idset *all = idset_decode(ranks, NULL), *core = idset_decode(cores, NULL);
    uint32_t number = 0;
    IDSET_FOREACH(rank, all)
    {
        char host[32];
        snprintf(host, sizeof(host), "%s%u", name, number++);
        rset_append(set, rank, host, core, NULL);
    }
    idset_free(all);
    idset_free(core);
    if (!scheduling)
        return set;
    char *text = strdup(scheduling);
    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    set->scheduling = json_loads(text, 0, NULL);
    assert_non_null(set->scheduling);
    free(text);
    return set;
}

#define TREES(children) "{'writer':'TreePool','children':[" children "]}"
#define ENTRY(ranks, core) "{'ranks':'" ranks "','topo':{'cores':'" core "'}}"

/* What is under `scheduling`, with ' for ", or the sentence. Frees the set. */
static void expect(struct rset *set, int rc, struct error *err, const char *wanted)
{
    char *text = rc < 0 ? strdup(error_text(err)) : json_dumps(set->scheduling, JSON_COMPACT);
    for (char *at = text; text && *at; at++)
        *at = *at == '"' ? '\'' : *at;
    if (!text || !wanted)
        assert_ptr_equal(text, wanted);
    else
        assert_string_equal(text, wanted);
    error_clear(err);
    free(text);
    rset_free(set);
}

static void test_topologies_follow_their_nodes_to_new_ranks(void **state)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        {NULL, NULL},
        {"{'writer':'TreePool'}", "{'writer':'TreePool'}"},
        {TREES(ENTRY("0-3", "0")), TREES(ENTRY("1-2", "0"))},
        {TREES(ENTRY("0-1", "0") "," ENTRY("4", "0-1")),
         TREES(ENTRY("0", "0-1") "," ENTRY("1", "0"))},
        {TREES(ENTRY("1", "0") "," ENTRY("3", "0") "," ENTRY("4", "5")),
         TREES(ENTRY("0", "5") "," ENTRY("1-2", "0"))},
        {TREES(ENTRY("3", "0")), TREES(ENTRY("2", "0"))},
        {TREES(ENTRY("0-2147483647", "0")), TREES(ENTRY("0-2", "0"))},
        {"{'writer':'TreePool','x':1,'children':[" ENTRY("7", "0") "]}",
         "{'writer':'TreePool','x':1,'children':[]}"},
        {"{'writer':'fluxion'}", "scheduling is of another writer than TreePool, and the ranks in "
                                 "it cannot be changed: leave "
                                 "it out with tpres select --no-topology"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        const uint32_t ranks[] = {1, 2, 0};
        struct rset *set = make_set("a", "1,3,4", "0", cases[i].before);
        struct rset *to = rset_renumber(set, ranks);
        int rc = scheduling_renumber(to, set, ranks, &err);
        expect(to, rc, &err, cases[i].after);
        rset_free(set);
    }
}

static void test_topologies_of_two_sets_are_one_list(void **state)
{
    static const struct {
        const char *name, *set, *more, *sum;
    } cases[] = {
        {"b", NULL, NULL, NULL},
        {"b", TREES(ENTRY("0-1", "0")), TREES(ENTRY("0-1", "0")), TREES(ENTRY("0-3", "0"))},
        {"b", TREES(ENTRY("0", "0")), TREES(ENTRY("1", "1")),
         TREES(ENTRY("0", "0") "," ENTRY("3", "1"))},
        {"b", NULL, TREES(ENTRY("0-1", "0")), TREES(ENTRY("2-3", "0"))},
        {"b", TREES(ENTRY("0-1", "0")), NULL, TREES(ENTRY("0-1", "0"))},
        {"a", TREES(ENTRY("0", "0-1")), TREES(ENTRY("0-1", "0-1")), TREES(ENTRY("0-1", "0-1"))},
        {"a", TREES(ENTRY("0-1", "0-1")), TREES(ENTRY("1", "0-2")),
         "a1 has one topology in the first and another in the second: leave one out with tpres "
         "select "
         "--no-topology"},
        {"b", TREES(ENTRY("0", "0")), "{'writer':'x'}",
         "scheduling is of another writer than TreePool, and the ranks in it cannot be changed: "
         "leave "
         "it out with tpres select --no-topology"},
        {"b", "{}", NULL,
         "scheduling is of another writer than TreePool, and the ranks in it cannot be changed: "
         "leave "
         "it out with tpres select --no-topology"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        uint32_t *ranks;
        struct rset *set = make_set("a", "0-1", "0", cases[i].set), *sum;
        struct rset *more = make_set(cases[i].name, "0-1", "1", cases[i].more);
        sum = rset_append_set(set, more, &ranks, &err);
        assert_non_null(sum);
        int rc = scheduling_append(sum, set, more, ranks, &err);
        expect(sum, rc, &err, cases[i].sum);
        free(ranks);
        rset_free(set);
        rset_free(more);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_topologies_follow_their_nodes_to_new_ranks),
        cmocka_unit_test(test_topologies_of_two_sets_are_one_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

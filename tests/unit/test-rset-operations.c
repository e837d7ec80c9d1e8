#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/resource/rset.h"

static void take_word(struct rset *set, char *word)
{
    char *at = strchr(word, '@'), *cores = strchr(word, ':'), *gpus = strchr(word, '/');
    *at++ = *cores++ = '\0';
    if (gpus)
        *gpus++ = '\0';
    struct idset *c = idset_decode(cores, NULL), *g = idset_decode(gpus ? gpus : "", NULL);
    rset_append(set, (uint32_t)atoi(word), at, c, g);
    idset_free(c);
    idset_free(g);
}

/* Words RANK@HOST:CORES or RANK@HOST:CORES/GPUS; +NAME=RANKS is a property, [FROM and ]TO times. */
static struct rset *make_set(const char *words)
{
    struct rset *set = rset_new();
    char *copy = strdup(words), *rest = copy, *word;
    while ((word = strsep(&rest, " ")) && *word) {
        char *value = strchr(word, '=');
        if (*word == '[') {
            set->starttime = atof(word + 1);
        } else if (*word == ']') {
            set->expiration = atof(word + 1);
        } else if (*word == '+') {
            *value++ = '\0';
            if (!set->properties)
                set->properties = json_object();
            json_object_set_new(set->properties, word + 1, json_string(value));
        } else {
            take_word(set, word);
        }
    }
    free(copy);
    return set;
}

static void say_properties(const struct rset *set, char *out, size_t size)
{
    const char *name;
    json_t *value;
    json_object_foreach(set->properties, name, value)
        snprintf(out + strlen(out), size - strlen(out), " +%s=%s", name, json_string_value(value));
}

/* The set in the words of make_set(), or the sentence. Frees it. */
static void expect(struct rset *set, struct error *err, const char *words)
{
    char got[4096] = "";
    for (size_t i = 0; set && i < set->nnodes; i++) {
        const struct rset_node *node = &set->nodes[i];
        char *cores = idset_encode(node->children->cores);
        char *gpus = idset_encode(node->children->gpus);
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%u@%s:%s%s%s", i ? " " : "",
                 node->rank, node->host, cores, *gpus ? "/" : "", gpus);
        free(cores);
        free(gpus);
    }
    if (set) {
        say_properties(set, got, sizeof(got));
        if (set->starttime != 0)
            snprintf(got + strlen(got), sizeof(got) - strlen(got), " [%g", set->starttime);
        if (set->expiration != 0)
            snprintf(got + strlen(got), sizeof(got) - strlen(got), " ]%g", set->expiration);
    }
    assert_string_equal(set ? got : error_text(err), words);
    error_clear(err);
    rset_free(set);
}

static void test_an_intersection_goes_by_host_and_keeps_ranks(void **state)
{
    static const struct {
        const char *set, *other, *both;
    } cases[] = {
        {"0@a:0-3", "0@b:0-3", ""},
        {"3@a:0-3/0-1 7@b:0-3", "0@a:2-9/1-4", "3@a:2-3/1"},
        {"0@a:0-3", "0@a:0 1@a:3", "0@a:0,3"},
        {"0@a:0 1@a:1", "5@a:0-1", "0@a:0 1@a:1"},
        {"0@a:0-3/0", "0@a:4-7/0", ""},
        {"", "0@a:0", ""},
        {"0@a:0 2@b:0 +x=0,2 +y=2", "0@a:0", "0@a:0 +x=0"},
        {"0@a:0 [5 ]20", "0@a:0 [10 ]30", "0@a:0 [10 ]20"},
        {"0@a:0", "0@a:0 ]30", "0@a:0 ]30"},
        {"0@a:0 ]5", "0@a:0 [5",
         "the two are never valid together: one expires at 5, the other starts at 5 (seconds since "
         "1970)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct rset *set = make_set(cases[i].set), *other = make_set(cases[i].other);
        expect(rset_intersect_hosts(set, other, &err), &err, cases[i].both);
        rset_free(set);
        rset_free(other);
    }
}

static void test_what_is_appended_keeps_its_ranks_or_comes_behind(void **state)
{
    static const struct {
        const char *set, *more, *sum;
    } cases[] = {
        {"0@a:0-3", "1@b:0", "0@a:0-3 1@b:0"},
        {"4@a:0-3", "1@b:0 7@c:0", "1@b:0 4@a:0-3 7@c:0"},
        {"0@a:0-3", "0@b:0", "0@a:0-3 1@b:0"},
        {"4@a:0-3", "4@b:0 9@c:0/1", "4@a:0-3 5@b:0 6@c:0/1"},
        {"", "3@b:0", "3@b:0"},
        {"3@b:0", "", "3@b:0"},
        {"2147483647@a:0", "2147483647@b:0",
         "behind rank 2147483647 are not enough numbers for 1 nodes: rerank before"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        uint32_t *ranks;
        struct rset *set = make_set(cases[i].set), *more = make_set(cases[i].more);
        expect(rset_append_set(set, more, &ranks, &err), &err, cases[i].sum);
        free(ranks);
        rset_free(set);
        rset_free(more);
    }
}

static void test_a_host_of_both_is_one_node_with_all_of_it(void **state)
{
    static const struct {
        const char *set, *more, *sum;
    } cases[] = {
        {"3@a:0-3/0", "0@a:4-7/1", "3@a:0-7/0-1"},
        {"3@a:0-3 4@b:0", "4@c:0 9@a:5", "3@a:0-3,5 4@b:0 5@c:0"},
        {"3@a:0-3 4@b:0", "0@a:4 9@a:5 10@c:1", "3@a:0-5 4@b:0 10@c:1"},
        {"0@a:0-3", "0@a:3-4", "a: core 3 is in both; subtract one from the other first"},
        {"0@b:0 1@a:0-3", "0@a:2-4", "a: cores 2-3 are in both; subtract one from the other first"},
        {"0@a:0-3/1", "0@a:4/1", "a: gpu 1 is in both; subtract one from the other first"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        uint32_t *ranks;
        struct rset *set = make_set(cases[i].set), *more = make_set(cases[i].more);
        expect(rset_append_set(set, more, &ranks, &err), &err, cases[i].sum);
        free(ranks);
        rset_free(set);
        rset_free(more);
    }
}

static void test_properties_and_times_of_both_hold_for_an_appended_set(void **state)
{
    static const struct {
        const char *set, *more, *sum;
    } cases[] = {
        {"0@a:0 1@b:0 +x=0 +y=0-1", "0@c:0 5@d:0 +x=5 +z=0,5",
         "0@a:0 1@b:0 2@c:0 3@d:0 +x=0,3 +y=0-1 +z=2-3"},
        {"7@a:0 +x=7", "0@a:1 1@c:0 +y=0-1", "1@c:0 7@a:0-1 +x=7 +y=1,7"},
        {"0@a:0 [3 ]9", "1@b:0 [4", "0@a:0 1@b:0 [4 ]9"},
        {"0@a:0 [3 ]9", "1@b:0 [14",
         "the two are never valid together: one expires at 9, the other starts at 14 (seconds "
         "since "
         "1970)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        uint32_t *ranks;
        struct rset *set = make_set(cases[i].set), *more = make_set(cases[i].more);
        expect(rset_append_set(set, more, &ranks, &err), &err, cases[i].sum);
        free(ranks);
        rset_free(set);
        rset_free(more);
    }
}

static void test_the_ranks_of_what_was_appended_are_told(void **state)
{
    (void)state;
    uint32_t *ranks;
    struct rset *set = make_set("0@a:0 8@b:0"), *more = make_set("0@c:0 3@b:1 4@d:0");
    struct rset *sum = rset_append_set(set, more, &ranks, NULL);
    assert_int_equal(ranks[0], 9);
    assert_int_equal(ranks[1], 8);
    assert_int_equal(ranks[2], 10);
    free(ranks);
    rset_free(sum);
    assert_null(rset_append_set(set, set, &ranks, NULL));
    assert_null(ranks);
    rset_free(set);
    rset_free(more);
}

static void test_renumbering_keeps_everything_that_belongs_to_a_rank(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct rset *set = make_set("2@a:0-3/1 4@b:0 9@c:0-3/1 +x=2,9 +y=4 [1 ]2");
    set->nslots = 5;
    struct rset *turned = rset_renumber(set, (const uint32_t[]){2, 0, 1});
    assert_int_equal(turned->nslots, 5);
    assert_ptr_equal(turned->nodes[1].children, turned->nodes[2].children);
    expect(turned, &err, "0@b:0 1@c:0-3/1 2@a:0-3/1 +x=1-2 +y=0 [1 ]2");
    rset_free(set);
}

static void test_many_nodes_take_linear_time(void **state)
{
    (void)state;
    struct rset *set = rset_new(), *more = rset_new();
    uint32_t *ranks;
    for (uint32_t i = 0; i < 16384; i++) {
        struct idset *cores = idset_new();
        char host[16];
        idset_add_range(cores, i, i + 127);
        snprintf(host, sizeof(host), "n%u", i);
        rset_append(i % 3 ? set : more, i, host, cores, NULL);
        idset_free(cores);
    }
    struct rset *sum = rset_append_set(set, more, &ranks, NULL);
    assert_int_equal(sum->nnodes, 16384);
    assert_string_equal(sum->nodes[16383].host, "n16383");
    struct rset *same = rset_intersect_hosts(sum, more, NULL);
    assert_int_equal(same->nnodes, more->nnodes);
    free(ranks);
    rset_free(same);
    rset_free(sum);
    rset_free(set);
    rset_free(more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_intersection_goes_by_host_and_keeps_ranks),
        cmocka_unit_test(test_what_is_appended_keeps_its_ranks_or_comes_behind),
        cmocka_unit_test(test_a_host_of_both_is_one_node_with_all_of_it),
        cmocka_unit_test(test_properties_and_times_of_both_hold_for_an_appended_set),
        cmocka_unit_test(test_the_ranks_of_what_was_appended_are_told),
        cmocka_unit_test(test_renumbering_keeps_everything_that_belongs_to_a_rank),
        cmocka_unit_test(test_many_nodes_take_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

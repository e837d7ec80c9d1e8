#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/ledger/claims_table.h"
#include "tests/unit/unit.h"

#define HEAD "tprun-claims 2 "

static struct claims *decode(const char *text)
{
    struct error err = ERROR_INIT;
    struct claims *claims = claims_decode(mem_copy_text(text), strlen(text), &err);
    if (!claims)
        fail_msg("%s: %s", text, error_text(&err));
    return claims;
}

static void expect_text(const struct claims *claims, const char *want)
{
    size_t len;
    char *got = claims_encode(claims, &len);
    assert_string_equal(got, want);
    assert_int_equal(len, strlen(want));
    free(got);
}

static void test_what_was_read_is_written_the_same(void **state)
{
    static const char *const texts[] = {
        HEAD "1\nend\n",
        HEAD "8\n7 n 0 0 -\t\nend\n",
        HEAD "8\n7 n 0 0 -\t\t\nend\n",
        HEAD "8\n7 n 0 0 -\tx\t\nend\n",
        HEAD "8\n7 h 1795255380 1795258980 -\t./app\tn0 0-3 -\nend\n",
        HEAD "19\n17 h 5 9 -\ta b\tnode[0-1] 0-3 -\tnode2 0 0-1\n18 w 6 1 3,7\tother\tn 0 -\nend\n",
        HEAD "18446744073709551614\n18446744073709551613 n 1 0 -\tx\nend\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct claims *claims = decode(texts[i]);
        expect_text(claims, texts[i]);
        claims_free(claims);
    }
}

static void test_what_is_not_whole_or_not_right_is_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "does not begin"},
        {"x", "does not begin"},
        {"tprun-claims 1 1\nend\n", "does not begin"},
        {HEAD "\nend\n", "line 1"},
        {HEAD "0\nend\n", "line 1"},
        {HEAD "-1\nend\n", "line 1"},
        {HEAD "1 \nend\n", "line 1"},
        {HEAD "18446744073709551615\nend\n", "line 1"},
        {HEAD "99999999999999999999999\nend\n", "line 1"},
        {HEAD "1\n", "ends in line 2"},
        {HEAD "1\nend", "ends in line 2"},
        {HEAD "1\nend\nend\n", "line 2"},
        {HEAD "9\n7 n 0 0 -\tx\n", "ends in line 3"},
        {HEAD "9\n\nend\n", "line 2"},
        {HEAD "9\n7\nend\n", "line 2"},
        {HEAD "9\n7 x 0 0 -\tx\nend\n", "line 2"},
        {HEAD "9\n7 nn 0 0 -\tx\nend\n", "line 2"},
        {HEAD "9\n7 n x 0 -\tx\nend\n", "line 2"},
        {HEAD "9\n7 n 0 0 -\nend\n", "line 2"},
        {HEAD "9\n7 n 0 -\tx\nend\n", "line 2"},
        {HEAD "9\n7 n 0 x -\tx\nend\n", "line 2"},
        {HEAD "9\n7 n 0 0 \tx\nend\n", "line 2"},
        {HEAD "9\n7 h 0 0 -\tx\nend\n", "line 2"},
        {HEAD "9\n7 n 0 0 -\tx\tn0 0 -\nend\n", "line 2"},
        {HEAD "7\n7 n 0 0 -\tx\nend\n", "line 2"},
        {HEAD "9\n7 n 0 0 -\tx\n7 n 0 0 -\tx\nend\n", "line 3"},
        {HEAD "9\n7 n 0 0 -\tx\n6 n 0 0 -\tx\nend\n", "line 3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        size_t len = strlen(cases[i].text);
        struct claims *claims = claims_decode(mem_copy_text(cases[i].text), len, &err);
        if (claims || !strstr(error_text(&err), cases[i].says))
            fail_msg("%s: %s", cases[i].text, claims ? "is taken" : error_text(&err));
        error_clear(&err);
    }
    static const char zero[] = HEAD "1\nend\n\0";
    assert_null(claims_decode(mem_copy_text_n(zero, sizeof(zero) - 1), sizeof(zero) - 1, NULL));
}

static void test_sets_that_are_wrong_are_refused_where_they_are_looked_at(void **state)
{
    static const char *const sets[] = {"n0",     "n0 0",     "n0 0 - -",  "n[0 0 -",
                                       "n0 x -", "n0 0 1-0", "n0 0 -\t\t"};
    struct rset *all = rset_new();
    struct idset *cores = idset_decode("0-9", NULL);
    (void)state;
    rset_append(all, 0, "elsewhere", cores, NULL);
    struct claims_probe *probe = claims_probe_new(all);
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        char text[256];
        const char *host;
        struct error err = ERROR_INIT;
        snprintf(text, sizeof(text), HEAD "9\n7 h 0 0 -\tx\t%s\nend\n", sets[i]);
        struct claims *claims = decode(text);
        struct rset *set = claims_set(&claims->rows[0], &err);
        if (set || !err.text)
            fail_msg("%s is taken", sets[i]);
        assert_int_equal(claims_probe_row(probe, &claims->rows[0], &host, NULL, NULL), -1);
        claims_free(claims);
        error_clear(&err);
    }
    claims_probe_free(probe);
    idset_free(cores);
    rset_free(all);
}

static void test_rows_are_added_changed_and_dropped(void **state)
{
    struct claims *claims = claims_new();
    struct rset *set = rset_new(), *none = rset_new();
    struct idset *cores = idset_decode("0-3", NULL), *gpus = idset_decode("1", NULL);
    (void)state;
    rset_append(set, 0, "n0", cores, NULL);
    rset_append(set, 1, "n1", cores, gpus);
    rset_append(set, 2, "n2", cores, NULL);
    claims_add(claims, 5, 100, "-", "a\tb\nc\x7f");
    claims_add(claims, 3, 90, "1,2", "d");
    claims_put(claims_find(claims, 3), CLAIMS_WAITS, set, 120);
    assert_null(claims_find(claims, 4));
    size_t len;
    char *text = claims_encode(claims, &len);
    assert_non_null(strstr(text, HEAD "6\n3 w 90 120 1,2\td\t"));
    assert_non_null(strstr(text, "n[0,2] 0-3 -"));
    assert_non_null(strstr(text, "n1 0-3 1"));
    assert_non_null(strstr(text, "\n5 n 100 0 -\ta?b?c?\nend\n"));
    free(text);
    claims_put(claims_find(claims, 3), CLAIMS_HOLDS, none, 130);
    claims_drop(claims, 5);
    claims_drop(claims, 5);
    expect_text(claims, HEAD "6\n3 n 90 0 1,2\td\nend\n");
    claims_free(claims);
    rset_free(set);
    rset_free(none);
    idset_free(cores);
    idset_free(gpus);
}

static void test_a_long_name_is_cut_between_characters(void **state)
{
    char name[CLAIMS_MAX_NAME + 8];
    struct claims *claims = claims_new();
    (void)state;
    memset(name, 'x', sizeof(name));
    memcpy(name + CLAIMS_MAX_NAME - 1, "\xc3\xa9", 2);
    name[sizeof(name) - 1] = '\0';
    claims_add(claims, 1, 0, "-", name);
    assert_int_equal(strlen(claims->rows[0].name), CLAIMS_MAX_NAME - 1);
    claims_free(claims);
}

static void test_what_two_have_in_common_is_found(void **state)
{
    static const struct {
        const char *sets, *host, *cores, *gpus; /* host NULL: nothing */
    } cases[] = {
        {"n0 0-3 -", "n0", "2-3", ""},        {"n0 0-1 -", NULL, NULL, NULL},
        {"n[3-9] 0-9 0-9", NULL, NULL, NULL}, {"n9 0 -\tn[1-2] 0-9 -", "n1", "2-5", ""},
        {"n1 9 1-9", "n1", "", "1"},
    };
    struct rset *mine = rset_new();
    struct idset *cores = idset_decode("2-5", NULL), *gpus = idset_decode("0-1", NULL);
    (void)state;
    rset_append(mine, 0, "n1", cores, gpus);
    rset_append(mine, 1, "n0", cores, NULL);
    struct claims_probe *probe = claims_probe_new(mine);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        const char *host;
        struct rset_children common;
        snprintf(text, sizeof(text), HEAD "9\n7 h 0 0 -\tx\t%s\nend\n", cases[i].sets);
        struct claims *claims = decode(text);
        assert_int_equal(claims_probe_row(probe, &claims->rows[0], &host, &common, NULL), 0);
        assert_int_equal(!host, !cases[i].host);
        if (host) {
            char *got_cores = idset_encode(common.cores), *got_gpus = idset_encode(common.gpus);
            assert_string_equal(host, cases[i].host);
            assert_string_equal(got_cores, cases[i].cores);
            assert_string_equal(got_gpus, cases[i].gpus);
            free(got_cores);
            free(got_gpus);
            idset_free(common.cores);
            idset_free(common.gpus);
        }
        claims_free(claims);
    }
    claims_probe_free(probe);
    idset_free(cores);
    idset_free(gpus);
    rset_free(mine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_read_is_written_the_same),
        cmocka_unit_test(test_what_is_not_whole_or_not_right_is_refused),
        cmocka_unit_test(test_sets_that_are_wrong_are_refused_where_they_are_looked_at),
        cmocka_unit_test(test_rows_are_added_changed_and_dropped),
        cmocka_unit_test(test_a_long_name_is_cut_between_characters),
        cmocka_unit_test(test_what_two_have_in_common_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

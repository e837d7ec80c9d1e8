#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "tests/unit/vectors.h"

static struct hostlist *read_list(const char *text)
{
    struct error err = ERROR_INIT;
    struct hostlist *list = hostlist_decode(text, &err);
    if (!list)
        fail_msg("\"%s\": %s", text, error_text(&err));
    return list;
}

static void expect_same(const struct hostlist *a, const struct hostlist *b)
{
    assert_int_equal(hostlist_count(a), hostlist_count(b));
    for (size_t i = 0; i < hostlist_count(a); i++)
        assert_string_equal(hostlist_nth(a, i), hostlist_nth(b, i));
}

static void expect_round_trip(const struct hostlist *list)
{
    char *text = hostlist_encode(list);
    struct hostlist *again = read_list(text);
    expect_same(list, again);
    hostlist_free(again);
    free(text);
}

static void test_vectors_expand_to_their_hosts(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc29_hostlist"), *item, *host;
    size_t i, j;
    json_array_foreach(vectors_list(table, "decode"), i, item)
    {
        struct hostlist *list = read_list(vectors_text(item, "in"));
        json_t *hosts = json_object_get(item, "expanded");
        assert_int_equal(hostlist_count(list), json_array_size(hosts));
        json_array_foreach(hosts, j, host)
            assert_string_equal(hostlist_nth(list, j), json_string_value(host));
        expect_round_trip(list);
        hostlist_free(list);
    }
    json_decref(table);
}

static void test_vectors_encode_canonically(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc29_hostlist"), *item, *host;
    size_t i, j;
    json_array_foreach(vectors_list(table, "encode"), i, item)
    {
        struct hostlist *list = hostlist_new();
        json_array_foreach(json_object_get(item, "hosts"), j, host)
            hostlist_append(list, json_string_value(host));
        char *text = hostlist_encode(list);
        assert_string_equal(text, vectors_text(item, "out"));
        free(text);
        expect_round_trip(list);
        hostlist_free(list);
    }
    json_decref(table);
}

static void expect_refused(const char *text)
{
    struct error err = ERROR_INIT;
    struct hostlist *list = hostlist_decode(text, &err);
    if (list)
        fail_msg("\"%s\" was taken", text);
    assert_non_null(err.text);
    assert_null(strchr(err.text, '\n'));
    error_clear(&err);
}

static void test_wrong_vectors_are_refused(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc29_hostlist"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "invalid"), i, item)
        expect_refused(vectors_text(item, "in"));
    json_decref(table);
}

static void test_other_bad_texts_are_refused(void **state)
{
    static const char *const bad[] = {",",
                                      "a,",
                                      ",a",
                                      "a,,b",
                                      "a b",
                                      " a",
                                      "a\n",
                                      "a\tb",
                                      "foo]",
                                      "foo[1",
                                      "foo[1]]",
                                      "[1][2]",
                                      "foo[1-2]x[3-4]",
                                      "foo[1,]",
                                      "foo[,1]",
                                      "foo[1,,2]",
                                      "foo[-1]",
                                      "foo[1-]",
                                      "foo[1-2-3]",
                                      "foo[ 1]",
                                      "foo[1 ]",
                                      "foo[1]x y",
                                      "foo[0x1]",
                                      "h\xc3\xa9",
                                      "foo[1234567890123456789]",
                                      "foo[0-9999999]",
                                      "foo[18446744073709551615-18446744073709551616]",
                                      "foo[4294967295-0]",
                                      "foo[1,02]",
                                      "foo[01,002]",
                                      "foo[01-002]",
                                      "foo[1-02]"};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        expect_refused(bad[i]);
}

static void test_names_and_lists_have_limits(void **state)
{
    (void)state;
    char text[HOSTLIST_MAX_NAME + 32];
    memset(text, 'a', sizeof(text));
    text[HOSTLIST_MAX_NAME] = '\0';
    hostlist_free(read_list(text));
    text[HOSTLIST_MAX_NAME] = 'a';
    text[HOSTLIST_MAX_NAME + 1] = '\0';
    expect_refused(text);
    strcpy(text + HOSTLIST_MAX_NAME - 1, "[1-10]");
    expect_refused(text);
    expect_refused("[0-1048575],[0-1048575],[0-1048575],[0-1048575],one");
    strcpy(text + 200, "[0-1048575]");
    expect_refused(text);
}

static void test_a_refusal_names_the_part(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    assert_null(hostlist_decode("login,node[3-1]-ib", &err));
    assert_non_null(strstr(err.text, "\"3-1\""));
    assert_non_null(strstr(err.text, "\"node[3-1]\""));
    error_clear(&err);
}

static void test_numbers_near_2_to_the_32_do_not_wrap(void **state)
{
    (void)state;
    struct hostlist *list = read_list("n[4294967295-4294967297]");
    assert_int_equal(hostlist_count(list), 3);
    assert_string_equal(hostlist_nth(list, 0), "n4294967295");
    assert_string_equal(hostlist_nth(list, 2), "n4294967297");
    expect_round_trip(list);
    hostlist_free(list);
}

static void test_folding_keeps_every_name_as_it_is(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"foo9,foo10", "foo[9-10]"},
        {"foo09,foo10", "foo[09-10]"},
        {"foo10,foo09", "foo10,foo09"},
        {"foo9,foo010", "foo9,foo010"},
        {"foo98,foo99,foo100", "foo[98-100]"},
        {"foo099,foo100,foo1000", "foo[099-100,1000]"},
        {"foo1,foo01,foo001", "foo1,foo01,foo001"},
        {"a1b2,a1b3,a2b3", "a1b[2-3],a2b3"},
        {"n0,n1,n2,m0,m1,n3", "n[0-2],m[0-1],n3"},
        {"n3,n2,n1", "n[3,2,1]"},
        {"x", "x"},
        {"n00000000000000000001,n00000000000000000002",
         "n00000000000000000001,n00000000000000000002"},
        {"user@n1,user@n2", "user@n[1-2]"},
        {"0,1,2", "[0-2]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hostlist *list = read_list(cases[i].in);
        char *text = hostlist_encode(list);
        assert_string_equal(text, cases[i].out);
        free(text);
        expect_round_trip(list);
        hostlist_free(list);
    }
}

static void test_random_lists_read_back_element_for_element(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 3000; round++) {
        struct hostlist *list = hostlist_new();
        for (int i = rand() % 12; i >= 0; i--) {
            char host[32];
            snprintf(host, sizeof(host), "%s%0*d", rand() % 3 ? "n" : "n0", rand() % 4,
                     rand() % 12);
            hostlist_append(list, host);
        }
        expect_round_trip(list);
        hostlist_free(list);
    }
}

static void test_order_and_duplicates_count(void **state)
{
    (void)state;
    struct hostlist *list = read_list("b,a,b,a[1-2]");
    assert_int_equal(hostlist_count(list), 5);
    assert_int_equal(hostlist_find(list, "b"), 0);
    assert_int_equal(hostlist_find(list, "a2"), 4);
    assert_int_equal(hostlist_find(list, "c"), -1);
    assert_null(hostlist_nth(list, 5));
    hostlist_free(list);
    hostlist_free(NULL);
}

static void test_names_stay_where_they_are(void **state)
{
    (void)state;
    struct hostlist *list = read_list("first");
    const char *first = hostlist_nth(list, 0);
    assert_int_equal(hostlist_append_text(list, "n[0-99999]", NULL), 0);
    assert_ptr_equal(hostlist_nth(list, 0), first);
    assert_string_equal(first, "first");
    assert_int_equal(hostlist_count(list), 100001);
    expect_round_trip(list);
    hostlist_free(list);
}

static void test_ranges_longer_than_the_limit_are_split(void **state)
{
    (void)state;
    struct hostlist *list = read_list("n[0-1048575],n[1048576-1048580]");
    char *text = hostlist_encode(list);
    assert_string_equal(text, "n[0-1048575,1048576-1048580]");
    free(text);
    expect_round_trip(list);
    hostlist_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_expand_to_their_hosts),
        cmocka_unit_test(test_vectors_encode_canonically),
        cmocka_unit_test(test_wrong_vectors_are_refused),
        cmocka_unit_test(test_other_bad_texts_are_refused),
        cmocka_unit_test(test_names_and_lists_have_limits),
        cmocka_unit_test(test_a_refusal_names_the_part),
        cmocka_unit_test(test_numbers_near_2_to_the_32_do_not_wrap),
        cmocka_unit_test(test_folding_keeps_every_name_as_it_is),
        cmocka_unit_test(test_random_lists_read_back_element_for_element),
        cmocka_unit_test(test_order_and_duplicates_count),
        cmocka_unit_test(test_names_stay_where_they_are),
        cmocka_unit_test(test_ranges_longer_than_the_limit_are_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tests/unit/caret.h"
#include "tests/unit/vectors.h"

#include <string.h>

#include "affinity/resource/constraint.h"
#include "base/buf.h"
#include "tests/unit/limit.h"

/* The inventory of the vectors: host0 ... with the properties that are given. */
static struct rset *make_hosts(uint32_t count, json_t *properties)
{
    struct rset *R = rset_new();
    struct idset *cores = idset_new();
    idset_add(cores, 0);
    for (uint32_t i = 0; i < count; i++) {
        char host[32];
        snprintf(host, sizeof(host), "host%u", i);
        rset_append(R, i, host, cores, NULL);
    }
    idset_free(cores);
    R->properties = json_incref(properties);
    return R;
}

static struct rset *read_inventory(json_t *table)
{
    json_t *inventory = json_object_get(table, "inventory");
    return make_hosts((uint32_t)json_object_size(json_object_get(inventory, "ranks")),
                      json_object_get(inventory, "properties"));
}

static struct constraint *read_text(const char *text)
{
    struct error err = ERROR_INIT;
    struct constraint *constraint = constraint_decode(text, &err);
    if (!constraint)
        fail_msg("%s: %s", text, error_text(&err));
    return constraint;
}

static void expect_match(const struct constraint *constraint, const struct rset *R,
                         const char *what, const char *want)
{
    struct idset *ranks = constraint_match(constraint, R);
    char *got = idset_encode(ranks);
    if (strcmp(got, want) != 0)
        fail_msg("%s matches \"%s\" instead of \"%s\"", what, got, want);
    free(got);
    idset_free(ranks);
}

static void expect_json(const struct constraint *constraint, const json_t *want)
{
    json_t *got = constraint_to_json(constraint);
    if (!json_equal(got, want)) {
        char *a = json_dumps(got, JSON_COMPACT), *b = json_dumps(want, JSON_COMPACT);
        fail_msg("%s instead of %s", a, b);
    }
    json_decref(got);
}

static void test_vectors_match_the_ranks_they_should(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc31_constraints"), *item;
    struct rset *R = read_inventory(table);
    size_t i;
    json_array_foreach(vectors_list(table, "cases"), i, item)
    {
        json_t *value = json_object_get(item, "constraint");
        char *text = json_dumps(value, 0);
        struct constraint *constraint = read_text(text);
        expect_match(constraint, R, text, vectors_text(item, "matches"));
        if (json_object_size(value))
            expect_json(constraint, value);
        constraint_free(constraint);
        free(text);
    }
    rset_free(R);
    json_decref(table);
}

static void test_wrong_vectors_are_refused(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc31_constraints"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "invalid"), i, item)
    {
        struct error err = ERROR_INIT;
        char *text = json_dumps(item, 0);
        if (constraint_from_json(item, &err) || constraint_decode(text, NULL))
            fail_msg("%s is taken", text);
        assert_non_null(err.text);
        error_clear(&err);
        free(text);
    }
    json_decref(table);
}

static json_t *quoted_json(const char *json)
{
    char text[512];
    snprintf(text, sizeof(text), "%s", json);
    for (char *at = text; *at; at++)
        *at = (char)(*at == '`' ? '"' : *at);
    json_t *value = json_loads(text, 0, NULL);
    if (!value)
        fail_msg("%s", text);
    return value;
}

static const struct {
    const char *text, *json, *matches;
} good[] = {
    {"ssd", "{`properties`:[`ssd`]}", "0,2"},
    {"^slowgpu", "{`properties`:[`^slowgpu`]}", "0,2-3"},
    {"-slowgpu", "{`not`:[{`properties`:[`slowgpu`]}]}", "0,2-3"},
    {"-^slowgpu", "{`not`:[{`properties`:[`^slowgpu`]}]}", "1"},
    {"foo bar", "{`and`:[{`properties`:[`foo`]},{`properties`:[`bar`]}]}", "1"},
    {"foo and bar", "{`and`:[{`properties`:[`foo`]},{`properties`:[`bar`]}]}", "1"},
    {"foo&bar", "{`and`:[{`properties`:[`foo`]},{`properties`:[`bar`]}]}", "1"},
    {"foo&&bar", "{`and`:[{`properties`:[`foo`]},{`properties`:[`bar`]}]}", "1"},
    {"foo|bar||huge",
     "{`or`:[{`properties`:[`foo`]},{`properties`:[`bar`]},{`properties`:[`huge`]}]}", "0-3"},
    {"foo or bar", "{`or`:[{`properties`:[`foo`]},{`properties`:[`bar`]}]}", "0-2"},
    {"huge|foo&bar",
     "{`or`:[{`properties`:[`huge`]},{`and`:[{`properties`:[`foo`]},{`properties`:[`bar`]}]}]}",
     "1,3"},
    {"huge or foo bar",
     "{`or`:[{`properties`:[`huge`]},{`and`:[{`properties`:[`foo`]},{`properties`:[`bar`]}]}]}",
     "1,3"},
    {"(huge|foo)&bar",
     "{`and`:[{`or`:[{`properties`:[`huge`]},{`properties`:[`foo`]}]},{`properties`:[`bar`]}]}",
     "1"},
    {"(huge|-foo)&ssd",
     "{`and`:[{`or`:[{`properties`:[`huge`]},{`not`:[{`properties`:[`foo`]}]}]},"
     "{`properties`:[`ssd`]}]}",
     "2"},
    {"not foo", "{`not`:[{`properties`:[`foo`]}]}", "2-3"},
    {"not(foo bar)", "{`not`:[{`and`:[{`properties`:[`foo`]},{`properties`:[`bar`]}]}]}", "0,2-3"},
    {"not not foo", "{`not`:[{`not`:[{`properties`:[`foo`]}]}]}", "0-1"},
    {"not foo bar", "{`and`:[{`not`:[{`properties`:[`foo`]}]},{`properties`:[`bar`]}]}", "2"},
    {"host:host[0-1]", "{`hostlist`:[`host[0-1]`]}", "0-1"},
    {"hosts:host3,host0", "{`hostlist`:[`host3,host0`]}", "0,3"},
    {"hostlist:'host1,nosuch'", "{`hostlist`:[`host1,nosuch`]}", "1"},
    {"-host:host1", "{`not`:[{`hostlist`:[`host1`]}]}", "0,2-3"},
    {"rank:0-1,3", "{`ranks`:[`0-1,3`]}", "0-1,3"},
    {"ranks:7", "{`ranks`:[`7`]}", ""},
    {"property:ssd", "{`properties`:[`ssd`]}", "0,2"},
    {"properties:\"ssd\"", "{`properties`:[`ssd`]}", "0,2"},
    {"'and'", "{`properties`:[`and`]}", ""},
    {"'rank:0'", "{`properties`:[`rank:0`]}", ""},
    {"android nothing orca",
     "{`and`:[{`properties`:[`android`]},{`properties`:[`nothing`]},{`properties`:[`orca`]}]}", ""},
    {" ( ( ssd ) ) ", "{`properties`:[`ssd`]}", "0,2"},
    {" {\"ranks\": [\"2\"]}", "{`ranks`:[`2`]}", "2"},
};

static void test_lines_of_text_are_the_json_of_rfc_35(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc31_constraints");
    struct rset *R = read_inventory(table);
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        struct constraint *constraint = read_text(good[i].text);
        json_t *want = quoted_json(good[i].json);
        expect_json(constraint, want);
        expect_match(constraint, R, good[i].text, good[i].matches);
        json_decref(want);
        constraint_free(constraint);
    }
    rset_free(R);
    json_decref(table);
}

static const struct {
    const char *text, *part;
    size_t caret;
} bad[] = {
    {"", "a term is missing here", 0},
    {"  ", "a term is missing here", 2},
    {"ssd and", "a term is missing here", 7},
    {"ssd |", "a term is missing here", 5},
    {"ssd &&& foo", "a term is missing here", 6},
    {"and ssd", "something to join is missing", 0},
    {"ssd and or foo", "something to join is missing", 8},
    {"not", "a term is missing here", 3},
    {"(ssd", "this parenthesis is not closed", 0},
    {"ssd)", "this closes nothing", 3},
    {"()", "a term is missing here", 1},
    {"-(a|b)", "right in front of a term; not (...)", 0},
    {"a - b", "right in front of a term", 2},
    {"a --b", "right in front of a term", 2},
    {"state:up", "host:, rank: and property: are known", 0},
    {"a and:b", "host:, rank: and property: are known", 2},
    {"host:", "a term is missing here", 5},
    {"a host:a[", "hostlist", 2},
    {"rank:2-1", "not an ascending range", 0},
    {"rank:a", "is not an id", 0},
    {"'ssd", "the quote is not closed", 0},
    {"^", "a property's name is missing behind ^", 0},
    {"''", "a property's name is missing", 0},
    {"{\"ranks\": [}", "not JSON", 12},
    {"{\"ranks\": [\"0\"], \"ranks\": [\"0\"]}", "not JSON", 24},
};

static void test_wrong_lines_are_refused_with_a_caret_under_the_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct error err = ERROR_INIT;
        if (constraint_decode(bad[i].text, &err))
            fail_msg("%s is taken", bad[i].text);
        if (!strstr(error_text(&err), bad[i].part))
            fail_msg("%s: %s", bad[i].text, error_text(&err));
        expect_caret(error_text(&err), bad[i].caret);
        error_clear(&err);
    }
}

static const struct {
    const char *json, *part;
} bad_json[] = {
    {"{`nosuchop`:[]}", "unknown operator \"nosuchop\" (expected and, or, not, properties"},
    {"{`and`:{}}", "\"and\" has an array of values"},
    {"{`and`:[1]}", "an object with one operator"},
    {"{`not`:[{},{}]}", "negates one value, got 2"},
    {"{`properties`:[``]}", "a property's name is missing"},
    {"{`hostlist`:[0]}", "the values of \"hostlist\" are strings"},
    {"{`hostlist`:[`a[0-1048575]`,`b`]}", "more than 1048576 hosts in all"},
};

static void test_wrong_json_is_refused_with_what_is_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_json) / sizeof(*bad_json); i++) {
        struct error err = ERROR_INIT;
        json_t *value = quoted_json(bad_json[i].json);
        if (constraint_from_json(value, &err))
            fail_msg("%s is taken", bad_json[i].json);
        if (!strstr(error_text(&err), bad_json[i].part))
            fail_msg("%s: %s", bad_json[i].json, error_text(&err));
        error_clear(&err);
        json_decref(value);
    }
    assert_null(constraint_from_json(NULL, NULL));
}

static void expect_depth(const char *part, const char *end, const char *back, size_t levels)
{
    for (size_t more = 0; more < 2; more++) {
        struct error err = ERROR_INIT;
        struct buf text = BUF_INIT;
        for (size_t i = 0; i < levels + more; i++)
            buf_add_text(&text, part);
        buf_add_text(&text, end);
        for (size_t i = 0; i < levels + more; i++)
            buf_add_text(&text, back);
        struct constraint *constraint = constraint_decode(buf_text(&text), &err);
        if (!constraint != (more == 1))
            fail_msg("%s: %s", buf_text(&text), error_text(&err));
        if (constraint) {
            json_t *value = constraint_to_json(constraint);
            struct constraint *again = constraint_from_json(value, &err);
            assert_non_null(again);
            constraint_free(again);
            json_decref(value);
        } else {
            assert_non_null(strstr(error_text(&err), "more than 64 deep"));
        }
        constraint_free(constraint);
        error_clear(&err);
        buf_free(&text);
    }
}

static void test_depth_and_size_have_limits(void **state)
{
    (void)state;
    expect_depth("(", "a", ")", 63);
    expect_depth("not ", "a", "", 63);
    expect_depth("(a (b|", "c", "))", 31);
    expect_depth("{\"not\":[", "{\"or\":[]}", "]}", 63);
    struct error err = ERROR_INIT;
    char *text = malloc(CONSTRAINT_MAX_TEXT + 2);
    assert_non_null(text);
    memset(text, 'a', CONSTRAINT_MAX_TEXT + 1);
    text[CONSTRAINT_MAX_TEXT + 1] = '\0';
    assert_null(constraint_decode(text, &err));
    assert_non_null(strstr(error_text(&err), "longer than"));
    text[CONSTRAINT_MAX_TEXT] = '\0';
    constraint_free(read_text(text));
    error_clear(&err);
    free(text);
}

static const struct {
    const char *text, *matches, *unknown;
} named[] = {
    {"ssd", "0-2", NULL},
    {"ssd@fast", "1", NULL},
    {"ssd@slow", "2", NULL},
    {"ssd@", "", "ssd@"},
    {"ss", "", "ss"},
    {"^ssd", "3", NULL},
    {"^ssd@fast", "0,2-3", NULL},
    {"ssd and nosuch", "", "nosuch"},
    {"ssd or nosuch", "0-2", "nosuch"},
    {"^nosuch", "0-3", NULL},
    {"not nosuch", "0-3", NULL},
    {"not ^nosuch", "", "nosuch"},
    {"not not nosuch", "", "nosuch"},
    {"empty", "", "empty"},
};

static void test_a_property_counts_by_the_name_before_an_at_sign(void **state)
{
    (void)state;
    json_t *properties = quoted_json("{`ssd`:`0`,`ssd@fast`:`1`,`ssd@slow`:`2`,`empty`:``}");
    struct rset *R = make_hosts(4, properties);
    for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
        struct constraint *constraint = read_text(named[i].text);
        expect_match(constraint, R, named[i].text, named[i].matches);
        const char *unknown = constraint_unknown_property(constraint, R);
        if (named[i].unknown)
            assert_string_equal(unknown ? unknown : "(none)", named[i].unknown);
        else
            assert_null(unknown);
        constraint_free(constraint);
    }
    rset_free(R);
    json_decref(properties);
}

/* Sets of R's ranks, which need not begin at 0, and hosts that are there more than once. */
/* BEFORE, `term` with 0, 2, 4, ... in place of its number, with SEPARATOR between, AFTER. */
static char *many_terms(const char *before, const char *term, const char *separator,
                        const char *after)
{
    struct buf text = BUF_INIT;
    buf_add_text(&text, before);
    for (uint32_t i = 0; i < 100000; i += 2)
        buf_printf(&text, "%s%.*s%u%s", i ? separator : "", (int)strcspn(term, "#"), term, i,
                   term + strcspn(term, "#") + 1);
    buf_add_text(&text, after);
    return buf_take_text(&text);
}

static void test_many_terms_take_linear_time(void **state)
{
    static const struct {
        const char *before, *term, *separator, *after;
        size_t count;
    } cases[] = {
        {"", "rank:#", "|", "", 50000},
        {"", "-rank:#", " ", "", 50000},
        {"{\"ranks\":[", "\"#\"", ",", "]}", 50000},
        {"", "host:host#", "|", "", 50000},
        {"", "-host:host#", " ", "", 50000},
        {"{\"hostlist\":[", "\"host#\"", ",", "]}", 50000},
        {"", "p#", "|", "", 50000},
        {"{\"properties\":[", "\"^p#\"", ",", "]}", 50000},
    };
    json_t *properties = json_object();
    for (uint32_t i = 0; i < 100000; i += 2) {
        char name[16], rank[16];
        snprintf(name, sizeof(name), "p%u", i);
        snprintf(rank, sizeof(rank), "%u", i);
        json_object_set_new(properties, name, json_string(rank));
    }
    struct rset *R = make_hosts(100000, properties);
    (void)state;
    limit_cpu(20);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = many_terms(cases[i].before, cases[i].term, cases[i].separator, cases[i].after);
        struct constraint *constraint = read_text(text);
        struct idset *ranks = constraint_match(constraint, R);
        assert_int_equal(idset_count(ranks), cases[i].count);
        assert_null(constraint_unknown_property(constraint, R));
        constraint_free(constraint);
        idset_free(ranks);
        free(text);
    }
    json_decref(properties);
    rset_free(R);
}

static void test_many_nodes_match_as_each_would_alone(void **state)
{
    (void)state;
    struct rset *R = make_hosts(3000, NULL);
    struct constraint *odd = read_text("host:host[1-2999],host[5-9] and not rank:100-2998");
    expect_match(odd, R, "many", "1-99,2999");
    constraint_free(odd);
    struct constraint *none = read_text("property:ssd");
    expect_match(none, R, "no properties at all", "");
    assert_string_equal(constraint_unknown_property(none, R), "ssd");
    constraint_free(none);
    rset_free(R);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_match_the_ranks_they_should),
        cmocka_unit_test(test_wrong_vectors_are_refused),
        cmocka_unit_test(test_lines_of_text_are_the_json_of_rfc_35),
        cmocka_unit_test(test_wrong_lines_are_refused_with_a_caret_under_the_place),
        cmocka_unit_test(test_wrong_json_is_refused_with_what_is_right),
        cmocka_unit_test(test_depth_and_size_have_limits),
        cmocka_unit_test(test_a_property_counts_by_the_name_before_an_at_sign),
        cmocka_unit_test(test_many_nodes_match_as_each_would_alone),
        cmocka_unit_test(test_many_terms_take_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

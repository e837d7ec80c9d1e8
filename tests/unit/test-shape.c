#include <string.h>

#include "affinity/shape/shape.h"
#include "base/buf.h"
#include "tests/unit/caret.h"
#include "tests/unit/vectors.h"

static struct shape *read_shape(const char *text)
{
    struct error err = ERROR_INIT;
    struct shape *shape = shape_decode(text, &err);
    if (!shape)
        fail_msg("%s: %s", text, error_text(&err));
    return shape;
}

static struct shape *read_json(const json_t *resources)
{
    struct error err = ERROR_INIT;
    struct shape *shape = shape_from_json(resources, &err);
    if (!shape)
        fail_msg("%s", error_text(&err));
    return shape;
}

static void expect_json(const struct shape *shape, const json_t *want)
{
    json_t *got = shape_to_json(shape);
    if (!json_equal(got, want)) {
        char *a = json_dumps(got, JSON_COMPACT), *b = json_dumps(want, JSON_COMPACT);
        fail_msg("%s instead of %s", a, b);
    }
    json_decref(got);
}

/* Through its canonical text and through JSON it comes back as it was. */
static void expect_forms(const struct shape *shape)
{
    char *text = shape_encode(shape);
    json_t *value = shape_to_json(shape);
    struct shape *a = read_shape(text), *b = read_json(value);
    expect_json(a, value);
    char *again = shape_encode(a), *other = shape_encode(b);
    assert_string_equal(again, text);
    assert_string_equal(other, text);
    free(other);
    free(again);
    shape_free(a);
    shape_free(b);
    json_decref(value);
    free(text);
}

static void test_use_cases_of_rfc_46_expand_as_it_says(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc46_shape"), *item;
    size_t i, done = 0;
    json_array_foreach(vectors_list(table, "vectors"), i, item)
    {
        if (json_object_get(item, "same_as"))
            continue;
        const char *text = vectors_text(item, "shape");
        struct shape *shape = read_shape(text);
        expect_json(shape, json_object_get(item, "resources"));
        expect_forms(shape);
        char *again = shape_encode(shape);
        assert_string_equal(again, text);
        free(again);
        shape_free(shape);
        done++;
    }
    assert_int_equal(done, 13);
    json_decref(table);
}

static void test_wrong_shapes_of_the_grammar_are_refused(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc46_shape"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "invalid"), i, item)
    {
        struct error err = ERROR_INIT;
        if (shape_decode(json_string_value(item), &err))
            fail_msg("%s is taken", json_string_value(item));
        assert_non_null(err.text);
        error_clear(&err);
    }
    json_decref(table);
}

static void test_resources_of_jobspecs_come_back_from_a_shape(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc14_jobspec"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "documents"), i, item)
    {
        const json_t *resources = json_object_get(json_object_get(item, "jobspec"), "resources");
        struct shape *shape = read_json(resources);
        expect_json(shape, resources);
        expect_forms(shape);
        shape_free(shape);
    }
    json_decref(table);
}

static const struct {
    const char *text, *canonical, *json; /* json of the first vertex */
} good[] = {
    {"core", "core", "{'type': 'core', 'count': 1}"},
    {"[core]", "core", "{'type': 'core', 'count': 1}"},
    {" node = 2 / [ core = [4] ; gpu ] ", "node=2/[core=4;gpu]", NULL},
    {"slot{default}/core", "slot/core", NULL},
    {"slot{mine}/core", "slot{mine}/core",
     "{'type':'slot','count':1,'label':'mine','with':[{'type':'core','count':1}]}"},
    {"slot{\"x\"}/core", "slot{\"x\"}/core", NULL},
    {"slot{default,x}/core", "slot{default,x}/core", NULL},
    {"slot{4}/core", "slot{4}/core", NULL},
    {"'slot'/core", "slot/core", NULL},
    {"\"slot\"{'a b'}/core", "slot{\"a b\"}/core", NULL},
    {"Slot=4", "Slot=4", NULL},
    {"node{x}", "node{x}", "{'type':'node','count':1,'exclusive':true}"},
    {"node{+x}", "node{x}", NULL},
    {"node{exclusive}", "node{x}", NULL},
    {"node{x:true}", "node{x}", NULL},
    {"node{exclusive:false}", "node{-x}", "{'type':'node','count':1,'exclusive':false}"},
    {"node{\"x\":1}", "node{\"x\":1}", "{'type':'node','count':1,'x':1}"},
    {"node{+\"x\"}", "node{+\"x\"}", "{'type':'node','count':1,'x':true}"},
    {"node{}", "node", NULL},
    {"node{ }", "node", NULL},
    {"node{id:'0-3'}", "node{id:0-3}", NULL},
    {"node{label:a}", "node{label:a}", NULL},
    {"node{a:1,b:1.5,c:-2e1,d:null,e:true,f:False}", "node{a:1,b:1.5,c:-20.0,d:null,+e,f:False}",
     "{'type':'node','count':1,'a':1,'b':1.5,'c':-20.0,'d':null,'e':true,'f':'False'}"},
    {"node{a:'1',b:\"true\",c:01,d:4GB-node,e:''}",
     "node{a:\"1\",b:\"true\",c:01,d:4GB-node,e:\"\"}", NULL},
    {"node{a:{x,-b,c:{d:e}},f:[1,\"two\",{\"x\":[]}]}",
     "node{a:{+x,-b,c:{d:e}},f:[1,\"two\",{\"x\":[]}]}",
     "{'type':'node','count':1,'a':{'x':true,'b':false,'c':{'d':'e'}},'f':[1,'two',{'x':[]}]}"},
    {"node{a:{}}", "node{a:{}}", NULL},
    {"node{'a b':'c;/]}d'}", "node{\"a b\":\"c;/]}d\"}", NULL},
    {"node{a:'say \"hi\" \\'}", "node{a:\"say \\\"hi\\\" \\\\\"}", NULL},
    {"node{a:\"\\u00e9\\n\"}", "node{a:\"\u00e9\\n\"}", NULL},
    {"d\u00e9p\u00f4t=2", "d\u00e9p\u00f4t=2", NULL},
    {"'a;b'/'c=d'", "\"a;b\"/\"c=d\"", NULL},
    {"memory=4{unit:GB}", "memory=4{unit:GB}", "{'type':'memory','count':4,'unit':'GB'}"},
    {"memory=4{unit:'1'}", "memory=4{unit:\"1\"}", NULL},
    {"core=[2+]", "core=2+", "{'type':'core','count':{'min':2}}"},
    {"core=5-5", "core=5", NULL},
    {"core=[1,3-5]", "core=1,3-5", "{'type':'core','count':'1,3-5'}"},
    {"core=2-64:2:*", "core=2-64:2:*",
     "{'type':'core','count':{'min':2,'max':64,'operator':'*','operand':2}}"},
    {"[a;b/[c;d];e]", "[a;b/[c;d];e]", NULL},
    {"[a/b;c]", "[a/b;c]", NULL},
    {"[slot{a}/core;slot{b}/gpu]", "[slot{a}/core;slot{b}/gpu]", NULL},
    {"slot{a}/slot{b}/core", "slot{a}/slot{b}/core", NULL},
};

static json_t *quoted_json(const char *json)
{
    char text[512];
    snprintf(text, sizeof(text), "%s", json);
    for (char *at = text; *at; at++)
        *at = (char)(*at == '\'' ? '"' : *at);
    json_t *value = json_loads(text, 0, NULL);
    if (!value)
        fail_msg("%s", text);
    return value;
}

static void test_every_part_of_the_grammar_is_read_and_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        struct shape *shape = read_shape(good[i].text);
        char *text = shape_encode(shape);
        assert_string_equal(text, good[i].canonical);
        if (good[i].json) {
            json_t *want = json_pack("[o]", quoted_json(good[i].json));
            expect_json(shape, want);
            json_decref(want);
        }
        expect_forms(shape);
        free(text);
        shape_free(shape);
    }
}

static const struct {
    const char *text, *part;
    size_t caret; /* column */
} bad[] = {
    {"slot=2{blah", "missing '}': this '{' is not closed", 6},
    {"node{a:{b}", "missing '}': this '{'", 4},
    {"slot/", "expected a type of resource (core, node, ...), got the end", 5},
    {"node/]", "expected a type of resource (core, node, ...); text", 5},
    {"slot", "a slot must contain resources", 0},
    {"node/slot=4", "a slot must contain resources", 5},
    {"[slot/core;slot/gpu]", "must have a label, as in slot{first}", 1},
    {"[slot{a}/core;slot{a}/gpu]", "label \"a\" is given twice", 14},
    {"[slot{a}/core;node{label:a}]", "label \"a\" is given twice", 14},
    {"slot=0/core", "a count must be at least 1", 5},
    {"slot=01/core", "leading zero", 5},
    {"slot=/core", "count \"\": missing number", 5},
    {"slot=3,2/core", "does not ascend", 5},
    {"slot=[3/core", "missing number", 5},
    {"slot{x:1}/core", "label of a slot must come first", 5},
    {"slot{-x}/core", "label of a slot must come first", 5},
    {"slot{x}/core", "slot{default,x} is exclusive, slot{\"x\"} has that label", 5},
    {"slot{}/core", "expected the label of the slot", 5},
    {"slot{a,label:b}/core", "\"label\" is given twice", 7},
    {"[]", "expected a type", 1},
    {"[[a]]", "expected a type", 1},
    {"=4", "expected a type", 0},
    {"a;b", "must be inside brackets", 1},
    {"core]", "']' without '['", 4},
    {"[core", "missing ';' or ']': this '[' is not closed", 0},
    {"[core gpu]", "missing ';' or ']' here", 6},
    {"core gpu", "unexpected text; expected type=", 5},
    {"core,gpu", "unexpected text; expected type=", 4},
    {"core:2", "unexpected text; expected type=", 4},
    {"''", "the type of a resource is empty", 0},
    {"'core", "the quote is not closed", 0},
    {"\"co\\q\"", "not a valid JSON string", 0},
    {"'a\tb'", "not a valid JSON string", 0},
    {"node{x,-x}", "\"exclusive\" is given twice", 7},
    {"node{x:1}", "\"exclusive\" must be true or false", 5},
    {"node{unit:1}", "\"unit\" must be a string", 5},
    {"node{id:1}", "\"id\" must be a string", 5},
    {"node{a,a}", "\"a\" is given twice", 7},
    {"node{a:{b,b}}", "the key is given twice", 10},
    {"node{count:4}", "\"count\" cannot stand in braces", 5},
    {"node{-a:1}", "+ or - in front cannot have a value", 7},
    {"node{a:}", "expected a value", 7},
    {"node{a:b:c}", "missing '}' here", 8},
    {"node{,}", "expected a key", 5},
    {"node{a,}", "expected a key", 7},
    {"node{a:[1,]}", "not a JSON array", 7},
    {"node{a:[b]}", "not a JSON array", 7},
    {"node{a:1e999}", "number is too large; write it in quotes", 7},
    {"node{a:99999999999999999999}", "number is too large", 7},
    {"node{a}{b}", "unexpected text; expected type=", 7},
};

static void test_wrong_shapes_are_refused_with_a_caret_under_the_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct error err = ERROR_INIT;
        if (shape_decode(bad[i].text, &err))
            fail_msg("%s is taken", bad[i].text);
        if (!strstr(error_text(&err), bad[i].part))
            fail_msg("%s: %s", bad[i].text, error_text(&err));
        expect_caret(error_text(&err), bad[i].caret);
        error_clear(&err);
    }
}

static void expect_refused(const char *text, const char *part)
{
    struct error err = ERROR_INIT;
    if (shape_decode(text, &err))
        fail_msg("%.60s is taken", text);
    if (!strstr(error_text(&err), part))
        fail_msg("%.60s: %s", text, error_text(&err));
    error_clear(&err);
}

static char *repeat(const char *front, const char *part, size_t times, const char *back)
{
    struct buf out = BUF_INIT;
    buf_add_text(&out, front);
    while (times--)
        buf_add_text(&out, part);
    buf_add_text(&out, back);
    return buf_take_text(&out);
}

static void test_depth_size_and_number_have_limits(void **state)
{
    (void)state;
    static const struct {
        const char *front, *part, *back;
        size_t most;
        const char *why;
    } limits[] = {
        {"", "a/", "a", SHAPE_MAX_DEPTH - 1, "nest more than"},
        {"[a", ";a", "]", SHAPE_MAX_VERTICES - 1, "more than 16384 resources"},
        {"", "a", "", SHAPE_MAX_TEXT, "longer than 65536 bytes"},
    };
    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        char *most = repeat(limits[i].front, limits[i].part, limits[i].most, limits[i].back);
        char *more = repeat(limits[i].front, limits[i].part, limits[i].most + 1, limits[i].back);
        struct shape *shape = read_shape(most);
        expect_forms(shape);
        shape_free(shape);
        expect_refused(more, limits[i].why);
        free(most);
        free(more);
    }
    char *deep = repeat("a{a:", "{a:", SHAPE_MAX_DEPTH + 1, "1");
    char *array = repeat("a{a:", "[", 20000, "");
    char *nested = repeat("a{a:", "[", SHAPE_MAX_DEPTH + 1, "");
    char *closed = repeat(nested, "]", SHAPE_MAX_DEPTH + 1, "}");
    expect_refused(deep, "values nest more than 64 deep");
    expect_refused(array, "not a JSON array");
    expect_refused(closed, "nested too deeply");
    free(closed);
    free(nested);
    free(array);
    free(deep);
    expect_refused("", "shape: empty");
    expect_refused(" \n", "shape: empty");
    expect_refused("caf\xe9", "not UTF-8");
}

static const struct {
    const char *json, *part;
} bad_json[] = {
    {"{}", "an array of objects"},
    {"[]", "not empty"},
    {"[1]", "the type of a resource must be a string"},
    {"[{'type': '', 'count': 1}]", "the type of a resource must be a string"},
    {"[{'type': 1, 'count': 1}]", "the type of a resource must be a string"},
    {"[{'type': 'core'}]", "\"core\": missing key count"},
    {"[{'type': 'core', 'count': 0}]", "\"core\": count \"0\""},
    {"[{'type': 'core', 'count': 1, 'with': []}]", "not empty"},
    {"[{'type': 'core', 'count': 1, 'with': {}}]", "an array of objects"},
    {"[{'type': 'core', 'count': 1, 'exclusive': 1}]", "\"exclusive\" of \"core\" must be true or"},
    {"[{'type': 'core', 'count': 1, 'label': 1}]", "\"label\" of \"core\" must be a string"},
    {"[{'type': 'slot', 'count': 1, 'label': 'a'}]", "a slot must contain resources"},
};

static void test_wrong_json_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_json) / sizeof(*bad_json); i++) {
        struct error err = ERROR_INIT;
        json_t *value = quoted_json(bad_json[i].json);
        if (shape_from_json(value, &err))
            fail_msg("%s is taken", bad_json[i].json);
        if (!strstr(error_text(&err), bad_json[i].part))
            fail_msg("%s: %s", bad_json[i].json, error_text(&err));
        error_clear(&err);
        json_decref(value);
    }
    assert_null(shape_from_json(NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_use_cases_of_rfc_46_expand_as_it_says),
        cmocka_unit_test(test_wrong_shapes_of_the_grammar_are_refused),
        cmocka_unit_test(test_resources_of_jobspecs_come_back_from_a_shape),
        cmocka_unit_test(test_every_part_of_the_grammar_is_read_and_written),
        cmocka_unit_test(test_wrong_shapes_are_refused_with_a_caret_under_the_place),
        cmocka_unit_test(test_depth_size_and_number_have_limits),
        cmocka_unit_test(test_wrong_json_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

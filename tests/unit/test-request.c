#include <stdlib.h>
#include <string.h>

#include "affinity/treepool/request.h"
#include "base/buf.h"
#include "tests/unit/caret.h"
#include "tests/unit/vectors.h"

static void put_count(struct buf *out, const char *what, const struct count *count)
{
    if (!count->max)
        return;
    char *text = count_encode(count);
    buf_printf(out, " %s=%s", what, text);
    free(text);
}

static void put_need(struct buf *out, const struct request_need *need)
{
    buf_add_text(out, " [");
    put_count(out, need->locality ? need->locality : "slot", &need->count);
    if (need->exclusive)
        buf_add_text(out, " whole");
    put_count(out, "cores", &need->cores);
    put_count(out, "gpus", &need->gpus);
    for (size_t i = 0; i < need->ninner; i++)
        put_need(out, &need->inner[i]);
    buf_add_text(out, " ]");
}

/* A request in one line. */
static char *request_text(const struct request *request)
{
    struct buf out = BUF_INIT;
    put_count(&out, "nodes", &request->nodes);
    if (request->node_exclusive)
        buf_add_text(&out, " whole");
    for (size_t i = 0; i < request->nwithin; i++) {
        put_count(&out, request->within[i].locality, &request->within[i].count);
        if (request->within[i].exclusive)
            buf_add_text(&out, " whole");
    }
    put_count(&out, "slots", &request->slots);
    put_need(&out, &request->slot);
    if (request->memory)
        buf_printf(&out, " memory=%llu", (unsigned long long)request->memory);
    if (request->storage)
        buf_printf(&out, " storage=%llu", (unsigned long long)request->storage);
    return buf_take_text(&out);
}

static struct shape *read_shape(const char *text)
{
    struct error err = ERROR_INIT;
    struct shape *shape = shape_decode(text, &err);
    if (!shape)
        fail_msg("%s: %s", text, error_text(&err));
    return shape;
}

static const struct {
    const char *shape, *want;
} good[] = {
    /* the table "Meaning" */
    {"slot=8/node/core", " nodes=8 slots=1 [ slot=1 cores=1 ]"},
    {"node/slot=8/core", " nodes=1 slots=8 [ slot=1 cores=1 ]"},
    {"slot=8/core", " slots=8 [ slot=1 cores=1 ]"},
    {"node/slot=8/[core=15;gpu=1]", " nodes=1 slots=8 [ slot=1 cores=15 gpus=1 ]"},
    {"slot=1/node=1/[core=8;gpu=1]", " nodes=1 slots=1 [ slot=1 cores=8 gpus=1 ]"},
    {"slot=4/node/core=120", " nodes=4 slots=1 [ slot=1 cores=120 ]"},
    {"slot=1/node{x}", " nodes=1 whole slots=1 [ slot=1 ]"},
    {"slot=1/socket{x}", " slots=1 [ slot=1 [ socket=1 whole ] ]"},
    {"slot=1/numa{x}", " slots=1 [ slot=1 [ numa=1 whole ] ]"},
    {"node{x}/slot=2/core=3", " nodes=1 whole slots=2 [ slot=1 cores=3 ]"},
    {"node{-x}/slot=2/core=3", " nodes=1 slots=2 [ slot=1 cores=3 ]"},
    {"node=2/slot=3/core", " nodes=2 slots=3 [ slot=1 cores=1 ]"},
    /* ranges and sets */
    {"slot=3-30/node", " nodes=3-30 whole slots=1 [ slot=1 ]"},
    {"slot=4,9,16,25/node", " nodes=4,9,16,25 whole slots=1 [ slot=1 ]"},
    {"node=2+/slot=1-8:2:*/core=4+", " nodes=2+ slots=1-8:2:* [ slot=1 cores=4+ ]"},
    {"slot/node=1+/core=30", " nodes=1 slots=1 [ slot=1 cores=30 ]"},
    {"slot/node=1,3/core=30", " nodes=1 slots=1 [ slot=1 cores=30 ]"},
    /* localities inside a slot, and around slots */
    {"slot=2/node/socket=2/core=4", " nodes=2 slots=1 [ slot=1 [ socket=2 cores=4 ] ]"},
    {"slot=4{nodelevel}/node{-x}/socket=2+/core=4+",
     " nodes=4 slots=1 [ slot=1 [ socket=2+ cores=4+ ] ]"},
    {"slot/[socket=2/[core=4;gpu];core=2]",
     " slots=1 [ slot=1 cores=2 [ socket=2 cores=4 gpus=1 ] ]"},
    {"slot/socket/numa=2/core=4", " slots=1 [ slot=1 [ socket=1 [ numa=2 cores=4 ] ] ]"},
    {"slot/[socket/core=2;socket/core=4]",
     " slots=1 [ slot=1 [ socket=1 cores=2 ] [ socket=1 cores=4 ] ]"},
    {"slot/socket{x}/core=3", " slots=1 [ slot=1 [ socket=1 whole cores=3 ] ]"},
    {"slot/socket{x}/gpu", " slots=1 [ slot=1 [ socket=1 whole gpus=1 ] ]"},
    {"slot/socket", " slots=1 [ slot=1 [ socket=1 whole ] ]"},
    {"slot/tile=2/core", " slots=1 [ slot=1 [ tile=2 cores=1 ] ]"},
    {"slot/tile{x}", " slots=1 [ slot=1 [ tile=1 whole ] ]"},
    {"node=2/socket=2/slot=3/[core=4;gpu=1]",
     " nodes=2 socket=2 slots=3 [ slot=1 cores=4 gpus=1 ]"},
    {"node/socket=2{x}/numa/slot/core",
     " nodes=1 socket=2 whole numa=1 slots=1 [ slot=1 cores=1 ]"},
    {"node/tile/slot/core", " nodes=1 tile=1 slots=1 [ slot=1 cores=1 ]"},
    /* whole nodes */
    {"slot=4/node", " nodes=4 whole slots=1 [ slot=1 ]"},
    {"slot/node{x}/core=4", " nodes=1 whole slots=1 [ slot=1 cores=4 ]"},
    {"slot/node{x}/gpu=4", " nodes=1 whole slots=1 [ slot=1 cores=1+ gpus=4 ]"},
    {"slot/node{x}/socket=2/gpu=4",
     " nodes=1 whole slots=1 [ slot=1 cores=1+ [ socket=2 gpus=4 ] ]"},
    {"slot=3{default,x}/core=4", " nodes=3 whole slots=1 [ slot=1 cores=4 ]"},
    {"slot=3{default,x}/gpu", " nodes=3 whole slots=1 [ slot=1 cores=1+ gpus=1 ]"},
    {"slot=3{default,x}/node/core=4", " nodes=3 whole slots=1 [ slot=1 cores=4 ]"},
    {"node=2/slot=3{default,x}/core=4", " nodes=2 whole slots=3 [ slot=1 cores=4 ]"},
    /* what nodes stand in */
    {"cluster/node=4/slot/core", " nodes=4 slots=1 [ slot=1 cores=1 ]"},
    {"cluster/node=4+/slot/core", " nodes=4+ slots=1 [ slot=1 cores=1 ]"},
    {"rack=2/node=4/slot=3/core", " nodes=8 slots=3 [ slot=1 cores=1 ]"},
    {"rack=2/chassis=3/slot=4/node/core", " nodes=24 slots=1 [ slot=1 cores=1 ]"},
    {"cluster=2/slot/node=1+{-x}/core=30", " nodes=2 slots=1 [ slot=1 cores=30 ]"},
    {"rack=2/slot=4/core", " slots=8 [ slot=1 cores=1 ]"},
    {"pod=2/node=4/slot/core", " nodes=8 slots=1 [ slot=1 cores=1 ]"},
    {"slot=2/rack/node/core", " nodes=2 slots=1 [ slot=1 cores=1 ]"},
    /* memory and storage: bytes a node */
    {"slot/[core;memory=4]", " slots=1 [ slot=1 cores=1 ] memory=4294967296"},
    {"slot=10/[memory=2+{unit:GB};core]", " slots=10 [ slot=1 cores=1 ] memory=2000000000"},
    {"slot=2{4GB-node}/node/memory=4+{unit:GB}",
     " nodes=2 whole slots=1 [ slot=1 ] memory=4000000000"},
    {"node=2/slot=3/[core;memory=512{unit:MiB}]",
     " nodes=2 slots=3 [ slot=1 cores=1 ] memory=1610612736"},
    {"node/[slot=3/core;memory=1{unit:kB};storage=2{unit:B}]",
     " nodes=1 slots=3 [ slot=1 cores=1 ] memory=1000 storage=2"},
    {"node/socket=2/[slot=3/[core;memory=5{unit:B}];memory=1{unit:K}]",
     " nodes=1 socket=2 slots=3 [ slot=1 cores=1 ] memory=2078"},
    {"slot/socket=2/[core=4;memory=8{unit:B}]",
     " slots=1 [ slot=1 [ socket=2 cores=4 ] ] memory=16"},
    {"slot/[socket/[core;memory=8{unit:B}];memory=1{unit:B}]",
     " slots=1 [ slot=1 [ socket=1 cores=1 ] ] memory=9"},
};

static void test_shapes_ask_for_what_they_mean(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        struct error err = ERROR_INIT;
        struct shape *shape = read_shape(good[i].shape);
        struct request *request = request_from_shape(shape, &err);
        if (!request)
            fail_msg("%s: %s", good[i].shape, error_text(&err));
        char *got = request_text(request);
        if (strcmp(got, good[i].want) != 0)
            fail_msg("%s is%s instead of%s", good[i].shape, got, good[i].want);
        free(got);
        request_free(request);
        shape_free(shape);
    }
}

static const struct {
    const char *shape, *part;
    size_t caret;
} bad[] = {
    {"node=4/core=2", "no slot, so no place for a task", 0},
    {"Slot=4/core", "no slot, so no place for a task", 0},
    {"[cluster/slot=2{ib}/node;switch/slot=2{bicore}/node/core=2]",
     "\"bicore\" is another kind of slot than \"ib\"", 32},
    {"slot{a}/slot{b}/core", "\"b\" is another kind of slot", 8},
    {"slot/node=2/core", "slot=2/node/... is a slot on each of as many nodes", 5},
    {"slot=3/node=2-4/core", "node=2-4/slot=N/... is N on each", 7},
    {"slot/rack=2/node/core", "a slot lies on one node", 5},
    {"slot/[node/core;gpu]", "\"gpu\" stands beside the node of the slot", 16},
    {"slot/[node/core;node/core]", "stands beside the node of the slot", 16},
    {"slot/socket/node/core", "a node cannot stand in \"socket\"", 5},
    {"socket/node/slot/core", "a node cannot stand in \"socket\"", 0},
    {"node/slot/node/core", "a node cannot stand in a node", 0},
    {"slot/node/node/core", "node cannot stand here", 10},
    {"slot/gpu", "there is none in this slot", 0},
    {"slot/memory", "there is none in this slot", 0},
    {"slot/socket/gpu", "there is none in this slot", 0},
    {"node{x}/slot=2/gpu", "there is none in this slot", 8},
    {"slot/node{-x}", "there is none in this slot", 0},
    {"slot/node/gpu", "there is none in this slot", 0},
    {"slot/[core;ib10g]", "no resource \"ib10g\" is known here", 11},
    {"slot/node/[core;license]", "no resource \"license\" is known here", 16},
    {"slot=2/cores=4", "no resource \"cores\" is known here; core may be meant", 7},
    {"slot/socket{-x}", "nothing in it is counted; expected, for example, socket/core=2", 5},
    {"slot/core{-x}", "core in a slot is the slot's own", 5},
    {"slot{default,-x}/core", "it cannot be shared", 0},
    {"slot/[core=2;core=3]", "core stands twice", 13},
    {"slot/[core;gpu=2;gpu]", "gpu stands twice", 17},
    {"slot/core/pu=2", "nothing can stand in it", 5},
    {"slot/pu=2", "whole cores are given", 5},
    {"slot/core/gpu", "nothing can stand in it", 5},
    {"slot/rack/core", "rack cannot stand here", 5},
    {"core/slot/gpu", "a slot cannot stand in core", 0},
    {"node/memory/slot/core", "a slot cannot stand in memory", 5},
    {"socket=2/slot/core", "\"socket\" in front of the slot lies in no node", 0},
    {"tile=2/slot/core", "\"tile\" in front of the slot lies in no node", 0},
    {"[slot/core;memory=4]", "\"memory\" is outside the slot", 11},
    {"node/[slot/core;gpu=4]", "\"gpu\" is outside the slot", 16},
    {"[node/slot/core;node=2]", "\"node\" is outside the slot", 16},
    {"rack{x}/node/slot/core", "\"rack\" cannot be had as a whole", 0},
    {"rack=1+/node/slot/core", "the count of \"rack\" multiplies", 0},
    {"rack=2/node=2+/slot/core", "node is multiplied by the counts in front", 7},
    {"rack=2/slot=2+/core", "slot is multiplied by the counts in front", 7},
    {"rack=65536/node=65536/slot/core", "more than 2147483647 of node", 11},
    {"rack=2147483647/row=2147483647/blade=2147483647/node/slot/core", "more than can be counted",
     33},
    {"slot/core{unit:GB}", "\"core\" has the key \"unit\"", 5},
    {"node{id:a}/slot/core", "\"node\" has the key \"id\"", 0},
    {"slot/core{perf:high}", "\"core\" has the key \"perf\"", 5},
    {"slot/[core;memory=4{unit:GBytes}]", "the unit \"GBytes\" of memory is not known", 11},
    {"slot/[core;memory/core]", "nothing can stand in memory", 11},
    {"slot=2/[core;memory=2147483647{unit:PB}]", "more than can be counted", 13},
};

static void expect_refused(const struct shape *shape, const char *text, const char *part,
                           size_t caret)
{
    struct error err = ERROR_INIT;
    if (request_from_shape(shape, &err))
        fail_msg("%s is taken", text);
    if (!strstr(error_text(&err), part))
        fail_msg("%s: %s", text, error_text(&err));
    if (shape->text)
        expect_caret(error_text(&err), caret);
    else
        assert_null(strchr(error_text(&err), '\n'));
    error_clear(&err);
}

static void test_what_a_pool_cannot_honour_is_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct shape *shape = read_shape(bad[i].shape);
        json_t *value = shape_to_json(shape);
        struct shape *other = shape_from_json(value, NULL);
        assert_non_null(other);
        expect_refused(shape, bad[i].shape, bad[i].part, bad[i].caret);
        expect_refused(other, bad[i].shape, bad[i].part, 0);
        shape_free(other);
        json_decref(value);
        shape_free(shape);
    }
}

/* Every jobspec of RFC 14 and 25 with one kind of slot can be asked for. */
static void test_the_use_cases_of_rfc_14_can_be_asked_for(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc14_jobspec"), *item;
    size_t i, refused = 0;
    json_array_foreach(vectors_list(table, "documents"), i, item)
    {
        struct error err = ERROR_INIT;
        const json_t *resources = json_object_get(json_object_get(item, "jobspec"), "resources");
        struct shape *shape = shape_from_json(resources, &err);
        assert_non_null(shape);
        struct request *request = request_from_shape(shape, &err);
        if (!request && !strstr(error_text(&err), "another kind of slot"))
            fail_msg("%s: %s", vectors_text(item, "file"), error_text(&err));
        refused += !request;
        request_free(request);
        error_clear(&err);
        shape_free(shape);
    }
    assert_int_equal(refused, 2);
    json_decref(table);
}

static void test_the_label_of_the_slot_is_kept(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *label;
    } labels[] = {{"slot/core", "default"}, {"node/slot=2{mine}/core", "mine"}};
    for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++) {
        struct shape *shape = read_shape(labels[i].shape);
        struct request *request = request_from_shape(shape, NULL);
        assert_string_equal(request->label, labels[i].label);
        request_free(request);
        shape_free(shape);
    }
}

/* Whether the page's shape can be asked for is as the page says. */
static void expect_page_line(const char *text, bool right)
{
    struct error err = ERROR_INIT;
    struct shape *shape = read_shape(text);
    struct request *request = request_from_shape(shape, &err);
    if (!request == right)
        fail_msg("the page has %s: %s", text, right ? error_text(&err) : "it is taken");
    request_free(request);
    error_clear(&err);
    shape_free(shape);
}

static void test_the_shapes_of_the_page_are_right_or_refused_as_it_says(void **state)
{
    (void)state;
    char line[512];
    bool right = true;
    size_t taken = 0, refused = 0;
    FILE *page = fopen(TEST_DATA_DIR "/../../man/tprun-shape.7", "re");
    assert_non_null(page);
    while (fgets(line, sizeof(line), page)) {
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, ".Sh WHAT IS REFUSED") == 0)
            right = false;
        if (strncmp(line, ".It Li ", 7) != 0)
            continue;
        expect_page_line(line + 7, right);
        *(right ? &taken : &refused) += 1;
    }
    fclose(page);
    assert_true(taken >= 16);
    assert_true(refused >= 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_ask_for_what_they_mean),
        cmocka_unit_test(test_what_a_pool_cannot_honour_is_refused_by_name),
        cmocka_unit_test(test_the_use_cases_of_rfc_14_can_be_asked_for),
        cmocka_unit_test(test_the_label_of_the_slot_is_kept),
        cmocka_unit_test(test_the_shapes_of_the_page_are_right_or_refused_as_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

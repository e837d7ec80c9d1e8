/* What the parts of a program are given by their shapes. */
#include <string.h>

#include "affinity/shape/shape.h"
#include "base/buf.h"
#include "base/mem.h"
#include "launcher/plan/shape_requests.h"
#include "tests/unit/unit.h"

#define MAX_PARTS 4

/* Nodes n3 and n5 to n6, with two sockets of four cores and a GPU. */
static const char pool[] =
    "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"3,5-6\",\"children\":"
    "{\"core\":\"0-7\",\"gpu\":\"0-1\"}}],\"nodelist\":[\"n3,n5,n6\"],"
    "\"properties\":{\"fast\":\"3,6\",\"slow\":\"5\",\"+here\":\"3\"}},"
    "\"scheduling\":{\"writer\":\"TreePool\",\"children\":[{\"ranks\":\"3,5-6\",\"topo\":"
    "{\"socket\":[{\"cores\":\"0-3\",\"gpus\":\"0\"},{\"cores\":\"4-7\",\"gpus\":\"1\"}]}}]}}";

static struct rset *read_R(const char *text)
{
    struct error err = ERROR_INIT;
    struct rset *R = rset_decode(text, strlen(text), &err);
    if (!R)
        fail_msg("%s", error_text(&err));
    return R;
}

/* Shapes parted by blanks. */
static enum treepool_answer make(const char *shapes, const struct rset *held,
                                 struct shape_requests **allotment, struct error *err)
{
    struct request *requests[MAX_PARTS];
    struct rset *R = read_R(pool);
    char *copy = mem_copy_text(shapes), *rest = copy, *word;
    size_t count = 0;
    *allotment = NULL;
    while ((word = strsep(&rest, " "))) {
        struct shape *shape = shape_decode(word, err);
        requests[count] = shape ? request_from_shape(shape, err) : NULL;
        if (!requests[count++])
            fail_msg("%s: %s", word, error_text(err));
        shape_free(shape);
    }
    enum treepool_answer answer = shape_requests_make(R, held, requests, count, allotment, err);
    for (size_t i = 0; i < count; i++)
        request_free(requests[i]);
    rset_free(R);
    free(copy);
    return answer;
}

/* "PART:HOST:CORES[+GPUS] ..." */
static char *describe(const struct shape_requests *allotment)
{
    struct buf out = BUF_INIT;
    json_t *slots = shape_requests_slots(allotment), *slot;
    size_t i;
    assert_int_equal(json_integer_value(json_object_get(slots, "version")), 1);
    json_array_foreach(json_object_get(slots, "slots"), i, slot)
    {
        json_int_t part, rank;
        const char *host, *cores, *gpus;
        assert_int_equal(json_unpack(slot, "{s:I, s:I, s:s, s:s, s:s}", "part", &part, "rank",
                                     &rank, "host", &host, "cores", &cores, "gpus", &gpus),
                         0);
        assert_int_equal(rank, host[1] - '0');
        buf_printf(&out, "%s%d:%s:%s%s%s", i ? " " : "", (int)part, host, cores, *gpus ? "+" : "",
                   gpus);
    }
    json_decref(slots);
    return buf_take_text(&out);
}

static void test_parts_get_what_earlier_ones_left(void **state)
{
    static const struct {
        const char *shapes, *slots, *R;
        uint64_t nslots;
    } cases[] = {
        {"slot=2/[core=2;gpu=1]", "0:n3:0-1+0 0:n3:4-5+1",
         "[{\"rank\": \"3\", \"children\": {\"core\": \"0-1,4-5\", \"gpu\": \"0-1\"}}]", 2},
        {"slot/core slot/socket{x}", "0:n3:0 1:n3:4-7+1",
         "[{\"rank\": \"3\", \"children\": {\"core\": \"0,4-7\", \"gpu\": \"1\"}}]", 2},
        {"slot/core=3 slot/node{x} slot=2/core", "0:n3:0-2 1:n5:0-7+0-1 2:n3:3 2:n3:4",
         "[{\"rank\": \"3\", \"children\": {\"core\": \"0-4\"}}, "
         "{\"rank\": \"5\", \"children\": {\"core\": \"0-7\", \"gpu\": \"0-1\"}}]",
         4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct shape_requests *allotment;
        if (make(cases[i].shapes, NULL, &allotment, &err) != TREEPOOL_GRANTED)
            fail_msg("case %zu: %s", i, error_text(&err));
        char *slots = describe(allotment);
        json_t *R = rset_to_json(allotment->R);
        char *lite = json_dumps(json_object_get(json_object_get(R, "execution"), "R_lite"), 0);
        assert_string_equal(slots, cases[i].slots);
        assert_string_equal(lite, cases[i].R);
        assert_int_equal(allotment->R->nslots, cases[i].nslots);
        free(slots);
        free(lite);
        json_decref(R);
        shape_requests_free(allotment);
    }
}

static void test_the_R_of_all_parts_has_properties_and_topology(void **state)
{
    struct error err = ERROR_INIT;
    struct shape_requests *allotment;
    (void)state;
    assert_int_equal(make("slot/node{x} slot/node{x}", NULL, &allotment, &err), TREEPOOL_GRANTED);
    char *properties = json_dumps(allotment->R->properties, JSON_SORT_KEYS | JSON_COMPACT);
    assert_string_equal(properties, "{\"fast\":\"3\",\"slow\":\"5\"}");
    json_t *children = json_object_get(allotment->R->scheduling, "children");
    assert_int_equal(json_array_size(children), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(children, 0), "ranks")),
                        "3,5");
    free(properties);
    shape_requests_free(allotment);
}

static void test_what_never_fits_together_is_told_from_what_has_to_wait(void **state)
{
    static const struct {
        const char *shapes, *held;
        enum treepool_answer answer;
    } cases[] = {
        {"slot=3/node{x}", "3", TREEPOOL_BUSY},
        {"slot=2/node{x}", "3", TREEPOOL_GRANTED},
        {"slot=4/node{x}", NULL, TREEPOOL_NEVER},
        {"slot=2/node{x} slot=1/node{x}", NULL, TREEPOOL_GRANTED},
        {"slot=2/node{x} slot=1/node{x}", "3", TREEPOOL_BUSY},
        {"slot=2/node{x} slot=2/node{x}", NULL, TREEPOOL_NEVER},
        {"slot=2/node{x} slot=2/node{x}", "3", TREEPOOL_NEVER},
        {"slot/core slot=9/core=8", NULL, TREEPOOL_NEVER},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct shape_requests *allotment;
        struct rset *held = NULL;
        if (cases[i].held)
            held = read_R("{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0\",\"children\":"
                          "{\"core\":\"5\"}}],\"nodelist\":[\"n3\"]}}");
        enum treepool_answer answer = make(cases[i].shapes, held, &allotment, &err);
        if (answer != cases[i].answer)
            fail_msg("case %zu: %d: %s", i, answer, error_text(&err));
        if ((answer == TREEPOOL_GRANTED) != (allotment != NULL) ||
            (answer != TREEPOOL_GRANTED) != (err.text != NULL))
            fail_msg("case %zu: %d, %s", i, answer, error_text(&err));
        error_clear(&err);
        shape_requests_free(allotment);
        rset_free(held);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_get_what_earlier_ones_left),
        cmocka_unit_test(test_the_R_of_all_parts_has_properties_and_topology),
        cmocka_unit_test(test_what_never_fits_together_is_told_from_what_has_to_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

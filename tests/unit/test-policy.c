#include <string.h>

#include "affinity/layout/layout.h"
#include "affinity/policy/policy.h"
#include "base/buf.h"
#include "tests/unit/unit.h"

static int parse(struct layout_part part, struct policy *policy, struct error *err)
{
    return policy_parse(&part, policy, err);
}

static struct policy parsed(struct layout_part part)
{
    struct error err = ERROR_INIT;
    struct policy policy;
    if (parse(part, &policy, &err) < 0)
        fail_msg("%s", error_text(&err));
    return policy;
}

static void assert_loops(const char *map, const char *expect)
{
    struct policy policy = parsed((struct layout_part){.map = map});
    struct buf loops = BUF_INIT;
    for (uint32_t i = 0; i < policy.nloops; i++)
        buf_add_text(&loops, topo_level_letter(policy.loops[i]));
    assert_string_equal(buf_text(&loops), expect);
    assert_int_equal(policy.loops[policy.node_loop], TOPO_NODE);
    buf_free(&loops);
}

static void test_words_stand_for_strings(void **state)
{
    static const char *const cases[][2] = {
        {"slot", "csL1L2L3Nbnh"},
        {"core", "csL1L2L3Nbnh"},
        {"hwthread", "hcsL1L2L3Nbn"},
        {"l1cache", "L1sL2L3Nbnch"},
        {"l2cache", "L2sL1L3Nbnch"},
        {"l3cache", "L3sL1L2Nbnch"},
        {"numa", "NsL1L2L3bnch"},
        {"socket", "sL1L2L3Nbnch"},
        {"package", "sL1L2L3Nbnch"},
        {"board", "bsL1L2L3Nnch"},
        {"node", "nbsL1L2L3Nch"},
        {"numa:span", "NnsL1L2L3bch"},
        {"core:span", "cnsL1L2L3Nbh"},
        {"hwthread:span", "hncsL1L2L3Nb"},
        {"node:span", "nbsL1L2L3Nch"},
        {"scnh", "scnh"},
        {"nh", "nh"},
        {"L3NscL1L2bnh", "L3NscL1L2bnh"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_loops(cases[i][0], cases[i][1]);
}

static void test_defaults_follow_the_map(void **state)
{
    static const struct {
        struct layout_part part;
        enum policy_bind bind;
        uint32_t count;
        enum topo_level level, limit;
    } cases[] = {
        {{.map = NULL}, POLICY_BIND_TOGETHER, 1, TOPO_CORE, TOPO_CORE},
        {{.order = "s"}, POLICY_BIND_TOGETHER, 1, TOPO_CORE, TOPO_CORE},
        {{.map = "node"}, POLICY_BIND_TOGETHER, 1, TOPO_NODE, TOPO_CORE},
        {{.map = "nsch"}, POLICY_BIND_TOGETHER, 1, TOPO_NODE, TOPO_CORE},
        {{.map = "slot"}, POLICY_BIND_OBJECTS, 1, TOPO_CORE, TOPO_CORE},
        {{.map = "numa:span"}, POLICY_BIND_OBJECTS, 1, TOPO_NUMA, TOPO_CORE},
        {{.map = "hwthread"}, POLICY_BIND_OBJECTS, 1, TOPO_HWTHREAD, TOPO_HWTHREAD},
        {{.map = "hwthread", .bind = "core"}, POLICY_BIND_OBJECTS, 1, TOPO_CORE, TOPO_HWTHREAD},
        {{.bind = "hwthread"}, POLICY_BIND_OBJECTS, 1, TOPO_HWTHREAD, TOPO_HWTHREAD},
        {{.bind = "none"}, POLICY_BIND_NONE, 1, TOPO_NODE, TOPO_CORE},
        {{.bind = "package"}, POLICY_BIND_OBJECTS, 1, TOPO_SOCKET, TOPO_CORE},
        {{.bind = "12L2"}, POLICY_BIND_OBJECTS, 12, TOPO_L2, TOPO_CORE},
        {{.cores_per_task = 4}, POLICY_BIND_OBJECTS, 1, TOPO_CORE, TOPO_CORE},
        {{.cores_per_task = 4, .map = "numa"}, POLICY_BIND_OBJECTS, 1, TOPO_CORE, TOPO_CORE},
        {{.cores_per_task = 4, .map = "node"}, POLICY_BIND_OBJECTS, 1, TOPO_CORE, TOPO_CORE},
        {{.gpus_per_task = 1}, POLICY_BIND_OBJECTS, 1, TOPO_CORE, TOPO_CORE},
        {{.gpus_per_task = 1, .map = "numa"}, POLICY_BIND_OBJECTS, 1, TOPO_NUMA, TOPO_CORE},
        {{.gpus_per_task = 1, .map = "node"}, POLICY_BIND_TOGETHER, 1, TOPO_NODE, TOPO_CORE},
        {{.gpu_bind = "closest"}, POLICY_BIND_TOGETHER, 1, TOPO_CORE, TOPO_CORE},
        {{.per = "1:gpu", .cores_per_task = 2}, POLICY_BIND_OBJECTS, 1, TOPO_CORE, TOPO_CORE},
        {{.per = "1:numa"}, POLICY_BIND_OBJECTS, 1, TOPO_NUMA, TOPO_NUMA},
        {{.per = "1:node"}, POLICY_BIND_TOGETHER, 1, TOPO_NODE, TOPO_NODE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct policy policy = parsed(cases[i].part);
        assert_int_equal(policy.bind, cases[i].bind);
        if (policy.bind == POLICY_BIND_OBJECTS) {
            assert_int_equal(policy.bind_count, cases[i].count);
            assert_int_equal(policy.bind_level, cases[i].level);
        }
        assert_int_equal(policy.nlimits, 1);
        assert_int_equal(policy.limits[0].count, 1);
        assert_int_equal(policy.limits[0].level, cases[i].limit);
    }
}

static void test_per_is_a_map_and_a_limit(void **state)
{
    (void)state;
    struct policy policy = parsed((struct layout_part){.per = "3:L3", .cores_per_task = 2});
    assert_int_equal(policy.map_word, TOPO_L3);
    assert_int_equal(policy.loops[0], TOPO_L3);
    assert_int_equal(policy.nlimits, 2);
    assert_int_equal(policy.limits[0].count, 3);
    assert_int_equal(policy.limits[0].level, TOPO_L3);
    assert_int_equal(policy.limits[1].count, 1);
    assert_int_equal(policy.limits[1].level, TOPO_CORE);
    assert_false(policy_uses_gpus(&policy));

    policy = parsed((struct layout_part){.per = "3:gpu"});
    assert_int_equal(policy.gpus_per_task, 1);
    assert_int_equal(policy.gpu_tasks, 3);
    assert_int_equal(policy.nlimits, 0);
    assert_true(policy.bind_domain && policy_uses_gpus(&policy));
    assert_false(parsed((struct layout_part){.per = "1:gpu", .bind = "core"}).bind_domain);
}

static void test_limits_are_read_in_full(void **state)
{
    (void)state;
    struct policy policy = parsed((struct layout_part){.mppr = "1:s,20:n,65536:L3"});
    assert_int_equal(policy.nlimits, 3);
    assert_int_equal(policy.limits[1].count, 20);
    assert_int_equal(policy.limits[1].level, TOPO_NODE);
    assert_int_equal(policy.limits[2].count, 65536);
    assert_int_equal(policy.limits[2].level, TOPO_L3);
    assert_int_equal(parsed((struct layout_part){.mppr = "none"}).nlimits, 0);
}

static void test_orders_have_many_names(void **state)
{
    static const struct {
        const char *order;
        bool sequential;
    } cases[] = {{"natural", false}, {"n", false},   {"N", false}, {"core", false},
                 {"node", false},    {"s", true},    {"S", true},  {"sequential", true},
                 {"slot", true},     {"numa", false}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(parsed((struct layout_part){.order = cases[i].order}).sequential,
                         cases[i].sequential);
}

static void test_wrong_strings_are_refused_with_the_place(void **state)
{
    static const struct {
        struct layout_part part;
        const char *says;
    } cases[] = {
        {{.map = ""}, "--map-by is empty"},
        {{.map = "csxnh"}, "'x' (character 3) is not a level letter"},
        {{.map = "csxnh"}, "h (hwthread)\n  csxnh\n    ^"},
        {{.map = "Numa"}, "the nearest is numa (expected slot"},
        {{.map = "nuna"}, "unknown word; the nearest is numa (expected slot"},
        {{.map = "sockte:span"}, "the nearest is socket (expected slot"},
        {{.map = "l3"}, "the nearest is l3cache (expected slot"},
        {{.map = "ppr:2:node"}, "write --per 2:node"},
        {{.map = "rankfile:file=x"}, "write --rankfile FILE"},
        {{.map = "csn"}, "h is missing"},
        {{.map = "csh"}, "n is missing"},
        {{.map = "c"}, "n and h are missing"},
        {{.map = "cLnh"}, "L (character 2) must be followed by 1, 2 or 3"},
        {{.map = "L4cnh"}, "L (character 1) must be followed by 1, 2 or 3"},
        {{.map = "cscnh"}, "c (character 3) is named twice"},
        {{.map = "L1L1nh"}, "L1 (character 3) is named twice"},
        {{.map = "cnh:span"}, "':' (character 4) is not a level letter"},
        {{.map = "numa:spam"}, "only :span can follow a word\n  numa:spam\n      ^"},
        {{.map = ":span"}, "':' (character 1) is not a level letter"},
        {{.map = "c n h"}, "(character 2) is not a level letter"},
        {{.map = "n\x1b[31mh"}, "\"n\\x1b[31mh\""},
        {{.map = "xnsLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLL"},
         "\"...: "},
        {{.bind = ""}, "unknown width"},
        {{.bind = "c"}, "unknown width"},
        {{.bind = "threads"}, "unknown width"},
        {{.bind = "nonne"}, "the nearest is none; "},
        {{.bind = "coer"}, "the nearest is core; "},
        {{.bind = "0c"}, "count out of range"},
        {{.bind = "65537c"}, "count out of range"},
        {{.bind = "4294967297c"}, "count out of range"},
        {{.bind = "99999999999999999999c"}, "count out of range"},
        {{.bind = "2n"}, "a task runs on only one node"},
        {{.bind = "2"}, "unknown level letter"},
        {{.bind = "2x"}, "unknown level letter"},
        {{.bind = "1L"}, "unknown level letter"},
        {{.bind = "1ss"}, "only one level letter"},
        {{.bind = "1socket"}, "socket is written s here\n  1socket\n   ^"},
        {{.bind = "-1c"}, "unknown width"},
        {{.bind = "1c:2"}, "h (hwthread)\n  1c:2\n    ^"},
        {{.mppr = ""}, "missing count (character 1)"},
        {{.mppr = "0:c"}, "count out of range (character 1)"},
        {{.mppr = "c:1"}, "missing count (character 1)"},
        {{.mppr = "2"}, "missing colon (character 2)"},
        {{.mppr = "2:"}, "unknown level letter (character 3)"},
        {{.mppr = "2:socket"}, "socket is written s here\n  2:socket\n    ^"},
        {{.mppr = "1:L4"}, "unknown level letter (character 3)"},
        {{.mppr = "1:c,"}, "missing count (character 5)"},
        {{.mppr = "1:c,,1:s"}, "missing count (character 5)"},
        {{.mppr = "1:c,2:c"}, "level limited twice (character 7)"},
        {{.mppr = "1:c;2:n"}, "expected a comma between limits (character 4)"},
        {{.order = ""}, "natural (n) or sequential (s)"},
        {{.order = "up"}, "natural (n) or sequential (s)"},
        {{.order = "sequental"}, "the nearest is sequential; "},
        {{.cores_per_task = 65537}, "-c 65537"},
        {{.gpus_per_task = 1025}, "-g 1025"},
        {{.per = ""}, "--per \"\": expected N:LEVEL"},
        {{.per = "2"}, "expected N:LEVEL"},
        {{.per = "2:"}, "expected N:LEVEL"},
        {{.per = ":numa"}, "expected N:LEVEL"},
        {{.per = "0:numa"}, "expected N:LEVEL"},
        {{.per = "02:numa"}, "expected N:LEVEL"},
        {{.per = "-1:numa"}, "expected N:LEVEL"},
        {{.per = "+1:numa"}, "expected N:LEVEL"},
        {{.per = " 1:numa"}, "expected N:LEVEL"},
        {{.per = "1 :numa"}, "expected N:LEVEL"},
        {{.per = "65537:numa"}, "expected N:LEVEL"},
        {{.per = "99999999999999999999:numa"}, "expected N:LEVEL"},
        {{.per = "1:gpus"}, "expected N:LEVEL"},
        {{.per = "1:GPU"}, "expected N:LEVEL"},
        {{.per = "1:numa,1:gpu"}, "expected N:LEVEL"},
        {{.per = "1:gpu\n"}, "\"1:gpu\\x0a\""},
        {{.per = "1:numa", .map = "core"}, "and --map-by: --per already says"},
        {{.per = "1:numa", .mppr = "1:c"}, "and --mppr: --per already says"},
        {{.per = "1:gpu", .map = "core"}, "and --map-by: --per already says"},
        {{.per = "1:gpu", .gpus_per_task = 2}, "and -g 2: both assign"},
        {{.gpu_bind = ""}, "--gpu-bind: unknown value \"\" (expected per-task, closest or none)"},
        {{.gpu_bind = "nearest"}, "(expected per-task, closest or none)"},
        {{.gpu_bind = "per-task"}, "--gpu-bind per-task needs the number"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct policy policy;
        if (parse(cases[i].part, &policy, &err) == 0)
            fail_msg("case %zu was taken, not refused: %s", i, cases[i].says);
        if (!strstr(error_text(&err), cases[i].says))
            fail_msg("case %zu says '%s', not '%s'", i, error_text(&err), cases[i].says);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_int_equal(layout_check_part(&cases[i].part, NULL), -1);
        error_clear(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_stand_for_strings),
        cmocka_unit_test(test_defaults_follow_the_map),
        cmocka_unit_test(test_per_is_a_map_and_a_limit),
        cmocka_unit_test(test_limits_are_read_in_full),
        cmocka_unit_test(test_orders_have_many_names),
        cmocka_unit_test(test_wrong_strings_are_refused_with_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

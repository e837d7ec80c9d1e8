#include "config.h"

#include "tests/unit/unit.h"

#include <hwloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "affinity/topology/topo.h"
#include "affinity/topology/topo_xml.h"
#include "base/buf.h"
#include "base/mem.h"
#include "tests/unit/limit.h"

#ifndef TEST_DATA_DIR
#define TEST_DATA_DIR "tests/data"
#endif

static struct topo *load(const char *text)
{
    struct error err = ERROR_INIT;
    struct topo *topo = topo_load_synthetic(text, &err);
    if (!topo)
        fail_msg("%s", error_text(&err));
    return topo;
}

static struct topo *load_file(const char *name)
{
    struct error err = ERROR_INIT;
    const char *dir = getenv("TPRUN_TEST_DATA");
    char *path = mem_format("%s/%s", dir ? dir : TEST_DATA_DIR, name);
    struct topo *topo = topo_load_xml(path, &err);
    if (!topo)
        fail_msg("%s", error_text(&err));
    free(path);
    return topo;
}

/* Takes the set. */
static void assert_set(struct idset *set, const char *expect)
{
    char *text = idset_encode(set);
    assert_string_equal(text, expect);
    free(text);
    idset_free(set);
}

static void test_words_and_letters_name_levels(void **state)
{
    static const struct {
        const char *word;
        enum topo_level level;
    } cases[] = {
        {"node", TOPO_NODE},
        {"n", TOPO_NODE},
        {"board", TOPO_BOARD},
        {"b", TOPO_BOARD},
        {"numa", TOPO_NUMA},
        {"N", TOPO_NUMA},
        {"socket", TOPO_SOCKET},
        {"package", TOPO_SOCKET},
        {"s", TOPO_SOCKET},
        {"l3cache", TOPO_L3},
        {"L3", TOPO_L3},
        {"l2cache", TOPO_L2},
        {"L2", TOPO_L2},
        {"l1cache", TOPO_L1},
        {"L1", TOPO_L1},
        {"core", TOPO_CORE},
        {"slot", TOPO_CORE},
        {"c", TOPO_CORE},
        {"hwthread", TOPO_HWTHREAD},
        {"h", TOPO_HWTHREAD},
        {"", TOPO_NLEVELS},
        {"cor", TOPO_NLEVELS},
        {"Node", TOPO_NLEVELS},
        {"cores", TOPO_NLEVELS},
        {"L4", TOPO_NLEVELS},
        {"L", TOPO_NLEVELS},
        {"nothing", TOPO_NLEVELS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(topo_level_decode(cases[i].word, strlen(cases[i].word)), cases[i].level);
    for (enum topo_level level = TOPO_NODE; level < TOPO_NLEVELS; level++)
        assert_int_equal(topo_level_decode(topo_level_name(level), strlen(topo_level_name(level))),
                         level);
    assert_int_equal(topo_level_decode("corexyz", 4), TOPO_CORE);
}

static void test_synthetic_machine_is_counted_by_level(void **state)
{
    (void)state;
    struct topo *topo = load("package:2 numa:4 core:4 pu:2");
    static const uint32_t expect[TOPO_NLEVELS] = {1, 0, 8, 2, 0, 0, 0, 32, 64};
    assert_int_equal(topo->npus, 64);
    for (int level = 0; level < TOPO_NLEVELS; level++)
        assert_int_equal(topo->count[level], expect[level]);
    for (uint32_t row = 0; row < 64; row++) {
        assert_int_equal(topo->os[row], row);
        assert_int_equal(topo->object[TOPO_CORE][row], row / 2);
        assert_int_equal(topo->object[TOPO_NUMA][row], row / 8);
        assert_int_equal(topo->object[TOPO_SOCKET][row], row / 32);
        assert_int_equal(topo->object[TOPO_L3][row], TOPO_ABSENT);
        assert_true(topo->allowed[row]);
    }
    assert_set(topo_cores(topo), "0-31");
    assert_set(topo_allowed_cores(topo), "0-31");
    assert_set(topo_allowed_cpus(topo), "0-63");
    topo_free(topo);
}

static void test_os_indexes_need_not_follow_logical_order(void **state)
{
    (void)state;
    struct topo *topo = load("package:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)");
    struct idset *cores = idset_decode("1-2", NULL);
    assert_set(topo_cpus_of_cores(topo, cores), "1-2,5-6");
    idset_free(cores);
    topo_free(topo);
}

static void test_numa_inside_or_outside_a_socket_is_read_as_it_is(void **state)
{
    (void)state;
    struct topo *inside = load("package:1 numa:2 core:2 pu:1");
    struct topo *outside = load("numa:1 package:2 core:2 pu:1");
    assert_int_equal(inside->object[TOPO_NUMA][3], 1);
    assert_int_equal(inside->object[TOPO_SOCKET][3], 0);
    assert_int_equal(outside->object[TOPO_NUMA][3], 0);
    assert_int_equal(outside->object[TOPO_SOCKET][3], 1);
    topo_free(inside);
    topo_free(outside);
}

static void test_two_memories_of_one_cpuset_count_once(void **state)
{
    (void)state;
    struct topo *topo = load("package:2 [numa(memory=1GB)] [numa(memory=2GB)] core:2 pu:1");
    assert_int_equal(topo->count[TOPO_NUMA], 2);
    assert_int_equal(topo->object[TOPO_NUMA][1], 0);
    assert_int_equal(topo->object[TOPO_NUMA][2], 1);
    topo_free(topo);
}

static void assert_memory(const struct topo *topo, const char *cpus, const char *expect)
{
    struct idset *set = idset_decode(cpus, NULL);
    assert_set(topo_memory_of_cpus(topo, set), expect);
    idset_free(set);
}

static void test_memory_is_that_of_the_nearest_node(void **state)
{
    static const struct {
        const char *machine, *cpus, *memory;
    } cases[] = {
        {"package:2 numa:2 core:2 pu:2", "0-1", "0"},
        {"package:2 numa:2 core:2 pu:2", "3-4", "0-1"},
        {"package:2 numa:2 core:2 pu:2", "2,12-15", "0,3"},
        {"package:2 numa:2 core:2 pu:2", "0-15", "0-3"},
        {"package:2 numa:2 core:2 pu:2", "", ""},
        {"package:2 numa:2 core:2 pu:2", "16", ""},
        {"numa:2 package:2 core:2 pu:1", "3", "0"},
        {"numa:2(indexes=5,3) core:2 pu:1", "0", "5"},
        {"numa:2(indexes=5,3) core:2 pu:1", "1-2", "3,5"},
        {"numa:2(indexes=1024,1) core:2 pu:1", "0-3", "1"},
        {"core:4 pu:1", "0-3", "0"},
        {"package:2 [numa(memory=1GB)] core:2 pu:1", "2", "1"},
        {"package:2 [numa(memory=0)] core:2 pu:1", "2", "1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct topo *topo = load(cases[i].machine);
        assert_memory(topo, cases[i].cpus, cases[i].memory);
        topo_free(topo);
    }
}

/* Packages with HBM and DRAM, DRAM and HBM, HBM and persistent memory, none. */
static void test_ordinary_memory_comes_before_other_kinds(void **state)
{
    (void)state;
    struct topo *topo = load_file("topology-memories.xml");
    assert_int_equal(topo->count[TOPO_NUMA], 4);
    assert_memory(topo, "0-3", "1");
    assert_memory(topo, "4", "2");
    assert_memory(topo, "8-11", "4");
    assert_memory(topo, "12-15", "");
    assert_memory(topo, "11-12", "4");
    assert_memory(topo, "0-15", "1-2,4");
    topo_free(topo);
    topo = load_file("machines/knl.xml"); /* each domain's DDR comes before its MCDRAM */
    assert_memory(topo, "0-4", "0-1");
    assert_memory(topo, "63", "3");
    topo_free(topo);
    topo = load_file("machines/grace-hopper.xml"); /* the GPUs' memory is next to no processor */
    assert_memory(topo, "0-7", "0");
    assert_memory(topo, "7-8", "0-1");
    topo_free(topo);
}

/* An export of an emulated machine: of four domains, two in each socket, the inner two have none. */
static void test_domains_without_memory_are_domains(void **state)
{
    (void)state;
    struct topo *topo = load_file("topology-memoryless.xml");
    assert_int_equal(topo->count[TOPO_SOCKET], 2);
    assert_int_equal(topo->count[TOPO_NUMA], 4);
    for (uint32_t row = 0; row < 8; row++)
        assert_int_equal(topo->object[TOPO_NUMA][row], row / 2);
    assert_memory(topo, "0-7", "0,3");
    topo_free(topo);
}

static void test_xml_gives_the_machine_it_was_made_of(void **state)
{
    (void)state;
    struct topo *xml = load_file("topology-2x2x4.xml");
    struct topo *same = load("package:2 numa:2 l3:2 core:2 pu:2");
    char *a = topo_digest(xml), *b = topo_digest(same);
    assert_string_equal(a, b);
    free(a);
    free(b);
    topo_free(xml);
    topo_free(same);
}

static void test_boards_and_disallowed_cpus_are_read_from_xml(void **state)
{
    (void)state;
    struct topo *topo = load_file("topology-boards.xml");
    assert_int_equal(topo->count[TOPO_BOARD], 4);
    assert_int_equal(topo->object[TOPO_BOARD][8], 1);
    assert_set(topo_cores(topo), "0-15");
    assert_set(topo_allowed_cores(topo), "0-1,4-15");
    assert_set(topo_allowed_cpus(topo), "0-3,8-31");
    topo_free(topo);
}

static void test_bad_sources_are_refused_with_a_sentence(void **state)
{
    static const char *const bad[] = {"",
                                      "nonsense",
                                      "package:0 core:4",
                                      "pu:99999999",
                                      "package:65536 core:65536",
                                      "core:300 pu:300",
                                      "package:2 (",
                                      "2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2",
                                      "core:65536 pu:1",
                                      "core:2048 pu:32",
                                      "package:2048 core:32 pu:1"};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = ERROR_INIT;
        if (topo_load_synthetic(bad[i], &err))
            fail_msg("'%s' was taken", bad[i]);
        assert_non_null(err.text);
        assert_int_equal(err.kind, ERROR_USAGE);
        error_clear(&err);
    }
    struct error err = ERROR_INIT;
    assert_null(topo_load_xml("/nonexistent.xml", &err));
    assert_non_null(strstr(error_text(&err), "/nonexistent.xml: No such file"));
    assert_null(topo_load_xml("/", &err));
    assert_non_null(strstr(error_text(&err), "not a regular file"));
    error_clear(&err);
}

static char *repeated(const char *before, const char *text, size_t times, const char *behind)
{
    struct buf out = BUF_INIT;
    buf_add_text(&out, before);
    for (size_t i = 0; i < times; i++)
        buf_add_text(&out, text);
    buf_add_text(&out, behind);
    return buf_take_text(&out);
}

/* What hwloc would take minutes and gigabytes for, or overflow its stack by. */
static void test_endless_descriptions_are_refused_at_once(void **state)
{
    char *bad[] = {repeated("", "x", 65537, ""),
                   repeated("", "(", 60000, ""),
                   repeated("", "[", 60000, ""),
                   repeated("", "group:1 ", 8000, "pu:2"),
                   repeated("package:2 ", "[numa] ", 9000, "core:2 pu:1"),
                   repeated("package:1000 ", "[numa] ", 9000, "core:2 pu:1")};
    clock_t start = clock();
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = ERROR_INIT;
        if (topo_load_synthetic(bad[i], &err))
            fail_msg("'%.60s' was taken", bad[i]);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_true(strlen(error_text(&err)) < 300);
        error_clear(&err);
        free(bad[i]);
    }
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 10);
}

static void test_xml_is_looked_over_before_it_is_read(void **state)
{
    char *deep = repeated("<topology>", "<object type='Group'>", 200000, "");
    char *many = repeated("<topology>", "<info/>", TOPO_XML_MAX_ELEMENTS, "</topology>");
    char *large = repeated("<!--", "x", TOPO_XML_MAX_BYTES, "-->");
    const struct {
        const char *text, *says;
    } cases[] = {
        {deep, "nested more than 128 deep"},
        {many, "more than 524288 elements"},
        {large, "larger than 32 MiB"},
        {"<!DOCTYPE t [<!ENTITY a \"b\">]><t/>", "a document type of its own"},
        {"<!DOCTYPE t [", "a document type of its own"},
        {"", NULL},
        {"<", NULL},
        {"<a b='>", NULL},
        {"</a></a><a>", NULL},
        {"<!-- <!DOCTYPE t [ ]> -->", NULL},
        {"<a b='<!DOCTYPE t ['/>", NULL},
        {"<!DOCTYPE topology SYSTEM \"hwloc2.dtd\"><a b=\"[\"/>", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        int rc = topo_xml_check(cases[i].text, strlen(cases[i].text), &err);
        if (rc == 0 ? cases[i].says != NULL
                    : !cases[i].says || !strstr(error_text(&err), cases[i].says))
            fail_msg("case %zu: %d, %s", i, rc, error_text(&err));
        error_clear(&err);
    }
    char *declared = repeated("", "<!>", TOPO_XML_MAX_BYTES / 12, ""); /* each is read once */
    limit_cpu(10);
    assert_int_equal(topo_xml_check(declared, strlen(declared), NULL), 0);
    free(declared);
    char *wide = repeated("", "<a/><b></b>", 200, ""); /* next to one another is not nested */
    assert_int_equal(topo_xml_check(wide, strlen(wide), NULL), 0);
    assert_int_equal(topo_xml_check("a\0b", 3, NULL), -1);
    free(wide);
    free(deep);
    free(many);
    free(large);
}

static void test_this_machine_allows_what_the_mask_leaves(void **state)
{
    struct error err = ERROR_INIT;
    cpu_set_t before, one;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    struct topo *whole = topo_load_local(&err);
    assert_non_null(whole);
    struct idset *allowed = topo_allowed_cpus(whole);
    assert_int_equal(idset_count(allowed), CPU_COUNT(&before));

    CPU_ZERO(&one);
    CPU_SET(idset_first(allowed), &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    struct topo *narrow = topo_load_local(&err);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
    assert_non_null(narrow);
    assert_int_equal(narrow->npus, whole->npus);
    struct idset *left = topo_allowed_cpus(narrow);
    assert_int_equal(idset_count(left), 1);
    assert_int_equal(idset_first(left), idset_first(allowed));
    idset_free(left);
    idset_free(allowed);
    topo_free(narrow);
    topo_free(whole);
}

static void test_loading_leaves_the_environment_as_it_was(void **state)
{
    static const char *const names[] = {"HWLOC_PLUGINS_PATH", "HWLOC_HIDE_ERRORS"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        unsetenv(names[i]);
        topo_free(topo_load_local(NULL));
        assert_null(getenv(names[i]));
        setenv(names[i], "1", 1);
        topo_free(topo_load_local(NULL));
        assert_string_equal(getenv(names[i]), "1");
        unsetenv(names[i]);
    }
}

static void assert_same(const struct topo *a, const struct topo *b)
{
    assert_int_equal(a->npus, b->npus);
    assert_memory_equal(a->os, b->os, a->npus * sizeof(uint32_t));
    assert_memory_equal(a->allowed, b->allowed, a->npus * sizeof(bool));
    assert_memory_equal(a->memory, b->memory, a->npus * sizeof(uint32_t));
    assert_memory_equal(a->gib, b->gib, a->npus * sizeof(uint32_t));
    for (int level = 0; level < TOPO_NLEVELS; level++) {
        assert_int_equal(a->count[level], b->count[level]);
        assert_memory_equal(a->object[level], b->object[level], a->npus * sizeof(uint32_t));
    }
}

static void check_round_trip(const struct topo *topo, size_t most)
{
    struct error err = ERROR_INIT;
    json_t *value = topo_to_json(topo);
    char *text = json_dumps(value, JSON_COMPACT);
    struct topo *back = topo_from_json(value, &err);
    if (!back)
        fail_msg("%s: %s", text, error_text(&err));
    assert_same(topo, back);
    if (strlen(text) > most)
        fail_msg("%zu bytes: %s", strlen(text), text);
    free(text);
    json_decref(value);
    topo_free(back);
}

/* NULL: this machine. */
static hwloc_topology_t load_whole(const char *xml)
{
    hwloc_topology_t machine;
    assert_int_equal(hwloc_topology_init(&machine), 0);
    hwloc_topology_set_io_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_components(machine, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    if (xml)
        assert_int_equal(hwloc_topology_set_xmlbuffer(machine, xml, (int)strlen(xml) + 1), 0);
    assert_int_equal(hwloc_topology_load(machine), 0);
    return machine;
}

static void test_the_export_of_this_machine_is_whole(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    bool plugins = getenv("HWLOC_PLUGINS_PATH"), errors = getenv("HWLOC_HIDE_ERRORS");
    topo_prepare();
    char *xml = topo_export_local(&err);
    if (!xml)
        fail_msg("%s", error_text(&err));
    assert_non_null(strstr(xml, "<topology version=\"2.0\">"));
    hwloc_topology_t read = load_whole(xml), found = load_whole(NULL);
    for (int type = 0; type < HWLOC_OBJ_TYPE_MAX; type++)
        assert_int_equal(hwloc_get_nbobjs_by_type(read, (hwloc_obj_type_t)type),
                         hwloc_get_nbobjs_by_type(found, (hwloc_obj_type_t)type));
    assert_true(hwloc_get_nbobjs_by_type(read, HWLOC_OBJ_PU) > 0);
    hwloc_topology_destroy(read);
    hwloc_topology_destroy(found);
    free(xml);
    if (!plugins)
        unsetenv("HWLOC_PLUGINS_PATH");
    if (!errors)
        unsetenv("HWLOC_HIDE_ERRORS");
}

/* Freed there it would be copied. */
static void test_a_forked_process_leaves_the_machine_of_before(void **state)
{
    struct error err = ERROR_INIT;
    int status = -1;
    (void)state;
    struct hwloc_topology *machine = topo_load_machine(&err);
    assert_non_null(machine);
    pid_t child = fork();
    if (child == 0) {
#ifdef UNIT_KNOWS_HEAP
        size_t before = mallinfo2().uordblks;
        topo_free_machine(machine);
        bool stays = mallinfo2().uordblks == before;
#else
        topo_free_machine(machine);
        bool stays =
            hwloc_get_root_obj(machine); /* a sanitizer sees what is read after it was freed */
#endif
        struct hwloc_topology *own = topo_load_machine(NULL);
        topo_free_machine(own);
        _exit(stays && own ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    topo_free_machine(machine);
    topo_free_machine(NULL);
}

static void test_wire_form_is_short_and_loses_nothing(void **state)
{
    static const char *const machines[] = {
        "pu:1",
        "core:1 pu:1",
        "package:2 core:64 pu:2",
        "package:2 numa:4 l3:2 l2:8 l1:1 core:1 pu:4",
        "numa:2 package:3 core:4 pu:1",
        "package:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)",
        "package:2 core:4 pu:2(indexes=2*8:1*2)",
        "package:2 core:2 pu:2(indexes=7,6,5,4,3,2,1,0)",
        "package:2 core:2 pu:2(indexes=0,5,7,1,2,4,3,6)",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        struct topo *topo = load(machines[i]);
        check_round_trip(topo, 300);
        topo_free(topo);
    }
    struct topo *boards = load_file("topology-boards.xml");
    check_round_trip(boards, 300);
    topo_free(boards);
    struct topo *memories = load_file("topology-memories.xml");
    check_round_trip(memories, 300);
    topo_free(memories);
}

static struct topo *parse(const char *text, struct error *err)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    if (!value)
        fail_msg("the case is not JSON: %s", text);
    struct topo *topo = topo_from_json(value, err);
    json_decref(value);
    return topo;
}

static void test_parts_of_a_machine_may_lack_a_level(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    struct topo *topo =
        parse("{\"version\":1,\"os\":[[0,1,8]],\"levels\":{\"core\":[1,8],"
              "\"l3cache\":[4,1,-4,1],\"numa\":[-2,1,2,1,-4,1]},\"allowed\":\"0,2-7\",\"gpus\":"
              "[{\"id\":0,\"name\":\"cuda0\",\"cpus\":\"0-3\"}]}",
              &err);
    if (!topo)
        fail_msg("%s", error_text(&err));
    assert_int_equal(topo->object[TOPO_L3][3], 0);
    assert_int_equal(topo->object[TOPO_L3][4], TOPO_ABSENT);
    assert_int_equal(topo->object[TOPO_NUMA][1], TOPO_ABSENT);
    assert_int_equal(topo->ngpus, 1);
    assert_string_equal(topo->gpus[0].name, "cuda0");
    assert_set(topo_allowed_cores(topo), "0,2-7");
    check_round_trip(topo, 400);
    topo_free(topo);
}

static void test_a_core_is_allowed_when_one_of_its_threads_is(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    struct topo *topo = parse(
        "{\"version\":1,\"os\":[[0,1,8]],\"levels\":{\"core\":[2,4]},\"allowed\":\"1-3,6\"}", &err);
    if (!topo)
        fail_msg("%s", error_text(&err));
    assert_set(topo_cores(topo), "0-3");
    assert_set(topo_allowed_cores(topo), "0-1,3");
    assert_set(topo_allowed_cpus(topo), "1-3,6");
    struct idset *cores = idset_decode("0,2-3", NULL);
    assert_set(topo_cpus_of_cores(topo, cores), "1,6");
    idset_free(cores);
    topo_free(topo);
}

static void test_bad_wire_forms_are_refused(void **state)
{
    static const char *const bad[] = {
        "null",
        "[]",
        "\"x\"",
        "{}",
        "{\"version\":2,\"os\":[[0]],\"levels\":{}}",
        "{\"version\":\"1\",\"os\":[[0]],\"levels\":{}}",
        "{\"version\":1,\"levels\":{}}",
        "{\"version\":1,\"os\":[],\"levels\":{}}",
        "{\"version\":1,\"os\":\"0-3\",\"levels\":{}}",
        "{\"version\":1,\"os\":[0],\"levels\":{}}",
        "{\"version\":1,\"os\":[[]],\"levels\":{}}",
        "{\"version\":1,\"os\":[[0,1]],\"levels\":{}}",
        "{\"version\":1,\"os\":[[0,1,2,3]],\"levels\":{}}",
        "{\"version\":1,\"os\":[[0,1,2,3,4,5]],\"levels\":{}}",
        "{\"version\":1,\"os\":[[-1]],\"levels\":{}}",
        "{\"version\":1,\"os\":[[1.5]],\"levels\":{}}",
        "{\"version\":1,\"os\":[[0,1,0]],\"levels\":{}}",
        "{\"version\":1,\"os\":[[0,1,65537]],\"levels\":{}}",
        "{\"version\":1,\"os\":[[0,1,65536,1,65536]],\"levels\":{}}",
        "{\"version\":1,\"os\":[[0,1,40000],[40000,1,40000]],\"levels\":{}}",
        "{\"version\":1,\"os\":[[0,-1,2]],\"levels\":{}}",
        "{\"version\":1,\"os\":[[2147483647,1,2]],\"levels\":{}}",
        "{\"version\":1,\"os\":[[0,9223372036854775807,2]],\"levels\":{}}",
        "{\"version\":1,\"os\":[[0,0,2]],\"levels\":{}}",
        "{\"version\":1,\"os\":[[0,1,4],[3]],\"levels\":{}}",
        "{\"version\":1,\"os\":[[0,1,4]]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":[]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"node\":[4,1]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"hwthread\":[1,4]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"package\":[4,1]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"tile\":[4,1]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"core\":[]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"core\":[1]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"core\":[1,3]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"core\":[1,5]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"core\":[0,4]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"core\":[1,-4]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"core\":[65536,65536]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"core\":[\"1\",4]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"core\":[1,3,-1,1]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"numa\":[-4,1]}}",
        "{\"version\":1,\"os\":[[0,1,6]],\"levels\":{\"numa\":[3,2],\"socket\":[2,3]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"core\":[2,2],\"l1cache\":[1,1,3,1]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"allowed\":\"0-4\"}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"allowed\":\"x\"}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"allowed\":[0]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"allowed\":\"0-2147483647\"}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":{}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":0}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[0]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[0,3]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[0,5]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[0,4,1]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[0,4,1,1]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[0,4,1,0]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[0,-4]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[-2,4]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[1024,4]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[\"0\",4]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[0,4.0]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"gib\":[1,4]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[0,4],\"gib\":[1,3]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[0,4],\"gib\":[-1,4]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[0,4],\"gib\":[1,2,2,2]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[-1,1,0,3],\"gib\":[1,4]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[0,4],\"gib\":[16777217,4]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"gpus\":{}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"gpus\":[{}]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"gpus\":[{\"id\":-1,\"name\":\"a\","
        "\"cpus\":\"0\"}]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"gpus\":[{\"id\":0,\"name\":\"a\","
        "\"cpus\":\"9\"}]}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = ERROR_INIT;
        if (parse(bad[i], &err))
            fail_msg("taken: %s", bad[i]);
        assert_non_null(err.text);
        error_clear(&err);
    }
}

static void test_digest_tells_machines_and_masks_apart(void **state)
{
    static const char *const texts[] = {
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"core\":[1,4]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"core\":[2,2]}}",
        "{\"version\":1,\"os\":[[0,2,2,1,2]],\"levels\":{\"core\":[1,4]}}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"core\":[1,4]},\"allowed\":\"0-2\"}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"core\":[1,4]},\"memory\":[0,4]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{\"core\":[1,4]},\"memory\":[0,2,1,2]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[0,4]}",
        "{\"version\":1,\"os\":[[0,1,4]],\"levels\":{},\"memory\":[0,4],\"gib\":[3,4]}",
    };
    enum { N = sizeof(texts) / sizeof(texts[0]) };
    char *digests[N];
    (void)state;
    for (size_t i = 0; i < N; i++) {
        struct topo *topo = parse(texts[i], NULL);
        assert_non_null(topo);
        digests[i] = topo_digest(topo);
        assert_int_equal(strlen(digests[i]), 16);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(digests[i], digests[j]);
        topo_free(topo);
    }
    struct topo *again = parse("{\"version\":1,\"os\":[[0],[1,1,3]],\"levels\":{\"core\":"
                               "[1,2,1,2]},\"allowed\":\"0-3\",\"memory\":[-1,1,-1,3]}",
                               NULL);
    char *digest = topo_digest(again);
    assert_string_equal(digest, digests[0]);
    free(digest);
    topo_free(again);
    for (size_t i = 0; i < N; i++)
        free(digests[i]);
}

static void test_a_reference_keeps_a_topology_alive(void **state)
{
    (void)state;
    struct topo *topo = load("core:2 pu:1");
    assert_ptr_equal(topo_ref(topo), topo);
    topo_free(topo);
    assert_int_equal(topo->npus, 2);
    topo_free(topo);
    topo_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_and_letters_name_levels),
        cmocka_unit_test(test_synthetic_machine_is_counted_by_level),
        cmocka_unit_test(test_os_indexes_need_not_follow_logical_order),
        cmocka_unit_test(test_numa_inside_or_outside_a_socket_is_read_as_it_is),
        cmocka_unit_test(test_two_memories_of_one_cpuset_count_once),
        cmocka_unit_test(test_memory_is_that_of_the_nearest_node),
        cmocka_unit_test(test_ordinary_memory_comes_before_other_kinds),
        cmocka_unit_test(test_domains_without_memory_are_domains),
        cmocka_unit_test(test_xml_gives_the_machine_it_was_made_of),
        cmocka_unit_test(test_boards_and_disallowed_cpus_are_read_from_xml),
        cmocka_unit_test(test_bad_sources_are_refused_with_a_sentence),
        cmocka_unit_test(test_endless_descriptions_are_refused_at_once),
        cmocka_unit_test(test_xml_is_looked_over_before_it_is_read),
        cmocka_unit_test(test_this_machine_allows_what_the_mask_leaves),
        cmocka_unit_test(test_loading_leaves_the_environment_as_it_was),
        cmocka_unit_test(test_the_export_of_this_machine_is_whole),
        cmocka_unit_test(test_a_forked_process_leaves_the_machine_of_before),
        cmocka_unit_test(test_wire_form_is_short_and_loses_nothing),
        cmocka_unit_test(test_parts_of_a_machine_may_lack_a_level),
        cmocka_unit_test(test_a_core_is_allowed_when_one_of_its_threads_is),
        cmocka_unit_test(test_bad_wire_forms_are_refused),
        cmocka_unit_test(test_digest_tells_machines_and_masks_apart),
        cmocka_unit_test(test_a_reference_keeps_a_topology_alive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

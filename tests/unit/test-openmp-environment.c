#include <string.h>

#include "base/buf.h"
#include "base/string_list.h"
#include "launcher/environment/openmp_environment.h"
#include "launcher/spec/spec.h"
#include "tests/unit/unit.h"

#define TOLD(threads, places) "OMP_NUM_THREADS=" threads " OMP_PLACES=" places

static char *told(const char *machine, const char *cpus, uint32_t cores, const char *inherited)
{
    char *environment[] = {(char *)"PATH=/bin", (char *)(uintptr_t)inherited, NULL};
    struct topo *topo = topo_load_synthetic(machine, NULL);
    struct idset *set = idset_decode(cpus, NULL);
    struct buf out = BUF_INIT;
    char **list = openmp_environment_make(topo, set, cores, environment);
    for (char **entry = list; *entry; entry++)
        buf_printf(&out, "%s%s", out.len ? " " : "", *entry);
    string_list_free(list);
    idset_free(set);
    topo_free(topo);
    return buf_take_text(&out);
}

static void test_each_core_of_a_slot_is_a_place(void **state)
{
    static const struct {
        const char *machine, *cpus;
        uint32_t cores;
        const char *expect;
    } cases[] = {
        {"core:4 pu:1", "0", 1, TOLD("1", "{0}")},
        {"core:4 pu:1", "2-3", 2, TOLD("2", "{2},{3}")},
        {"core:4 pu:2", "2-5", 2, TOLD("2", "{2,3},{4,5}")},
        {"package:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)", "1-2,5-6", 2, TOLD("2", "{1,5},{2,6}")},
        {"package:2 core:2 pu:1(indexes=0,2,1,3)", "0-3", 4, TOLD("4", "{0},{2},{1},{3}")},
        {"core:2 pu:4", "1-2,7", 2, TOLD("2", "{1,2},{7}")},
        {"core:1000 pu:1", "0-999", 1000, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = told(cases[i].machine, cases[i].cpus, cases[i].cores, "A=1");
        if (cases[i].expect && strcmp(text, cases[i].expect) != 0)
            fail_msg("%s %s: %s", cases[i].machine, cases[i].cpus, text);
        assert_non_null(strstr(text, "OMP_PLACES={"));
        free(text);
    }
}

static void test_places_are_left_out_where_they_would_mislead(void **state)
{
    static const char only_threads[] = "OMP_NUM_THREADS=2";
    static const char only_places[] = "OMP_PLACES={0},{1}";
    static const char both[] = TOLD("2", "{0},{1}");
    static const struct {
        const char *cpus, *inherited, *expect;
    } cases[] = {
        {"0-1", "OMP_NUM_THREADSX=1", both},
        {"0-1", "OMP_PROC_BIND=close", both},
        {"0-1", "OMP_PLACESX=cores", both},
        {"0-1", "OMP_PROC_BIND=false", only_threads},
        {"0-1", "OMP_PROC_BIND=FALSE", only_threads},
        {"0-1", "OMP_PLACES=cores", only_threads},
        {"0-1", "OMP_PLACES=", only_threads},
        {"0-1", "GOMP_CPU_AFFINITY=0-3", only_threads},
        {"0-1", "KMP_AFFINITY=compact", only_threads},
        {"0-1", "OMP_NUM_THREADS=4", only_places},
        {"0-1", "OMP_NUM_THREADS=", only_places},
        {"0-1", "OMP_NUM_THREADS=1", ""},
        {"0-3", "A=1", only_threads}, /* bound wider than the slot */
        {"0", "A=1", only_threads},
        {"", "A=1", only_threads},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = told("core:4 pu:1", cases[i].cpus, 2, cases[i].inherited);
        if (strcmp(text, cases[i].expect) != 0)
            fail_msg("%s, %s: %s", cases[i].cpus, cases[i].inherited, text);
        free(text);
    }
}

static void test_a_list_of_places_that_is_too_long_is_left_out(void **state)
{
    (void)state;
    char *text = told("core:2048 pu:1", "0-2047", 2048, "A=1");
    assert_string_equal(text, "OMP_NUM_THREADS=2048");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_core_of_a_slot_is_a_place),
        cmocka_unit_test(test_places_are_left_out_where_they_would_mislead),
        cmocka_unit_test(test_a_list_of_places_that_is_too_long_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/string_list.h"
#include "launcher/environment/environment.h"
#include "launcher/environment/pmi_environment.h"
#include "launcher/linkage/mpi_library.h"
#include "launcher/linkage/pmi_choice.h"
#include "launcher/spec/spec.h"
#include "tests/unit/elf-file.h"
#include "tests/unit/scratch-root.h"
#include "tests/unit/unit.h"

#define NLIBRARIES 3

enum { NONE = SPEC_PMI_NONE, P1 = SPEC_PMI_1, P2 = SPEC_PMI_2, PX = SPEC_PMI_X, SIMPLE = P1 | P2 };
enum { ALL = SIMPLE | PX, AUTO = SPEC_PMI_AUTO };

/* ---- by a linkage ---- */

static const struct {
    enum shared_libraries_kind kind;
    bool closed;
    const char *names[NLIBRARIES + 1];
    unsigned pmi, with_pmix, without;
} choices[] = {
    {SHARED_LIBRARIES_DYNAMIC, false, {"libmpi.so.40", "libopen-pal.so.40"}, AUTO, PX, SIMPLE},
    {SHARED_LIBRARIES_DYNAMIC, false, {"libmpi.so.12", "libopen-pal.so.13"}, AUTO, PX, SIMPLE},
    {SHARED_LIBRARIES_DYNAMIC, false, {"liboshmem.so.40"}, AUTO, PX, SIMPLE},
    {SHARED_LIBRARIES_DYNAMIC, false, {"libmpi_ibm.so.3"}, AUTO, PX, SIMPLE},
    {SHARED_LIBRARIES_DYNAMIC, false, {"libmpi.so.40", "libpmi2.so.0"}, AUTO, PX, SIMPLE},
    {SHARED_LIBRARIES_DYNAMIC, false, {"libc.so.6", "libpmix.so.2"}, AUTO, PX, SIMPLE},
    {SHARED_LIBRARIES_DYNAMIC, false, {"libmpich.so.12"}, AUTO, SIMPLE, SIMPLE},
    {SHARED_LIBRARIES_DYNAMIC, false, {"libmpi.so.12", "libpmi2.so.0"}, AUTO, SIMPLE, SIMPLE},
    {SHARED_LIBRARIES_DYNAMIC,
     false,
     {"libmpi.so.12", "libpmi.so.0", "libslurm.so.38"},
     AUTO,
     SIMPLE,
     SIMPLE},
    {SHARED_LIBRARIES_DYNAMIC,
     false,
     {"libmpi_gnu_123.so.12", "libpals.so.0"},
     AUTO,
     SIMPLE,
     SIMPLE},
    {SHARED_LIBRARIES_DYNAMIC, false, {"libpmi.so.0"}, AUTO, SIMPLE, SIMPLE},
    {SHARED_LIBRARIES_DYNAMIC, false, {"libpmi2.so.0"}, AUTO, SIMPLE, SIMPLE},
    /* made with PMIx, MPICH may have nothing else */
    {SHARED_LIBRARIES_DYNAMIC, false, {"libmpi.so.12", "libpmix.so.2"}, AUTO, ALL, SIMPLE},
    {SHARED_LIBRARIES_DYNAMIC, false, {"libmpi_abi.so.1"}, AUTO, ALL, SIMPLE},
    {SHARED_LIBRARIES_DYNAMIC, false, {"libmpi.so.99"}, AUTO, ALL, SIMPLE},
    {SHARED_LIBRARIES_DYNAMIC, false, {"libc.so.6"}, AUTO, ALL, SIMPLE},
    {SHARED_LIBRARIES_DYNAMIC, true, {"libc.so.6"}, AUTO, SIMPLE, SIMPLE},
    {SHARED_LIBRARIES_SCRIPT, false, {NULL}, AUTO, ALL, SIMPLE},
    {SHARED_LIBRARIES_STATIC, false, {NULL}, AUTO, ALL, SIMPLE},
    /* what --pmi names is for all */
    {SHARED_LIBRARIES_DYNAMIC, false, {"libmpi.so.40"}, P1, P1, P1},
    {SHARED_LIBRARIES_DYNAMIC, false, {"libmpich.so.12"}, PX, PX, NONE},
    {SHARED_LIBRARIES_DYNAMIC, true, {"libc.so.6"}, PX, PX, NONE},
    {SHARED_LIBRARIES_DYNAMIC, false, {"libmpich.so.12"}, P2 | PX, P2 | PX, P2},
    {SHARED_LIBRARIES_DYNAMIC, false, {"libmpich.so.12"}, NONE, NONE, NONE},
    {SHARED_LIBRARIES_SCRIPT, false, {NULL}, NONE, NONE, NONE},
};

static void test_a_program_is_offered_what_its_libraries_call_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        struct library libraries[NLIBRARIES] = {0};
        struct shared_libraries linkage = {
            .kind = choices[i].kind, .libraries = libraries, .closed = choices[i].closed};
        for (; choices[i].names[linkage.count]; linkage.count++)
            libraries[linkage.count].name = (char *)choices[i].names[linkage.count];
        unsigned with = pmi_choice_of(choices[i].pmi, true, &linkage);
        unsigned without = pmi_choice_of(choices[i].pmi, false, &linkage);
        if (with != choices[i].with_pmix || without != choices[i].without)
            fail_msg("%s: %u and %u, not %u and %u", choices[i].names[0] ? choices[i].names[0] : "",
                     with, without, choices[i].with_pmix, choices[i].without);
    }
}

static void test_a_program_that_cannot_be_read_is_offered_all_dialects(void **state)
{
    struct shared_libraries_source nowhere = {"/no/such/program", "/", NULL, "/dev/null"};
    (void)state;
    assert_int_equal(pmi_choice_of(AUTO, true, NULL), ALL);
    assert_int_equal(pmi_choice_read(AUTO, true, &nowhere), ALL);
    assert_int_equal(pmi_choice_read(AUTO, false, &nowhere), SIMPLE);
    assert_int_equal(pmi_choice_read(PX, true, &nowhere), PX);
}

/* ---- by files ---- */

static int make_root(void **state)
{
    (void)state;
    return root_make((const char *const[]){"lib", NULL});
}

static void test_libraries_that_an_mpi_needs_itself_count(void **state)
{
    static const struct elf_file plain = {0}, abi = {.needs = {"libopen-pal.so.80"}},
                                 made = {.needs = {"libpmix.so.2"}},
                                 program = {.needs = {"libuser.so", "libc.so.6"}},
                                 user = {.needs = {"libmpi.so.12"}};
    struct shared_libraries_source source = {"app", root, "lib", "/dev/null"};
    (void)state;
    elf_file_write("app", &program);
    elf_file_write("lib/libuser.so", &user);
    elf_file_write("lib/libmpi.so.12", &plain);
    assert_int_equal(pmi_choice_read(AUTO, true, &source), SIMPLE);
    elf_file_write("lib/libmpi.so.12", &made);
    assert_int_equal(pmi_choice_read(AUTO, true, &source), ALL);
    elf_file_write("lib/libmpi.so.12", &abi);
    assert_int_equal(pmi_choice_read(AUTO, true, &source), PX);
}

static void
test_what_was_foreseen_is_the_answer_to_the_next_question_about_that_program_alone(void **state)
{
    static const struct elf_file program = {.needs = {"libmpi.so.40"}}, plain = {0},
                                 other = {.needs = {"libmpich.so.12"}};
    struct shared_libraries_source source = {"app", root, "lib", "/dev/null"};
    struct shared_libraries_source elsewhere = {"app", root, "", "/dev/null"};
    (void)state;
    elf_file_write("lib/libmpi.so.40", &plain);
    elf_file_write("app", &program);
    assert_int_equal(pmi_choice_foresee(AUTO, &source), PX);
    elf_file_write("app", &other);
    assert_int_equal(pmi_choice_read(AUTO, true, &source), PX);
    assert_int_equal(pmi_choice_read(AUTO, true, &source), SIMPLE);
    elf_file_write("app", &program);
    assert_int_equal(pmi_choice_foresee(AUTO, &source), PX);
    elf_file_write("app", &other);
    assert_int_equal(pmi_choice_read(AUTO, true, &elsewhere), SIMPLE);
    assert_int_equal(pmi_choice_read(AUTO, true, &source), SIMPLE);
}

static void test_reading_ends_with_what_the_first_mpi_needs(void **state)
{
    static const struct elf_file program = {.needs = {"libfirst.so", "libmpi.so.40", "libtail.so"}},
                                 first = {.needs = {"libone.so"}},
                                 mpi = {.needs = {"libopen-rte.so.40"}},
                                 deep = {.needs = {"libdeep.so"}};
    static const char *const names[] = {"libfirst.so", "libmpi.so.40", "libtail.so", "libone.so",
                                        "libopen-rte.so.40"};
    struct shared_libraries_source source = {"app", root, "lib", "/dev/null",
                                             mpi_library_names_mpi};
    (void)state;
    elf_file_write("app", &program);
    elf_file_write("lib/libfirst.so", &first);
    elf_file_write("lib/libmpi.so.40", &mpi);
    elf_file_write("lib/libtail.so", &deep);
    elf_file_write("lib/libone.so", &deep);
    elf_file_write("lib/libopen-rte.so.40", &deep);
    struct shared_libraries *linkage = shared_libraries_read(&source, NULL);
    assert_non_null(linkage);
    assert_int_equal(linkage->count, sizeof(names) / sizeof(names[0]));
    for (size_t i = 0; i < linkage->count; i++)
        assert_string_equal(linkage->libraries[i].name, names[i]);
    shared_libraries_free(linkage);
    source.last = NULL;
    linkage = shared_libraries_read(&source, NULL);
    assert_non_null(linkage);
    assert_int_equal(linkage->count, sizeof(names) / sizeof(names[0]) + 1);
    shared_libraries_free(linkage);
}

static void test_libraries_of_the_c_library_are_not_read_for_a_closed_program(void **state)
{
    static const struct elf_file c = {.needs = {"libother.so"}},
                                 program = {.needs = {"libc.so.6"},
                                            .interpreter = "/lib64/ld-linux-x86-64.so.2",
                                            .imports = "puts"};
    struct shared_libraries_source source = {"app", root, "lib", "/dev/null",
                                             mpi_library_names_mpi};
    (void)state;
    if (access("/etc/ld.so.preload", F_OK) == 0)
        skip(); /* what is loaded into every program leads out of it */
    elf_file_write("app", &program);
    elf_file_write("lib/libc.so.6", &c);
    struct shared_libraries *linkage = shared_libraries_read(&source, NULL);
    assert_non_null(linkage);
    assert_true(linkage->closed);
    assert_int_equal(linkage->count, 0);
    shared_libraries_free(linkage);
    source.last = NULL;
    linkage = shared_libraries_read(&source, NULL);
    assert_non_null(linkage);
    assert_int_equal(linkage->count, 2);
    shared_libraries_free(linkage);
}

/* ---- variables ---- */

#define LARGE "PMIX_MCA_ptl_base_max_msg_size=4095"
#define OPEN_MPI LARGE, "OMPI_MCA_schizo=^orte", "OMPI_MCA_orte_externally_bound=1"
#define UNBOUND "OMPI_MCA_hwloc_base_binding_policy=none"
#define MEMORY(what) "OMPI_MCA_" what "_backing_directory=/here"
#define VERSION(n) "MPIR_CVAR_PMI_VERSION=" n
#define NO_X "HWLOC_COMPONENTS=-gl"

static const struct {
    unsigned offered;
    const char *has; /* set already; or NULL */
    const char *list[PMI_ENVIRONMENT_MAX + 1];
} variables[] = {
    {NONE, NULL, {NULL}},
    {P1, NULL, {NO_X}},
    {P2, NULL, {NO_X}},
    {SIMPLE, NULL, {NO_X}},
    {SIMPLE, "HWLOC_COMPONENTS=no_os,stop", {NULL}},
    {PX, NULL, {VERSION("x"), NO_X, OPEN_MPI, UNBOUND}},
    {ALL, NULL, {VERSION("1"), NO_X, OPEN_MPI, UNBOUND}},
    {P1 | PX, NULL, {VERSION("1"), NO_X, OPEN_MPI, UNBOUND}},
    {P2 | PX, NULL, {VERSION("2"), NO_X, OPEN_MPI, UNBOUND}},
    {ALL, "MPIR_CVAR_PMI_VERSION=x", {NO_X, OPEN_MPI, UNBOUND}},
    {ALL, "OMPI_MCA_hwloc_base_binding_policy=core", {VERSION("1"), NO_X, OPEN_MPI}},
    {ALL, "OMPI_MCA_schizo_base_verbose=5", {VERSION("1"), NO_X, OPEN_MPI, UNBOUND}},
    {PX,
     "PMIX_MCA_ptl_base_max_msg_size=64",
     {VERSION("x"), NO_X, "OMPI_MCA_schizo=^orte", "OMPI_MCA_orte_externally_bound=1", UNBOUND}},
    {PX, MEMORY("btl_vader"), {VERSION("x"), NO_X, OPEN_MPI, UNBOUND}},
};

static const char *const memories[] = {MEMORY("btl_vader"), MEMORY("btl_sm"), MEMORY("osc_sm"),
                                       MEMORY("osc_rdma")};

static void test_memory_that_tasks_share_has_its_directory(void **state)
{
    const char *bare[] = {"A=b", NULL}, *set[] = {"OMPI_MCA_btl_vader_backing_directory=/x", NULL};
    (void)state;
    char **list = pmi_environment_make(PX, (char *const *)bare, "/here", NULL, true);
    char **but_one = pmi_environment_make(PX, (char *const *)set, "/here", NULL, false);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(list[6 + i], memories[i]);
    assert_string_equal(list[10], "OMPI_MCA_mpi_oversubscribe=1");
    assert_null(list[11]);
    for (size_t i = 1; i < 4; i++)
        assert_string_equal(but_one[6 + i - 1], memories[i]);
    assert_null(but_one[9]);
    string_list_free(list);
    string_list_free(but_one);
    list = pmi_environment_make(SIMPLE, (char *const *)bare, "/here", NULL, true);
    assert_string_equal(list[0], NO_X);
    assert_null(list[1]);
    string_list_free(list);
}

static void test_variables_are_set_for_what_is_offered_unless_they_are_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *environment[] = {"A=b", variables[i].has, NULL};
        char **list = pmi_environment_make(variables[i].offered, (char *const *)environment, NULL,
                                           NULL, false);
        size_t n = 0;
        for (; list[n] && variables[i].list[n]; n++)
            assert_string_equal(list[n], variables[i].list[n]);
        if (list[n] || variables[i].list[n])
            fail_msg("row %zu: %s, not %s", i, list[n] ? list[n] : "(end)",
                     variables[i].list[n] ? variables[i].list[n] : "(end)");
        string_list_free(list);
    }
}

static void test_kinds_of_memory_are_asked_of_open_mpi(void **state)
{
    const char *bare[] = {"A=b", NULL}, *set[] = {"OMPI_MCA_mpi_memory_alloc_kinds=mpi", NULL};
    (void)state;
    char **list = pmi_environment_make(PX, (char *const *)bare, NULL, "system,cuda", false);
    char **own = pmi_environment_make(PX, (char *const *)set, NULL, "system,cuda", false);
    char **simple = pmi_environment_make(SIMPLE, (char *const *)bare, NULL, "system,cuda", false);
    const char *name = "OMPI_MCA_mpi_memory_alloc_kinds";
    assert_string_equal(env_value(list, name), "system,cuda");
    assert_null(env_value(own, name));
    assert_null(env_value(simple, name));
    string_list_free(list);
    list = pmi_environment_make(PX, (char *const *)bare, "/here", "system,cuda",
                                true); /* all there are */
    size_t count = 0;
    while (list[count])
        count++;
    assert_int_equal(count, PMI_ENVIRONMENT_MAX);
    string_list_free(list);
    string_list_free(own);
    string_list_free(simple);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_program_is_offered_what_its_libraries_call_for),
        cmocka_unit_test(test_a_program_that_cannot_be_read_is_offered_all_dialects),
        cmocka_unit_test(test_libraries_that_an_mpi_needs_itself_count),
        cmocka_unit_test(
            test_what_was_foreseen_is_the_answer_to_the_next_question_about_that_program_alone),
        cmocka_unit_test(test_reading_ends_with_what_the_first_mpi_needs),
        cmocka_unit_test(test_libraries_of_the_c_library_are_not_read_for_a_closed_program),
        cmocka_unit_test(test_variables_are_set_for_what_is_offered_unless_they_are_set),
        cmocka_unit_test(test_memory_that_tasks_share_has_its_directory),
        cmocka_unit_test(test_kinds_of_memory_are_asked_of_open_mpi),
    };
    return cmocka_run_group_tests(tests, make_root, root_remove);
}

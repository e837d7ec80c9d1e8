#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "launcher/linkage/mpi_abi.h"
#include "launcher/spec/spec_check.h"
#include "tests/unit/elf-file.h"
#include "tests/unit/scratch-root.h"
#include "tests/unit/unit.h"

static const struct elf_file mpich = {.soname = LIBRARY_MPI_ABI, .imports = "MPIR_Err_return_comm"},
                             openmpi = {.soname = LIBRARY_MPI_ABI, .imports = "ompi_mpi_char"},
                             own = {.soname = LIBRARY_MPI_ABI, .imports = "myMPIR_ mpi_x"},
                             other = {.soname = "libmpi.so.40"};

/* mpich/lib and openmpi/lib64 as projects install them, debian with both side by side. */
static int make_root(void **state)
{
    static const char *const directories[] = {"mpich",   "mpich/lib",     "mpich/bin",
                                              "openmpi", "openmpi/lib64", "debian",
                                              "own",     "other",         NULL};
    (void)state;
    if (root_make(directories) < 0)
        return -1;
    elf_file_write("mpich/lib/libmpi_abi.so.1.0.0", &mpich);
    elf_file_write("openmpi/lib64/libmpi_abi.so.1", &openmpi);
    elf_file_write("debian/libmpi_abi_mpich.so.1.0.0", &mpich);
    elf_file_write("debian/libmpi_abi_openmpi.so.1.0.0", &openmpi);
    elf_file_write("own/libmpi_abi.so.1", &own);
    elf_file_write("other/libmpi_abi.so.1", &other);
    return symlink("libmpi_abi.so.1.0.0", "mpich/lib/libmpi_abi.so.1") < 0 ||
                   symlink("libmpi_abi_openmpi.so.1.0.0", "debian/libmpi_abi.so.1") < 0
               ? -1
               : 0;
}

/* Of files below the root; the next call of the same number overwrites it. */
static char *below(int number, const char *name)
{
    static char texts[3][PATH_MAX];
    snprintf(texts[number], sizeof(texts[number]), "%s/%s", root, name);
    return texts[number];
}

/* ---- what is meant ---- */

/* With LD_LIBRARY_PATH=ROOT/debian and PATH=ROOT/mpich/bin. */
static const struct {
    const char *choice, *path; /* "/" in front: below the root */
    const char *error;         /* a piece of it */
} choices[] = {
    {"mpich", "debian/libmpi_abi_mpich.so.1.0.0", NULL},
    {"openmpi", "debian/libmpi_abi_openmpi.so.1.0.0", NULL},
    {"Open MPI", "debian/libmpi_abi_openmpi.so.1.0.0", NULL},
    {"/mpich/lib", "mpich/lib/libmpi_abi.so.1", NULL},
    {"/mpich", "mpich/lib/libmpi_abi.so.1", NULL},
    {"/openmpi", "openmpi/lib64/libmpi_abi.so.1", NULL},
    {"/mpich/lib/libmpi_abi.so.1.0.0", "mpich/lib/libmpi_abi.so.1.0.0", NULL},
    {"/own", "own/libmpi_abi.so.1", NULL},
    {"nosuch", NULL,
     "--mpi nosuch: no libmpi_abi.so.1 of that MPI is found here; these are: mpich is "},
    {"/nosuch", NULL, "/nosuch: No such file or directory"},
    {"/mpich/bin", NULL, "/mpich/bin: no libmpi_abi.so.1 in this directory, its lib or its lib64"},
    {"/other", NULL, "/other/libmpi_abi.so.1 is not libmpi_abi.so.1 but libmpi.so.40"},
};

static void test_a_name_or_a_path_says_which_library_is_meant(void **state)
{
    char library_path[PATH_MAX + 32], path[PATH_MAX + 32];
    char *environment[] = {library_path, path, NULL};
    (void)state;
    snprintf(library_path, sizeof(library_path), "LD_LIBRARY_PATH=none:%s/debian", root);
    snprintf(path, sizeof(path), "PATH=%s/mpich/bin", root);
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        struct error err = ERROR_INIT;
        const char *choice = choices[i].choice;
        char *found =
            mpi_abi_find(choice[0] == '/' ? below(0, choice + 1) : choice, environment, &err);
        if (choices[i].path && (!found || strcmp(found, below(1, choices[i].path)) != 0))
            fail_msg("%s: %s", choice, found ? found : error_text(&err));
        if (choices[i].error && (found || !strstr(error_text(&err), choices[i].error)))
            fail_msg("%s: %s", choice, found ? found : error_text(&err));
        error_clear(&err);
        free(found);
    }
}

static void test_what_is_installed_is_listed_in_the_order_of_the_search(void **state)
{
    static const char *const paths[] = {"debian/libmpi_abi_mpich.so.1.0.0",
                                        "debian/libmpi_abi_openmpi.so.1.0.0", "own/libmpi_abi.so.1",
                                        "mpich/lib/libmpi_abi.so.1.0.0"};
    static const char *const words[] = {"mpich", "openmpi", NULL, NULL};
    static const char *const mpis[] = {"MPICH", "Open MPI", "an MPI of the standard ABI", "MPICH"};
    char library_path[3 * PATH_MAX], path[PATH_MAX + 32];
    char *environment[] = {library_path, path, NULL};
    struct mpi_abi_list list;
    (void)state;
    snprintf(library_path, sizeof(library_path), "LD_LIBRARY_PATH=%s/debian:%s/other:%s/own", root,
             root, root);
    snprintf(path, sizeof(path), "PATH=/nosuch:%s/mpich/bin/", root);
    mpi_abi_list_read(&list, environment);
    assert_true(list.count >= 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(list.list[i].path, below(0, paths[i]));
        assert_string_equal(list.list[i].mpi, mpis[i]);
        assert_true(words[i] ? list.list[i].word && strcmp(list.list[i].word, words[i]) == 0
                             : !list.list[i].word);
    }
    mpi_abi_list_clear(&list);
}

static void test_what_is_neither_a_name_nor_an_absolute_path_is_refused(void **state)
{
    static const char *const good[] = {"mpich", "Open MPI", "open-mpi", "mpich5", "/", "/a:b"};
    static const char *const bad[] = {"", "a/b", "./a", ".", "1", "a:b", "a\n", "-x"};
    struct error err = ERROR_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_int_equal(spec_check_mpi(good[i], &err), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(spec_check_mpi(bad[i], &err), -1);
        assert_non_null(strstr(error_text(&err), "is not the name of an MPI"));
    }
    error_clear(&err);
}

/* ---- programs ---- */

static const struct {
    struct elf_file program;
    bool lenient;
    const char *error; /* a piece of it; NULL: it is accepted */
} programs[] = {
    {{.needs = {LIBRARY_MPI_ABI}}, false, NULL},
    {{.needs = {LIBRARY_MPI_ABI}, .runpath = "$ORIGIN/openmpi/lib64"}, false, NULL},
    {{.needs = {LIBRARY_MPI_ABI}, .rpath = "$ORIGIN/mpich/lib"}, false, NULL},
    {{.needs = {LIBRARY_MPI_ABI}, .rpath = "$ORIGIN/openmpi/lib64"},
     false,
     "/openmpi/lib64/libmpi_abi.so.1 and not "},
    {{.needs = {LIBRARY_MPI_ABI}, .rpath = "$ORIGIN/openmpi/lib64"},
     true,
     "an RPATH comes before --mpi"},
    {{.needs = {"libmpi.so.40"}}, true, "/app is linked with Open MPI (libmpi.so.40)"},
    {{.needs = {"libmpich.so.12"}}, false, "/app is linked with MPICH (libmpich.so.12)"},
    {{.needs = {"libc.so.6"}, .interpreter = "/lib/ld.so"}, false, NULL},
    {{.bits = 0}, false, "/app is linked statically"},
    {{.bits = 0}, true, NULL},
};

static void test_a_program_is_accepted_that_would_load_it(void **state)
{
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof(path), "%s/mpich/lib/libmpi_abi.so.1", root);
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        struct error err = ERROR_INIT;
        struct shared_libraries_source source = {"app", root, below(0, "debian"), "/dev/null",
                                                 .mpi_abi = path};
        elf_file_write("app", &programs[i].program);
        struct shared_libraries *linkage = shared_libraries_read(&source, &err);
        assert_non_null(linkage);
        int rc = mpi_abi_accepts(linkage, path, programs[i].lenient, &err);
        if (programs[i].error ? rc == 0 || !strstr(error_text(&err), programs[i].error) : rc < 0)
            fail_msg("row %zu: %s", i, rc ? error_text(&err) : "accepted");
        if (rc == 0 && linkage->count == 1 &&
            strcmp(linkage->libraries[0].name, LIBRARY_MPI_ABI) == 0)
            assert_int_equal(linkage->libraries[0].family, MPI_FAMILY_MPICH);
        shared_libraries_free(linkage);
        error_clear(&err);
    }
}

/* ---- LD_LIBRARY_PATH ---- */

static void expect_path(const char *library, const char *before, const char *wanted)
{
    struct error err = ERROR_INIT;
    char text[2 * PATH_MAX],
        *got = mpi_abi_library_path(below(0, library), below(1, "links"), before, &err);
    snprintf(text, sizeof(text), wanted, root, root);
    assert_non_null(got);
    assert_string_equal(got, text);
    free(got);
}

static void expect_link(const char *library, const char *wanted)
{
    struct error err = ERROR_INIT;
    char text[PATH_MAX + 16], *got = mpi_abi_library_path(library, below(0, "top"), NULL, &err);
    snprintf(text, sizeof(text), wanted, root);
    assert_non_null(got);
    assert_string_equal(got, text);
    free(got);
}

static void test_only_what_is_needed_stands_before_the_other_directories(void **state)
{
    struct error err = ERROR_INIT;
    char target[PATH_MAX] = "";
    (void)state;
    expect_path("mpich/lib/libmpi_abi.so.1", NULL, "%s/mpich/lib");
    expect_path("mpich/lib/libmpi_abi.so.1", "/a:/b", "%s/mpich/lib:/a:/b");
    expect_path("mpich/lib/libmpi_abi.so.1.0.0", "", "%s/mpich/lib");
    assert_int_equal(access("links", F_OK), -1);
    for (int again = 0; again < 2; again++) /* a program may have several groups of tasks */
        expect_path("debian/libmpi_abi_mpich.so.1.0.0", "/a", "%s/links/mpi:%s/debian:/a");
    assert_true(readlink("links/mpi/libmpi_abi.so.1", target, sizeof(target) - 1) > 0);
    assert_string_equal(target, below(0, "debian/libmpi_abi_mpich.so.1.0.0"));
    /* nothing at the end would be the directory of the task */
    expect_link("/libmpi_abi_x.so.1", "%s/top/mpi:/");
    /* which is no directory */
    assert_null(mpi_abi_library_path(below(0, "debian/libmpi_abi_mpich.so.1.0.0"),
                                     below(1, "own/libmpi_abi.so.1"), NULL, &err));
    assert_non_null(strstr(error_text(&err), "cannot make the link "));
    error_clear(&err);
}

/* The loader's own directory would hide libraries of a RUNPATH. */
static void test_a_directory_of_the_loaders_own_is_not_put_in_front(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    char *got = mpi_abi_library_path("/usr/lib/libmpi_abi_x.so.1", below(1, "shared"), "/a", &err);
    assert_non_null(got);
    char wanted[PATH_MAX + 8];
    snprintf(wanted, sizeof(wanted), "%s/mpi:/a", below(1, "shared"));
    assert_string_equal(got, wanted);
    free(got);
}

static void test_a_path_that_the_loader_would_cut_is_refused(void **state)
{
    static const char *const cases[][2] = {
        {"/nosuch/a:b/libmpi_abi.so.1", "/nosuch/a:b:"},
        {"/nosuch/a;b/libmpi_abi.so.1", "/nosuch/a;b:"},
        {"/usr/lib/libmpi_abi_x.so.1", "/links:x:"}, /* of the link to that */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        assert_null(mpi_abi_library_path(cases[i][0], below(1, "links:x"), NULL, &err));
        if (!strstr(error_text(&err), "cannot hold ") || !strstr(error_text(&err), cases[i][1]))
            fail_msg("%s: %s", cases[i][0], error_text(&err));
        error_clear(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_name_or_a_path_says_which_library_is_meant),
        cmocka_unit_test(test_what_is_installed_is_listed_in_the_order_of_the_search),
        cmocka_unit_test(test_what_is_neither_a_name_nor_an_absolute_path_is_refused),
        cmocka_unit_test(test_a_program_is_accepted_that_would_load_it),
        cmocka_unit_test(test_only_what_is_needed_stands_before_the_other_directories),
        cmocka_unit_test(test_a_directory_of_the_loaders_own_is_not_put_in_front),
        cmocka_unit_test(test_a_path_that_the_loader_would_cut_is_refused),
    };
    return cmocka_run_group_tests(tests, make_root, root_remove);
}

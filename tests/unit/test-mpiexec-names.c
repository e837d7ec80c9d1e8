#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/mem.h"
#include "launcher/mpiexec/mpiexec.h"
#include "tests/unit/unit.h"

static void test_links_by_these_names_are_other_launchers(void **state)
{
    (void)state;
    static const struct {
        const char *program;
        enum mpiexec_dialect dialect;
    } names[] = {
        {"mpiexec", MPIEXEC_EITHER},
        {"/usr/libexec/tprun/mpiexec", MPIEXEC_EITHER},
        {"./mpirun", MPIEXEC_EITHER},
        {"mpiexec.hydra", MPIEXEC_HYDRA},
        {"/usr/bin/mpirun.mpich", MPIEXEC_HYDRA},
        {"mpiexec.mpich", MPIEXEC_HYDRA},
        {"mpirun.mpi_abi_mpich", MPIEXEC_HYDRA},
        {"mpirun.openmpi", MPIEXEC_OPENMPI},
        {"mpiexec.openmpi", MPIEXEC_OPENMPI},
        {"/opt/bin/orterun", MPIEXEC_OPENMPI},
        {"prterun", MPIEXEC_OPENMPI},
        {"oshrun", MPIEXEC_OPENMPI},
        {"shmemrun", MPIEXEC_OPENMPI},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_true(mpiexec_is_name(names[i].program));
        assert_int_equal(mpiexec_name_dialect(names[i].program), names[i].dialect);
    }
    static const char *const others[] = {
        "tprun", "/mpiexec/tprun", "mpiexec.", "mpirun.other", "mpiexecs", "", NULL};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(mpiexec_is_name(others[i]));
}

static void make_program(const char *directory, const char *name)
{
    char *path = mem_format("%s/%s", directory, name);
    int fd = open(path, O_CREAT | O_WRONLY, 0755);
    assert_true(fd >= 0);
    close(fd);
    free(path);
}

static void make_link(const char *directory, const char *name, const char *to)
{
    char *path = mem_format("%s/%s", directory, name);
    assert_int_equal(symlink(to, path), 0);
    free(path);
}

static void test_the_next_program_of_the_name_tells_whose_options_are_meant(void **state)
{
    (void)state;
    char hydra[] = "/tmp/names-XXXXXX", orte[] = "/tmp/names-XXXXXX", plain[] = "/tmp/names-XXXXXX";
    char own[] = "/tmp/names-XXXXXX", beside[] = "/tmp/names-XXXXXX";
    assert_true(mkdtemp(hydra) && mkdtemp(orte) && mkdtemp(plain) && mkdtemp(own) &&
                mkdtemp(beside));
    make_program(hydra, "mpiexec.hydra");
    make_link(hydra, "mpirun", "mpiexec.hydra");
    make_program(orte, "orterun");
    make_link(orte, "mpirun.openmpi", "orterun");
    make_link(orte, "mpirun", "mpirun.openmpi");
    make_program(plain, "mpirun");
    make_link(own, "mpirun", "/proc/self/exe");
    make_program(beside, "mpirun");
    make_program(beside, "ompi_info");
    const struct {
        const char *first, *second;
        enum mpiexec_dialect dialect;
    } cases[] = {
        {hydra, orte, MPIEXEC_HYDRA}, {orte, hydra, MPIEXEC_OPENMPI},
        {own, hydra, MPIEXEC_HYDRA},  {own, own, MPIEXEC_EITHER},
        {own, plain, MPIEXEC_EITHER}, {own, beside, MPIEXEC_OPENMPI},
        {"", "", MPIEXEC_EITHER},     {"/not/there", hydra, MPIEXEC_HYDRA},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *search = mem_format("%s:%s", cases[i].first, cases[i].second);
        assert_int_equal(mpiexec_next_dialect("/x/mpirun", search), cases[i].dialect);
        free(search);
    }
    assert_int_equal(mpiexec_next_dialect("mpirun", NULL), MPIEXEC_EITHER);
    const char *const all[] = {hydra, orte, plain, own, beside};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        assert_int_equal(directory_remove(AT_FDCWD, all[i]), 0);
}

static void test_the_first_line_of_the_version_tells_launchers_apart(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        {"/x/mpirun.openmpi", "mpirun.openmpi (Open MPI) 4."},
        {"mpiexec.mpich", "HYDRA build details:\n    Version:                                 4."},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char *text = mpiexec_version(lines[i][0], "tprun 9\n");
        assert_ptr_equal(strstr(text, lines[i][1]), text);
        assert_non_null(strstr(text, "\ntprun 9\n"));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links_by_these_names_are_other_launchers),
        cmocka_unit_test(test_the_next_program_of_the_name_tells_whose_options_are_meant),
        cmocka_unit_test(test_the_first_line_of_the_version_tells_launchers_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

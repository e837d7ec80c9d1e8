#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "launcher/linkage/mpi_library.h"
#include "launcher/spec/spec.h"
#include "tests/unit/unit.h"

#define NLIBRARIES 5

static const struct {
    const char *names[NLIBRARIES + 1]; /* "NAME" or "NAME=PATH" */
    const char *mpi, *library, *how, *pmi_library;
    unsigned speaks;
} cases[] = {
    {{"libc.so.6"}, NULL, NULL, NULL, NULL, 0},
    {{"libm.so.6", "libmpich.so.12", "libucp.so.0"}, "MPICH", "libmpich.so.12", "PMI-1", NULL, 1},
    {{"libmpichfort.so.12", "libmpich.so.12"}, "MPICH", "libmpich.so.12", "PMI-1", NULL, 1},
    {{"libmpi.so.12"}, "MPICH or another of its ABI", "libmpi.so.12", "PMI-1", NULL, 1},
    {{"/opt/x/libmpich.so.12"}, "MPICH", "/opt/x/libmpich.so.12", "PMI-1", NULL, 1},
    {{"libmpi.so.12", "libpmi2.so.0"},
     "MPICH or another of its ABI",
     "libmpi.so.12",
     "PMI-2",
     "libpmi2.so.0",
     2},
    {{"libmpi.so.12", "libpmi.so.12"},
     "MPICH or another of its ABI",
     "libmpi.so.12",
     "PMI-1",
     "libpmi.so.12",
     1},
    {{"libmpi.so.12", "libpmi.so.0", "libslurm.so.38"},
     "MPICH or another of its ABI",
     "libmpi.so.12",
     "Slurm's own PMI",
     "libpmi.so.0",
     0},
    {{"libmpi.so.12", "libpmix.so.2"},
     "MPICH or another of its ABI",
     "libmpi.so.12",
     "PMI-1 or PMIx",
     "libpmix.so.2",
     5},
    {{"libmpi.so.12=/opt/intel/oneapi/mpi/latest/lib/libmpi.so.12"},
     "Intel MPI",
     "libmpi.so.12",
     "PMI-1",
     NULL,
     1},
    {{"libmpi.so.12=/opt/mvapich2/lib/libmpi.so.12"}, "MVAPICH", "libmpi.so.12", "PMI-1", NULL, 1},
    {{"libmpi.so.12", "libpscom.so.2"}, "ParaStation MPI", "libmpi.so.12", "PMI-1", NULL, 1},
    {{"libmpi_gnu_123.so.12", "libpmi.so.0", "libpmi2.so.0", "libpals.so.0"},
     "Cray MPICH",
     "libmpi_gnu_123.so.12",
     "PALS",
     "libpals.so.0",
     0},
    {{"libmpi.so.40", "libopen-rte.so.40", "libopen-pal.so.40"},
     "Open MPI",
     "libmpi.so.40",
     "PMIx",
     NULL,
     4},
    {{"libmpi_mpifh.so.40", "libmpi.so.40", "libpmix.so.2"},
     "Open MPI",
     "libmpi.so.40",
     "PMIx",
     NULL,
     4},
    {{"libmpi.so.12", "libopen-pal.so.13", "libpmi2.so.0"},
     "Open MPI",
     "libmpi.so.12",
     "PMIx",
     NULL,
     4},
    {{"liboshmem.so.40", "libopen-pal.so.40"}, "Open MPI", "liboshmem.so.40", "PMIx", NULL, 4},
    {{"libmpi_ibm.so.3"}, "IBM Spectrum MPI", "libmpi_ibm.so.3", "PMIx", NULL, 4},
    {{"libmpi_abi.so.1"},
     "an MPI of the standard ABI",
     "libmpi_abi.so.1",
     "PMI-1 or PMIx",
     NULL,
     5},
    {{"libmpi_abi.so.1", "libopen_mpi.so.40", "libpmix.so.2"},
     "Open MPI",
     "libmpi_abi.so.1",
     "PMIx",
     NULL,
     4},
    {{"libmpi_abi.so.1=/opt/intel/oneapi/mpi/2022/lib/libmpi_abi.so.1"},
     "Intel MPI",
     "libmpi_abi.so.1",
     "PMI-1",
     NULL,
     1},
    {{"libpmi2.so.0"}, NULL, NULL, "PMI-2", "libpmi2.so.0", 2},
    {{"libpmi.so.0"}, NULL, NULL, "PMI-1", "libpmi.so.0", 1},
    {{"libpmix.so.2"}, NULL, NULL, "PMIx", "libpmix.so.2", 4},
    {{"libmpifoo.so.1", "mylibmpich.so"}, NULL, NULL, NULL, NULL, 0},
};

static void libraries_fill(struct library *libraries, struct shared_libraries *linkage,
                           const char *const *names)
{
    static char texts[NLIBRARIES][128];
    *linkage = (struct shared_libraries){.libraries = libraries};
    for (size_t i = 0; names[i]; i++) {
        strcpy(texts[i], names[i]);
        char *path = strchr(texts[i], '=');
        if (path)
            *path++ = '\0';
        libraries[linkage->count++] = (struct library){.name = texts[i], .path = path};
    }
}

static void test_the_library_of_the_abi_is_known_by_its_functions(void **state)
{
    static const struct {
        enum mpi_family family;
        const char *mpi;
        unsigned speaks;
    } families[] = {
        {MPI_FAMILY_UNKNOWN, "an MPI of the standard ABI", 5},
        {MPI_FAMILY_MPICH, "MPICH", 1},
        {MPI_FAMILY_OPEN_MPI, "Open MPI", 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        struct library library = {.name = (char *)LIBRARY_MPI_ABI, .family = families[i].family};
        struct shared_libraries linkage = {.libraries = &library, .count = 1};
        struct mpi_library use = mpi_library_of(&linkage);
        assert_string_equal(use.mpi, families[i].mpi);
        assert_ptr_equal(use.mpi_library, &library);
        assert_int_equal(use.family, families[i].family);
        assert_int_equal(use.speaks, families[i].speaks);
        assert_int_equal(mpi_library_is_known(use.mpi), i > 0);
    }
}

static void expect(const char *what, const char *got, const char *wanted)
{
    if (got != wanted && (!got || !wanted || strcmp(got, wanted) != 0))
        fail_msg("%s: %s, not %s", what, got ? got : "(none)", wanted ? wanted : "(none)");
}

static void test_names_of_libraries_say_which_mpi_and_pmi_there_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct library libraries[NLIBRARIES];
        struct shared_libraries linkage;
        libraries_fill(libraries, &linkage, cases[i].names);
        struct mpi_library use = mpi_library_of(&linkage);
        expect(cases[i].names[0], use.mpi, cases[i].mpi);
        expect(cases[i].names[0], use.mpi_library ? use.mpi_library->name : NULL, cases[i].library);
        expect(cases[i].names[0], use.how, cases[i].how);
        expect(cases[i].names[0], use.pmi_library ? use.pmi_library->name : NULL,
               cases[i].pmi_library);
        assert_int_equal(use.speaks, cases[i].speaks);
    }
}

static const struct {
    const char *names[NLIBRARIES + 1];
    unsigned offered, served;
    bool finds;
    const char *says;
} offers[] = {
    {{"libmpich.so.12"}, 3, 3, true, "this tprun serves it"},
    {{"libmpich.so.12"}, SPEC_PMI_2, 3, false, "leave --pmi out, or say --pmi pmi1"},
    {{"libmpich.so.12"}, SPEC_PMI_X, 7, false, "leave --pmi out, or say --pmi pmi1"},
    {{"libmpich.so.12"}, SPEC_PMI_NONE, 7, false, "--pmi does not offer it"},
    {{"libmpi.so.12", "libpmi2.so.0"}, SPEC_PMI_1, 3, false, "--pmi pmi2"},
    {{"libmpi.so.12", "libpmix.so.2"}, SPEC_PMI_1, 3, true, "this tprun serves it"},
    {{"libmpi.so.40"}, 3, 3, false, "this tprun does not serve it"},
    {{"libmpi.so.40"}, 3, 7, false, "leave --pmi out, or say --pmi pmix"},
    {{"libmpi.so.40"}, SPEC_PMI_X, 7, true, "this tprun serves it"},
    {{"libmpi.so.12", "libpmi.so.0", "libslurm.so.38"}, SPEC_PMI_1, 7, false, "LD_LIBRARY_PATH"},
    {{"libmpi_cray.so.12", "libpals.so.0"}, 7, 7, false, "this tprun does not serve it"},
};

static void test_a_sentence_says_whether_the_pmi_is_served(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(offers) / sizeof(offers[0]); i++) {
        struct library libraries[NLIBRARIES];
        struct shared_libraries linkage;
        struct buf text = BUF_INIT;
        libraries_fill(libraries, &linkage, offers[i].names);
        struct mpi_library use = mpi_library_of(&linkage);
        bool finds = mpi_library_say(&use, offers[i].offered, offers[i].served, &text);
        assert_int_equal(finds, offers[i].finds);
        if (!strstr(buf_text(&text), offers[i].says))
            fail_msg("%s: %s", offers[i].names[0], buf_text(&text));
        buf_free(&text);
    }
}

static void test_an_mpi_is_known_by_its_librarys_name(void **state)
{
    static const char *const mpis[] = {"libmpi.so.40", "/opt/x/libmpich.so.12", "libmpi_abi.so.1",
                                       "libopen-pal.so.80"};
    static const char *const others[] = {"libc.so.6", "libmpi_mpifh.so.40", "libpmix.so.2", ""};
    (void)state;
    for (size_t i = 0; i < sizeof(mpis) / sizeof(mpis[0]); i++)
        assert_true(mpi_library_names_mpi(mpis[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(mpi_library_names_mpi(others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_libraries_say_which_mpi_and_pmi_there_is),
        cmocka_unit_test(test_the_library_of_the_abi_is_known_by_its_functions),
        cmocka_unit_test(test_a_sentence_says_whether_the_pmi_is_served),
        cmocka_unit_test(test_an_mpi_is_known_by_its_librarys_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

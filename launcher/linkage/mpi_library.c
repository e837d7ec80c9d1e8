/* The table of libraries' names by which MPIs and PMIs are known, and what follows from a match. */
#include "launcher/linkage/mpi_library.h"

#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/spec/spec.h"

/* Rows are tried in order, each against all libraries. */
struct rule {
    const char *name; /* fnmatch(3), of what is asked for */
    const char *path; /* fnmatch(3), of where that is; NULL: anywhere */
    const char *with; /* another name that has to be there too; NULL: none */
    const char *what;
    unsigned speaks;
    bool alone; /* of an MPI: libraries of PMI that are there too say nothing about it */
    enum mpi_family family; /* UNKNOWN: whoever's */
};

#define UNKNOWN "an MPI"
#define UNKNOWN_ABI "an MPI of the standard ABI"

/* Names as the projects' own builds give them. Open MPI 1.x had a libmpi.so.12, as MPICH's family has
 * (the MPICH ABI Compatibility Initiative), but also libopen-pal. */
static const struct rule mpis[] = {
    {"libmpi_abi.so*", NULL, "libopen_mpi.so*", "Open MPI", SPEC_PMI_X, true},
    {"libmpi_abi.so*", NULL, NULL, "Open MPI", SPEC_PMI_X, true, MPI_FAMILY_OPEN_MPI},
    {"libmpi_abi.so*", NULL, "libpscom.so*", "ParaStation MPI", SPEC_PMI_1, false},
    {"libmpi_abi.so*", "*mvapich*", NULL, "MVAPICH", SPEC_PMI_1, false},
    {"libmpi_abi.so*", "*impi*", NULL, "Intel MPI", SPEC_PMI_1, false},
    {"libmpi_abi.so*", "*/oneapi/*", NULL, "Intel MPI", SPEC_PMI_1, false},
    {"libmpi_abi.so*", NULL, NULL, "MPICH", SPEC_PMI_1, false, MPI_FAMILY_MPICH},
    {"libmpi_ibm*.so*", NULL, NULL, "IBM Spectrum MPI", SPEC_PMI_X, true},
    {"libmpi.so.[24]0", NULL, NULL, "Open MPI", SPEC_PMI_X, true},
    {"libmpi.so*", NULL, "libopen-pal.so*", "Open MPI", SPEC_PMI_X, true},
    {"liboshmem.so*", NULL, NULL, "Open MPI", SPEC_PMI_X, true},
    {"libopen-pal.so*", NULL, NULL, "Open MPI", SPEC_PMI_X, true},
    {"libmpi_cray*.so*", NULL, NULL, "Cray MPICH", SPEC_PMI_1, false},
    {"libmpi_gnu_*.so*", NULL, NULL, "Cray MPICH", SPEC_PMI_1, false},
    {"libmpi_intel*.so*", NULL, NULL, "Cray MPICH", SPEC_PMI_1, false},
    {"libmpi.so.12", NULL, "libpscom.so*", "ParaStation MPI", SPEC_PMI_1, false},
    {"libmpi.so.12", "*mvapich*", NULL, "MVAPICH", SPEC_PMI_1, false},
    {"libmpi.so.12", "*impi*", NULL, "Intel MPI", SPEC_PMI_1, false},
    {"libmpi.so.12", "*intel*", NULL, "Intel MPI", SPEC_PMI_1, false},
    {"libmpi.so.12", "*/oneapi/*", NULL, "Intel MPI", SPEC_PMI_1, false},
    {"libmpich.so*", NULL, NULL, "MPICH", SPEC_PMI_1, false},
    {"libmpi.so.12", NULL, NULL, "MPICH or another of its ABI", SPEC_PMI_1, false},
    {"libmpi_abi.so*", NULL, NULL, UNKNOWN_ABI, SPEC_PMI_1 | SPEC_PMI_X, false},
    {"libmpi.so*", NULL, NULL, UNKNOWN, SPEC_PMI_1 | SPEC_PMI_X, false},
};

/* Slurm's libpmi.so.0 asks srun and reads no PMI_FD; its libpmi2.so.0 does. */
static const struct rule pmis[] = {
    {"libpals.so*", NULL, NULL, "PALS", 0, false},
    {"libpmi.so*", NULL, "libslurm*.so*", "Slurm's own PMI", 0, false},
    {"libpmi2.so*", NULL, NULL, "PMI-2", SPEC_PMI_2, false},
    {"libpmi.so*", NULL, NULL, "PMI-1", SPEC_PMI_1, false},
    {"libpmix.so*", NULL, NULL, "PMIx", SPEC_PMI_X, false},
};

static bool name_matches(const char *pattern, const char *name)
{
    const char *base = strrchr(name, '/');
    return fnmatch(pattern, base ? base + 1 : name, 0) == 0;
}

static const struct library *mpi_library_find_library(const struct shared_libraries *linkage,
                                                      const struct rule *rule)
{
    for (size_t i = 0; i < linkage->count; i++) {
        const struct library *library = &linkage->libraries[i];
        if (name_matches(rule->name, library->name) &&
            (!rule->path || (library->path && fnmatch(rule->path, library->path, 0) == 0)) &&
            (!rule->family || rule->family == library->family))
            return library;
    }
    return NULL;
}

static const struct rule *find_rule(const struct rule *rules, size_t count,
                                    const struct shared_libraries *linkage,
                                    const struct library **library)
{
    for (size_t i = 0; i < count; i++) {
        const struct rule with = {.name = rules[i].with};
        if (with.name && !mpi_library_find_library(linkage, &with))
            continue;
        *library = mpi_library_find_library(linkage, &rules[i]);
        if (*library)
            return &rules[i];
    }
    *library = NULL;
    return NULL;
}

static const char *dialects_name(unsigned speaks)
{
    static const char *const names[] = {
        [SPEC_PMI_1] = "PMI-1",
        [SPEC_PMI_2] = "PMI-2",
        [SPEC_PMI_X] = "PMIx",
        [SPEC_PMI_1 | SPEC_PMI_X] = "PMI-1 or PMIx",
    };
    return names[speaks];
}

struct mpi_library mpi_library_of(const struct shared_libraries *linkage)
{
    struct mpi_library use = {0};
    const size_t nmpis = sizeof(mpis) / sizeof(mpis[0]), npmis = sizeof(pmis) / sizeof(pmis[0]);
    const struct rule *mpi = find_rule(mpis, nmpis, linkage, &use.mpi_library), *pmi = NULL;
    if (mpi) {
        use.mpi = mpi->what;
        use.family = mpi->alone                  ? MPI_FAMILY_OPEN_MPI
                     : mpi->speaks == SPEC_PMI_1 ? MPI_FAMILY_MPICH
                                                 : MPI_FAMILY_UNKNOWN;
        use.speaks = mpi->speaks;
        use.how = dialects_name(mpi->speaks);
    }
    if (!mpi || !mpi->alone)
        pmi = find_rule(pmis, npmis, linkage, &use.pmi_library);
    if (!pmi)
        return use;
    /* MPICH made with PMIx has PMI-1 in it, too, unless it was made without. */
    use.speaks = mpi && pmi->speaks == SPEC_PMI_X ? SPEC_PMI_1 | SPEC_PMI_X : pmi->speaks;
    use.how = use.speaks ? dialects_name(use.speaks) : pmi->what;
    return use;
}

char *mpi_library_mixed(const char *mpich, const char *open_mpi)
{
    return mem_format("%s uses MPICH or one of its family, %s uses Open MPI, and no MPI_COMM_WORLD "
                      "holds both: give each a tprun of its own, or --pmi none, with which every "
                      "task is a world of its own",
                      mpich, open_mpi);
}

char *mpi_library_differs(const char *program, const char *mpich, const char *open_mpi)
{
    return mem_format(
        "%s uses MPICH or one of its family on %s, Open MPI on %s, and no "
        "MPI_COMM_WORLD holds both: have one MPI for it on all hosts (--mpi chooses one "
        "for a program of the MPI ABI)",
        program, mpich ? mpich : "one host", open_mpi ? open_mpi : "another");
}

bool mpi_library_is_known(const char *mpi)
{
    return strcmp(mpi, UNKNOWN) != 0 && strcmp(mpi, UNKNOWN_ABI) != 0;
}

bool mpi_library_names_mpi(const char *name)
{
    for (size_t i = 0; i < sizeof(mpis) / sizeof(mpis[0]); i++)
        if (name_matches(mpis[i].name, name))
            return true;
    return false;
}

bool mpi_library_say(const struct mpi_library *use, unsigned offered, unsigned served,
                     struct buf *out)
{
    unsigned missed = use->speaks & served;
    if (use->speaks & offered) {
        buf_add_text(out, "this tprun serves it");
        return true;
    }
    if (missed)
        buf_printf(out, "--pmi does not offer it: leave --pmi out, or say --pmi %s",
                   missed & SPEC_PMI_1   ? "pmi1"
                   : missed & SPEC_PMI_2 ? "pmi2"
                                         : "pmix");
    else if (use->pmi_library && !use->speaks && strncmp(use->how, "Slurm", 5) == 0)
        buf_add_text(out, "only srun serves it: tprun has a libpmi.so.0 of its own, which "
                          "LD_LIBRARY_PATH may put in front");
    else
        buf_add_text(out, "this tprun does not serve it");
    return false;
}

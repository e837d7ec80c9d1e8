/* The names of other launchers that a link to tprun may have, and what it says of itself by them. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/mpiexec/mpiexec.h"

/* The oldest releases whose options are all understood. */
#define OPENMPI_VERSION "4.1.0"
#define PRRTE_VERSION "3.0.0"
#define HYDRA_VERSION "4.0.0"

/* launcher/local.mk installs a link by each of these. */
static const struct mpiexec_name {
    const char *name;
    enum mpiexec_dialect dialect;
} mpiexec_names[] = {
    {"mpiexec", MPIEXEC_EITHER},          {"mpirun", MPIEXEC_EITHER},
    {"mpiexec.hydra", MPIEXEC_HYDRA},     {"mpiexec.mpich", MPIEXEC_HYDRA},
    {"mpirun.mpich", MPIEXEC_HYDRA},      {"mpirun.mpi_abi_mpich", MPIEXEC_HYDRA},
    {"mpiexec.openmpi", MPIEXEC_OPENMPI}, {"mpirun.openmpi", MPIEXEC_OPENMPI},
    {"orterun", MPIEXEC_OPENMPI},         {"prterun", MPIEXEC_OPENMPI},
    {"oshrun", MPIEXEC_OPENMPI},          {"shmemrun", MPIEXEC_OPENMPI},
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const struct mpiexec_name *mpiexec_name_find(const char *program)
{
    for (size_t i = 0; program && i < sizeof(mpiexec_names) / sizeof(mpiexec_names[0]); i++)
        if (strcmp(base_name(program), mpiexec_names[i].name) == 0)
            return &mpiexec_names[i];
    return NULL;
}

bool mpiexec_is_name(const char *program)
{
    return mpiexec_name_find(program) != NULL;
}

enum mpiexec_dialect mpiexec_name_dialect(const char *program)
{
    const struct mpiexec_name *found = mpiexec_name_find(program);
    return found ? found->dialect : MPIEXEC_EITHER;
}

static bool has_beside(const char *path, const char *name)
{
    char *beside = mem_format("%.*s%s", (int)(base_name(path) - path), path, name);
    bool there = access(beside, X_OK) == 0;
    free(beside);
    return there;
}

/* The file at the end of the links has a name that tells, or one of its release is beside it. */
static enum mpiexec_dialect program_dialect(const char *path)
{
    char real[PATH_MAX];
    if (!realpath(path, real))
        return MPIEXEC_EITHER;
    enum mpiexec_dialect dialect = mpiexec_name_dialect(real);
    if (dialect != MPIEXEC_EITHER)
        return dialect;
    bool openmpi = has_beside(real, "ompi_info"), hydra = has_beside(real, "mpichversion");
    return openmpi == hydra ? MPIEXEC_EITHER : openmpi ? MPIEXEC_OPENMPI : MPIEXEC_HYDRA;
}

enum mpiexec_dialect mpiexec_next_dialect(const char *program, const char *search)
{
    struct stat self, file;
    enum mpiexec_dialect dialect = MPIEXEC_EITHER;
    if (stat("/proc/self/exe", &self) < 0)
        return dialect;
    for (const char *at = search; at && dialect == MPIEXEC_EITHER;) {
        size_t len = strcspn(at, ":");
        char *path = mem_format("%.*s/%s", (int)len, at, base_name(program));
        if (path[0] == '/' && stat(path, &file) == 0 && S_ISREG(file.st_mode) &&
            access(path, X_OK) == 0 && (file.st_dev != self.st_dev || file.st_ino != self.st_ino))
            dialect = program_dialect(path);
        free(path);
        at = at[len] ? at + len + 1 : NULL;
    }
    return dialect;
}

/* Scripts choose options by what the first lines say, so these say whose are understood. */
char *mpiexec_version(const char *program, const char *own)
{
    enum mpiexec_dialect dialect = mpiexec_name_dialect(program);
    struct buf text = BUF_INIT;
    if (dialect == MPIEXEC_EITHER)
        dialect = mpiexec_next_dialect(program, getenv("PATH"));
    if (dialect == MPIEXEC_HYDRA)
        buf_printf(&text, "HYDRA build details:\n    Version:                                 %s\n",
                   HYDRA_VERSION);
    else if (strcmp(base_name(program), "prterun") == 0)
        buf_printf(&text, "prterun (PRRTE) %s\n", PRRTE_VERSION);
    else
        buf_printf(&text, "%s (Open MPI) %s\n", base_name(program), OPENMPI_VERSION);
    buf_printf(&text, "\nThis is tprun, which takes the options of that release:\n%s", own);
    return buf_take_text(&text);
}

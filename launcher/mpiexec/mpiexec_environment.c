/* Variables by which users and sites set up MPICH's and Open MPI's launchers. The command line says
 * more than they do. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/mpiexec/mpiexec_private.h"
#include "launcher/source/batch_system.h"

/* What a variable says; it is passed over where the command line says the same. */
enum variable_kind {
    VARIABLE_HOSTS,
    VARIABLE_DEFAULT_HOSTS, /* where no batch system says what there is, either */
    VARIABLE_SSH,
    VARIABLE_BIND, /* for each part */
    VARIABLE_MAP
};

static const struct variable {
    const char *name;
    enum mpiexec_dialect dialect; /* whose it is */
    enum variable_kind kind;
} variables[] = {
    {"HYDRA_HOST_FILE", MPIEXEC_HYDRA, VARIABLE_HOSTS},
    {"I_MPI_HYDRA_HOST_FILE", MPIEXEC_HYDRA, VARIABLE_HOSTS},
    {"HYDRA_LAUNCHER_EXEC", MPIEXEC_HYDRA, VARIABLE_SSH},
    {"HYDRA_BINDING", MPIEXEC_HYDRA, VARIABLE_BIND},
    {"HYDRA_MAPPING", MPIEXEC_HYDRA, VARIABLE_MAP},
    {"OMPI_MCA_orte_default_hostfile", MPIEXEC_OPENMPI, VARIABLE_DEFAULT_HOSTS},
    {"OMPI_MCA_plm_rsh_agent", MPIEXEC_OPENMPI, VARIABLE_SSH},
    {"OMPI_MCA_hwloc_base_binding_policy", MPIEXEC_OPENMPI, VARIABLE_BIND},
    {"OMPI_MCA_rmaps_base_mapping_policy", MPIEXEC_OPENMPI, VARIABLE_MAP},
    {"PRTE_MCA_prte_default_hostfile", MPIEXEC_OPENMPI, VARIABLE_DEFAULT_HOSTS},
    {"PRTE_MCA_plm_ssh_agent", MPIEXEC_OPENMPI, VARIABLE_SSH},
    {"PRTE_MCA_hwloc_default_binding_policy", MPIEXEC_OPENMPI, VARIABLE_BIND},
    {"PRTE_MCA_rmaps_default_mapping_policy", MPIEXEC_OPENMPI, VARIABLE_MAP},
};

static bool part_says(const struct mpiexec_part *part, enum variable_kind kind)
{
    static const char *const binds[] = {
        "--bind-to=", "--cores-per-task=", "--rankfile=", "--shape=", NULL};
    static const char *const maps[] = {
        "--map-by=", "--per=", "--taskmap=", "--rankfile=", "--shape=", NULL};
    if (kind == VARIABLE_MAP && part->ppn)
        return true;
    for (const char *const *at = kind == VARIABLE_BIND ? binds : maps; *at; at++)
        if (mpiexec_value(&part->own, *at))
            return true;
    return false;
}

static int variable_read(struct mpiexec *mpiexec, enum variable_kind kind, const char *value,
                         struct error *err)
{
    if (kind == VARIABLE_DEFAULT_HOSTS &&
        (strcmp(value, "none") == 0 || batch_system_find(BATCH_SYSTEM_BATCH)))
        return 0;
    if (kind == VARIABLE_DEFAULT_HOSTS || kind == VARIABLE_HOSTS)
        return mpiexec->hosts || mpiexec->hostfile ? 0
                                                   : mpiexec_read_hostfile(mpiexec, &value, err);
    if (kind == VARIABLE_SSH)
        return mpiexec_value(&mpiexec->whole, "--ssh=") ? 0
                                                        : mpiexec_read_rsh(mpiexec, &value, err);
    /* The others are of each part. The readers of options read for the last part there is. */
    size_t nparts = mpiexec->nparts;
    int rc = 0;
    for (size_t i = 0; i < nparts && rc == 0; i++) {
        mpiexec->nparts = i + 1;
        if (!part_says(&mpiexec->parts[i], kind))
            rc = kind == VARIABLE_BIND ? mpiexec_read_bind(mpiexec, &value, err)
                                       : mpiexec_read_map(mpiexec, &value, err);
    }
    mpiexec->nparts = nparts;
    return rc;
}

int mpiexec_read_environment(struct mpiexec *mpiexec, struct error *err)
{
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const struct variable *variable = &variables[i];
        const char *value = getenv(variable->name);
        if (!value || !*value)
            continue;
        mpiexec_choose_by_program(mpiexec);
        bool other = mpiexec->dialect != MPIEXEC_EITHER && mpiexec->dialect != variable->dialect;
        if (!other && variable_read(mpiexec, variable->kind, value, err) < 0)
            return error_prefix(err, "%s in the environment", variable->name);
    }
    return 0;
}

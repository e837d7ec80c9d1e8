/* Writes the variables that tasks need beside PMI: a table of rules. */
#include "launcher/environment/pmi_environment.h"

#include "base/mem.h"
#include "launcher/environment/environment.h"

/* For those that are offered all of `with`, and none of `without`. */
static const struct rule {
    unsigned with, without;
    const char *name, *value; /* NULL: the directory for memory, or the kinds of it */
    bool crowded;             /* only then */
    bool kinds;
} rules[] = {
    {SPEC_PMI_1 | SPEC_PMI_X, 0, "MPIR_CVAR_PMI_VERSION", "1"},
    {SPEC_PMI_2 | SPEC_PMI_X, SPEC_PMI_1, "MPIR_CVAR_PMI_VERSION", "2"},
    {SPEC_PMI_X, SPEC_PMI_1 | SPEC_PMI_2, "MPIR_CVAR_PMI_VERSION", "x"},
    {SPEC_PMI_1, 0, "HWLOC_COMPONENTS", "-gl"},
    {SPEC_PMI_2, SPEC_PMI_1, "HWLOC_COMPONENTS", "-gl"},
    {SPEC_PMI_X, SPEC_PMI_1 | SPEC_PMI_2, "HWLOC_COMPONENTS", "-gl"},
    {SPEC_PMI_X, 0, "PMIX_MCA_ptl_base_max_msg_size", "4095"},
    {SPEC_PMI_X, 0, "OMPI_MCA_schizo", "^orte"},
    {SPEC_PMI_X, 0, "OMPI_MCA_orte_externally_bound", "1"},
    {SPEC_PMI_X, 0, "OMPI_MCA_hwloc_base_binding_policy", "none"},
    {SPEC_PMI_X, 0, "OMPI_MCA_btl_vader_backing_directory", NULL},
    {SPEC_PMI_X, 0, "OMPI_MCA_btl_sm_backing_directory", NULL},
    {SPEC_PMI_X, 0, "OMPI_MCA_osc_sm_backing_directory", NULL},
    {SPEC_PMI_X, 0, "OMPI_MCA_osc_rdma_backing_directory", NULL},
    {SPEC_PMI_X, 0, "OMPI_MCA_mpi_oversubscribe", "1", true},
    {SPEC_PMI_X, 0, "OMPI_MCA_mpi_memory_alloc_kinds", NULL, .kinds = true},
};

char **pmi_environment_make(unsigned offered, char *const *environment, const char *memory,
                            const char *kinds, bool crowded)
{
    char **list = mem_array(PMI_ENVIRONMENT_MAX + 1, sizeof(*list));
    size_t count = 0;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const struct rule *rule = &rules[i];
        const char *value = rule->value ?: rule->kinds ? kinds : memory;
        if (!value || (rule->crowded && !crowded) || (offered & rule->with) != rule->with ||
            (offered & rule->without) || env_value(environment, rule->name))
            continue;
        list[count++] = mem_format("%s=%s", rule->name, value);
    }
    return list;
}

/* The rules by which a variable is of the place of a process, and copies of environments. */
#include "launcher/environment/environment.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/process/localhost.h"

/* The first row that matches decides. A name ends in '*' for all that begin so. */
static const struct env_rule {
    const char *name;
    bool keep;
} env_rules[] = {
    /* What the user set for every tprun that comes, also those started by tasks. */
    {"TPRUN_BATCH", true},
    {"TPRUN_BATCH_OPTIONS", true},
    {"TPRUN_CONFIG", true},
    {"TPRUN_KEEP", true},
    {"TPRUN_OPTIONS", true},
    {"TPRUN_R", true},
    {"TPRUN_RUNTIME_DIR", true},
    {"TPRUN_*", false},
    /* PMI of the outer launcher: its sockets, its ranks. */
    {"PMI_*", false},
    {"PMI2_*", false},
    {"PMIX_*", false},
    {"MPI_LOCALNRANKS", false},
    {"MPI_LOCALRANKID", false},
    /* Hydra's own to its proxies. */
    {"HYDI_*", false},
    /* A task of PRRTE, and of MVAPICH's mpirun_rsh. */
    {"PRTE_LAUNCHED", false},
    {"PRTE_SHARED_FS", false},
    {"PRTE_MCA_ess*", false},
    {"PRTE_MCA_prte_ess_*", false},
    {"PRTE_MCA_prte_hnp_uri", false},
    {"PRTE_MCA_prte_parent_uri", false},
    {"MV2_COMM_WORLD_*", false},
    /* A Slurm step and its tasks. What describes the job (SLURM_JOB_*, SLURM_NNODES) stays. */
    {"SLURM_CPU_BIND*", false},
    {"SLURM_DISTRIBUTION", false},
    {"SLURM_GPU_BIND*", false},
    {"SLURM_GTIDS", false},
    {"SLURM_LAUNCH_*", false},
    {"SLURM_LOCALID", false},
    {"SLURM_MEM_BIND*", false},
    {"SLURM_MPI_TYPE", false},
    {"SLURM_NODEID", false},
    {"SLURM_PMI*", false},
    {"SLURM_PROCID", false},
    {"SLURM_PTY_*", false},
    {"SLURM_SRUN_*", false},
    {"SLURM_STEP_*", false},
    {"SLURM_STEPID", false},
    {"SLURM_TASK_PID", false},
    {"SLURM_TOPOLOGY_ADDR*", false},
    {"SLURMD_NODENAME", false},
    /* A task of Open MPI's mpirun. Parameters that users set (OMPI_MCA_btl, ...) stay. */
    {"OMPI_APP_CTX_NUM_PROCS", false},
    {"OMPI_APP_SIZES", false},
    {"OMPI_ARGV", false},
    {"OMPI_COMMAND", false},
    {"OMPI_COMM_WORLD_*", false},
    {"OMPI_FILE_LOCATION", false},
    {"OMPI_FIRST_RANKS", false},
    {"OMPI_MCA_ess", false},
    {"OMPI_MCA_ess_*", false},
    {"OMPI_MCA_initial_wdir", false},
    {"OMPI_MCA_orte_app_num", false},
    {"OMPI_MCA_orte_base_applied_binding", false},
    {"OMPI_MCA_orte_bound_at_launch", false},
    {"OMPI_MCA_orte_ess_*", false},
    {"OMPI_MCA_orte_hnp_uri", false},
    {"OMPI_MCA_orte_jobfam_session_dir", false},
    {"OMPI_MCA_orte_launch", false},
    {"OMPI_MCA_orte_local_daemon_uri", false},
    {"OMPI_MCA_orte_num_nodes", false},
    {"OMPI_MCA_orte_num_restarts", false},
    {"OMPI_MCA_orte_parent_uri", false},
    {"OMPI_MCA_orte_precondition_transports", false},
    {"OMPI_MCA_orte_top_session_dir", false},
    {"OMPI_NUM_APP_CTX", false},
    {"OMPI_UNIVERSE_SIZE", false},
    /* A task of flux run; what reaches the Flux instance (FLUX_URI) stays. */
    {"FLUX_JOB_*", false},
    {"FLUX_KVS_NAMESPACE", false},
    {"FLUX_PMI_*", false},
    {"FLUX_TASK_*", false},
    {"FLUX_TERMINUS_SESSION", false},
    /* A task of a Cray's aprun or mpiexec, or of IBM's jsrun. */
    {"ALPS_APP_*", false},
    {"PALS_*", false},
    {"JSM_*", false},
    /* The login on the machine where the user sits. */
    {"SSH_*", false},
};

/* They name a socket and a file of one machine. */
static const char *const env_screen[] = {"DISPLAY", "XAUTHORITY"};

/* In front of such a name: the value that whoever starts an agent has itself. */
#define ENV_PASSED_ON "TPRUN_PASSED_ON_"

static bool env_rule_matches(const char *rule, const char *name, size_t len)
{
    if (*rule != *name) /* most of them, and there are many rules for each variable */
        return false;
    size_t want = strlen(rule);
    if (rule[want - 1] == '*')
        return len >= want - 1 && memcmp(rule, name, want - 1) == 0;
    return len == want && memcmp(rule, name, len) == 0;
}

bool env_is_local(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(env_rules) / sizeof(env_rules[0]); i++)
        if (env_rule_matches(env_rules[i].name, name, len))
            return !env_rules[i].keep;
    return false;
}

static size_t env_count(char *const *environment)
{
    size_t count = 0;
    while (environment && environment[count])
        count++;
    return count;
}

/* What an outer tprun told a task's OpenMP runtime or its MPI, and nobody changed since: `defaults`
 * has the same words. */
static bool env_is_outer(const char *defaults, const char *entry)
{
    size_t len = strlen(entry);
    for (const char *at = defaults; *at; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if (word == len && memcmp(at, entry, len) == 0)
            return true;
        at += word;
    }
    return false;
}

char **env_scrub(char *const *environment)
{
    size_t count = env_count(environment), kept = 0;
    char **result = mem_array(count + 1, sizeof(*result));
    const char *defaults = count ? env_value(environment, ENV_DEFAULTS) : NULL;
    for (size_t i = 0; i < count; i++) {
        size_t len = strcspn(environment[i], "=");
        if (len && environment[i][len] && !env_is_local(environment[i], len) &&
            !env_is_outer(defaults ? defaults : "", environment[i]))
            result[kept++] = mem_copy_text(environment[i]);
    }
    return result;
}

static bool env_has_name(const char *entry, const char *name, size_t len)
{
    return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

/* An entry that is replaced keeps its place; a second one of the name, legal but unseen by
 * getenv(3), goes away so that no task can see it. */
static size_t env_set(char **list, size_t count, const struct env *rule)
{
    size_t len = strlen(rule->name), kept = 0;
    char *entry = mem_format("%s=%s", rule->name, rule->value);
    for (size_t i = 0; i < count; i++) {
        if (!env_has_name(list[i], rule->name, len)) {
            list[kept++] = list[i];
            continue;
        }
        free(list[i]);
        if (entry)
            list[kept++] = entry;
        entry = NULL;
    }
    if (entry)
        list[kept++] = entry;
    return kept;
}

static size_t env_remove(char **list, size_t count, const struct env *rule)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        char *name = mem_copy_text_n(list[i], strcspn(list[i], "="));
        if (fnmatch(rule->name, name, 0) == 0)
            free(list[i]);
        else
            list[kept++] = list[i];
        free(name);
    }
    return kept;
}

static bool env_is_screen(const char *entry)
{
    for (size_t i = 0; i < sizeof(env_screen) / sizeof(env_screen[0]); i++)
        if (env_has_name(entry, env_screen[i], strlen(env_screen[i])))
            return true;
    return false;
}

char *env_screen_machine(char *const *environment)
{
    for (; *environment; environment++)
        if (env_is_screen(*environment))
            return localhost_machine();
    return NULL;
}

char **env_for_agents(char *const *environment)
{
    size_t count = env_count(environment), kept = 0;
    char **list = mem_array(2 * count + 1, sizeof(*list));
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environment[i], ENV_PASSED_ON, strlen(ENV_PASSED_ON)) == 0)
            continue;
        list[kept++] = mem_copy_text(environment[i]);
        if (env_is_screen(environment[i]))
            list[kept++] = mem_format(ENV_PASSED_ON "%s", environment[i]);
    }
    return list;
}

/* What this process has of it by itself, borrowed; NULL where it was only passed on. */
static const char *env_own(const char *name)
{
    char *passed_on = mem_format(ENV_PASSED_ON "%s", name);
    const char *own = getenv(name), *passed = getenv(passed_on);
    free(passed_on);
    return own && passed && strcmp(own, passed) == 0 ? NULL : own;
}

/* A user who names another X server has no use for the keys of this one. */
static size_t env_add_own_screen(char **list, size_t count, const struct env *rules, size_t nrules)
{
    for (size_t i = 0; i < nrules; i++)
        if (rules[i].kind == ENV_SET && strcmp(rules[i].name, env_screen[0]) == 0)
            return count;
    for (size_t i = 0; i < sizeof(env_screen) / sizeof(env_screen[0]); i++) {
        const char *own = env_own(env_screen[i]);
        if (own)
            list[count++] = mem_format("%s=%s", env_screen[i], own);
        else if (i == 0)
            break; /* without a server there is nothing to have a key for */
    }
    return count;
}

char **env_apply(char *const *environment, const char *screen_machine, const struct env *rules,
                 size_t nrules)
{
    size_t count = env_count(environment);
    char **list =
        mem_array(count + nrules + sizeof(env_screen) / sizeof(env_screen[0]) + 1, sizeof(*list));
    char *here = screen_machine ? localhost_machine() : NULL;
    bool elsewhere = here && strcmp(here, screen_machine) != 0;
    free(here);
    size_t from = count;
    count = 0;
    for (size_t i = 0; i < from; i++)
        if (!elsewhere || !env_is_screen(environment[i]))
            list[count++] = mem_copy_text(environment[i]);
    if (elsewhere)
        count = env_add_own_screen(list, count, rules, nrules);
    for (size_t i = 0; i < nrules; i++) {
        const struct env *rule = &rules[i];
        count = rule->kind == ENV_SET ? env_set(list, count, rule) : env_remove(list, count, rule);
    }
    list[count] = NULL;
    return list;
}

const char *env_value(char *const *environment, const char *name)
{
    size_t len = strlen(name);
    for (; *environment; environment++)
        if (env_has_name(*environment, name, len))
            return *environment + len + 1;
    return NULL;
}

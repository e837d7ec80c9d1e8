/* The table of batch systems' commands, and what --bootstrap may say. */
#include "launcher/tree/batch_bootstrap.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/shell_words.h"
#include "base/string_list.h"
#include "base/text.h"

static char *pals_directory(void)
{
    return mem_copy_text("/opt/cray/pals/default/bin");
}

static char *pbs_directory(void)
{
    const char *top = getenv("PBS_EXEC");
    return mem_format("%s/bin", top && *top ? top : "/opt/pbs");
}

/* Of an instance that is one's own: in a job of a larger one its owner alone may start anything on
 * nodes. */
static bool flux_is_meant(void)
{
    const char *job = getenv("FLUX_JOB_ID");
    return !job || !*job;
}

static char *no_directory(void)
{
    return NULL;
}

static char *lsf_directory(void)
{
    return mem_copy_text(getenv("LSF_BINDIR"));
}

static char *grid_engine_directory(void)
{
    const char *root = getenv("SGE_ROOT"), *arc = getenv("ARC");
    return root && arc ? mem_format("%s/bin/%s", root, arc) : NULL;
}

static char *kubernetes_directory(void)
{
    return mem_copy_text("/opt/kube");
}

/* Operators up to version 1 give workers no sshd: they name a script that calls kubectl. It connects
 * nobody's standard input, and so kubectl is called in its place. */
static bool kubernetes_is_meant(void)
{
    static const char *const variables[] = {"OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent",
                                            "HYDRA_LAUNCHER_EXEC", "I_MPI_HYDRA_BOOTSTRAP_EXEC"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = getenv(variables[i]);
        if (value && strstr(value, "kubexec"))
            return true;
    }
    return false;
}

/* In the order in which they are tried.
 *
 * PALS: others have an mpiexec, too, so that it is known by its directory. Some of its versions
 * prefer the file that PBS_NODEFILE names to --hosts, and all read defaults from PALS_ variables;
 * those that would change what is started are not passed on.
 *
 * pbs_tmrsh starts one process, which has no input and whose output is the job's. A process that
 * waits for each is how many are started at a time.
 *
 * flux exec gives its input to all, but of what they write it prints lines only, and of those what
 * comes before a zero byte.
 *
 * blaunch and qrsh give a command to a shell unless they are told not to; the agent's path is then
 * one word, whatever is in it. */
static const struct batch_bootstrap batch_bootstraps[] = {
    {.name = "pals",
     .system = "PBS",
     .command = "mpiexec",
     .only_in = "/pals/",
     .directory = pals_directory,
     .before = "env -u PBS_NODEFILE -u PALS_HOSTFILE -u PALS_HOSTLIST -u PALS_LABEL "
               "-u PALS_LINE_BUFFER ",
     .words = "-n 1 --ppn 1 --hosts {host} --cpu-bind none --mem-bind none --no-transfer {agent}"},
    {.name = "pbs",
     .system = "PBS",
     .command = "pbs_tmrsh",
     .directory = pbs_directory,
     .before = "sh -c 'trap \"trap - TERM; kill 0\" TERM; IFS=,; "
               "for host in $1; do \"$0\" \"$host\" \"$2\" --call \"$3\" & done; wait' ",
     .words = "{hosts} {agent} {call}"},
    {.name = "flux",
     .system = "Flux",
     .command = "flux",
     .is_meant = flux_is_meant,
     .directory = no_directory,
     .before = "",
     .words = "exec -q -d / -r {ranks} {agent}"},
    {.name = "lsf",
     .system = "LSF",
     .command = "blaunch",
     .directory = lsf_directory,
     .before = "",
     .words = "{host} -no-shell {agent}"},
    {.name = "sge",
     .system = "Grid Engine",
     .command = "qrsh",
     .directory = grid_engine_directory,
     .before = "",
     .words = "-inherit -noshell {host} {agent}"},
    {.name = "kubernetes",
     .system = "MPI Operator",
     .command = "kubectl",
     .is_meant = kubernetes_is_meant,
     .directory = kubernetes_directory,
     .before = "",
     .words = "exec -i {host} -- {agent}"},
};

#define NBATCH (sizeof(batch_bootstraps) / sizeof(batch_bootstraps[0]))

const struct batch_bootstrap *batch_bootstrap_named(const char *name)
{
    for (size_t i = 0; i < NBATCH; i++)
        if (strcmp(batch_bootstraps[i].name, name) == 0)
            return &batch_bootstraps[i];
    return NULL;
}

const struct batch_bootstrap *batch_bootstrap_of(const char *system,
                                                 const struct batch_bootstrap *last)
{
    for (size_t i = last ? (size_t)(last - batch_bootstraps) + 1 : 0; i < NBATCH; i++)
        if (strcmp(batch_bootstraps[i].system, system) == 0)
            return &batch_bootstraps[i];
    return NULL;
}

bool batch_bootstrap_is_for_many(const char *template)
{
    return strstr(template, "{hosts}") || strstr(template, "{ranks}");
}

char *batch_bootstrap_names(void)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < NBATCH; i++)
        buf_printf(&text, "%s%s",
                   i == 0           ? ""
                   : i + 1 < NBATCH ? ", "
                                    : " or ",
                   batch_bootstraps[i].name);
    return buf_take_text(&text);
}

int batch_bootstrap_check(const char *method, struct error *err)
{
    bool many = batch_bootstrap_is_for_many(method), call = strstr(method, "{call}"),
         one = strstr(method, "{host}");
    if (strcmp(method, "auto") == 0 || strcmp(method, "local") == 0 || strcmp(method, "ssh") == 0 ||
        strcmp(method, "slurm") == 0 || batch_bootstrap_named(method))
        return 0;
    if (!many && !call && !one && !strstr(method, "{agent}")) {
        char *names = batch_bootstrap_names();
        error_set(err,
                  "unknown value %s (expected auto, local, ssh, slurm, %s, or a command template "
                  "such as \"lxc exec {host} -- {agent}\")",
                  excerpt(method, strlen(method)).text, names);
        free(names);
        return -1;
    }
    char **words = shell_words_split(method, err);
    string_list_free(words);
    if (!words)
        return error_prefix(err, "%s", excerpt(method, strlen(method)).text);
    if (many && one)
        return error_set(err,
                         "%s has {host}, for one host at a time, and {hosts} or {ranks}, for "
                         "many: leave one of them out",
                         excerpt(method, strlen(method)).text);
    if (call && !many)
        return error_set(err, "%s has {call}, which needs {hosts} or {ranks} beside it",
                         excerpt(method, strlen(method)).text);
    return 0;
}

/* How the other hosts are reached, for agents.c: what --bootstrap stands for in this run. */
#include "launcher/instance/host_bootstrap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "affinity/sets/host_index.h"
#include "base/mem.h"
#include "base/shell_words.h"
#include "base/string_list.h"
#include "launcher/source/batch_system.h"
#include "launcher/source/slurm_job.h"

struct host_bootstrap {
    const struct spec *spec;
    const struct host_bootstrap_ops *ops;
    void *owner;
    struct bootstrap boot;
    struct slurm_job *slurm; /* whose nodes its srun reaches; NULL: none */
    bool reach_known;        /* what --bootstrap auto stands for */
    bool pmix_known;         /* boot.pmix */
};

struct host_bootstrap *host_bootstrap_new(const struct spec *spec, const char *agent,
                                          const struct host_bootstrap_ops *ops, void *owner)
{
    struct host_bootstrap *bootstrap = mem_alloc(sizeof(*bootstrap));
    bootstrap->spec = spec;
    bootstrap->ops = ops;
    bootstrap->owner = owner;
    bootstrap->boot =
        (struct bootstrap){.method = mem_copy_text(spec->bootstrap ? spec->bootstrap : "auto"),
                           .ssh = mem_copy_text(spec->ssh ? spec->ssh : "ssh"),
                           .agent = mem_copy_text(spec->agent ? spec->agent : agent),
                           .fanout = spec->fanout,
                           .start_timeout = spec->start_timeout,
                           .node_timeout = spec->node_timeout,
                           .verbose = spec->verbose};
    return bootstrap;
}

void host_bootstrap_free(struct host_bootstrap *bootstrap)
{
    if (!bootstrap)
        return;
    bootstrap_clear(&bootstrap->boot);
    slurm_job_free(bootstrap->slurm);
    free(bootstrap);
}

void host_bootstrap_use_instance(struct host_bootstrap *bootstrap, const char *name, int broker)
{
    bootstrap->boot.batch = mem_copy_text(name);
    if (!broker)
        return;
    free(bootstrap->boot.method); /* the agents that lend others were started by it */
    bootstrap->boot.method = mem_copy_text("auto");
    bootstrap->boot.broker = broker;
    bootstrap->boot.flat = true;
    bootstrap->reach_known = true;
}

bool host_bootstrap_in_instance(const struct host_bootstrap *bootstrap)
{
    return bootstrap->boot.broker;
}

const struct bootstrap *host_bootstrap_command(const struct host_bootstrap *bootstrap)
{
    return &bootstrap->boot;
}

/* A dry run may have no program, and starts none. */
bool host_bootstrap_predict_pmix(struct host_bootstrap *bootstrap)
{
    if (!bootstrap->pmix_known && !bootstrap->spec->dry_run)
        bootstrap->boot.pmix = bootstrap->ops->needs_pmix(bootstrap->spec);
    bootstrap->pmix_known = true;
    return bootstrap->boot.pmix;
}

/* With -v. */
__attribute__((format(printf, 2, 3))) static void
host_bootstrap_say(struct host_bootstrap *bootstrap, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    bootstrap->ops->say(bootstrap->owner, fmt, args);
    va_end(args);
}

/* ---- which hosts ---- */

bool host_bootstrap_uses_command_here(const struct host_bootstrap *bootstrap)
{
    const char *method = bootstrap->spec->bootstrap;
    return method && strcmp(method, "auto") != 0 && strcmp(method, "local") != 0;
}

/* In a job of Slurm it starts the agents of the job's nodes, unless another method was named. */
int host_bootstrap_find_job(struct host_bootstrap *bootstrap, struct error *err)
{
    bool named = strcmp(bootstrap->boot.method, "slurm") == 0;
    if (bootstrap->slurm || bootstrap->boot.broker ||
        (!named && strcmp(bootstrap->boot.method, "auto") != 0))
        return 0;
    bootstrap->slurm = slurm_job_new(named ? err : NULL);
    return named && !bootstrap->slurm ? error_prefix(err, "--bootstrap slurm") : 0;
}

bool host_bootstrap_in_slurm(const struct host_bootstrap *bootstrap)
{
    return bootstrap->slurm;
}

bool host_bootstrap_has_in_slurm(const struct host_bootstrap *bootstrap, const struct node *node)
{
    return bootstrap->slurm && slurm_job_has(bootstrap->slurm, node->login);
}

int host_bootstrap_check(struct host_bootstrap *bootstrap, const struct node *node,
                         struct error *err)
{
    if (!node->here && !bootstrap_reaches_others(&bootstrap->boot))
        return error_set(err,
                         "%s is not this machine, and --bootstrap %s reaches no other (a template "
                         "with {host} does)",
                         node->host, bootstrap->boot.method);
    if (strcmp(bootstrap->boot.method, "slurm") == 0 &&
        !host_bootstrap_has_in_slurm(bootstrap, node))
        return error_set(err, "--bootstrap slurm: %s is no node of %s", node->login,
                         slurm_job_text(bootstrap->slurm));
    return 0;
}

/* ---- the command of a batch system ---- */

/* A batch system starts nothing on hosts that are not its job's, and for no other user. */
static bool is_in_job(const struct node_list *nodes, const struct batch_system *source)
{
    if (nodes->from == source)
        return true;
    struct node_list *job = batch_system_nodes(source, NULL, (double)time(NULL), NULL);
    if (!job)
        return false;
    struct host_index *index = node_list_index(job);
    bool all = true;
    for (size_t i = 0; i < nodes->count && all; i++) {
        const struct node *node = &nodes->list[i];
        all = node->here || (strcmp(node->login, node->host) == 0 &&
                             host_index_find(index, node->host) != HOST_INDEX_NONE);
    }
    host_index_free(index);
    node_list_free(job);
    return all;
}

/* Its command is told ranks, and those of a list of hosts are not the batch system's. */
static bool knows_ranks(const struct node_list *nodes, const struct batch_bootstrap *batch,
                        const struct batch_system *source)
{
    return !strstr(batch->words, "{ranks}") || nodes->from == source;
}

static void host_bootstrap_tell(struct host_bootstrap *bootstrap,
                                const struct batch_bootstrap *batch)
{
    host_bootstrap_say(bootstrap, "agents: started by %s of %s, --bootstrap %s", batch->command,
                       batch->system, batch->name);
}

/* ssh, where the batch system's own command is not installed or would not do. */
static void choose_auto(struct host_bootstrap *bootstrap, const struct node_list *nodes)
{
    const struct batch_system *source = batch_system_find(BATCH_SYSTEM_BATCH);
    const struct batch_bootstrap *batch = NULL;
    while (source && (batch = batch_bootstrap_of(batch_system_name(source), batch))) {
        struct bootstrap trial = {.method = NULL};
        bool found = (!batch->is_meant || batch->is_meant()) &&
                     bootstrap_use_batch(&trial, batch, NULL) == 0;
        bootstrap_clear(&trial);
        if (!found || !knows_ranks(nodes, batch, source))
            continue;
        if (is_in_job(nodes, source) && bootstrap_use_batch(&bootstrap->boot, batch, NULL) == 0)
            host_bootstrap_tell(bootstrap, batch);
        return;
    }
}

/* Workers of the MPI Operator may be slow to come up: it says so to the job's MPI by arguments for
 * ssh. They stand back where --ssh says more than ssh. */
static int take_ssh_arguments(struct host_bootstrap *bootstrap, struct error *err)
{
    static const char *const variables[] = {"OMPI_MCA_plm_rsh_args", "PRTE_MCA_plm_ssh_args",
                                            "HYDRA_LAUNCH_EXTRA_ARGS",
                                            "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS"};
    const struct batch_system *source = batch_system_find(BATCH_SYSTEM_BATCH);
    if (!source || source != batch_system_named("MPI Operator") ||
        strcmp(bootstrap->boot.ssh, "ssh") != 0)
        return 0;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = getenv(variables[i]);
        if (!value || !*value)
            continue;
        char **words = shell_words_split(value, err);
        string_list_free(words);
        if (!words)
            return error_prefix(err, "%s in the environment", variables[i]);
        free(bootstrap->boot.ssh);
        bootstrap->boot.ssh = mem_format("ssh %s", value);
        return 0;
    }
    return 0;
}

static int choose_named(struct host_bootstrap *bootstrap, const struct node_list *nodes,
                        const struct batch_bootstrap *batch, struct error *err)
{
    const struct batch_system *source = batch_system_named(batch->system);
    if (!batch_system_is_there(source))
        return error_set(err,
                         "--bootstrap %s: this is not inside a job of %s: %s is not set "
                         "(auto takes ssh where there is no job)",
                         batch->name, batch->system, batch_system_variable(source));
    if (!knows_ranks(nodes, batch, source))
        return error_set(err, "--bootstrap %s: %s names no ranks of %s: leave it out", batch->name,
                         nodes->source, batch->system);
    if (bootstrap_use_batch(&bootstrap->boot, batch, err) < 0)
        return error_prefix(err, "--bootstrap %s", batch->name);
    host_bootstrap_tell(bootstrap, batch);
    return 0;
}

int host_bootstrap_choose(struct host_bootstrap *bootstrap, const struct host_table *hosts,
                          const struct idset *start, struct error *err)
{
    const struct node_list *nodes = host_nodes(hosts);
    const struct batch_bootstrap *batch = batch_bootstrap_named(bootstrap->boot.method);
    bool others = false;
    IDSET_FOREACH(number, start)
    {
        others |= !nodes->list[number].here;
    }
    bootstrap->boot.flat |= batch_bootstrap_is_for_many(bootstrap->boot.method);
    if (batch && !idset_empty(start))
        return choose_named(bootstrap, nodes, batch, err);
    if (others && strcmp(bootstrap->boot.method, "auto") == 0 && !bootstrap->reach_known) {
        bootstrap->reach_known = true;
        choose_auto(bootstrap, nodes);
        return take_ssh_arguments(bootstrap, err);
    }
    return 0;
}

/* How the other hosts are reached: what --bootstrap stands for in this run. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/shell_words.h"
#include "launcher/manager/internal.h"
#include "launcher/source/batch_system.h"
#include "launcher/source/node_index.h"

bool host_bootstrap_uses_command_here(const struct manager *manager)
{
    const char *method = manager->spec->bootstrap;
    return method && strcmp(method, "auto") != 0 && strcmp(method, "local") != 0;
}

static bool host_bootstrap_is_wanted(const struct manager *manager, size_t index)
{
    return manager->hosts[index].wanted && !manager->hosts[index].settled;
}

/* A batch system starts nothing on hosts that are not its job's, and for no other user. */
static bool job_has(const struct manager *manager, const struct node_list *job)
{
    const struct node_list *nodes = manager->nodes;
    struct nodes_index *index = node_index_new(job->count);
    bool all = true;
    for (size_t i = 0; i < job->count; i++)
        node_index_add(index, job->list[i].host, i);
    for (size_t i = 0; i < nodes->count && all; i++)
        all =
            nodes->list[i].here || (strcmp(nodes->list[i].login, nodes->list[i].host) == 0 &&
                                    node_index_find(index, nodes->list[i].host) != NODE_INDEX_NONE);
    node_index_free(index);
    return all;
}

static bool is_in_job(const struct manager *manager, const struct batch_system *source)
{
    if (manager->nodes->from == source)
        return true;
    struct node_list *job = batch_system_nodes(source, (double)time(NULL), NULL);
    bool all = job && job_has(manager, job);
    node_list_free(job);
    return all;
}

/* Its command is told ranks, and those of a list of hosts are not the batch system's. */
static bool knows_ranks(const struct manager *manager, const struct batch_bootstrap *batch,
                        const struct batch_system *source)
{
    return !strstr(batch->words, "{ranks}") || manager->nodes->from == source;
}

static void host_bootstrap_tell(struct manager *manager, const struct batch_bootstrap *batch)
{
    viewer_say(manager, "agents: started by %s of %s, --bootstrap %s", batch->command,
               batch->system, batch->name);
}

/* ssh, where the batch system's own command is not installed or would not do. */
static void choose_auto(struct manager *manager)
{
    const struct batch_system *source = batch_system_find(BATCH_SYSTEM_BATCH);
    const struct batch_bootstrap *batch = NULL;
    while (source && (batch = batch_bootstrap_of(batch_system_name(source), batch))) {
        struct bootstrap trial = {.method = NULL};
        bool found = (!batch->is_meant || batch->is_meant()) &&
                     bootstrap_use_batch(&trial, batch, NULL) == 0;
        bootstrap_clear(&trial);
        if (!found || !knows_ranks(manager, batch, source))
            continue;
        if (is_in_job(manager, source) && bootstrap_use_batch(&manager->boot, batch, NULL) == 0)
            host_bootstrap_tell(manager, batch);
        return;
    }
}

/* Workers of the MPI Operator may be slow to come up: it says so to the job's MPI by arguments for
 * ssh. They stand back where --ssh says more than ssh. */
static int take_ssh_arguments(struct manager *manager, struct error *err)
{
    static const char *const variables[] = {"OMPI_MCA_plm_rsh_args", "PRTE_MCA_plm_ssh_args",
                                            "HYDRA_LAUNCH_EXTRA_ARGS",
                                            "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS"};
    const struct batch_system *source = batch_system_find(BATCH_SYSTEM_BATCH);
    if (!source || source != batch_system_named("MPI Operator") ||
        strcmp(manager->boot.ssh, "ssh") != 0)
        return 0;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = getenv(variables[i]);
        if (!value || !*value)
            continue;
        char **words = shell_words_split(value, err);
        shell_words_free(words);
        if (!words)
            return error_prefix(err, "%s in the environment", variables[i]);
        free(manager->boot.ssh);
        manager->boot.ssh = mem_format("ssh %s", value);
        return 0;
    }
    return 0;
}

static int choose_named(struct manager *manager, const struct batch_bootstrap *batch,
                        struct error *err)
{
    const struct batch_system *source = batch_system_named(batch->system);
    if (!batch_system_is_there(source))
        return error_set(err,
                         "--bootstrap %s: this is not inside a job of %s: %s is not set "
                         "(auto takes ssh where there is no job)",
                         batch->name, batch->system, batch_system_variable(source));
    if (!knows_ranks(manager, batch, source))
        return error_set(err, "--bootstrap %s: %s names no ranks of %s: leave it out", batch->name,
                         manager->nodes->source, batch->system);
    if (bootstrap_use_batch(&manager->boot, batch, err) < 0)
        return error_prefix(err, "--bootstrap %s", batch->name);
    host_bootstrap_tell(manager, batch);
    return 0;
}

int host_bootstrap_choose(struct manager *manager, struct error *err)
{
    const struct batch_bootstrap *batch = batch_bootstrap_named(manager->boot.method);
    bool others = false, any = false;
    for (size_t i = 0; i < manager->nodes->count; i++) {
        any |= host_bootstrap_is_wanted(manager, i);
        others |= host_bootstrap_is_wanted(manager, i) && !manager->nodes->list[i].here;
    }
    manager->boot.flat |= batch_bootstrap_is_for_many(manager->boot.method);
    if (batch && any)
        return choose_named(manager, batch, err);
    if (others && strcmp(manager->boot.method, "auto") == 0 && !manager->reach_known) {
        manager->reach_known = true;
        choose_auto(manager);
        return take_ssh_arguments(manager, err);
    }
    return 0;
}

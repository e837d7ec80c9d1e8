/* The agents: started, heard of, or not reached. */
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "base/thread.h"
#include "config.h"
#include "launcher/linkage/part_linkage.h"
#include "launcher/manager/internal.h"
#include "launcher/protocol/allowed_cores.h"
#include "launcher/source/srun_nodes.h"
#include "pmi-server/pmix/server.h"

#define MAX_SHOWN 60 /* bytes of a hostlist that is an example of an option */

/* A dry run may have no program, and starts none. */
static void foresee(struct manager *manager)
{
    if (!manager->foreseen && !manager->spec->dry_run)
        manager->boot.pmix = part_linkage_needs_pmix(manager->spec);
    manager->foreseen = true;
}

/* This machine's agent, which is forked later, finds openpmix open. */
static void *foresee_here(void *arg)
{
    struct manager *manager = arg;
    foresee(manager);
    if (manager->boot.pmix)
        pmix_server_warm();
    return NULL;
}

int agents_know_here(struct manager *manager, struct error *err)
{
    struct thread beside = {0};
    if (manager->here)
        return 0;
    if (!manager->spec->dry_run)
        thread_begin(&beside, foresee_here, manager);
    manager->here = topo_load_both(&manager->machine, err);
    thread_end(&beside);
    return manager->here ? 0 : -1;
}

/* In a job of Slurm it starts the agents of the job's nodes, unless another method was named. */
static int slurm_find(struct manager *manager, struct error *err)
{
    bool named = strcmp(manager->boot.method, "slurm") == 0;
    if (manager->slurm || (!named && strcmp(manager->boot.method, "auto") != 0))
        return 0;
    manager->slurm = slurm_job_new(named ? err : NULL);
    return named && !manager->slurm ? error_prefix(err, "--bootstrap slurm") : 0;
}

static bool slurm_reaches(const struct manager *manager, const struct node *node)
{
    return manager->slurm && slurm_job_has(manager->slurm, node->login);
}

/* A dry run asks no agent about what is known: this machine, and what the instance remembers. 1 when
 * the host is settled, 0 when its agent has to be asked, -1 when it cannot be. */
static int settle_alone(struct manager *manager, size_t index, struct error *err)
{
    const struct node *node = &manager->nodes->list[index];
    struct host *host = &manager->hosts[index];
    if (!node->here && !bootstrap_reaches_others(&manager->boot))
        return error_set(err,
                         "%s is not this machine, and --bootstrap %s reaches no other (a template "
                         "with {host} does)",
                         node->host, manager->boot.method);
    if (strcmp(manager->boot.method, "slurm") == 0 && !slurm_reaches(manager, node))
        return error_set(err, "--bootstrap slurm: %s is no node of %s", node->login,
                         slurm_job_text(manager->slurm));
    if (node->here && agents_know_here(manager, err) < 0)
        return -1;
    struct topo *known =
        node->here ? manager->here : topology_cache_topo(manager->atlas, node->host);
    if (!known || !manager->spec->dry_run)
        return 0;
    char *cores = node->cores ? idset_encode(node->cores) : NULL;
    int result = cores ? allowed_cores_check(known, cores, err) : 0;
    free(cores);
    if (result < 0)
        return node->here ? -1 : error_prefix(err, "%s", node->host);
    host->topo = topo_ref(known);
    host->settled = true;
    return 1;
}

static void fill_target(struct manager *manager, uint32_t index, struct tree_target *target)
{
    const struct node *node = &manager->nodes->list[index];
    const char *known = node->here ? NULL : topology_cache_digest(manager->atlas, node->host);
    *target = (struct tree_target){
        .node = index,
        .host = node->host,
        .login = node->login,
        .here = node->here,
        .rank = node->target,
        .cores = node->cores ? idset_encode(node->cores) : NULL,
        .digest = node->here && manager->here ? topo_digest(manager->here) : mem_copy_text(known)};
    if (host_bootstrap_uses_command_here(manager))
        target->here = false;
    target->together = !target->here && (slurm_reaches(manager, node) ||
                                         batch_bootstrap_is_for_many(manager->boot.method));
}

/* This machine comes first, and so is reached from here, without a command. */
static void start_targets(struct manager *manager, const struct idset *nodes, enum tree_try how)
{
    size_t count = 0;
    bool srun = false;
    struct tree_target *targets = mem_array(idset_count(nodes), sizeof(*targets));
    for (int here = 1; here >= 0; here--) {
        IDSET_FOREACH(node, nodes)
        {
            if (manager->nodes->list[node].here == here)
                fill_target(manager, node, &targets[count++]);
        }
    }
    for (size_t i = 0; i < count && manager->slurm && !srun; i++)
        srun = targets[i].together;
    if (srun)
        viewer_say(manager, "agents: started by srun of Slurm, --bootstrap slurm");
    foresee(manager);
    tree_start(manager->tree, targets, count, how);
    for (size_t i = 0; i < count; i++) {
        free(targets[i].cores);
        free(targets[i].digest);
    }
    free(targets);
    topo_free_machine(manager->machine);
    manager->machine = NULL;
}

int agents_start(struct manager *manager, struct error *err)
{
    struct idset *nodes = idset_new();
    bool any = false;
    for (size_t i = 0; i < manager->nodes->count && !any; i++)
        any = agents_awaits(manager, i);
    /* A dry run whose topologies are all given starts no agent, and so needs no job. */
    int result = any || !manager->spec->dry_run ? slurm_find(manager, err) : 0;
    if (result == 0)
        result = host_bootstrap_choose(manager, err);
    for (size_t i = 0; i < manager->nodes->count && result == 0; i++) {
        if (!manager->hosts[i].wanted || manager->hosts[i].settled)
            continue;
        result = settle_alone(manager, i, err);
        if (result == 0)
            idset_add(nodes, (uint32_t)i);
        else if (result > 0)
            result = 0;
    }
    manager->waiting = idset_count(nodes);
    if (manager->waiting || !manager->queue)
        viewer_say(manager, "resources: %s, %zu node%s; %zu of them asked", manager->nodes->source,
                   manager->nodes->count, manager->nodes->count > 1 ? "s" : "", manager->waiting);
    ev_now_update(manager->loop); /* names were looked up: the hosts' time begins now */
    if (result == 0)
        start_targets(manager, nodes, TREE_FIRST);
    progress_begin(manager);
    idset_free(nodes);
    return result;
}

static void host_failed(struct manager *manager, uint32_t index, char *text, double elapsed);

/* On its way now; false where that cannot be. */
static bool start_late(struct manager *manager, uint32_t index)
{
    struct error err = ERROR_INIT;
    struct host *host = &manager->hosts[index];
    free(host->failure);
    host->failure = NULL;
    host->settled = host->unreached = false;
    host->wanted = true;
    manager->waiting++;
    bool alone = settle_alone(manager, index, &err) < 0;
    if (alone)
        host_failed(manager, index, mem_copy_text(error_text(&err)), -1);
    error_clear(&err);
    return !alone;
}

void agents_late(struct manager *manager, const struct idset *nodes)
{
    struct idset *start = idset_new();
    IDSET_FOREACH(node, nodes)
    {
        if (!agents_awaits(manager, node) && start_late(manager, node))
            idset_add(start, node);
    }
    viewer_say(manager, "resources: %zu node%s more asked, for tasks that are added",
               idset_count(start), idset_count(start) == 1 ? "" : "s");
    tree_forget(manager->tree, start); /* it may have had an agent that was of no use */
    start_targets(manager, start, TREE_LATE);
    idset_free(start);
}

bool agents_awaits(const struct manager *manager, uint32_t index)
{
    return manager->hosts[index].wanted && !manager->hosts[index].settled;
}

bool agents_more(struct manager *manager)
{
    bool spare = false;
    for (size_t i = 0; i < manager->nodes->count; i++) {
        spare |= manager->hosts[i].spare;
        manager->hosts[i].wanted |= manager->hosts[i].spare;
        manager->hosts[i].spare = false;
    }
    return spare;
}

/* ---- what became of a host ---- */

static void agents_host_settled(struct manager *manager, uint32_t index)
{
    if (manager->hosts[index].settled)
        return;
    manager->hosts[index].settled = true;
    manager->waiting--;
}

struct named { /* a host by a text that it may have in common with others */
    const struct manager *manager;
    const struct host_names *names;
    const char *(*text_of)(const struct host *host);
    const char *text;
};

static const char *machine_of(const struct host *host)
{
    return host->machine;
}

static const char *digest_of(const struct host *host)
{
    return host->digest;
}

static bool agents_is_called(uint32_t number, const void *thing)
{
    const struct named *named = thing;
    const char *text = named->text_of(&named->manager->hosts[named->names->hosts[number]]);
    return text && strcmp(text, named->text) == 0;
}

/* The host that had this text last, and this one from now on; itself when it is the first. */
static uint32_t find_like(struct manager *manager, struct host_names *names, uint32_t index,
                          const char *(*text_of)(const struct host *host))
{
    struct named named = {manager, names, text_of, text_of(&manager->hosts[index])};
    uint32_t before = names->table.count;
    uint32_t number = hash_table_number(&names->table, hash_table_hash_text(named.text),
                                        agents_is_called, &named);
    if (number == before) {
        names->hosts = mem_resize(names->hosts, before + 1ul, sizeof(*names->hosts));
        names->hosts[number] = index;
    }
    return names->hosts[number];
}

/* Equal nodes share one topology: the layout engine knows them by the pointer. */
static void share_topology(struct manager *manager, uint32_t index)
{
    struct host *host = &manager->hosts[index];
    const struct host *other =
        &manager->hosts[find_like(manager, &manager->digests, index, digest_of)];
    if (other == host || !other->topo)
        return;
    topo_free(host->topo);
    host->topo = topo_ref(other->topo);
}

/* Takes the text, which may begin with the host's name. */
static void host_failed(struct manager *manager, uint32_t index, char *text, double elapsed)
{
    struct host *host = &manager->hosts[index];
    const char *name = manager->nodes->list[index].host;
    size_t len = strlen(name);
    bool named = strncmp(text, name, len) == 0 && strncmp(text + len, ": ", 2) == 0;
    free(host->failure);
    host->failure = mem_copy_text(named ? text + len + 2 : text);
    host->elapsed = elapsed;
    free(text);
    if (manager->phase == PHASE_RUN) { /* which it does not end */
        char *line = agents_failure(manager, index);
        viewer_say(manager, "%s", line);
        free(line);
    }
    agents_host_settled(manager, index);
}

char *agents_failure(const struct manager *manager, uint32_t index)
{
    struct host_lines *lines = host_lines_new();
    const struct host *host = &manager->hosts[index];
    host_lines_add(lines, manager->nodes->list[index].host, host->failure, host->elapsed);
    char *line = host_lines_nth(lines, 0);
    host_lines_free(lines);
    return line;
}

/* What the agent says of its hardware: all of it, or that it is as was known. */
static struct topo *hello_topology(struct manager *manager, const struct node *node,
                                   const json_t *hello, struct error *err)
{
    const char *version = json_string_value(json_object_get(hello, "version"));
    const char *refusal = json_string_value(json_object_get(hello, "error"));
    const json_t *topology = json_object_get(hello, "topology");
    struct topo *known = NULL;
    if (!version || strcmp(version, PACKAGE_VERSION) != 0)
        error_set(err, "its tpagent is version %s, this tprun is %s: install the same on both",
                  version ? version : "(unknown)", PACKAGE_VERSION);
    else if (refusal)
        error_set(err, "%s", refusal);
    else if (topology)
        return topo_from_json(topology, err);
    else if (!(known =
                   node->here ? manager->here : topology_cache_topo(manager->atlas, node->host)))
        error_set(err, "its agent does not say what hardware it has");
    return known ? topo_ref(known) : NULL;
}

/* Another name of a host that is there already: it is one node, and used once. */
static bool agents_is_there(struct manager *manager, uint32_t index)
{
    struct host *host = &manager->hosts[index];
    uint32_t other =
        host->machine ? find_like(manager, &manager->machines, index, machine_of) : index;
    if (other == index || !manager->hosts[other].topo)
        return false;
    host->alias = true;
    host->same = other;
    return true;
}

/* Names of one machine, in a line for each machine. */
static void tell_aliases(struct manager *manager)
{
    struct hostlist **names = mem_array(manager->nodes->count, sizeof(struct hostlist *));
    for (size_t i = 0; i < manager->nodes->count; i++) {
        struct host *host = &manager->hosts[i];
        if (!host->alias)
            continue;
        if (!names[host->same])
            names[host->same] = hostlist_new();
        hostlist_append(names[host->same], manager->nodes->list[i].host);
        host->alias = false;
    }
    for (size_t i = 0; i < manager->nodes->count; i++) {
        if (!names[i])
            continue;
        char *list = hostlist_encode(names[i]);
        char *note = mem_format("%s and %s are one machine: it is used once",
                                manager->nodes->list[i].host, list);
        viewer_note(manager, note);
        hostlist_free(names[i]);
        free(list);
        free(note);
    }
    free(names);
}

static void host_up(struct manager *manager, uint32_t index, const json_t *hello)
{
    const char *name = manager->nodes->list[index].host;
    struct host *host = &manager->hosts[index];
    host->digest = topo_digest(host->topo);
    host->machine = mem_copy_text(json_string_value(json_object_get(hello, "machine")));
    viewer_say(manager, "%s: agent is up, %u hardware threads", name, host->topo->npus);
    if (agents_is_there(manager, index)) {
        topo_free(host->topo);
        host->topo = NULL;
        if (manager->phase == PHASE_RUN)
            tell_aliases(manager);
    } else {
        share_topology(manager, index);
        if (manager->atlas)
            topology_cache_put(manager->atlas, name, host->topo, host->digest);
    }
    agents_host_settled(manager, index);
}

void agents_hello(struct manager *manager, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    if (frame->node >= manager->nodes->count || manager->hosts[frame->node].settled)
        return;
    const struct node *node = &manager->nodes->list[frame->node];
    struct host *host = &manager->hosts[frame->node];
    json_t *hello = frame_json(frame, &err);
    host->topo = hello ? hello_topology(manager, node, hello, &err) : NULL;
    if (host->topo)
        host_up(manager, frame->node, hello);
    else
        host_failed(manager, frame->node, mem_copy_text(error_text(&err)), -1);
    error_clear(&err);
    json_decref(hello);
}

/* What an inner agent could not reach, and what a silent one was to reach, is tried from here
 * before it counts as failed. */
void agents_unreached(struct manager *manager, const struct tree_unreached *what, bool direct)
{
    struct idset *again = idset_copy(what->nodes);
    if (what->node < manager->nodes->count) {
        bool failed = direct && !(what->silent && idset_count(again) > 1);
        if (failed)
            idset_remove(again, what->node);
        tree_forget(manager->tree, what->nodes);
        start_targets(manager, again, TREE_AGAIN);
        if (failed) {
            manager->hosts[what->node].unreached = true;
            host_failed(
                manager, what->node,
                mem_format("not started: %s: %s", bootstrap_stage_name(what->stage), what->text),
                what->elapsed);
        }
    }
    idset_free(again);
}

void agents_keep(struct manager *manager)
{
    struct error err = ERROR_INIT;
    if (manager->atlas && topology_cache_save(manager->atlas, &err) < 0)
        viewer_note(manager, error_text(&err)); /* the next run asks again */
    error_clear(&err);
}

/* Those that failed, grouped by why. */
static struct host_lines *failure_lines(const struct manager *manager)
{
    struct host_lines *lines = host_lines_new();
    for (size_t i = 0; i < manager->nodes->count; i++) {
        const struct host *host = &manager->hosts[i];
        if (host->failure)
            host_lines_add(lines, manager->nodes->list[i].host, host->failure, host->elapsed);
    }
    return lines;
}

/* How many failed of how many, and how to go on without them where others are up. */
static void say_failed(const struct manager *manager, struct buf *text)
{
    size_t failed = 0, tried = 0, up = 0;
    struct hostlist *hosts = hostlist_new();
    for (size_t i = 0; i < manager->nodes->count; i++) {
        const struct host *host = &manager->hosts[i];
        tried += host->wanted;
        up += host->topo != NULL;
        failed += host->failure != NULL;
        if (host->failure)
            hostlist_append(hosts, manager->nodes->list[i].host);
    }
    char *without = hostlist_encode(hosts);
    if (tried > 1)
        buf_printf(text, "\n%zu of %zu hosts did not start; nothing was run", failed, tried);
    if (tried > 1 && up)
        buf_printf(text, "; --exclude %s goes on without %s",
                   strlen(without) <= MAX_SHOWN ? without : "HOSTLIST", failed > 1 ? "them" : "it");
    hostlist_free(hosts);
    free(without);
}

int agents_check(struct manager *manager, struct error *err)
{
    agents_keep(manager);
    tell_aliases(manager);
    struct buf text = BUF_INIT;
    struct host_lines *lines = failure_lines(manager);
    size_t count = host_lines_count(lines);
    for (size_t i = 0; i < count; i++) {
        char *line = host_lines_nth(lines, i);
        buf_printf(&text, "%s%s", i ? "\n" : "", line);
        free(line);
    }
    if (count) {
        say_failed(manager, &text);
        error_set(err, "%s", buf_text(&text));
    }
    host_lines_free(lines);
    buf_free(&text);
    return count ? -1 : 0;
}

bool agents_can_spare(const struct manager *manager)
{
    const struct spec *spec = manager->spec;
    bool up = false;
    if (manager->on || manager->grant || manager->named ||
        (!spec->nnodes && !resources_fills(spec)))
        return false;
    for (size_t i = 0; i < manager->nodes->count; i++) {
        const struct host *host = &manager->hosts[i];
        if (host->failure && !host->unreached)
            return false;
        up |= host->topo || host->spare;
    }
    return up;
}

void agents_tell_spared(struct manager *manager)
{
    struct host_lines *lines = failure_lines(manager);
    for (size_t i = 0; i < host_lines_count(lines); i++) {
        char *line = host_lines_nth(lines, i),
             *note = mem_format("%s; left out, since the other hosts suffice", line);
        viewer_note(manager, note);
        free(note);
        free(line);
    }
    host_lines_free(lines);
}

void agents_close(struct manager *manager)
{
    hash_table_free(&manager->machines.table);
    hash_table_free(&manager->digests.table);
    free(manager->machines.hosts);
    free(manager->digests.hosts);
    host_lines_free(manager->notes);
}

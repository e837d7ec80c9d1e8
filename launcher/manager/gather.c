/* The agents: started, heard of, or not reached. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "config.h"
#include "launcher/manager/state.h"
#include "launcher/program/allowed.h"
#include "launcher/program/part_linkage.h"
#include "pmi-server/pmix/host.h"

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
        pmix_host_warm();
    return NULL;
}

int gather_know_here(struct manager *manager, struct error *err)
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

/* A dry run asks no agent about what is known: this machine, and what the instance remembers. 1 when the host is settled, 0 when its agent
 * has to be asked, -1 when it cannot be. */
static int settle_alone(struct manager *manager, size_t index, struct error *err)
{
    const struct node *node = &manager->nodes->list[index];
    struct host *host = &manager->hosts[index];
    if (!node->here && strcmp(manager->boot.method, "local") == 0)
        return error_set(err, "%s is not this machine, and --bootstrap local reaches no other",
                         node->host);
    if (node->here && gather_know_here(manager, err) < 0)
        return -1;
    struct topo *known = node->here ? manager->here : atlas_topo(manager->atlas, node->host);
    if (!known || !manager->spec->dry_run)
        return 0;
    char *cores = node->cores ? idset_encode(node->cores) : NULL;
    int result = cores ? allowed_check(known, cores, err) : 0;
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
    const char *known = node->here ? NULL : atlas_digest(manager->atlas, node->host);
    *target = (struct tree_target){
        .node = index,
        .host = node->host,
        .login = node->login,
        .here = node->here,
        .cores = node->cores ? idset_encode(node->cores) : NULL,
        .digest = node->here && manager->here ? topo_digest(manager->here) : mem_copy_text(known)};
    /* A method that was named is used for this machine too. */
    if (strcmp(manager->boot.method, "auto") != 0 && strcmp(manager->boot.method, "local") != 0)
        target->here = false;
}

/* This machine comes first, and so is reached from here, without a command. */
static void start_targets(struct manager *manager, const struct idset *nodes, enum tree_try how)
{
    size_t count = 0;
    struct tree_target *targets = mem_array(idset_count(nodes), sizeof(*targets));
    for (int here = 1; here >= 0; here--) {
        IDSET_FOREACH(node, nodes)
        {
            if (manager->nodes->list[node].here == here)
                fill_target(manager, node, &targets[count++]);
        }
    }
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

int gather_start(struct manager *manager, struct error *err)
{
    struct idset *nodes = idset_new();
    int result = 0;
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
    if (result == 0)
        start_targets(manager, nodes, TREE_FIRST);
    idset_free(nodes);
    return result;
}

static void host_failed(struct manager *manager, uint32_t index, char *line);

/* On its way now; false where that cannot be. */
static bool start_late(struct manager *manager, uint32_t index)
{
    struct error err = ERROR_INIT;
    struct host *host = &manager->hosts[index];
    free(host->failure);
    host->failure = NULL;
    host->settled = false;
    host->wanted = true;
    manager->waiting++;
    bool alone = settle_alone(manager, index, &err) < 0;
    if (alone)
        host_failed(manager, index, mem_copy_text(error_text(&err)));
    error_clear(&err);
    return !alone;
}

void gather_late(struct manager *manager, const struct idset *nodes)
{
    struct idset *start = idset_new();
    IDSET_FOREACH(node, nodes)
    {
        if (!gather_awaits(manager, node) && start_late(manager, node))
            idset_add(start, node);
    }
    viewer_say(manager, "resources: %zu node%s more asked, for tasks that are added",
               idset_count(start), idset_count(start) == 1 ? "" : "s");
    tree_forget(manager->tree, start); /* it may have had an agent that was of no use */
    start_targets(manager, start, TREE_LATE);
    idset_free(start);
}

bool gather_awaits(const struct manager *manager, uint32_t index)
{
    return manager->hosts[index].wanted && !manager->hosts[index].settled;
}

bool gather_more(struct manager *manager)
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

static void host_settled(struct manager *manager, uint32_t index)
{
    if (manager->hosts[index].settled)
        return;
    manager->hosts[index].settled = true;
    manager->waiting--;
}

/* Equal nodes share one topology: the layout engine knows them by the pointer. */
static void share_topology(struct manager *manager, struct host *host)
{
    for (size_t i = 0; i < manager->nodes->count; i++) {
        struct host *other = &manager->hosts[i];
        if (other == host || !other->topo || !other->digest ||
            strcmp(other->digest, host->digest) != 0)
            continue;
        topo_free(host->topo);
        host->topo = topo_ref(other->topo);
        return;
    }
}

static void host_failed(struct manager *manager, uint32_t index, char *line)
{
    free(manager->hosts[index].failure);
    manager->hosts[index].failure = line;
    if (manager->phase == PHASE_RUN) /* which it does not end */
        viewer_say(manager, "%s", line);
    host_settled(manager, index);
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
    else if (!(known = node->here ? manager->here : atlas_topo(manager->atlas, node->host)))
        error_set(err, "its agent does not say what hardware it has");
    return known ? topo_ref(known) : NULL;
}

/* Another name of a host that is there already: it is one node, and used once. */
static bool is_there(struct manager *manager, uint32_t index)
{
    const struct host *host = &manager->hosts[index];
    for (size_t i = 0; host->machine && i < manager->nodes->count; i++) {
        const struct host *other = &manager->hosts[i];
        if (other == host || !other->topo || !other->machine ||
            strcmp(other->machine, host->machine) != 0)
            continue;
        char *note = mem_format("%s and %s are one machine: it is used once",
                                manager->nodes->list[i].host, manager->nodes->list[index].host);
        viewer_note(manager, note);
        free(note);
        return true;
    }
    return false;
}

static void host_up(struct manager *manager, uint32_t index, const json_t *hello)
{
    const char *name = manager->nodes->list[index].host;
    struct host *host = &manager->hosts[index];
    host->digest = topo_digest(host->topo);
    host->machine = mem_copy_text(json_string_value(json_object_get(hello, "machine")));
    viewer_say(manager, "%s: agent is up, %u hardware threads", name, host->topo->npus);
    if (is_there(manager, index)) {
        topo_free(host->topo);
        host->topo = NULL;
    } else {
        share_topology(manager, host);
        if (manager->atlas)
            atlas_put(manager->atlas, name, host->topo, host->digest);
    }
    host_settled(manager, index);
}

void gather_hello(struct manager *manager, const struct frame *frame)
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
        host_failed(manager, frame->node, mem_format("%s: %s", node->host, error_text(&err)));
    error_clear(&err);
    json_decref(hello);
}

/* What an inner agent could not reach, and what a silent one was to reach, is tried from here
 * before it counts as failed. */
void gather_unreached(struct manager *manager, const struct tree_unreached *what, bool direct)
{
    struct idset *again = idset_copy(what->nodes);
    if (what->node < manager->nodes->count) {
        bool failed = direct && !(what->silent && idset_count(again) > 1);
        if (failed)
            idset_remove(again, what->node);
        tree_forget(manager->tree, what->nodes);
        start_targets(manager, again, TREE_AGAIN);
        if (failed)
            host_failed(manager, what->node,
                        mem_format("%s: not started: %s: %s (after %.1f s)", what->host,
                                   bootstrap_stage_name(what->stage), what->text, what->elapsed));
    }
    idset_free(again);
}

void gather_keep(struct manager *manager)
{
    struct error err = ERROR_INIT;
    if (manager->atlas && atlas_save(manager->atlas, &err) < 0)
        viewer_note(manager, error_text(&err)); /* the next run asks again */
    error_clear(&err);
}

int gather_check(struct manager *manager, struct error *err)
{
    size_t failed = 0, tried = 0;
    gather_keep(manager);
    struct buf lines = BUF_INIT;
    for (size_t i = 0; i < manager->nodes->count; i++) {
        tried += manager->hosts[i].wanted;
        if (manager->hosts[i].failure)
            buf_printf(&lines, "%s%s", failed++ ? "\n" : "", manager->hosts[i].failure);
    }
    if (failed && tried > 1)
        buf_printf(&lines, "\n%zu of %zu hosts did not start; nothing was run", failed, tried);
    if (failed)
        error_set(err, "%s", buf_text(&lines));
    buf_free(&lines);
    return failed ? -1 : 0;
}

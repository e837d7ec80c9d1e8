/* The agents of a run, for program_start.c and spawn.c: started, heard of, or not reached. */
#include "launcher/instance/agents.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "config.h"
#include "launcher/instance/host_lines.h"
#include "launcher/protocol/hello.h"

#define PROGRESS_AFTER 1.0   /* s until the owner hears of a slow start */
#define PROGRESS_PERIOD 0.25 /* s to the next time */
#define MAX_SHOWN 60         /* bytes of a hostlist that is an example of an option */

struct agents {
    struct ev_loop *loop;
    const struct spec *spec;
    struct host_table *hosts;
    struct local_topology *local;
    struct host_bootstrap *bootstrap;
    struct topology_cache *cache; /* NULL: nothing needs it */
    struct tree *tree;
    const struct agents_ops *ops;
    void *owner;
    struct idset *wanted;     /* of the last start */
    struct idset *duplicates; /* that nobody was told of */
    ev_timer progress;
    uint32_t awaited_told; /* hosts that were awaited when the owner last heard of it */
};

static void agents_on_progress(struct ev_loop *loop, ev_timer *timer, int events);

struct agents *agents_new(struct ev_loop *loop, const struct spec *spec, struct host_table *hosts,
                          struct local_topology *local, struct host_bootstrap *bootstrap,
                          struct topology_cache *cache, struct tree *tree,
                          const struct agents_ops *ops, void *owner)
{
    struct agents *agents = mem_alloc(sizeof(*agents));
    *agents = (struct agents){.loop = loop,
                              .spec = spec,
                              .hosts = hosts,
                              .local = local,
                              .bootstrap = bootstrap,
                              .cache = cache,
                              .tree = tree,
                              .ops = ops,
                              .owner = owner,
                              .wanted = idset_new(),
                              .duplicates = idset_new()};
    ev_timer_init(&agents->progress, agents_on_progress, 0, 0);
    agents->progress.data = agents;
    return agents;
}

void agents_free(struct agents *agents)
{
    if (!agents)
        return;
    ev_timer_stop(agents->loop, &agents->progress);
    idset_free(agents->wanted);
    idset_free(agents->duplicates);
    topology_cache_free(agents->cache);
    free(agents);
}

/* With -v. */
__attribute__((format(printf, 2, 3))) static void agents_say(struct agents *agents, const char *fmt,
                                                             ...)
{
    va_list args;
    va_start(args, fmt);
    agents->ops->say(agents->owner, fmt, args);
    va_end(args);
}

struct topo *agents_known_topology(const struct agents *agents, uint32_t host)
{
    const struct node *node = host_at(agents->hosts, host)->node;
    if (node->here)
        return local_topology_topo(agents->local);
    return agents->cache ? topology_cache_topo(agents->cache, node->host) : NULL;
}

/* ---- starting ---- */

/* A dry run asks no agent about what is known: this machine, and what the instance remembers. 1 when
 * the host is up, 0 when its agent has to be asked, -1 when it cannot be. */
static int settle_alone(struct agents *agents, uint32_t number, struct error *err)
{
    const struct node *node = host_at(agents->hosts, number)->node;
    if (host_bootstrap_check(agents->bootstrap, node, err) < 0)
        return -1;
    if (node->here && local_topology_find(agents->local, err) < 0)
        return -1;
    struct topo *known = agents_known_topology(agents, number);
    if (!known || !agents->spec->dry_run)
        return 0;
    char *cores = node->cores ? idset_encode(node->cores) : NULL;
    int result = cores ? hello_check_cores(known, cores, err) : 0;
    free(cores);
    if (result < 0)
        return node->here ? -1 : error_prefix(err, "%s", node->host);
    host_known(agents->hosts, number, known);
    return 1;
}

static void fill_target(const struct agents *agents, uint32_t number, struct tree_target *target)
{
    const struct host *host = host_at(agents->hosts, number);
    const struct node *node = host->node;
    struct topo *local = local_topology_topo(agents->local);
    const char *known =
        node->here || !agents->cache ? NULL : topology_cache_digest(agents->cache, node->host);
    assert(host->number == number); /* which is its node in the tree */
    *target = (struct tree_target){
        .node = number,
        .host = (char *)(uintptr_t)node->host,
        .login = (char *)(uintptr_t)node->login,
        .here = node->here && !host_bootstrap_uses_command_here(agents->bootstrap),
        .rank = node->target,
        .cores = node->cores ? idset_encode(node->cores) : NULL,
        .digest = node->here && local ? topo_digest(local) : mem_copy_text(known)};
    target->together =
        !target->here &&
        (host_bootstrap_has_in_slurm(agents->bootstrap, node) ||
         batch_bootstrap_is_for_many(host_bootstrap_command(agents->bootstrap)->method));
}

/* This machine comes first, and so is reached from here, without a command. */
static void start_targets(struct agents *agents, const struct idset *hosts, enum tree_try how)
{
    size_t count = 0;
    bool srun = false;
    struct tree_target *targets = mem_array(idset_count(hosts), sizeof(*targets));
    for (int here = 1; here >= 0; here--) {
        IDSET_FOREACH(number, hosts)
        {
            if (host_at(agents->hosts, number)->node->here == here)
                fill_target(agents, number, &targets[count++]);
        }
    }
    for (size_t i = 0; i < count && host_bootstrap_in_slurm(agents->bootstrap) && !srun; i++)
        srun = targets[i].together;
    if (srun)
        agents_say(agents, "agents: started by srun of Slurm, --bootstrap slurm");
    host_bootstrap_predict_pmix(agents->bootstrap);
    tree_start(agents->tree, targets, count, how);
    for (size_t i = 0; i < count; i++) {
        free(targets[i].cores);
        free(targets[i].digest);
    }
    free(targets);
    local_topology_drop_machine(agents->local);
}

/* Tells how many of the wanted hosts have been reached, and which are missing. */
static void agents_on_progress(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct agents *agents = timer->data;
    uint32_t awaited = host_awaited(agents->hosts);
    bool heard = awaited;
    (void)events;
    if (awaited && awaited != agents->awaited_told) {
        struct hostlist *missing = hostlist_new();
        int reached = 0, all = 0;
        IDSET_FOREACH(number, agents->wanted)
        {
            const struct host *host = host_at(agents->hosts, number);
            all++;
            if (host->state == HOST_STARTING)
                hostlist_append(missing, host->node->host);
            else
                reached += !host->failure;
        }
        char *hosts = hostlist_encode(missing);
        json_t *value =
            json_pack("{s:i, s:i, s:s}", "reached", reached, "all", all, "missing", hosts);
        heard = agents->ops->progress(agents->owner, value);
        json_decref(value);
        free(hosts);
        hostlist_free(missing);
    }
    agents->awaited_told = awaited;
    if (!heard)
        ev_timer_stop(loop, timer);
}

/* Of the hosts that are wanted those that have not been heard of. */
static struct idset *agents_not_asked(const struct agents *agents, const struct idset *wanted)
{
    struct idset *rest = idset_new();
    IDSET_FOREACH(number, wanted)
    {
        enum host_state state = host_at(agents->hosts, number)->state;
        if (state == HOST_UNUSED || state == HOST_STARTING)
            idset_add(rest, number);
    }
    return rest;
}

int agents_start(struct agents *agents, const struct idset *wanted, bool tell, struct error *err)
{
    const struct node_list *nodes = host_nodes(agents->hosts);
    struct idset *rest = agents_not_asked(agents, wanted), *start = idset_new();
    idset_free(agents->wanted);
    agents->wanted = idset_copy(wanted);
    /* A dry run whose topologies are all given starts no agent, and so needs no job. */
    int result = !idset_empty(rest) || !agents->spec->dry_run
                     ? host_bootstrap_find_job(agents->bootstrap, err)
                     : 0;
    if (result == 0)
        result = host_bootstrap_choose(agents->bootstrap, agents->hosts, rest, err);
    IDSET_FOREACH(number, rest)
    {
        result = result < 0 ? result : settle_alone(agents, number, err);
        if (result < 0)
            break;
        if (result == 0) {
            host_starting(agents->hosts, number);
            idset_add(start, number);
        }
        result = 0;
    }
    size_t count = idset_count(start);
    if (count || tell)
        agents_say(agents, "resources: %s, %zu node%s; %zu of them asked", nodes->source,
                   nodes->count, nodes->count > 1 ? "s" : "", count);
    ev_now_update(agents->loop); /* names were looked up: the hosts' time begins now */
    if (result == 0)
        start_targets(agents, start, TREE_FIRST);
    if (host_awaited(agents->hosts) && !ev_is_active(&agents->progress)) {
        agents->awaited_told = 0;
        ev_timer_set(&agents->progress, PROGRESS_AFTER, PROGRESS_PERIOD);
        ev_timer_start(agents->loop, &agents->progress);
    }
    idset_free(start);
    idset_free(rest);
    return result;
}

/* Takes the text, which may begin with the host's name. */
static void agents_host_failed(struct agents *agents, uint32_t number, char *text, double elapsed,
                               bool unreached)
{
    host_failed(agents->hosts, number, text, elapsed, unreached);
    agents->ops->failed(agents->owner, number);
}

void agents_late(struct agents *agents, const struct idset *hosts, const char *why)
{
    struct idset *start = idset_new();
    IDSET_FOREACH(number, hosts)
    {
        struct error err = ERROR_INIT;
        if (host_at(agents->hosts, number)->state == HOST_STARTING)
            continue;
        host_starting(agents->hosts, number);
        if (settle_alone(agents, number, &err) < 0)
            agents_host_failed(agents, number, mem_copy_text(error_text(&err)), -1, false);
        else
            idset_add(start, number);
        error_clear(&err);
    }
    agents_say(agents, "resources: %zu node%s more asked, %s", idset_count(start),
               idset_count(start) == 1 ? "" : "s", why);
    tree_forget(agents->tree, start); /* it may have had an agent that was of no use */
    start_targets(agents, start, TREE_LATE);
    idset_free(start);
}

/* ---- what became of a host ---- */

void agents_hello(struct agents *agents, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    uint32_t number = frame->node;
    if (number >= host_count(agents->hosts) ||
        (host_at(agents->hosts, number)->state != HOST_STARTING &&
         host_at(agents->hosts, number)->state != HOST_UNUSED))
        return;
    struct hello_answer hello = {.topo = NULL};
    struct topo *topo = NULL;
    json_t *value = frame_json(frame, &err);
    if (value && hello_from_json(&hello, value, &err) == 0) {
        struct topo *known = hello.topo ? NULL : agents_known_topology(agents, number);
        topo = known ? topo_ref(known) : hello.topo;
        if (!topo)
            error_set(&err, "its agent does not say what hardware it has");
    }
    if (topo && host_is_changed(agents->hosts, number, topo)) {
        error_set(&err, "its hardware is not what it was before it was lost");
        topo_free(topo);
        topo = NULL;
    }
    if (topo) {
        const struct host *host = host_at(agents->hosts, number);
        host_grant_gpus(agents->hosts, number, hello.gpus, hello.gpus_refusal);
        agents_say(agents, "%s: agent is up, %u hardware threads", host->node->host, topo->npus);
        if (!host_up(agents->hosts, number, topo, hello.machine)) {
            idset_add(agents->duplicates, number);
            agents->ops->duplicate(agents->owner, number);
        } else if (agents->cache) {
            topology_cache_put(agents->cache, host->node->host, host->topo, host->digest);
        }
    } else {
        idset_free(hello.gpus);
        agents_host_failed(agents, number, mem_copy_text(error_text(&err)), -1, false);
    }
    error_clear(&err);
    json_decref(value);
}

/* What an inner agent could not reach, and what a silent one was to reach, is tried from here
 * before it counts as failed. */
void agents_unreached(struct agents *agents, const struct tree_unreached *what, bool direct)
{
    if (what->node >= host_count(agents->hosts))
        return;
    struct idset *again = idset_copy(what->nodes);
    bool failed = direct && !(what->silent && idset_count(again) > 1);
    if (failed)
        idset_remove(again, what->node);
    tree_forget(agents->tree, what->nodes);
    start_targets(agents, again, TREE_AGAIN);
    bool lent = host_bootstrap_command(agents->bootstrap)->broker; /* by no command, and at once */
    if (failed)
        agents_host_failed(
            agents, what->node,
            lent ? mem_format("not started: %s", what->text)
                 : mem_format("not started: %s: %s", bootstrap_stage_name(what->stage), what->text),
            lent ? -1 : what->elapsed, true);
    idset_free(again);
}

/* ---- what is said of them ---- */

void agents_tell_duplicates(struct agents *agents)
{
    uint32_t count = host_count(agents->hosts);
    if (idset_empty(agents->duplicates))
        return;
    struct hostlist **names = mem_array(count, sizeof(struct hostlist *));
    IDSET_FOREACH(number, agents->duplicates)
    {
        const struct host *host = host_at(agents->hosts, number);
        if (!names[host->same])
            names[host->same] = hostlist_new();
        hostlist_append(names[host->same], host->node->host);
    }
    idset_free(agents->duplicates);
    agents->duplicates = idset_new();
    for (uint32_t i = 0; i < count; i++) {
        if (!names[i])
            continue;
        char *list = hostlist_encode(names[i]);
        char *note = mem_format("%s and %s are one machine: it is used once",
                                host_at(agents->hosts, i)->node->host, list);
        agents->ops->note(agents->owner, note);
        hostlist_free(names[i]);
        free(list);
        free(note);
    }
    free(names);
}

void agents_keep(struct agents *agents)
{
    struct error err = ERROR_INIT;
    if (agents->cache && topology_cache_save(agents->cache, &err) < 0)
        agents->ops->note(agents->owner, error_text(&err)); /* the next run asks again */
    error_clear(&err);
}

/* Those that failed, grouped by why. */
static struct host_lines *failure_lines(const struct agents *agents)
{
    struct host_lines *lines = host_lines_new();
    if (!host_any_failed(agents->hosts))
        return lines;
    IDSET_FOREACH(number, host_used(agents->hosts))
    {
        const struct host *host = host_at(agents->hosts, number);
        if (host->failure)
            host_lines_add(lines, host->node->host, host->failure, host->elapsed);
    }
    return lines;
}

/* -N with no more than are up leaves out those that failed. */
static void add_remedy(struct buf *text, const struct spec *spec, const struct hostlist *failed,
                       size_t up)
{
    char *hosts = hostlist_encode(failed);
    if (spec->nnodes > up)
        buf_printf(text, "; -N %zu", up);
    else
        buf_printf(text, "; --exclude %s", strlen(hosts) <= MAX_SHOWN ? hosts : "HOSTLIST");
    buf_printf(text, " goes on without %s", hostlist_count(failed) > 1 ? "them" : "it");
    free(hosts);
}

/* Which hosts failed and why, how many of how many, and how to go on without them where others are up. */
int agents_check(struct agents *agents, struct error *err)
{
    agents_keep(agents);
    agents_tell_duplicates(agents);
    if (!host_any_failed(agents->hosts))
        return 0;
    struct buf text = BUF_INIT;
    struct host_lines *lines = failure_lines(agents);
    for (size_t i = 0; i < host_lines_count(lines); i++) {
        char *line = host_lines_nth(lines, i);
        buf_printf(&text, "%s%s", i ? "\n" : "", line);
        free(line);
    }
    host_lines_free(lines);
    size_t failed = 0, tried = idset_count(agents->wanted), up = 0;
    struct hostlist *hosts = hostlist_new();
    IDSET_FOREACH(number, host_used(agents->hosts))
    {
        const struct host *host = host_at(agents->hosts, number);
        up += host->topo && !host->failure;
        failed += host->failure != NULL;
        if (host->failure)
            hostlist_append(hosts, host->node->host);
    }
    if (tried > 1)
        buf_printf(&text, "\n%zu of %zu hosts did not start; nothing was run", failed, tried);
    if (tried > 1 && up)
        add_remedy(&text, agents->spec, hosts, up);
    error_set(err, "%s", buf_text(&text));
    hostlist_free(hosts);
    buf_free(&text);
    return -1;
}

void agents_tell_spared(struct agents *agents)
{
    struct host_lines *lines = failure_lines(agents);
    for (size_t i = 0; i < host_lines_count(lines); i++) {
        char *line = host_lines_nth(lines, i),
             *note =
                 mem_format("%s; %s", line,
                            agents->spec->agents_only ? "no agent is kept there"
                                                      : "left out, since the other hosts suffice");
        agents->ops->note(agents->owner, note);
        free(note);
        free(line);
    }
    host_lines_free(lines);
}

/* The first tasks of a program: hosts are asked, resources waited for, a plan made, claimed and shown. */
#include "launcher/program/program_start.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "launcher/instance/allocation_queue.h"
#include "launcher/ledger/instance_directory.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/plan/first_plan.h"
#include "launcher/plan/host_choice.h"
#include "launcher/plan/shape_allocation.h"
#include "launcher/program/early_launch.h"
#include "launcher/program/predecessors.h"
#include "launcher/program/time_limit.h"

struct program_start {
    struct ev_loop *loop;
    const struct spec *spec;
    struct tree *tree;
    struct host_bootstrap *bootstrap;
    struct local_topology *local;
    const struct program_start_ops *ops;
    void *owner;
    struct resources *resources;
    struct host_table *hosts; /* of the resources; number of a host = node of the tree */
    struct group_starts *groups;
    struct group_start *first;         /* NULL: not begun, or over */
    struct predecessors *predecessors; /* NULL: there is no --after */
    struct allocation_queue *queue;
    struct agents *agents;
    struct host_choice *choice;
    struct shape_allocation *shapes; /* NULL: no part has a shape */
    struct first_plan *first_plan;
    struct early_launch *early; /* NULL: the launch is sent once the hosts have answered */
    struct plan *plan;
    bool was_early; /* the plan is claimed, and sent */
    struct display *display;
    struct stage_sender *stage;
    struct program_hooks *hooks;
    struct idset *late; /* nodes that came later, and do not have the files yet */
    bool prepares;      /* files are copied to the nodes of the first tasks, or prologs run there */
    struct error failed;    /* hosts that failed, one sentence for all of them */
    bool outlives_frontend; /* see keep_for_hosts() */
    bool over;              /* the first tasks are not planned any more */
    bool tasks_run;         /* from then until the end */
};

/* ---- the steps of the first group ---- */

/* A layout may take long, so that the link's end would be seen late: until tasks run the kernel ends
 * this process with the front end. Not while hosts are waited for: what reaches them has files and
 * processes, which are cleared away when the link ends. */
static void keep_for_hosts(struct program_start *start)
{
    bool keep = host_awaited(start->hosts) || start->prepares;
    if (!start->over && keep != start->outlives_frontend)
        prctl(PR_SET_PDEATHSIG, keep ? 0 : SIGKILL);
    start->outlives_frontend = keep;
}

/* Where some host cannot be asked, no other plan or wait would help: the reason is the user's. */
static enum group_step start_agents(struct program_start *start, struct error *err)
{
    struct idset *wanted = host_choice_wanted(start->choice);
    int rc = agents_start(start->agents, wanted, !allocation_queue_waits(start->queue), err);
    idset_free(wanted);
    keep_for_hosts(start);
    return rc < 0 ? GROUP_STEP_REFUSED : GROUP_STEP_HOSTS;
}

/* With what is free now; hosts that are there already are not asked again. What a shape asks for is
 * allocated before any host is asked, where R tells enough. */
static enum group_step start_on_begin(void *owner, struct error *err)
{
    struct program_start *start = owner;
    if (resources_enter(start->resources, err) < 0 || resources_refresh(start->resources, err) < 0)
        return GROUP_STEP_FAILED;
    host_choice_make(start->choice);
    if (shape_allocation_early(start->shapes, err) < 0)
        return lock_is_busy(group_starts_lock(start->groups)) ||
                       allocation_queue_wait(start->queue, err) < 0
                   ? GROUP_STEP_FAILED
                   : GROUP_STEP_QUEUED;
    if (shape_allocation_R(start->shapes))
        allocation_queue_leave(start->queue);
    enum group_step step = start_agents(start, err);
    if (step == GROUP_STEP_HOSTS && !allocation_queue_waits(start->queue))
        early_launch_try(start->early);
    return step;
}

static bool start_awaits_hosts(void *owner)
{
    const struct program_start *start = owner;
    return host_awaited(start->hosts);
}

static bool can_spare_failed(const struct program_start *start)
{
    return host_choice_can_spare_failed(start->choice,
                                        host_bootstrap_in_instance(start->bootstrap));
}

/* Every host that was asked has settled. Where some failed there may be others to ask, or those that
 * are there may do. */
static enum group_step start_on_plan(void *owner, struct error *err)
{
    struct program_start *start = owner;
    struct plan *early = early_launch_take(start->early);
    start->was_early = early != NULL;
    if (early) {
        plan_free(start->plan);
        start->plan = early;
        agents_keep(start->agents);
        return GROUP_STEP_DONE;
    }
    keep_for_hosts(start);
    error_clear(&start->failed);
    bool failed = agents_check(start->agents, &start->failed) < 0;
    if (failed && !can_spare_failed(start))
        return GROUP_STEP_FAILED;
    if ((failed || host_choice_is_short(start->choice)) && host_choice_add_spare(start->choice))
        return start_agents(start, err);
    plan_free(start->plan);
    start->plan = first_plan_make(start->first_plan, err);
    return start->plan ? GROUP_STEP_DONE : GROUP_STEP_FAILED;
}

/* What shapes were given is claimed already. */
static enum group_step start_on_claim(void *owner, struct error *err)
{
    struct program_start *start = owner;
    int lost = start->shapes || start->was_early
                   ? 0
                   : resources_claim(start->resources, plan_claim(start->plan), err);
    return lost < 0 ? GROUP_STEP_FAILED : lost ? GROUP_STEP_LOST : GROUP_STEP_DONE;
}

static int start_on_refresh(void *owner, struct error *err)
{
    struct program_start *start = owner;
    if (resources_refresh(start->resources, err) < 0)
        return -1;
    host_choice_drop_full(start->choice);
    return 0;
}

/* Spare hosts are asked next; then it waits for what others hold, unless some host failed: that is why it
 * does not fit. */
static enum group_step start_on_stuck(void *owner, struct error *err)
{
    struct program_start *start = owner;
    bool spare = !start->failed.text || can_spare_failed(start);
    if (spare && host_choice_add_spare(start->choice)) {
        error_clear(err);
        return start_agents(start, err);
    }
    if (!start->failed.text)
        return allocation_queue_wait(start->queue, err) < 0 ? GROUP_STEP_FAILED : GROUP_STEP_QUEUED;
    error_clear(err);
    *err = start->failed;
    start->failed = (struct error)ERROR_INIT;
    return GROUP_STEP_FAILED;
}

static void start_on_prepared(void *owner, const struct error *err)
{
    struct program_start *start = owner;
    start->prepares = false;
    keep_for_hosts(start);
    if (start->over)
        return;
    if (err)
        start->ops->refused(start->owner, err);
    else
        start->ops->planned(start->owner);
}

/* Of the first tasks; and of an instance all, for the programs in it. */
static struct idset *nodes_to_prepare(const struct program_start *start)
{
    struct idset *nodes = plan_tree_nodes(start->plan);
    if (!start->spec->initial_program)
        return nodes;
    IDSET_FOREACH(number, host_used(start->hosts))
    {
        if (host_at(start->hosts, number)->state == HOST_UP)
            idset_add(nodes, number);
    }
    return nodes;
}

static struct program_hooks_source hooks_source(const struct program_start *start,
                                                const struct idset *nodes)
{
    const struct resources *resources = start->resources;
    return (struct program_hooks_source){.nodes = nodes,
                                         .R = plan_claim(start->plan),
                                         .program = entry_id(resources_entry(resources)),
                                         .instance = instance_path(resources_instance(resources)),
                                         .instance_id = resources_instance_id(resources)};
}

static bool has_hooks(const struct program_start *start)
{
    return start->spec->prolog || start->spec->epilog;
}

static void start_on_staged(void *owner, const struct error *err)
{
    struct program_start *start = owner;
    if (err || start->over || !has_hooks(start)) {
        start_on_prepared(start, err);
        return;
    }
    struct idset *nodes = nodes_to_prepare(start);
    const struct program_hooks_source source = hooks_source(start, nodes);
    program_hooks_prolog(start->hooks, &source, start_on_prepared, start);
    idset_free(nodes);
}

/* The claim holds; no task is started before all of its nodes have the files. */
static void start_stage(struct program_start *start)
{
    struct idset *nodes = nodes_to_prepare(start);
    start->prepares = true;
    keep_for_hosts(start);
    stage_sender_send(start->stage, nodes, start_on_staged, start);
    idset_free(nodes);
}

/* ---- nodes that come later ---- */

static bool has_files(const struct program_start *start, uint32_t node)
{
    struct idset *nodes = idset_new();
    idset_add(nodes, node);
    bool has = stage_sender_has(start->stage, nodes);
    idset_free(nodes);
    return has;
}

static void start_on_prepared_late(void *owner, const struct error *err)
{
    struct program_start *start = owner;
    start->ops->prepared_late(start->owner, err);
}

static void start_on_staged_late(void *owner, const struct error *err)
{
    struct program_start *start = owner;
    struct idset *nodes = idset_new();
    IDSET_FOREACH(node, start->late)
    {
        if (has_files(start, node))
            idset_add(nodes, node);
    }
    idset_remove_set(start->late, nodes);
    if (err || !has_hooks(start))
        start_on_prepared_late(start, err);
    if (has_hooks(start) && !idset_empty(nodes)) {
        const struct program_hooks_source source = hooks_source(start, nodes);
        program_hooks_late(start->hooks, &source, start_on_prepared_late, start);
    }
    idset_free(nodes);
}

void program_start_prepare_late(struct program_start *start, uint32_t node)
{
    struct idset *nodes = idset_new();
    idset_add(nodes, node);
    idset_add(start->late, node);
    stage_sender_send(start->stage, nodes, start_on_staged_late, start);
    idset_free(nodes);
}

const char *program_start_lacks(const struct program_start *start, uint32_t node)
{
    return has_files(start, node) ? program_hooks_lack(start->hooks, node)
                                  : "the instance's files are not there yet";
}

/* ---- the last steps of the first group ---- */

static enum group_step start_on_launch(void *owner, struct error *err)
{
    struct program_start *start = owner;
    start->first = NULL;
    if (start->failed.text)
        agents_tell_spared(start->agents);
    allocation_queue_leave(start->queue);
    if (display_plan(start->display, start->plan, err) < 0)
        return GROUP_STEP_FAILED;
    if (start->spec->dry_run || stage_source_is_empty(stage_sender_source(start->stage)))
        start->ops->planned(start->owner);
    else
        start_stage(start);
    return GROUP_STEP_DONE;
}

static void start_on_refused(void *owner, const struct error *err)
{
    struct program_start *start = owner;
    start->first = NULL;
    start->ops->refused(start->owner, err);
}

static const struct group_start_ops first_ops = {
    start_on_begin,   start_awaits_hosts, start_on_plan,   start_on_claim,
    start_on_refresh, start_on_stuck,     start_on_launch, start_on_refused};

/* ---- what it does ---- */

char *program_start_describe(const struct program_start *start)
{
    char *predecessor = predecessors_describe(start->predecessors);
    if (predecessor) {
        char *text = mem_format("while waiting for %s", predecessor);
        free(predecessor);
        return text;
    }
    char *held = allocation_queue_describe(start->queue);
    if (held) {
        char *text = mem_format("while waiting in line for %s", held);
        free(held);
        return text;
    }
    char *hook = program_hooks_describe(start->hooks);
    if (hook) {
        char *text = mem_format("while %s went on", hook);
        free(hook);
        return text;
    }
    char *staged = start->prepares ? stage_sender_describe(start->stage) : NULL;
    if (staged) {
        char *text = mem_format("while files were copied %s", staged);
        free(staged);
        return text;
    }
    if (!host_awaited(start->hosts))
        return mem_copy_text("before the program started");
    struct hostlist *hosts = hostlist_new();
    size_t asked = 0, waiting = 0;
    IDSET_FOREACH(number, host_used(start->hosts))
    {
        bool awaited = host_at(start->hosts, number)->state == HOST_STARTING;
        asked++;
        waiting += awaited;
        if (awaited)
            hostlist_append(hosts, host_names(start->hosts)[number]);
    }
    char *names = hostlist_encode(hosts);
    char *text = mem_format("while connecting to %s (%zu of %zu host%s answered)", names,
                            asked - waiting, asked, asked == 1 ? " has" : "s have");
    free(names);
    hostlist_free(hosts);
    return text;
}

/* ---- what the objects want ---- */

static void start_on_note(void *owner, const char *text)
{
    struct program_start *start = owner;
    start->ops->note(start->owner, text);
}

static void start_on_say(void *owner, const char *text)
{
    struct program_start *start = owner;
    start->ops->say(start->owner, text);
}

static void start_on_say_args(void *owner, const char *fmt, va_list args)
{
    struct program_start *start = owner;
    char text[512];
    if (!start->spec->verbose)
        return;
    vsnprintf(text, sizeof(text), fmt, args);
    start_on_say(start, text);
}

static void start_on_show(void *owner, const char *text, bool error)
{
    struct program_start *start = owner;
    start->ops->show(start->owner, text, error);
}

/* Until tasks run. */
static bool start_on_progress(void *owner, const json_t *progress)
{
    struct program_start *start = owner;
    return !start->over && start->ops->progress(start->owner, progress);
}

/* While the program runs, which it does not end. */
static void start_on_failed(void *owner, uint32_t host)
{
    struct program_start *start = owner;
    if (!start->tasks_run)
        return;
    char *line = host_failure(start->hosts, host);
    start_on_say(start, line);
    free(line);
}

static void start_on_duplicate(void *owner, uint32_t host)
{
    struct program_start *start = owner;
    (void)host;
    if (start->tasks_run)
        agents_tell_duplicates(start->agents);
}

static bool queue_is_over(void *owner)
{
    const struct program_start *start = owner;
    return start->over;
}

static void queue_on_retry(void *owner)
{
    struct program_start *start = owner;
    if (start->first)
        group_start_begin(start->first);
}

static void queue_on_expired(void *owner, const struct error *err)
{
    struct program_start *start = owner;
    start->ops->refused(start->owner, err);
}

static void queue_on_waits(void *owner, const char *what)
{
    struct program_start *start = owner;
    start->ops->waits(start->owner, what);
}

static struct rset *queue_fit_plan(void *owner, const struct rset *held, bool *known,
                                   struct error *err)
{
    struct program_start *start = owner;
    return first_plan_try(start->first_plan, held, known, err);
}

static const struct lock_retry_ops lock_ops = {start_on_note};
static int start_on_draw(void *owner, const char *text, struct error *err)
{
    struct program_start *start = owner;
    return start->ops->draw(start->owner, text, err);
}

static void start_on_send_early(void *owner, const struct plan *plan)
{
    struct program_start *start = owner;
    start->ops->send_early(start->owner, plan);
}

static void start_on_forget_early(void *owner)
{
    struct program_start *start = owner;
    start->ops->forget_early(start->owner);
}

static const struct early_launch_ops early_ops = {start_on_send_early, start_on_forget_early};
static const struct display_ops display_ops = {start_on_show, start_on_note, start_on_draw};
static const struct agents_ops start_agents_ops = {
    start_on_say_args, start_on_note, start_on_failed, start_on_duplicate, start_on_progress};
static const struct allocation_queue_ops queue_ops = {
    queue_is_over, queue_on_retry, queue_on_expired, start_on_say,
    start_on_note, queue_on_waits, queue_fit_plan};

/* ---- life ---- */

/* Nothing comes before the tasks, nor after them: their agent ends its link with them. And no other programs
 * are in this one. */
static bool may_launch_early(const struct program_start *start)
{
    const struct spec *spec = start->spec;
    bool shows = spec->dry_run || spec->display || spec->draw;
    bool prepares = has_hooks(start) || !stage_source_is_empty(stage_sender_source(start->stage));
    return !shows && !prepares && !start->shapes && !spec->initial_program && !spec->agents_only;
}

/* All that needs no other process: nodes, instance, rank files, shapes, limits. */
static int open_all(struct program_start *start, struct error *err)
{
    const struct spec *spec = start->spec;
    if (!spec->dry_run && !stage_sender_source(start->stage)) {
        struct stage_source *source = stage_source_open(spec, err);
        if (!source)
            return -1;
        stage_sender_set(start->stage, source);
    }
    struct resources *resources = resources_open(spec, start->local, err);
    if (!resources)
        return -1;
    start->resources = resources;
    start->hosts = resources_hosts(resources);
    start->groups = group_starts_new(start->loop, resources_instance(resources), &lock_ops, start);
    start->queue = allocation_queue_new(start->loop, spec, resources, &queue_ops, start);
    start->agents =
        agents_new(start->loop, spec, start->hosts, start->local, start->bootstrap,
                   resources_topology_cache(resources), start->tree, &start_agents_ops, start);
    start->ops->opened(start->owner);
    if (resources_note(resources))
        start_on_note(start, resources_note(resources));
    if (resources_read_topologies(resources, err) < 0)
        return -1;
    const struct rset *R = host_nodes(start->hosts)->R;
    start->choice = host_choice_new(spec, resources, start->hosts, err);
    if (!start->choice || time_limit_check(spec, R ? R->expiration : 0, err) < 0 ||
        shape_allocation_open(spec, resources, start->choice, &start->shapes, err) < 0)
        return -1;
    start->first_plan =
        first_plan_new(spec, resources, start->agents, start->choice, start->shapes);
    if (may_launch_early(start))
        start->early = early_launch_new(start->tree, resources, start->agents, start->first_plan,
                                        &early_ops, start);
    start->display = display_new(spec, resources, &display_ops, start);
    return 0;
}

static void begin_first(void *owner)
{
    struct program_start *start = owner;
    start->first = group_start_new(start->groups, &first_ops, start);
    group_start_begin(start->first);
}

static void on_predecessor_refused(void *owner, const struct error *err)
{
    struct program_start *start = owner;
    start->ops->refused(start->owner, err);
}

static void on_predecessor_note(void *owner, const char *text)
{
    struct program_start *start = owner;
    start->ops->note(start->owner, text);
}

static const struct predecessors_ops predecessors_ops = {begin_first, on_predecessor_refused,
                                                         on_predecessor_note};

/* Without --after at once. */
static void begin_after(struct program_start *start)
{
    if (!start->spec->after || start->spec->dry_run) {
        begin_first(start);
        return;
    }
    start->predecessors = predecessors_new(start->loop, start->spec->after,
                                           instance_name(resources_instance(start->resources)),
                                           &predecessors_ops, start);
    predecessors_wait(start->predecessors);
}

void program_start_begin(struct program_start *start)
{
    struct error err = ERROR_INIT;
    if (open_all(start, &err) == 0)
        begin_after(start);
    else
        start->ops->refused(start->owner, &err);
    error_clear(&err);
}

void program_start_tasks_run(struct program_start *start)
{
    start->over = true;
    start->tasks_run = true;
    lock_tasks_run(group_starts_lock(start->groups));
    /* from now on the link tells of the front end, and tasks are ended */
    prctl(PR_SET_PDEATHSIG, 0);
}

void program_start_stop(struct program_start *start)
{
    start->over = true;
    start->tasks_run = false;
    predecessors_stop(start->predecessors);
    stage_sender_stop(start->stage);
    group_starts_stop(start->groups);
}

static const char *start_host_name(void *owner, uint32_t node)
{
    const struct program_start *start = owner;
    return start->hosts && node < host_count(start->hosts) ? host_names(start->hosts)[node] : NULL;
}

static void start_on_event(void *owner, const char *name, json_t *context)
{
    struct program_start *start = owner;
    start->ops->event(start->owner, name, context);
}

static const struct program_hooks_ops hooks_ops = {start_host_name, start_on_event, start_on_note};

struct program_start *program_start_new(struct ev_loop *loop, const struct spec *spec,
                                        struct tree *tree, struct host_bootstrap *bootstrap,
                                        struct local_topology *local,
                                        const struct program_start_ops *ops, void *owner)
{
    struct program_start *start = mem_alloc(sizeof(*start));
    *start = (struct program_start){.loop = loop,
                                    .spec = spec,
                                    .tree = tree,
                                    .bootstrap = bootstrap,
                                    .local = local,
                                    .ops = ops,
                                    .owner = owner};
    start->stage = stage_sender_new(loop, tree, start_host_name, start);
    start->hooks = program_hooks_new(loop, spec, tree, &hooks_ops, start);
    start->late = idset_new();
    return start;
}

void program_start_free(struct program_start *start)
{
    if (!start)
        return;
    display_free(start->display);
    early_launch_free(start->early);
    plan_free(start->plan);
    first_plan_free(start->first_plan);
    error_clear(&start->failed);
    shape_allocation_free(start->shapes);
    host_choice_free(start->choice);
    predecessors_free(start->predecessors);
    allocation_queue_free(start->queue);
    group_starts_free(start->groups);
    agents_free(start->agents);
    stage_sender_free(start->stage);
    program_hooks_free(start->hooks);
    idset_free(start->late);
    resources_free(start->resources);
    free(start);
}

struct resources *program_start_resources(const struct program_start *start)
{
    return start->resources;
}

struct host_table *program_start_hosts(const struct program_start *start)
{
    return start->hosts;
}

struct agents *program_start_agents(const struct program_start *start)
{
    return start->agents;
}

struct stage_sender *program_start_stage(const struct program_start *start)
{
    return start->stage;
}

struct program_hooks *program_start_hooks(const struct program_start *start)
{
    return start->hooks;
}

struct group_starts *program_start_groups(const struct program_start *start)
{
    return start->groups;
}

const struct plan *program_start_plan(const struct program_start *start)
{
    return start->plan;
}

struct display *program_start_display(const struct program_start *start)
{
    return start->display;
}

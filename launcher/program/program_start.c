/* From a spec to tasks that are placed: hosts are asked, resources waited for, a plan made and claimed. */
#include "launcher/program/program_start.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "launcher/instance/allocation_queue.h"
#include "launcher/plan/host_choice.h"
#include "launcher/plan/shape_allocation.h"
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
    struct lock_retry *lock;
    struct allocation_queue *queue;
    struct agents *agents;
    struct host_choice *choice;
    struct shape_allocation *shapes; /* NULL: no part has a shape */
    struct plan *plan;
    struct display *display;
    bool over;      /* nothing is planned any more */
    bool tasks_run; /* from then until the end */
};

/* ---- step by step ---- */

static void retry(struct program_start *start);

static void program_start_on_lock(void *owner)
{
    struct program_start *start = owner;
    if (!start->over)
        retry(start);
    else if (start->tasks_run)
        start->ops->unlocked(start->owner);
}

int program_start_lock_wait(struct program_start *start, struct error *err)
{
    return lock_wait(start->lock, program_start_on_lock, err);
}

static int start_agents(struct program_start *start, struct error *err)
{
    struct idset *wanted = host_choice_wanted(start->choice);
    int rc = agents_start(start->agents, wanted, !allocation_queue_waits(start->queue), err);
    idset_free(wanted);
    return rc;
}

/* Every host that was asked has settled: there may be others to ask. */
static int next(struct program_start *start, struct error *err)
{
    struct error failed = ERROR_INIT;
    agents_check(start->agents, &failed);
    bool spare = !failed.text || host_choice_can_spare_failed(start->choice);
    if ((failed.text || host_choice_is_short(start->choice)) && spare &&
        host_choice_add_spare(start->choice)) {
        error_clear(&failed);
        return start_agents(start, err);
    }
    lock_be_patient(start->lock);
    if (spare && plan_map(start->plan, err) == 0) {
        if (failed.text)
            agents_tell_spared(start->agents);
        error_clear(&failed);
        allocation_queue_leave(start->queue);
        if (display_plan(start->display, err) < 0)
            return -1;
        start->ops->planned(start->owner);
        return 0;
    }
    if (spare && lock_is_busy(start->lock)) {
        error_clear(&failed);
        return -1;
    }
    if (spare && host_choice_add_spare(start->choice)) {
        error_clear(&failed);
        error_clear(err);
        return start_agents(start, err);
    }
    if (!failed.text)
        return allocation_queue_wait(start->queue, err) < 0 ? -1 : 1;
    error_clear(err);
    *err = failed;
    return -1;
}

/* A layout may take long, so that the link's end would be seen late: until tasks run the kernel ends
 * this process with the front end. Not while hosts are waited for: what reaches them has files and
 * processes, which are cleared away when the link ends. */
static void die_with_front(const struct program_start *start)
{
    if (!start->over)
        prctl(PR_SET_PDEATHSIG, host_awaited(start->hosts) ? 0 : SIGKILL);
}

static void program_start_go_on(struct program_start *start, int result, struct error *err)
{
    die_with_front(start);
    while (result == 0 && !start->over && !host_awaited(start->hosts))
        result = next(start, err);
    if (result < 0 && lock_is_busy(start->lock))
        result = lock_wait(start->lock, program_start_on_lock, err);
    else
        lock_had(start->lock);
    if (result < 0)
        start->ops->refused(start->owner, err);
    error_clear(err);
    die_with_front(start);
}

/* What a shape asks for is allocated before any host is asked, where R tells enough. */
static int begin(struct program_start *start, struct error *err)
{
    if (shape_allocation_early(start->shapes, err) < 0)
        return lock_is_busy(start->lock) || allocation_queue_wait(start->queue, err) < 0 ? -1 : 1;
    if (shape_allocation_R(start->shapes))
        allocation_queue_leave(start->queue);
    return start_agents(start, err);
}

/* From the front, with what is free now; hosts that are there already are not asked again. */
static void retry(struct program_start *start)
{
    struct error err = ERROR_INIT;
    lock_be_patient(start->lock);
    int result = resources_enter(start->resources, &err);
    if (result == 0)
        result = resources_refresh(start->resources, &err);
    if (result == 0) {
        host_choice_make(start->choice);
        result = begin(start, &err);
    }
    program_start_go_on(start, result, &err);
}

/* "while connecting to node[1-3] (1 of 4 hosts has answered)" */
static char *describe_gathering(const struct program_start *start)
{
    struct hostlist *hosts = hostlist_new();
    size_t asked = 0, waiting = 0;
    for (size_t i = 0; i < host_count(start->hosts); i++) {
        enum host_state state = host_at(start->hosts, (uint32_t)i)->state;
        bool awaited = state == HOST_STARTING;
        asked += state != HOST_UNUSED;
        waiting += awaited;
        if (awaited)
            hostlist_append(hosts, host_names(start->hosts)[i]);
    }
    char *names = hostlist_encode(hosts);
    char *text = mem_format("while connecting to %s (%zu of %zu host%s answered)", names,
                            asked - waiting, asked, asked == 1 ? " has" : "s have");
    free(names);
    hostlist_free(hosts);
    return text;
}

char *program_start_describe(const struct program_start *start)
{
    char *held = allocation_queue_describe(start->queue);
    if (!held)
        return host_awaited(start->hosts) ? describe_gathering(start)
                                          : mem_copy_text("before the program started");
    char *text = mem_format("while waiting in line for %s", held);
    free(held);
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
    retry(owner);
}

static void queue_on_expired(void *owner, const struct error *err)
{
    struct program_start *start = owner;
    start->ops->refused(start->owner, err);
}

static struct rset *queue_fits_ever(void *owner, bool *known, struct error *err)
{
    struct program_start *start = owner;
    return plan_fits_ever(start->plan, known, err);
}

static const struct lock_retry_ops lock_ops = {start_on_note};
static const struct display_ops display_ops = {start_on_show, start_on_note};
static const struct agents_ops start_agents_ops = {
    start_on_say_args, start_on_note, start_on_failed, start_on_duplicate, start_on_progress};
static const struct allocation_queue_ops queue_ops = {
    queue_is_over, queue_on_retry, queue_on_expired, start_on_say, start_on_note, queue_fits_ever};

/* ---- life ---- */

/* All that needs no other process: nodes, instance, rank files, shapes, limits. */
static int open_all(struct program_start *start, struct error *err)
{
    const struct spec *spec = start->spec;
    struct resources *resources = resources_open(spec, start->local, err);
    if (!resources)
        return -1;
    start->resources = resources;
    start->hosts = resources_hosts(resources);
    start->lock = lock_retry_new(start->loop, resources_instance(resources), &lock_ops, start);
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
    start->plan = plan_new(spec, resources, start->agents, start->choice, start->shapes);
    start->display = display_new(spec, resources, start->plan, &display_ops, start);
    return 0;
}

void program_start_begin(struct program_start *start)
{
    struct error err = ERROR_INIT;
    if (open_all(start, &err) == 0)
        retry(start);
    else
        start->ops->refused(start->owner, &err);
    error_clear(&err);
}

void program_start_settled(struct program_start *start)
{
    struct error err = ERROR_INIT;
    program_start_go_on(start, 0, &err);
}

void program_start_tasks_run(struct program_start *start)
{
    start->over = true;
    start->tasks_run = true;
    lock_tasks_run(start->lock);
    /* from now on the link tells of the front end, and tasks are ended */
    prctl(PR_SET_PDEATHSIG, 0);
}

void program_start_stop(struct program_start *start)
{
    start->over = true;
    start->tasks_run = false;
}

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
    return start;
}

void program_start_free(struct program_start *start)
{
    if (!start)
        return;
    display_free(start->display);
    plan_free(start->plan);
    shape_allocation_free(start->shapes);
    host_choice_free(start->choice);
    allocation_queue_free(start->queue);
    lock_retry_free(start->lock);
    agents_free(start->agents);
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

struct lock_retry *program_start_lock(const struct program_start *start)
{
    return start->lock;
}

struct plan *program_start_plan(const struct program_start *start)
{
    return start->plan;
}

struct display *program_start_display(const struct program_start *start)
{
    return start->display;
}

bool program_start_is_by_shape(const struct program_start *start)
{
    return start->shapes;
}

/* The groups of a program on this node, and what they share. */
#include "launcher/agent/local_program.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "launcher/agent/cpu_quota.h"
#include "launcher/agent/host_register.h"
#include "launcher/agent/local_group.h"
#include "launcher/agent/local_hooks.h"
#include "launcher/agent/local_input.h"
#include "launcher/process/process_sample.h"
#include "launcher/protocol/inquiry.h"
#include "launcher/task/task_start.h"
#include "pmi-server/protocol/task_states.h"

/* s that tasks run before what they are bound to is written down: what ends sooner is in nobody's way, and a short
 * program would take longer for it than for anything else in its agent */
#define REGISTER_DELAY 0.1

struct listed_group {
    struct local_group *group;
    struct listed_group *next; /* younger */
};

struct local_program {
    struct local_services services;
    struct cgroup *cgroup;
    struct listed_group *groups; /* that have not reported their end, the oldest first */
    uint32_t next_group;         /* the next one has this number or a higher one */
    uint32_t ntasks;             /* that all groups ever had here */
    struct local_input *input;
    struct host_register *in_register;
    ev_timer register_due;
    struct local_hooks *hooks;
    bool alone; /* launched early: on this node only, and over with its group unless that asks for
                   something */
    bool quota_noted;                /* that tasks have more cores than processor time */
    struct group_pmix_job *retained; /* of groups that have ended here, the latest first */
};

static struct local_group *find_group(const struct local_program *program, uint32_t number)
{
    for (const struct listed_group *item = program->groups; item; item = item->next)
        if (local_group_number(item->group) == number)
            return item->group;
    return NULL;
}

static struct local_group *find_in_phase(const struct local_program *program,
                                         enum group_phase phase)
{
    for (const struct listed_group *item = program->groups; item; item = item->next)
        if (local_group_phase(item->group) == phase)
            return item->group;
    return NULL;
}

static bool has_tasks(const struct local_group *group)
{
    enum group_phase phase = local_group_phase(group);
    return phase == GROUP_STARTING || phase == GROUP_RUNNING;
}

/* ---- starts: one group at a time, the oldest first ---- */

/* A prepared group goes on only when all its nodes can start it; none starts while leftovers are ended. */
static void start_next(struct local_program *program)
{
    struct task_termination *termination = program->services.termination;
    struct local_group *group = find_in_phase(program, GROUP_PREPARED);
    if (task_termination_is_for_leftovers(termination))
        return;
    if (group)
        local_group_go_on(group);
    while (!task_termination_is_for_leftovers(termination) &&
           !find_in_phase(program, GROUP_STARTING) && !find_in_phase(program, GROUP_PREPARED) &&
           (group = find_in_phase(program, GROUP_WAITING))) {
        const struct launch *launch = local_group_launch(group);
        if (!launch->group)
            local_input_launched(program->input, launch);
        local_group_begin(group);
    }
}

_Static_assert(TASK_SIGNALS_STARTING_MAX == TASK_START_MAX, "all that are starting");
static size_t list_starting(void *owner, pid_t *pids)
{
    struct local_group *group = find_in_phase(owner, GROUP_STARTING);
    return group ? local_group_starting(group, pids) : 0;
}

/* ---- what groups tell of themselves ---- */

static bool program_is_last_group(void *owner, const struct local_group *group)
{
    const struct local_program *program = owner;
    for (const struct listed_group *item = program->groups; item; item = item->next)
        if (item->group != group && has_tasks(item->group))
            return false;
    return true;
}

/* Its tasks run, and are bound. */
static bool is_for_register(const struct local_group *group)
{
    return local_group_phase(group) == GROUP_RUNNING &&
           host_register_is_for(local_group_launch(group), local_group_is_unbound(group));
}

/* Of all groups whose tasks run, and are bound. */
static struct idset *bound_processors(const struct local_program *program)
{
    struct idset *all = idset_new();
    for (const struct listed_group *item = program->groups; item; item = item->next)
        if (is_for_register(item->group))
            task_cgroup_add_processors(&all, local_group_launch(item->group));
    return all;
}

static void check_quota(struct local_program *program, const struct local_group *group)
{
    const struct local_services *services = &program->services;
    if (!group_tasks_count(local_group_tasks(group)) || program->quota_noted)
        return;
    double quota = cgroup_own_quota();
    if (isinf(quota))
        return;
    struct idset *cores = idset_new();
    for (const struct listed_group *item = program->groups; item; item = item->next)
        if (local_group_launch(item->group) && local_group_phase(item->group) == GROUP_RUNNING)
            cpu_quota_add_cores(&cores, local_group_launch(item->group), services->topo,
                                local_group_is_unbound(item->group));
    program->quota_noted = cpu_quota_note(services->uplink, services->host, quota, cores);
    idset_free(cores);
}

/* Its name in the register is that of the oldest group. */
static void program_on_register_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct local_program *program = timer->data;
    const struct launch *launch = NULL;
    (void)loop, (void)events;
    for (const struct listed_group *item = program->groups; item && !launch; item = item->next)
        if (is_for_register(item->group))
            launch = local_group_launch(item->group);
    if (!launch)
        return;
    struct idset *cpus = bound_processors(program);
    host_register_add(program->in_register, launch, cpus);
    idset_free(cpus);
}

static void program_on_group_running(void *owner, struct local_group *group)
{
    struct local_program *program = owner;
    ev_timer *due = &program->register_due;
    if (is_for_register(group) && !ev_is_active(due)) {
        ev_timer_set(due, REGISTER_DELAY, 0);
        ev_timer_start(program->services.loop, due);
    }
    check_quota(program, group);
}

static void program_on_group_over(void *owner, struct local_group *group)
{
    struct local_program *program = owner;
    if (task_cgroup_keeps(program->services.cgroup)) {
        struct idset *left = idset_new();
        for (const struct listed_group *item = program->groups; item; item = item->next)
            if (has_tasks(item->group) && local_group_launch(item->group))
                task_cgroup_add_processors(&left, local_group_launch(item->group));
        task_cgroup_narrow(program->services.cgroup, left);
        idset_free(left);
    }
    if (host_register_has(program->in_register) &&
        host_register_is_for(local_group_launch(group), local_group_is_unbound(group))) {
        struct idset *cpus = bound_processors(program);
        host_register_narrow(program->in_register, cpus);
        idset_free(cpus);
    }
}

/* ---- stdin, of the first group ---- */

static bool stdin_lags(void *owner)
{
    struct local_program *program = owner;
    return local_input_lags(program->input, find_group(program, 0));
}

static void return_stdin_credit(void *owner)
{
    struct local_program *program = owner;
    pmix_host_settle_input(program->services.pmix);
    local_input_settle(program->input, find_group(program, 0));
}

static void program_on_stdin(struct local_program *program, const struct frame *frame)
{
    local_input_take(program->input, find_group(program, 0), frame);
    return_stdin_credit(program);
}

static void program_on_terminal(struct local_program *program, const struct frame *frame)
{
    struct local_group *first = find_group(program, 0);
    local_input_send_down(program->input, frame);
    if (first)
        group_tasks_on_terminal(local_group_tasks(first), frame);
}

/* ---- messages between hosts of openpmix, and with the program's service ---- */

/* To this node, or on its way. */
static void program_on_post(void *owner, const struct frame *frame)
{
    struct local_program *program = owner;
    const struct local_services *services = &program->services;
    bool here = frame->node == uplink_node(services->uplink);
    struct local_group *group = here ? find_group(program, frame->group) : NULL;
    struct group_pmix_job *retained =
        here && !group ? pmix_job_find_retained(program->retained, frame->group) : NULL;
    if (group)
        local_group_on_post(group, frame);
    else if (retained)
        pmix_job_on_post(retained, false, frame);
    else if (downlink_has(services->downlink, frame->node))
        downlink_send_node(services->downlink, frame->node, frame);
    else if (!here)
        uplink_send(services->uplink, frame);
}

/* NULL: its tasks are not known here, or not any more. */
static void answer_task_query(struct local_program *program, uint64_t number, const char *job)
{
    struct uplink *uplink = program->services.uplink;
    const struct local_group *group = NULL;
    struct buf message = BUF_INIT;
    for (const struct listed_group *item = program->groups; item; item = item->next)
        if (!group && local_group_is_named(item->group, job))
            group = item->group;
    struct task_info *tasks = group ? group_tasks_states(local_group_tasks(group)) : NULL;
    task_states_put_answer(&message, number, job, tasks,
                           group ? group_tasks_count(local_group_tasks(group)) : 0);
    struct frame frame = {.type = FRAME_SERVICE,
                          .node = uplink_node(uplink),
                          .bytes = buf_bytes(&message),
                          .len = message.len};
    uplink_send(uplink, &frame);
    buf_free(&message);
    free(tasks);
}

/* Nobody asks openpmix's host before there is one, nor after. */
static void program_on_service(struct local_program *program, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    uint64_t number;
    char *job;
    if (frame->node != uplink_node(program->services.uplink)) {
        downlink_send_node(program->services.downlink, frame->node, frame);
        return;
    }
    if (task_states_wanted(frame->bytes, frame->len, &number, &job)) {
        answer_task_query(program, number, job);
        free(job);
        return;
    }
    if (pmix_host_on_service(program->services.pmix, frame, &err) < 0 && program->groups)
        local_group_pmix_failed(program->groups->group, &err);
    error_clear(&err);
}

static void program_on_stage(struct local_program *program, const struct frame *frame)
{
    local_stage_take(program->services.stage, frame);
}

static void program_on_hook(struct local_program *program, const struct frame *frame)
{
    if (frame->node == uplink_node(program->services.uplink))
        local_hooks_take(program->hooks, frame);
    else
        downlink_send_node(program->services.downlink, frame->node, frame);
}

/* ---- frames ---- */

static const struct local_group_ops group_ops = {program_is_last_group, program_on_group_running,
                                                 program_on_group_over, return_stdin_credit,
                                                 program_on_post};

/* What goes wrong with it is told as what goes wrong with tasks. */
static void program_on_launch(struct local_program *program, const struct frame *frame)
{
    if (frame->group < program->next_group || frame->group == FRAME_ALL || !program->services.topo)
        return;
    struct listed_group *item = mem_alloc(sizeof(*item));
    program->alone = frame->flags & FRAME_LAUNCH_EARLY; /* a later one is of a spawn */
    if (program->alone) /* who ends the program before it has heard of these tasks waits for them */
        uplink_hold(program->services.uplink);
    program->next_group = frame->group + 1;
    item->group = local_group_new(&program->services, frame, program->ntasks, &group_ops, program);
    program->ntasks += group_tasks_count(local_group_tasks(item->group));
    struct listed_group **last = &program->groups;
    while (*last)
        last = &(*last)->next;
    *last = item;
    start_next(program);
}

static void program_on_go(struct local_program *program, const struct frame *frame)
{
    struct local_group *group = find_group(program, frame->group);
    if (!group)
        return;
    local_group_on_go(group, frame);
    start_next(program);
}

static void program_on_signal(struct local_program *program, const struct frame *frame)
{
    downlink_send(program->services.downlink, frame);
    task_signals_forward(program->services.signals, frame->flags);
    for (const struct listed_group *item = program->groups; item; item = item->next)
        local_group_owe_signal(item->group, frame->flags);
    if (frame->rank == FRAME_SIGNAL_END)
        task_termination_count_down(program->services.termination);
}

/* All tasks are to end, as by FRAME_SIGNAL: those that are not started hear it when they are. */
static void owe_end(struct local_program *program, int number)
{
    for (const struct listed_group *item = program->groups; item; item = item->next)
        local_group_owe_signal(item->group, number);
    task_termination_count_down(program->services.termination);
}

/* One signal for each process, or one look at each, however many tasks there are. */
static void inquire(struct local_program *program, const struct inquiry *inquiry,
                    struct inquiry_answer *answer)
{
    struct task_signals *signals = program->services.signals;
    for (const struct listed_group *item = program->groups; item; item = item->next)
        group_tasks_add(local_group_tasks(item->group), inquiry->ranks,
                        local_group_phase(item->group) < GROUP_RUNNING, answer);
    inquiry_answer_sort(answer);
    pid_t *pids = mem_array(answer->ntasks, sizeof(*pids));
    for (size_t i = 0; i < answer->ntasks; i++)
        pids[i] = (pid_t)answer->tasks[i].pid;
    if (inquiry->about_stdin) {
        answer->reading = idset_new();
        answer->lagging = idset_new();
        for (const struct listed_group *item = program->groups; item; item = item->next)
            group_tasks_add_reading(local_group_tasks(item->group), inquiry->ranks, answer->reading,
                                    answer->lagging);
    } else if (inquiry->signal) {
        task_signals_send_tasks(signals, pids, answer->ntasks, inquiry->signal);
    } else {
        struct process_set set = {0};
        struct process_sample *samples = mem_array(answer->ntasks, sizeof(*samples));
        task_signals_list(signals, &set);
        process_sample_groups(&set, pids, answer->ntasks, samples);
        for (size_t i = 0; i < answer->ntasks; i++) {
            answer->tasks[i].state = samples[i].state;
            answer->tasks[i].cpu_ms = samples[i].cpu_ms;
            answer->tasks[i].memory_kib = samples[i].memory_kib;
        }
        process_set_clear(&set);
        free(samples);
    }
    free(pids);
}

static void program_on_inquiry(struct local_program *program, const struct frame *frame)
{
    struct uplink *uplink = program->services.uplink;
    struct inquiry inquiry = {0};
    json_t *value = frame_json(frame, NULL);
    bool good = value && inquiry_from_json(&inquiry, value, NULL) == 0;
    if (good)
        downlink_send_nodes(program->services.downlink, inquiry.nodes, frame);
    if (good && idset_has(inquiry.nodes, uplink_node(uplink))) {
        struct inquiry_answer answer = {.waiting = idset_new()};
        inquire(program, &inquiry, &answer);
        if (inquiry.asks_for_end)
            owe_end(program, inquiry.signal);
        uplink_send_json(uplink,
                         (struct frame){.type = FRAME_INQUIRY_ANSWER,
                                        .node = uplink_node(uplink),
                                        .rank = frame->rank},
                         inquiry_answer_to_json(&answer, !inquiry.signal && !inquiry.about_stdin));
        inquiry_answer_clear(&answer);
    }
    inquiry_clear(&inquiry);
    json_decref(value);
}

static void program_on_terminate(struct local_program *program, const struct frame *frame)
{
    struct local_group *group = find_group(program, frame->group);
    if (frame->group != FRAME_ALL && group) {
        local_group_send_down(group, frame);
        local_group_kill(group);
    }
    if (frame->group != FRAME_ALL)
        return;
    downlink_send(program->services.downlink, frame);
    task_termination_start(program->services.termination,
                           frame->rank == FRAME_ALL ? INFINITY : frame->rank / 1000.0);
    if (local_program_is_over(program)) /* an epilog that is run next has a time of its own */
        task_termination_nothing_left(program->services.termination);
    task_termination_count_down(program->services.termination);
}

static void program_on_fence_down(struct local_program *program, const struct frame *frame)
{
    struct local_group *group = find_group(program, frame->group);
    if (group)
        local_group_on_fence_down(group, frame);
}

static void program_on_missing(struct local_program *program, const struct frame *frame)
{
    struct local_group *group = find_group(program, frame->group);
    if (group)
        local_group_on_missing(group, frame);
}

static void program_on_answer(struct local_program *program, const struct frame *frame)
{
    struct local_group *group = find_group(program, frame->group);
    bool here = frame->node == uplink_node(program->services.uplink);
    if (here && group)
        local_group_on_answer(group, frame);
    else if (!here)
        downlink_send_node(program->services.downlink, frame->node, frame);
}

static void program_on_post_frame(struct local_program *program, const struct frame *frame)
{
    program_on_post(program, frame);
}

static void (*const from_above[FRAME_NTYPES])(struct local_program *, const struct frame *) = {
    [FRAME_LAUNCH] = program_on_launch,
    [FRAME_GO] = program_on_go,
    [FRAME_SIGNAL] = program_on_signal,
    [FRAME_TERMINATE] = program_on_terminate,
    [FRAME_STDIN] = program_on_stdin,
    [FRAME_STDIN_END] = program_on_stdin,
    [FRAME_STDIN_CHOOSE] = program_on_stdin,
    [FRAME_STDIN_LEFT] = program_on_stdin,
    [FRAME_FENCE_DOWN] = program_on_fence_down,
    [FRAME_MISSING] = program_on_missing,
    [FRAME_ANSWER] = program_on_answer,
    [FRAME_POST] = program_on_post_frame,
    [FRAME_SERVICE] = program_on_service,
    [FRAME_INQUIRY] = program_on_inquiry,
    [FRAME_TERMINAL] = program_on_terminal,
    [FRAME_STAGE] = program_on_stage,
    [FRAME_STAGE_DATA] = program_on_stage,
    [FRAME_STAGE_END] = program_on_stage,
    [FRAME_HOOK] = program_on_hook,
};

void local_program_from_above(struct local_program *program, const struct frame *frame)
{
    if (from_above[frame->type])
        from_above[frame->type](program, frame);
}

bool local_program_from_below(struct local_program *program, const struct frame *frame)
{
    struct local_group *group = find_group(program, frame->group);
    switch (frame->type) {
    case FRAME_FENCE_UP:
        if (group)
            local_group_on_fence_up(group, frame);
        return true;
    case FRAME_POST:
        program_on_post(program, frame);
        return true;
    case FRAME_DONE:
        if (group)
            local_group_on_done(group, frame);
        return true;
    default:
        return false;
    }
}

void local_program_nodes_gone(struct local_program *program, const struct idset *nodes)
{
    for (const struct listed_group *item = program->groups; item; item = item->next)
        local_group_nodes_gone(item->group, nodes);
    local_stage_settle(program->services.stage); /* it may have been they that had no room */
}

void local_program_room_below(struct local_program *program)
{
    return_stdin_credit(program);
    local_stage_settle(program->services.stage);
}

void local_program_room_above(struct local_program *program)
{
    if (!task_outputs_are_held(program->services.outputs))
        return;
    for (const struct listed_group *item = program->groups; item; item = item->next)
        group_tasks_output_resumed(local_group_tasks(item->group));
    task_outputs_resume(program->services.outputs);
}

/* ---- the end ---- */

void local_program_uplink_lost(struct local_program *program, double grace)
{
    struct local_group *first = find_group(program, 0);
    task_outputs_forsake(program->services.outputs);
    if (first)
        group_tasks_on_terminal(local_group_tasks(first), &(struct frame){.type = FRAME_TERMINAL});
    if (!local_program_is_over(program))
        task_termination_start(program->services.termination, grace);
}

void local_program_reaped(struct local_program *program, pid_t pid, int status)
{
    struct local_group *starting = find_in_phase(program, GROUP_STARTING);
    if (local_hooks_reaped(program->hooks, pid))
        return;
    if (starting)
        local_group_settle_start(starting, pid);
    for (const struct listed_group *item = program->groups; item; item = item->next) {
        if (!group_tasks_reaped(local_group_tasks(item->group), pid, status))
            continue;
        task_termination_recount(program->services.termination);
        return;
    }
    /* an orphan that was adopted: they may come too fast to look each time */
}

/* Takes the first group out of a list. */
static void drop_group(struct local_program *program, struct listed_group **at)
{
    struct listed_group *item = *at;
    *at = item->next;
    local_group_free(item->group, &program->retained);
    free(item);
}

/* The last is over. Where its report waits for nothing but the socket, and nothing can follow it, the link is ended
 * at once: the parent would do the same after a round trip. */
static void groups_are_over(struct local_program *program)
{
    struct uplink *uplink = program->services.uplink;
    uplink_flush(uplink);
    /* this process is waited for: tprun ends later */
    task_cgroup_remove(program->services.cgroup);
    uplink_release(uplink);
    if (program->alone && uplink_room(uplink) && local_program_tools_patience(program) <= 0)
        uplink_end(uplink);
}

void local_program_turn(struct local_program *program)
{
    struct task_termination *termination = program->services.termination;
    struct local_group *group = find_in_phase(program, GROUP_PREPARED);
    bool reported = false;
    /* What is prepared and not wanted any more is started in vain, which reports that. */
    if (group)
        local_group_abandon(group, task_termination_is_on(termination) &&
                                       !task_termination_is_for_leftovers(termination));
    for (struct listed_group **at = &program->groups; *at;) {
        if (local_group_check((*at)->group)) {
            program->alone &= !local_group_has_asked((*at)->group);
            drop_group(program, at);
            reported = true;
        } else {
            at = &(*at)->next;
        }
    }
    if (reported && !program->groups)
        groups_are_over(program);
    start_next(program);
}

bool local_program_is_over(const struct local_program *program)
{
    return !program->groups;
}

bool local_program_end(struct local_program *program)
{
    return pmix_host_end(program->services.pmix) && local_hooks_end(program->hooks);
}

double local_program_tools_patience(const struct local_program *program)
{
    return pmix_host_tools_patience(program->services.pmix);
}

bool local_program_gave_up(const struct local_program *program)
{
    return task_termination_gave_up(program->services.termination);
}

static uint32_t count_tasks_left(void *owner)
{
    const struct local_program *program = owner;
    uint32_t count = 0;
    for (const struct listed_group *item = program->groups; item; item = item->next)
        count += local_group_count(item->group);
    return count;
}

static void give_up_tasks(void *owner)
{
    const struct local_program *program = owner;
    for (const struct listed_group *item = program->groups; item; item = item->next)
        local_group_give_up(item->group);
}

static const struct task_termination_ops termination_ops = {count_tasks_left, give_up_tasks};

/* ---- life ---- */

static void note_cgroup(void *owner, const char *text)
{
    uplink_note(((struct local_program *)owner)->services.uplink, "%s", text);
}

struct local_program *local_program_new(const struct local_program_config *config)
{
    struct local_program *program = mem_alloc(sizeof(*program));
    struct local_services *services = &program->services;
    *services = (struct local_services){.loop = config->loop,
                                        .uplink = config->uplink,
                                        .downlink = config->downlink,
                                        .host = config->host,
                                        .topo = config->topo,
                                        .scratch = config->scratch};
    program->input = local_input_new(services);
    services->outputs = task_outputs_new(config->loop, config->uplink);
    services->cgroup =
        task_cgroup_new(config->cgroup, config->topo, config->host, note_cgroup, program);
    services->signals = task_signals_new(config->downlink, config->cgroup, list_starting, program);
    const struct task_termination_config termination = {.loop = config->loop,
                                                        .uplink = config->uplink,
                                                        .downlink = config->downlink,
                                                        .signals = services->signals,
                                                        .cgroup = config->cgroup};
    services->termination = task_termination_new(&termination, &termination_ops, program);
    services->topology_file = topology_file_new(config->loop, config->scratch);
    const struct agent_pmix_host_config pmix = {.loop = config->loop,
                                                .uplink = config->uplink,
                                                .host = config->host,
                                                .scratch = config->scratch,
                                                .topology_file = services->topology_file,
                                                .machine = config->machine,
                                                .ahead = config->pmix,
                                                .quiet = !config->verbose,
                                                .job_ops = &pmix_job_server_ops,
                                                .input_lags = stdin_lags,
                                                .owner = program};
    services->pmix = pmix_host_new(&pmix);
    const struct local_stage_config stage = {.uplink = config->uplink,
                                             .downlink = config->downlink,
                                             .scratch = config->scratch,
                                             .instance = config->instance,
                                             .is_instance = config->is_instance};
    services->stage = local_stage_new(&stage);
    const struct local_hooks_config hooks = {.loop = config->loop,
                                             .uplink = config->uplink,
                                             .downlink = config->downlink,
                                             .stage = services->stage,
                                             .scratch = config->scratch,
                                             .is_instance = config->is_instance,
                                             .manager = config->manager};
    program->hooks = local_hooks_new(&hooks);
    program->in_register = host_register_new(config->uplink, config->host);
    ev_timer_init(&program->register_due, program_on_register_due, REGISTER_DELAY, 0);
    program->register_due.data = program;
    return program;
}

void local_program_expect_pmix(struct local_program *program)
{
    pmix_host_begin_early(program->services.pmix);
}

void local_program_free(struct local_program *program)
{
    if (!program)
        return;
    struct local_services *services = &program->services;
    while (program->groups)
        drop_group(program, &program->groups);
    pmix_host_free_tools(services->pmix);
    pmix_job_free_retained(&program->retained);
    pmix_host_free(services->pmix);
    topology_file_free(services->topology_file);
    ev_timer_stop(services->loop, &program->register_due);
    host_register_free(program->in_register);
    local_hooks_free(program->hooks);
    local_stage_free(services->stage);
    task_termination_free(services->termination);
    task_signals_free(services->signals);
    task_cgroup_free(services->cgroup);
    task_outputs_free(services->outputs);
    local_input_free(program->input);
    free(program);
}

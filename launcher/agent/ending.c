/* How tasks end: one by one, together, and the proof that nothing of them is left. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "launcher/agent/state.h"
#include "launcher/process/descend.h"

#define LINGER 1.0       /* s of silence after which what a task left behind is ended */
#define KILL_PERIOD 0.05 /* s between rounds of KILL: what was born meanwhile is found */

/* ---- telling ---- */

void ending_tell(struct agent *agent, const struct idset *ranks, const char *why, int status,
                 const char *text)
{
    char *set = idset_encode(ranks);
    json_t *value = json_pack("{s:s, s:s, s:i}", "ranks", set, "why", why, "status", status);
    if (text)
        json_object_set_new(value, "text", frame_text(text));
    char *json = json_dumps(value, JSON_COMPACT);
    struct buf payload = BUF_INIT;
    unsigned char time[8];
    frame_put_u64(time, link_clock());
    buf_add(&payload, time, sizeof(time));
    buf_add_text(&payload, json ? json : "{}");
    struct frame frame = {
        .type = FRAME_ENDED, .node = agent->node, .bytes = buf_bytes(&payload), .len = payload.len};
    agent_send_up(agent, &frame);
    buf_free(&payload);
    free(json);
    json_decref(value);
    free(set);
}

/* Ranks of one fate are one set. */
void ending_add(struct agent *agent, int status, bool victim, const struct idset *ranks)
{
    for (size_t i = 0; i < agent->nends; i++) {
        struct end_set *end = &agent->ends[i];
        if (end->status != status || end->victim != victim)
            continue;
        struct idset *both = idset_union(end->ranks, ranks);
        idset_free(end->ranks);
        end->ranks = both;
        return;
    }
    agent->ends = mem_resize(agent->ends, agent->nends + 1, sizeof(*agent->ends));
    agent->ends[agent->nends++] = (struct end_set){status, victim, idset_copy(ranks)};
}

void ending_add_rank(struct agent *agent, int status, bool victim, uint32_t rank)
{
    for (size_t i = 0; i < agent->nends; i++) {
        if (agent->ends[i].status == status && agent->ends[i].victim == victim) {
            idset_add(agent->ends[i].ranks, rank);
            return;
        }
    }
    struct idset *one = idset_new();
    idset_add(one, rank);
    ending_add(agent, status, victim, one);
    idset_free(one);
}

void ending_take_done(struct agent *agent, const struct frame *frame)
{
    json_t *value = frame_json(frame, NULL), *end;
    size_t i;
    struct idset *nodes =
        idset_decode(json_string_value(json_object_get(value, "nodes")) ?: "", NULL);
    json_array_foreach(json_object_get(value, "ends"), i, end)
    {
        int status, victim;
        const char *text;
        if (json_unpack(end, "[i, b, s]", &status, &victim, &text) < 0)
            continue;
        struct idset *ranks = idset_decode(text, NULL);
        if (ranks)
            ending_add(agent, status, victim, ranks);
        idset_free(ranks);
    }
    if (nodes && agent->below) {
        struct idset *left = idset_subtract(agent->below, nodes);
        idset_free(agent->below);
        agent->below = left;
    }
    idset_free(nodes);
    json_decref(value);
    ending_check(agent);
}

static void ending_tell_done(struct agent *agent)
{
    json_t *ends = json_array();
    struct idset *nodes = idset_new();
    idset_add(nodes, agent->node);
    size_t count;
    if (agent->tree && tree_pids(agent->tree, &count) && count)
        tree_add_nodes(agent->tree, nodes);
    for (size_t i = 0; i < agent->nends; i++) {
        char *ranks = idset_encode(agent->ends[i].ranks);
        json_array_append_new(
            ends, json_pack("[i, b, s]", agent->ends[i].status, agent->ends[i].victim, ranks));
        free(ranks);
    }
    char *set = idset_encode(nodes);
    json_t *value = json_pack("{s:o, s:s}", "ends", ends, "nodes", set);
    if (agent->parent)
        link_send_json(agent->parent, FRAME_DONE, agent->node, 0, value);
    json_decref(value);
    free(set);
    idset_free(nodes);
    agent->told = true;
}

/* ---- what is left ---- */

static size_t ending_descend(struct agent *agent, int number)
{
    size_t count = 0;
    const pid_t *pids = agent->tree ? tree_pids(agent->tree, &count) : NULL;
    return descend_signal(number, pids, count);
}

static void ending_all(struct agent *agent, int number)
{
    if (number == SIGKILL)
        cgroup_kill(agent->config->cgroup);
    ending_signal(agent, number);
    ending_descend(agent, number);
}

/* Look again, from the loop. */
static void ending_later(struct agent *agent, double seconds)
{
    ev_timer_stop(agent->loop, &agent->linger);
    ev_timer_set(&agent->linger, seconds, 0);
    ev_timer_start(agent->loop, &agent->linger);
}

/* What a task left running may still be writing for it (`exec > >(tee log)`): while it holds the
 * task's output and says something now and then, it goes on. */
static bool ending_lingers(struct agent *agent)
{
    bool open = false;
    for (uint32_t i = 0; i < agent->ntasks && !open; i++)
        open = agent->tasks[i].streams[0].fd >= 0 || agent->tasks[i].streams[1].fd >= 0;
    double rest = agent->heard + LINGER - ev_now(agent->loop);
    if (!open || agent->terminating || !agent->parent)
        return false;
    if (agent->stalled) /* it is not silent: nobody listens for the moment */
        return true;
    if (rest <= 0)
        return false;
    ending_later(agent, rest);
    return true;
}

/* Own tasks have ended and their output is read: what they left behind goes too. */
static void ending_over(struct agent *agent)
{
    if (ending_descend(agent, 0) || cgroup_populated(agent->config->cgroup)) {
        if (ending_lingers(agent))
            return;
        if (!agent->terminating)
            ending_terminate(agent, agent->launch ? agent->launch->spec->kill_grace : 0);
        return;
    }
    for (uint32_t i = 0; i < agent->ntasks; i++)
        if (!streams_drain(&agent->tasks[i]) && agent->parent)
            return; /* the rest comes when there is room for it */
    agent->over = true;
    cgroup_remove(agent->config->cgroup);
    ev_timer_stop(agent->loop, &agent->killer);
    for (uint32_t i = 0; i < agent->ntasks; i++)
        streams_close(&agent->tasks[i]);
}

static void ending_drain(struct agent *agent)
{
    if (agent->undrained == agent->live)
        return;
    for (uint32_t i = 0; i < agent->ntasks && agent->undrained && !agent->stalled; i++) {
        struct task *task = &agent->tasks[i];
        if (!task->ended || task->drained || !streams_drain(task))
            continue;
        task->drained = true;
        agent->undrained--;
    }
}

void ending_check(struct agent *agent)
{
    if (!agent->launched || agent->told)
        return;
    ending_drain(agent);
    if (!agent->over && !agent->live && (!agent->undrained || !agent->parent))
        ending_over(agent);
    if (!agent->over || agent->stalled || (agent->below && !idset_empty(agent->below)))
        return;
    ending_tell_done(agent);
    if (!agent->parent)
        agent_leave(agent);
}

/* ---- ending them ---- */

static void ending_killer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct agent *agent = timer->data;
    (void)events;
    if (ev_now(loop) >= agent->kill_at)
        ending_all(agent, SIGKILL);
    ending_check(agent);
}

void ending_linger(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    ending_check(timer->data);
}

void ending_terminate(struct agent *agent, double grace)
{
    double at = ev_now(agent->loop) + grace;
    if (agent->terminating && at >= agent->kill_at)
        return;
    bool first = !agent->terminating;
    agent->terminating = true;
    agent->kill_at = at;
    if (first && grace > 0) {
        ending_all(agent, SIGTERM);
        ending_all(agent, SIGCONT); /* a stopped task has to hear of it */
    } else if (grace <= 0) {
        ending_all(agent, SIGKILL);
    }
    if (first) {
        ev_timer_init(&agent->killer, ending_killer, KILL_PERIOD, KILL_PERIOD);
        agent->killer.data = agent;
        ev_timer_start(agent->loop, &agent->killer);
    }
    ending_check(agent);
}

/* The kernel drops a terminal stop of a session without a terminal unless there is a handler. */
static int signal_for(const struct task *task, int number)
{
    return number == SIGTSTP && !descend_catches(task->pid, SIGTSTP) ? SIGSTOP : number;
}

void ending_signal(struct agent *agent, int number)
{
    for (uint32_t i = 0; i < agent->ntasks; i++)
        if (agent->tasks[i].pid > 0)
            kill(-agent->tasks[i].pid, signal_for(&agent->tasks[i], number));
}

/* ---- one by one ---- */

/* What made this end a bad one, or NULL. */
static const char *ending_why(const struct task *task)
{
    if (WIFSIGNALED(task->status))
        return "signal";
    if (WEXITSTATUS(task->status))
        return "exit";
    if (task->client && pmi1_client_state(task->client) == PMI1_RUNNING)
        return "unfinalized";
    return NULL;
}

void ending_reaped(struct agent *agent, pid_t pid, int status)
{
    struct task *task = NULL;
    start_settle(agent, pid);
    for (uint32_t i = 0; i < agent->ntasks && !task; i++)
        if (agent->tasks[i].pid == pid)
            task = &agent->tasks[i];
    if (!task) { /* an orphan that was adopted: they may come too fast to look each time */
        ending_later(agent, 0);
        return;
    }
    task->status = status;
    task->victim = agent->terminating;
    task->ended = true;
    agent->heard = ev_now(agent->loop);
    agent->live--;
    rendezvous_drain(task);
    const char *why = ending_why(task);
    task->pid = 0;
    ending_add_rank(agent, status, task->victim, task->what->rank);
    if (why && !task->victim) {
        struct idset *one = idset_new();
        idset_add(one, task->what->rank);
        ending_tell(agent, one, why, status, NULL);
        idset_free(one);
    }
    rendezvous_gone(task);
    if (task->reads)
        streams_input_settle(agent);
    ending_check(agent);
}

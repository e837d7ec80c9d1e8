#include "launcher/manager/manager.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/fsd.h"
#include "base/mem.h"
#include "launcher/agent/agent.h"
#include "launcher/manager/state.h"
#include "launcher/process/descend.h"
#include "launcher/process/spawn.h"

#define END_PATIENCE 3.0  /* s that an agent may need beyond the grace to say that it is done */
#define GONE_PATIENCE 2.0 /* s that an agent's process may need to go once it is done */

void manager_show(struct manager *manager, const char *text, bool error)
{
    struct frame frame = {
        .type = FRAME_SHOW, .flags = error ? FRAME_STDERR : 0, .bytes = text, .len = strlen(text)};
    if (manager->front)
        link_send(manager->front, &frame);
}

void manager_say(struct manager *manager, const char *fmt, ...)
{
    char text[512];
    va_list args;
    if (!manager->spec->verbose || !manager->front)
        return;
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    struct frame frame = {.type = FRAME_NOTE, .bytes = text};
    frame.len = len < (int)sizeof(text) ? (size_t)len : sizeof(text) - 1;
    link_send(manager->front, &frame);
}

/* ---- the end ---- */

static void tell_front(struct manager *manager)
{
    struct buf lines = BUF_INIT;
    int status = verdict_give(manager->verdict, &lines);
    json_t *end =
        json_pack("{s:i, s:o}", "status", status, "messages", frame_text(buf_text(&lines)));
    link_send_json(manager->front, FRAME_END, 0, 0, end);
    json_decref(end);
    buf_free(&lines);
}

/* Every agent has gone. What a killed one left behind was adopted here, and goes now. */
static void on_tree_empty(void *arg)
{
    struct manager *manager = arg;
    if (manager->finished)
        return;
    manager->finished = true;
    descend_end(AGENT_LOST_GRACE, NULL, 0);
    program_end(manager->program);
    manager->program = NULL;
    if (manager->front)
        tell_front(manager);
    else
        ev_break(manager->loop, EVBREAK_ALL);
}

void manager_end(struct manager *manager)
{
    if (manager->phase == PHASE_END)
        return;
    manager->phase = PHASE_END;
    ev_timer_stop(manager->loop, &manager->limit);
    ev_timer_stop(manager->loop, &manager->patience);
    tree_end(manager->tree, GONE_PATIENCE);
}

void manager_refuse(struct manager *manager, const struct error *err)
{
    verdict_other(manager->verdict, link_clock(), err->kind, error_text(err));
    manager_end(manager);
}

static void give_up(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager *manager = timer->data;
    (void)loop;
    (void)events;
    IDSET_FOREACH(node, manager->pending)
    {
        char *line = mem_format("%s: its agent did not say that its tasks have ended; what is "
                                "left there has to be ended by hand",
                                manager->nodes->list[node].host);
        verdict_other(manager->verdict, UINT64_MAX, ERROR_REFUSED, line);
        free(line);
    }
    manager_end(manager);
}

void manager_terminate(struct manager *manager, double grace)
{
    if (manager->phase == PHASE_GATHER)
        manager_end(manager);
    if (manager->phase != PHASE_RUN)
        return;
    struct frame frame = {.type = FRAME_TERMINATE, .rank = frame_grace(grace)};
    tree_send(manager->tree, &frame);
    ev_timer_stop(manager->loop, &manager->patience);
    if (frame.rank != FRAME_ALL) {
        ev_timer_set(&manager->patience, grace + END_PATIENCE, 0);
        ev_timer_start(manager->loop, &manager->patience);
    }
    manager->terminating = true;
}

static void check_done(struct manager *manager)
{
    if (manager->phase != PHASE_RUN || !idset_empty(manager->pending))
        return;
    manager_say(manager, "all tasks have ended, and nothing of them is left");
    manager_end(manager);
}

/* ---- from agents ---- */

static void take_ended(struct manager *manager, uint32_t child, const struct frame *frame)
{
    struct frame text = *frame;
    if (frame->len < 8)
        return;
    text.bytes = (const char *)frame->bytes + 8;
    text.len -= 8;
    json_t *value = frame_json(&text, NULL);
    const char *set, *why, *words = NULL;
    int status;
    if (json_unpack(value, "{s:s, s:s, s:i, s?s}", "ranks", &set, "why", &why, "status", &status,
                    "text", &words) == 0) {
        struct idset *ranks = idset_decode(set, NULL);
        uint64_t time =
            frame_get_u64(frame->bytes) - (uint64_t)tree_clock_offset(manager->tree, child);
        const char *host =
            frame->node < manager->nodes->count ? manager->nodes->list[frame->node].host : NULL;
        if (ranks)
            verdict_ended(manager->verdict, time, why, status, words, ranks, host);
        idset_free(ranks);
        bool keeps = manager->spec->on_failure == SPEC_FAILURE_CONTINUE &&
                     (strcmp(why, "exit") == 0 || strcmp(why, "signal") == 0);
        if (!keeps && !manager->terminating)
            manager_terminate(manager, manager->spec->kill_grace);
    } else {
        verdict_other(manager->verdict, link_clock(), ERROR_REFUSED,
                      "a task failed, and its agent's message about it is malformed");
        manager_terminate(manager, manager->spec->kill_grace);
    }
    json_decref(value);
}

static void pending_without(struct manager *manager, const struct idset *nodes)
{
    struct idset *left = idset_subtract(manager->pending, nodes);
    idset_free(manager->pending);
    manager->pending = left;
}

static void take_done(struct manager *manager, uint32_t child, const struct frame *frame)
{
    json_t *value = frame_json(frame, NULL), *end;
    size_t i;
    const char *text = json_string_value(json_object_get(value, "nodes"));
    struct idset *nodes = text ? idset_decode(text, NULL) : NULL;
    json_array_foreach(json_object_get(value, "ends"), i, end)
    {
        struct idset *ranks = idset_decode(json_string_value(json_array_get(end, 2)) ?: "", NULL);
        if (ranks && json_is_true(json_array_get(end, 1)))
            verdict_victims(manager->verdict, ranks);
        idset_free(ranks);
    }
    if (nodes)
        pending_without(manager, nodes);
    idset_free(nodes);
    json_decref(value);
    tree_consumed(manager->tree, child, link_weight(frame));
    check_done(manager);
}

static void nodes_lost(struct manager *manager, const char *host, const struct idset *nodes,
                       const char *why)
{
    struct buf line = BUF_INIT;
    size_t others = 0;
    if (manager->phase == PHASE_END)
        return;
    IDSET_FOREACH(node, nodes)
    others += node < manager->nodes->count && strcmp(manager->nodes->list[node].host, host) != 0;
    buf_printf(&line, "%s: lost: %s", host, why);
    if (others)
        buf_printf(&line, " (and with it %zu host%s behind it)", others, others > 1 ? "s" : "");
    verdict_other(manager->verdict, link_clock(), ERROR_REFUSED, buf_text(&line));
    buf_free(&line);
    pending_without(manager, nodes);
    if (manager->phase == PHASE_GATHER)
        manager_end(manager);
    else
        manager_terminate(manager, AGENT_LOST_GRACE);
    check_done(manager);
}

static void take_lost(struct manager *manager, const struct frame *frame)
{
    json_t *value = frame_json(frame, NULL);
    const char *host, *set, *why;
    if (json_unpack(value, "{s:s, s:s, s:s}", "host", &host, "nodes", &set, "text", &why) == 0) {
        struct idset *nodes = idset_decode(set, NULL);
        if (nodes) {
            tree_forget(manager->tree, nodes);
            nodes_lost(manager, host, nodes, why);
        }
        idset_free(nodes);
    }
    json_decref(value);
}

static void take_unreached(struct manager *manager, const struct frame *frame)
{
    json_t *value = frame_json(frame, NULL);
    const char *host, *text, *set;
    int node, stage;
    double elapsed;
    if (json_unpack(value, "{s:i, s:s, s:i, s:s, s:F, s:s}", "node", &node, "host", &host, "stage",
                    &stage, "text", &text, "elapsed", &elapsed, "nodes", &set) == 0 &&
        stage >= 0 && stage < STAGE_UP && manager->phase == PHASE_GATHER) {
        struct idset *nodes = idset_decode(set, NULL);
        struct tree_unreached what = {(uint32_t)node, host,    (enum bootstrap_stage)stage,
                                      text,           elapsed, nodes};
        if (nodes)
            gather_unreached(manager, &what, false);
        idset_free(nodes);
    }
    json_decref(value);
}

static void take_fence(struct manager *manager, const struct frame *frame)
{
    if (manager->exchange && frame->len >= 8)
        exchange_enter(manager->exchange, frame_get_u64(frame->bytes), frame->rank,
                       (const char *)frame->bytes + 8, frame->len - 8, NULL);
}

/* The earliest number is what everybody needs to know. */
static void take_missing(struct manager *manager, const struct frame *frame)
{
    if (frame->len != 8 ||
        (manager->missing_told && frame_get_u64(frame->bytes) >= manager->missing))
        return;
    manager->missing_told = true;
    manager->missing = frame_get_u64(frame->bytes);
    tree_send(manager->tree, frame);
}

static void on_tree_frame(void *arg, uint32_t child, const struct frame *frame)
{
    struct manager *manager = arg;
    switch (frame->type) {
    case FRAME_HELLO:
        gather_hello(manager, frame);
        break;
    case FRAME_UNREACHED:
        take_unreached(manager, frame);
        break;
    case FRAME_OUTPUT:
    case FRAME_NOTE:
        tree_relay(manager->tree, child, manager->front, frame);
        break;
    case FRAME_ENDED:
        take_ended(manager, child, frame);
        break;
    case FRAME_DONE:
        take_done(manager, child, frame);
        break;
    case FRAME_FENCE_UP:
        take_fence(manager, frame);
        break;
    case FRAME_MISSING:
        take_missing(manager, frame);
        break;
    case FRAME_LOST:
        take_lost(manager, frame);
        break;
    default:
        break;
    }
}

static void on_tree_unreached(void *arg, const struct tree_unreached *what)
{
    struct manager *manager = arg;
    if (manager->phase == PHASE_GATHER)
        gather_unreached(manager, what, true);
}

static void on_tree_lost(void *arg, const char *host, const struct idset *nodes, const char *why)
{
    nodes_lost(arg, host, nodes, why);
}

/* The front end may send more once every link that stdin goes down has room. */
static void settle_input(struct manager *manager)
{
    if (!manager->input_owed || !manager->front ||
        (manager->input_nodes && !tree_room(manager->tree, manager->input_nodes)))
        return;
    link_consumed(manager->front, manager->input_owed);
    manager->input_owed = 0;
}

static void take_input(struct manager *manager, const struct frame *frame)
{
    if (manager->phase == PHASE_RUN)
        tree_send_nodes(manager->tree, manager->input_nodes, frame);
    manager->input_owed += link_weight(frame);
    settle_input(manager);
}

static void on_tree_room(void *arg)
{
    settle_input(arg);
}

static void on_tree_note(void *arg, const char *text)
{
    struct manager *manager = arg;
    struct frame frame = {.type = FRAME_NOTE, .bytes = text, .len = strlen(text)};
    if (manager->front)
        link_send(manager->front, &frame);
}

/* In the child that becomes the agent of this machine. The program's lock stays open in it: the
 * claim lasts for as long as tasks may. */
static int agent_here(void *arg, int fd)
{
    struct manager *manager = arg;
    struct agent_config config = {.guard = -1, .topo = topo_ref(manager->here)};
    config.in = config.out = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    close(fd);
    ev_loop_destroy(manager->loop);
    link_disown(manager->front);
    tree_disown(manager->tree);
    return agent_run(&config);
}

static const struct tree_ops tree_ops = {on_tree_frame, on_tree_unreached, on_tree_lost,
                                         on_tree_room,  on_tree_note,      on_tree_empty,
                                         agent_here};

/* ---- the exchange: the manager gathers for several agents and never takes part ---- */

static void exchange_up(void *arg, uint64_t id, uint32_t weight, const void *bytes, size_t len)
{
    (void)arg;
    (void)id;
    (void)weight;
    (void)bytes;
    (void)len;
}

static void exchange_down(void *arg, uint64_t id, const void *bytes, size_t len)
{
    struct manager *manager = arg;
    struct buf payload = BUF_INIT;
    unsigned char head[8];
    frame_put_u64(head, id);
    buf_add(&payload, head, sizeof(head));
    buf_add(&payload, bytes, len);
    struct frame frame = {
        .type = FRAME_FENCE_DOWN, .bytes = buf_bytes(&payload), .len = payload.len};
    tree_send(manager->tree, &frame);
    buf_free(&payload);
}

static void exchange_done(void *arg, uint64_t id, const void *bytes, size_t len)
{
    (void)arg;
    (void)id;
    (void)bytes;
    (void)len;
}

static const struct exchange_ops exchange_ops = {exchange_up, exchange_down, exchange_done};

/* ---- from gathering to running ---- */

static void report_failures(struct manager *manager)
{
    size_t failed = 0, tried = 0;
    struct buf lines = BUF_INIT;
    for (size_t i = 0; i < manager->nodes->count; i++) {
        tried += manager->hosts[i].wanted;
        if (!manager->hosts[i].failure)
            continue;
        failed++;
        buf_printf(&lines, "%s%s", failed > 1 ? "\n" : "", manager->hosts[i].failure);
    }
    if (tried > 1)
        buf_printf(&lines, "\n%zu of %zu hosts did not start; nothing was run", failed, tried);
    verdict_other(manager->verdict, link_clock(), ERROR_REFUSED, buf_text(&lines));
    buf_free(&lines);
    manager_end(manager);
}

static void on_limit(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager *manager = timer->data;
    char *limit = fsd_encode(manager->spec->time_limit);
    char *line = manager->limit_is_R
                     ? mem_format("R has expired: its program was ended")
                     : mem_format("time limit of %s reached: the program was ended", limit);
    (void)loop;
    (void)events;
    verdict_other(manager->verdict, link_clock(), VERDICT_TIME_LIMIT, line);
    manager_terminate(manager, manager->spec->kill_grace);
    free(limit);
    free(line);
}

static void start_limit(struct manager *manager)
{
    double seconds = manager->spec->time_limit;
    const struct rset *R = manager->nodes->R;
    struct timeval now;
    gettimeofday(&now, NULL);
    if (R && R->expiration > 0 && R->expiration - (double)now.tv_sec < seconds) {
        seconds = R->expiration - (double)now.tv_sec;
        manager->limit_is_R = true;
    }
    if (isinf(seconds))
        return;
    ev_timer_set(&manager->limit, seconds > 0 ? seconds : 0, 0);
    ev_timer_start(manager->loop, &manager->limit);
}

static void run(struct manager *manager)
{
    manager->phase = PHASE_RUN;
    manager->exchange =
        exchange_new(&exchange_ops, manager, manager->layout->nnodes, manager->layout->nnodes);
    tree_add_nodes(manager->tree, manager->pending);
    manager_say(manager, "program %s: %u task%s on %u node%s", program_id(manager->program),
                manager->layout->ntasks, manager->layout->ntasks > 1 ? "s" : "",
                manager->layout->nnodes, manager->layout->nnodes > 1 ? "s" : "");
    place_launch(manager);
    start_limit(manager);
}

void manager_gathered(struct manager *manager)
{
    struct error err = ERROR_INIT;
    if (manager->phase != PHASE_GATHER)
        return;
    for (size_t i = 0; i < manager->nodes->count; i++) {
        if (manager->hosts[i].failure) {
            report_failures(manager);
            return;
        }
    }
    if (place_map(manager, &err) < 0) {
        if (!gather_more(manager))
            manager_refuse(manager, &err);
    } else {
        place_show(manager);
        if (manager->spec->dry_run)
            manager_end(manager);
        else
            run(manager);
    }
    error_clear(&err);
}

/* ---- from the front end ---- */

static void told_to_end(struct manager *manager, int number, const char *when)
{
    char *line = mem_format("ended by signal %d (%s)%s", number, strsignal(number), when);
    verdict_other(manager->verdict, link_clock(), 128 + number, line);
    free(line);
}

static void front_signal(struct manager *manager, int number)
{
    struct frame frame = {.type = FRAME_SIGNAL, .flags = (uint16_t)number};
    if (manager->phase == PHASE_RUN) {
        tree_send(manager->tree, &frame);
    } else if (manager->phase == PHASE_GATHER &&
               (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT)) {
        told_to_end(manager, number, " before the program started");
        manager_end(manager);
    }
}

static void on_front_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct manager *manager = arg;
    (void)link;
    switch (frame->type) {
    case FRAME_SIGNAL:
        front_signal(manager, frame->flags);
        break;
    case FRAME_TERMINATE:
        if (frame->flags)
            told_to_end(manager, frame->flags, "");
        manager_terminate(manager, frame->rank == FRAME_ALL ? INFINITY : frame->rank / 1000.0);
        break;
    case FRAME_STDIN:
    case FRAME_STDIN_END:
        take_input(manager, frame);
        break;
    default:
        break;
    }
}

static void on_front_room(struct link *link, void *arg)
{
    (void)link;
    tree_relay_room(((struct manager *)arg)->tree);
}

/* The front end is gone: nobody is there to tell. */
static void on_front_closed(struct link *link, void *arg, const struct error *why)
{
    struct manager *manager = arg;
    (void)why;
    link_free(link);
    manager->front = NULL;
    tree_relay_room(manager->tree);
    if (manager->finished)
        ev_break(manager->loop, EVBREAK_ALL);
    else if (manager->phase == PHASE_GATHER)
        manager_end(manager);
    else
        manager_terminate(manager, AGENT_LOST_GRACE);
}

static const struct link_ops front_ops = {on_front_frame, on_front_room, on_front_closed, NULL,
                                          NULL};

/* ---- life ---- */

static void fill_bootstrap(struct manager *manager)
{
    const struct spec *spec = manager->spec;
    manager->boot =
        (struct bootstrap){.method = mem_copy_text(spec->bootstrap ? spec->bootstrap : "auto"),
                           .ssh = mem_copy_text(spec->ssh ? spec->ssh : "ssh"),
                           .agent = mem_copy_text(spec->agent ? spec->agent : TPRUN_AGENT_PATH),
                           .fanout = spec->fanout,
                           .start_timeout = spec->start_timeout,
                           .node_timeout = spec->node_timeout,
                           .verbose = spec->verbose};
}

static void manager_close(struct manager *manager)
{
    tree_free(manager->tree);
    place_close(manager);
    gather_close(manager);
    program_end(manager->program);
    instance_close(manager->instance);
    exchange_free(manager->exchange);
    idset_free(manager->pending);
    idset_free(manager->input_nodes);
    verdict_free(manager->verdict);
    bootstrap_clear(&manager->boot);
    link_free(manager->front);
    spec_free(manager->spec);
}

int manager_run(struct spec *spec, int fd)
{
    struct manager manager = {.spec = spec};
    struct error err = ERROR_INIT;
    setsid();
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_NAME, "tprun-manager");
    spawn_reserve();
    descend_adopt();
    manager.loop = ev_default_loop(0);
    manager.front = link_new(manager.loop, fd, fd, &front_ops, &manager);
    manager.verdict = verdict_new();
    manager.pending = idset_new();
    fill_bootstrap(&manager);
    manager.tree = tree_new(manager.loop, &manager.boot, &tree_ops, &manager);
    ev_timer_init(&manager.limit, on_limit, 0, 0);
    ev_timer_init(&manager.patience, give_up, 0, 0);
    manager.limit.data = manager.patience.data = &manager;
    if (gather_open(&manager, &err) < 0)
        manager_refuse(&manager, &err);
    else
        gather_start(&manager);
    error_clear(&err);
    ev_run(manager.loop, 0);
    manager_close(&manager);
    return 0;
}

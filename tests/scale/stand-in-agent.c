/*
 * stand-in-agent [LINES [SECONDS]] - an agent that starts no task and says that it did: programs of any size on one
 * machine, for `tprun --bootstrap`. Each of its tasks prints so many lines of 80 bytes (default 1) and ends after so
 * many seconds (default: when it is told to).
 */
#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/topology/topo.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/ledger/pid_list.h"
#include "launcher/protocol/environment_block.h"
#include "launcher/protocol/hello.h"
#include "launcher/protocol/inquiry.h"
#include "launcher/protocol/launch.h"
#include "launcher/protocol/task_report.h"
#include "launcher/tree/link.h"

#define FIRST_PID 100000u

static struct ev_loop *loop;
static struct link *up;
static struct launch *launch; /* NULL: none yet, or its tasks have ended */
static uint32_t node;
static ev_timer end;
static long lines_left = 1; /* of each task */
static uint32_t next_task;  /* that prints its next line */
static double seconds;

static void say(enum frame_type type, uint32_t rank, json_t *value)
{
    link_send_json(up, type, node, rank, value);
    json_decref(value);
}

static void on_welcome(const json_t *value)
{
    struct error err = ERROR_INIT;
    struct topo *topo = topo_load_local(&err);
    node = (uint32_t)json_integer_value(json_object_get(value, "node"));
    struct hello hello = {
        .topo = topo,
        .is_known =
            topo && hello_topology_is(topo, json_string_value(json_object_get(value, "digest"))),
        .refusal = topo ? NULL : error_text(&err)};
    say(FRAME_HELLO, 0, hello_to_json(&hello));
    topo_free(topo);
    error_clear(&err);
}

static void print_lines(void)
{
    char text[81];
    while (launch && lines_left && link_room(up)) {
        uint32_t rank = launch->tasks[next_task].rank;
        snprintf(text, sizeof(text), "%-79u\n", rank);
        struct frame frame = {
            .type = FRAME_OUTPUT, .node = node, .rank = rank, .bytes = text, .len = 80};
        link_send(up, &frame);
        if (++next_task == launch->nlocal) {
            next_task = 0;
            lines_left--;
        }
    }
}

static void on_launch(const json_t *value)
{
    struct prepared_report prepared = {0};
    struct started_report started = {0};
    struct buf pids = BUF_INIT;
    launch = launch_from_json(value, node, NULL);
    uint32_t count = launch ? launch->nlocal : 0;
    uint32_t *list = mem_array(count, sizeof(*list));
    for (uint32_t i = 0; i < count; i++) /* as on a busy machine: no ranges */
        list[i] = FIRST_PID + i * 2;
    pid_list_encode(&pids, list, count);
    started.pids = buf_take_text(&pids);
    say(FRAME_PREPARED, 0, prepared_report_to_json(&prepared));
    say(FRAME_STARTED, 0, started_report_to_json(&started));
    started_report_clear(&started);
    free(list);
    if (seconds > 0)
        ev_timer_start(loop, &end);
    print_lines();
}

/* All tasks end, by this signal or with status 0. */
static void end_tasks(int number)
{
    struct done_report done = {.nodes = idset_new()};
    struct idset *ranks = idset_new();
    if (!launch)
        return;
    for (uint32_t i = 0; i < launch->nlocal; i++)
        idset_add(ranks, launch->tasks[i].rank);
    idset_add(done.nodes, node);
    done_report_add(&done, number, number != 0, ranks);
    say(FRAME_DONE, 0, done_report_to_json(&done));
    done_report_clear(&done);
    idset_free(ranks);
    launch_free(launch);
    launch = NULL;
}

static void on_inquiry(const struct frame *frame, const json_t *value)
{
    struct inquiry inquiry = {0};
    struct inquiry_answer answer = {.waiting = idset_new()};
    if (inquiry_from_json(&inquiry, value, NULL) == 0 && launch) {
        for (uint32_t i = 0; i < launch->nlocal; i++) {
            struct task_sample task = {
                .rank = launch->tasks[i].rank, .pid = FIRST_PID + i * 2, .state = 'S'};
            if (!inquiry.ranks || idset_has(inquiry.ranks, task.rank))
                inquiry_answer_add(&answer, &task);
        }
        say(FRAME_INQUIRY_ANSWER, frame->rank, inquiry_answer_to_json(&answer, !inquiry.signal));
    }
    inquiry_answer_clear(&answer);
    inquiry_clear(&inquiry);
}

static void on_frame(struct link *link, void *arg, const struct frame *frame)
{
    char **environment = NULL;
    json_t *value = frame->type == FRAME_LAUNCH ? environment_block_read(frame, &environment, NULL)
                                                : frame_json(frame, NULL);
    (void)link, (void)arg;
    if (frame->type == FRAME_WELCOME)
        on_welcome(value);
    else if (frame->type == FRAME_LAUNCH)
        on_launch(value);
    else if (frame->type == FRAME_INQUIRY)
        on_inquiry(frame, value);
    else if (frame->type == FRAME_SIGNAL || frame->type == FRAME_TERMINATE)
        end_tasks(SIGTERM);
    string_list_free(environment);
    json_decref(value);
}

static void on_room(struct link *link, void *arg)
{
    (void)link, (void)arg;
    print_lines();
}

static void on_closed(struct link *link, void *arg, const struct error *why)
{
    (void)link, (void)arg, (void)why;
    ev_break(loop, EVBREAK_ALL);
}

static void on_end(struct ev_loop *loop_of, ev_timer *timer, int events)
{
    (void)loop_of, (void)timer, (void)events;
    end_tasks(0);
}

int main(int argc, char *argv[])
{
    static const struct link_ops ops = {on_frame, on_room, on_closed, NULL, NULL};
    if (argc > 1)
        lines_left = strtol(argv[1], NULL, 10);
    if (argc > 2)
        seconds = strtod(argv[2], NULL);
    signal(SIGPIPE, SIG_IGN);
    loop = ev_default_loop(0);
    ev_timer_init(&end, on_end, seconds, 0);
    up = link_new(loop, STDIN_FILENO, STDOUT_FILENO, &ops, NULL);
    link_greet(up);
    ev_run(loop, 0);
    link_free(up);
    launch_free(launch);
    return 0;
}

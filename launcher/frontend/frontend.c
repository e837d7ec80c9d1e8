/* One run: the link to the manager, and what each role does with what comes. */
#include "launcher/frontend/frontend_private.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/process/signal_name.h"

static void on_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct frontend *front = arg;
    (void)link;
    if (front->over)
        return;
    if (front->role == FRONTEND_BACKGROUND)
        frontend_take_in_background(front, frame);
    else if (front->role == FRONTEND_ATTACHED && front->detaches)
        frontend_take_detaching(front, frame);
    else if (front->role == FRONTEND_ATTACHED)
        frontend_take(front, frame);
    else
        frontend_take_at_terminal(front, frame);
}

static void on_room(struct link *link, void *arg)
{
    struct frontend *front = arg;
    (void)link;
    frontend_ask_input(front);
    foreground_settle_input(front->foreground);
}

static void on_closed(struct link *link, void *arg, const struct error *why)
{
    struct frontend *front = arg;
    bool silent = link_is_silent(link), known = front->err.text;
    (void)why;
    /* A manager that reads from a pipe, or makes a layout, hears nothing meanwhile. */
    bool unheard = !known && silent && !task_table_ntasks(front->mapped);
    if (front->replay) { /* what is saved says the end */
        link_free(front->manager);
        front->manager = NULL;
        replay_look(front->replay);
        return;
    }
    if (unheard)
        error_set(&front->err,
                  "ended by %s before any task was started: the manager of this run read its "
                  "input or made the layout, did not answer for %g s, and is killed",
                  signal_name(front->ender), frontend_patience(front));
    else if (!known && silent)
        error_set(&front->err,
                  "the manager of this run has not answered for %g s (stopped?); it is "
                  "killed, and its tasks are being ended",
                  front->spec->node_timeout);
    else if (!known && front->role >= FRONTEND_STARTER)
        error_set(&front->err, "the process in the background that was to see to this run is gone "
                               "(killed, or out of memory)");
    else if (!known)
        error_set(&front->err, "the manager of this run is gone (killed, or out of memory); its "
                               "tasks are being ended");
    frontend_give_up(front);
    if (unheard)
        front->result.status = 128 + front->ender;
}

static const struct link_ops manager_ops = {on_frame, on_room, on_closed, NULL, NULL};

static void frontend_close(struct frontend *front)
{
    user_terminal_leave(&front->terminal);
    signal_source_free(front->signals);
    ev_timer_stop(front->loop, &front->interrupt_due);
    replay_free(front->replay);
    free(front->saved);
    foreground_free(front->foreground);
    buf_free(&front->held);
    for (size_t i = 0; i < FRAME_RESULTS; i++)
        buf_free(&front->results[i]);
    buf_free(&front->unwritten);
    ev_timer_stop(front->loop, &front->last_call);
    stdin_reader_free(front->input);
    output_free(front->output);
    link_free(front->manager);
    task_table_free(front->mapped);
    error_clear(&front->err);
}

struct frontend_result frontend_run(const struct frontend_config *from)
{
    const struct spec *spec = from->spec;
    bool shows_saved = from->role == FRONTEND_VIEWER; /* files are written by the other process */
    struct frontend front = {.spec = spec,
                             .role = from->role,
                             .id = from->id,
                             .wants = from->wants,
                             .wants_arg = from->wants_arg,
                             .lost = from->lost,
                             .on_guard = from->on_guard,
                             .relays = from->shows,
                             .shows = from->shows,
                             .guarded = from->guarded,
                             .lost_arg = from->lost_arg,
                             .open_saved = from->open_saved};
    struct output_config config = {
        .label = spec->label,
        .timestamp = spec->timestamp,
        .raw = spec->unbuffered,
        .merge = spec->merge,
        .tee = spec->tee && !shows_saved,
        .pty = spec->pty,
        .make_dirs = spec->make_dirs,
        .templates = {shows_saved ? NULL : spec->output, shows_saved ? NULL : spec->error},
        .host = frontend_host_of,
        .node = frontend_node_of};
    signal(SIGPIPE, SIG_IGN);
    if (from->role == FRONTEND_BACKGROUND)
        signal(SIGHUP, SIG_IGN); /* tasks were not to inherit that */
    front.loop = ev_default_loop(0);
    front.mapped = task_table_new();
    /* Templates were checked before: that they are wrong is news for nobody. */
    front.output = output_new(front.loop, &config, &frontend_output_ops, &front, &front.err);
    frontend_last_call_init(&front);
    user_terminal_init(&front.terminal, spec, &frontend_terminal_ops, &front, &front.manager,
                       front.output);
    if (from->fd >= 0)
        front.manager = link_new(front.loop, from->fd, from->fd, &manager_ops, &front);
    if (from->reader)
        front.replay =
            replay_new(front.loop, from->reader, 0, from->follows, &frontend_replay_ops, &front);
    if (from->role == FRONTEND_BACKGROUND)
        front.foreground =
            foreground_new(front.loop, from->foreground, &frontend_foreground_ops, &front);
    if (frontend_signals_init(&front) < 0) {
        error_set(&front.err, "cannot watch for signals: %s", strerror(errno));
        frontend_give_up(&front);
    }
    if (front.id && front.manager && frontend_start_input(&front, &front.err) < 0)
        frontend_give_up(&front);
    if (!front.over || output_pending(front.output))
        ev_run(front.loop, 0);
    frontend_close(&front);
    front.result.interrupted &= front.result.status == 128 + SIGINT;
    return front.result;
}

int frontend_status(const struct frontend_result *result)
{
    int number = result->quiet ? SIGPIPE : result->interrupted ? SIGINT : 0;
    if (number) {
        signal(number, SIG_DFL);
        raise(number);
    }
    return result->status;
}

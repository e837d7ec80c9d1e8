/* What the manager sends becomes output, up to its last word. */
#include "launcher/frontend/frontend_private.h"

#include <stdlib.h>
#include <string.h>
#include <signal.h>

#include "base/mem.h"
#include "launcher/stdio/result_file.h"
#include "launcher/stdio/terminal.h"

#define OUTPUT_BUDGET                                                                              \
    (8u << 20)           /* bytes that may wait here for a slow reader, or for a long line
                                    of another task to end, before tasks have to wait */
#define END_PATIENCE 1.0 /* s that the manager has to take our last word */
#define LAST_CALL 2.0    /* s that, after one, what is left waits for who takes nothing */
#define TOLD_TO_END 2.0  /* s for the manager to answer that, before there are tasks */

/* Lines of text, each after our name. */
void frontend_say(struct frontend *front, const char *text, size_t len)
{
    struct buf lines = BUF_INIT;
    terminal_lines(&lines, "tprun", text, len);
    if (lines.len)
        output_say(front->output, OUTPUT_STDERR, buf_bytes(&lines), lines.len);
    buf_free(&lines);
}

bool frontend_is_full(const struct frontend *front)
{
    return !front->dropping && output_pending(front->output) > OUTPUT_BUDGET;
}

void frontend_pay(struct frontend *front)
{
    if (front->relays && !foreground_has_room(front->foreground))
        return;
    if (!front->manager || frontend_is_full(front))
        return;
    link_consumed(front->manager, front->unpaid);
    front->unpaid = 0;
}

/* What could not be saved exists nowhere else. Once the process at the terminal has gone, it has shown it. */
bool frontend_is_done(const struct frontend *front)
{
    return !output_pending(front->output) && !(front->relays && front->foreground);
}

/* What the reader has not taken is dropped, and that is no success. */
void frontend_drop_rest(struct frontend *front, int number)
{
    if (output_pending(front->output) && !front->result.status)
        front->result.status = 128 + number;
    ev_break(front->loop, EVBREAK_ALL);
}

static void on_drained(void *arg, size_t bytes)
{
    struct frontend *front = arg;
    (void)bytes;
    frontend_pay(front);
    if (front->replay)
        replay_resume(front->replay);
    if (front->over && frontend_is_done(front))
        ev_break(front->loop, EVBREAK_ALL);
    else if (ev_is_active(&front->last_call))
        ev_timer_again(front->loop, &front->last_call);
}

/* The program goes on without this process; by signal `number`, or 0. */
void frontend_leave(struct frontend *front, int number)
{
    front->over = true;
    front->result.goes_on = true;
    front->result.status = number ? 128 + number : 0;
    ev_timer_stop(front->loop, &front->interrupt_due);
    if (front->manager)
        link_flush(front->manager, 1.0);
    output_end_all(front->output);
    if (!front->result.quiet && number != SIGHUP) {
        const char *id = front->id ? front->id : task_table_program(front->mapped);
        char *line = mem_format("program %s goes on: \"tpctl attach %s\" shows it", id, id);
        if (front->manager || front->role == FRONTEND_ATTACHED)
            frontend_say(front, line, strlen(line));
        free(line);
    }
    if (output_pending(front->output))
        ev_timer_again(front->loop, &front->last_call);
    else
        ev_break(front->loop, EVBREAK_ALL);
}

static void on_output_closed(void *arg, enum output_stream stream)
{
    struct frontend *front = arg;
    if (stream != OUTPUT_STDOUT || front->result.quiet)
        return;
    front->result.quiet = true;
    user_terminal_hang_up(&front->terminal);
    if (front->role == FRONTEND_VIEWER)
        frontend_leave(front, 0);
    else
        frontend_order_end(front, front->spec->kill_grace, 0);
}

void frontend_fail(void *arg, const struct error *err)
{
    struct frontend *front = arg;
    if (front->err.text)
        return;
    error_set(&front->err, "%s", error_text(err));
    frontend_order_end(front, front->spec->kill_grace, 0);
}

const struct output_ops frontend_output_ops = {on_drained, on_output_closed, frontend_fail};

uint32_t frontend_node_of(void *arg, uint32_t rank)
{
    return task_table_node(((struct frontend *)arg)->mapped, rank);
}

const char *frontend_host_of(void *arg, uint32_t rank)
{
    return task_table_host(((struct frontend *)arg)->mapped, rank);
}

static enum output_stream stream_of(const struct frame *frame)
{
    return frame->flags & FRAME_STDERR ? OUTPUT_STDERR : OUTPUT_STDOUT;
}

bool frontend_has_file(const struct frontend *front, const struct frame *frame)
{
    bool error = frame->flags & FRAME_STDERR && !front->spec->merge;
    return error ? front->spec->error : front->spec->output;
}

static void take_output(struct frontend *front, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    enum output_stream stream = stream_of(frame);
    front->unpaid += front->replay ? 0 : link_weight(frame);
    if (front->role == FRONTEND_VIEWER) /* what adds ranks may not be saved any more */
        output_grow(front->output, frame->rank + 1);
    if (front->dropping || (front->role == FRONTEND_BACKGROUND && !frontend_has_file(front, frame)))
        ;
    else if (!frame->len)
        output_end(front->output, frame->rank, stream);
    else if (output_write(front->output, frame->rank, stream, frame->bytes, frame->len,
                          frame->flags & FRAME_UNFINISHED && !front->spec->unbuffered, &err) < 0)
        frontend_fail(front, &err);
    frontend_pay(front);
    error_clear(&err);
}

/* How long the manager may be silent once it is to end. Before there are tasks it has to do no more
 * than leave. */
double frontend_patience(const struct frontend *front)
{
    double most = front->spec->node_timeout;
    return task_table_ntasks(front->mapped) || most < TOLD_TO_END ? most : TOLD_TO_END;
}

/* In the background stdin is a file, or empty; who is at the terminal passes it on. */
bool frontend_reads_input(const struct frontend *front)
{
    bool file = front->spec->input == SPEC_INPUT_FILE;
    switch (front->role) {
    case FRONTEND_BACKGROUND:
        return file || (front->spec->detach && !front->spec->input_stays);
    case FRONTEND_VIEWER:
        return !file;
    default:
        return front->role == FRONTEND_ATTACHED;
    }
}

/* The first group, or one that is added. */
static void take_mapped(struct frontend *front, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    bool first = !task_table_ntasks(front->mapped);
    json_t *value = frame_json(frame, &err);
    int rc = value ? task_table_add(front->mapped, value, front->spec->output || front->spec->error,
                                    &err)
                   : -1;
    if (rc == 0)
        output_grow(front->output, task_table_ntasks(front->mapped));
    if (first && front->watched)
        link_watch(front->manager, frontend_patience(front));
    if (rc == 0 && first) {
        output_name(front->output, task_table_program(front->mapped));
        if (frontend_reads_input(front))
            rc = frontend_start_input(front, &err);
        user_terminal_start(&front->terminal);
    }
    if (rc < 0)
        frontend_fail(front, &err);
    error_clear(&err);
}

static void on_last_call(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct frontend *front = timer->data;
    (void)events;
    if (front->result.goes_on)
        ev_break(loop, EVBREAK_ALL);
    else
        frontend_drop_rest(front, front->interrupter);
}

void frontend_last_call_init(struct frontend *front)
{
    ev_timer_init(&front->last_call, on_last_call, 0, LAST_CALL);
    front->last_call.data = front;
}

/* The process at the terminal shows it, and the manager saves it. */
static void tell_end(struct frontend *front, const char *messages)
{
    if (front->role != FRONTEND_BACKGROUND)
        return;
    json_t *end =
        json_pack("{s:i, s:o}", "status", front->result.status, "messages", frame_text(messages));
    char *text = json_dumps(end, JSON_COMPACT);
    struct frame frame = {.type = FRAME_END, .bytes = text, .len = text ? strlen(text) : 0};
    foreground_send(front->foreground, &frame);
    if (front->manager) {
        link_send(front->manager, &frame);
        link_flush(front->manager, END_PATIENCE);
    }
    free(text);
    json_decref(end);
}

/* Nothing more comes: what there is to say of it is said, and all of it waits for its readers. */
void frontend_wind_up(struct frontend *front, const char *messages)
{
    front->over = true;
    ev_timer_stop(front->loop, &front->interrupt_due);
    tell_end(front, messages);
    link_free(front->manager);
    front->manager = NULL;
    output_end_all(front->output);
    if (!front->result.quiet || front->err.text)
        frontend_say(front, messages, strlen(messages));
    if (front->dropping || frontend_is_done(front))
        frontend_drop_rest(front, front->interrupter);
    else if (front->interrupter)
        ev_timer_again(front->loop, &front->last_call);
}

/* The manager is lost. Tasks are ended before any reader is waited for. */
void frontend_give_up(struct frontend *front)
{
    struct buf lines = BUF_INIT;
    progress_clear(&front->progress);
    char *survivors = front->lost ? front->lost(front->lost_arg) : NULL;
    buf_printf(&lines, "%s\n%s", error_text(&front->err), survivors ? survivors : "");
    front->result.status = 1;
    frontend_wind_up(front, buf_text(&lines));
    buf_free(&lines);
    free(survivors);
}

/* A file that the manager, on another host, has made for this one. */
static void take_result(struct frontend *front, const struct frame *frame)
{
    const struct spec *spec = front->spec;
    bool draws = frame->rank == FRAME_RESULT_DRAW;
    const char *path = draws ? spec->draw : spec->report;
    struct error err = ERROR_INIT;
    if (frame->rank >= FRAME_RESULTS || !path)
        return;
    struct buf *text = &front->results[frame->rank];
    buf_add(text, frame->bytes, frame->len);
    if (frame->flags & FRAME_RESULT_END && result_file_write(draws ? "--draw" : "--report", path,
                                                             buf_bytes(text), text->len, &err) < 0)
        buf_printf(&front->unwritten, "%s\n", error_text(&err));
    if (frame->flags & FRAME_RESULT_END)
        buf_free(text);
    error_clear(&err);
}

static void take_end(struct frontend *front, const struct frame *frame)
{
    json_t *end = frame_json(frame, NULL);
    const char *messages = json_string_value(json_object_get(end, "messages"));
    struct buf lines = BUF_INIT;
    buf_add_text(&lines, front->err.text ? error_text(&front->err) : messages ? messages : "");
    if (front->unwritten.len && lines.len && buf_bytes(&lines)[lines.len - 1] != '\n')
        buf_add_char(&lines, '\n');
    buf_add(&lines, buf_bytes(&front->unwritten), front->unwritten.len);
    front->result.status = (int)json_integer_value(json_object_get(end, "status"));
    if (front->err.text || (front->unwritten.len && !front->result.status))
        front->result.status = 1;
    frontend_wind_up(front, buf_text(&lines));
    buf_free(&lines);
    json_decref(end);
}

void frontend_take(struct frontend *front, const struct frame *frame)
{
    if (frame->type != FRAME_PROGRESS)
        progress_clear(&front->progress);
    switch (frame->type) {
    case FRAME_PROGRESS:
        progress_take(&front->progress, frame);
        break;
    case FRAME_OUTPUT:
        take_output(front, frame);
        break;
    case FRAME_SHOW:
        if (frame->len)
            output_say(front->output, stream_of(frame), frame->bytes, frame->len);
        break;
    case FRAME_MAPPED:
        take_mapped(front, frame);
        break;
    case FRAME_NOTE:
        frontend_say(front, frame->bytes, frame->len);
        break;
    case FRAME_RESULT:
        take_result(front, frame);
        break;
    case FRAME_END:
        take_end(front, frame);
        break;
    default:
        break;
    }
}

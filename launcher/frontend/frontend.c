/* Frames of the manager become output, and the user's input and signals become frames. */
#include "launcher/frontend/frontend.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/frontend/foreground.h"
#include "launcher/frontend/progress.h"
#include "launcher/frontend/replay.h"
#include "launcher/frontend/saver.h"
#include "launcher/frontend/user_terminal.h"
#include "launcher/process/signal_name.h"
#include "launcher/process/signal_source.h"
#include "launcher/protocol/task_table.h"
#include "launcher/stdio/output.h"
#include "launcher/stdio/stdin_reader.h"
#include "launcher/stdio/terminal.h"
#include "launcher/tree/link.h"

#define INPUT_WINDOW 131072 /* bytes of stdin that are asked for at a time */
#define OUTPUT_BUDGET                                                                              \
    (8u << 20)            /* bytes that may wait here for a slow reader, or for a long line
                                    of another task to end, before tasks have to wait */
#define TWICE 1.0         /* s within which a second SIGINT or SIGTERM ends it all at once */
#define TOLD_TO_END 2.0   /* s for the manager to answer that, before there are tasks */
#define HANG_UP_GRACE 1.0 /* s that tasks have when the terminal of rank 0 was closed, at most */
#define LAST_CALL 2.0     /* s that, after one, what is left waits for who takes nothing */

/* What reaches every task; a signal that was ignored when tprun started stays so. */
static const int passed_on[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH};
enum { NSIGNALS = sizeof(passed_on) / sizeof(passed_on[0]) };

struct frontend {
    struct ev_loop *loop;
    const struct spec *spec;
    enum frontend_role role;
    const char *id; /* NULL: who started the program hears it */
    bool (*wants)(void *arg, const struct frame *frame);
    void *wants_arg;
    struct frontend_result result;
    struct error err;
    char *(*lost)(void *arg);
    void *lost_arg;
    struct link *manager;
    struct output *output;
    struct user_terminal terminal;
    struct progress progress;
    struct input *input;
    size_t unpaid; /* bulk bytes taken for which no credit was given back */
    size_t asked;  /* bytes of stdin asked for and not yet come */
    bool input_over;
    struct mapped *mapped;
    struct signal_source *signals;
    bool watched;        /* the manager: it is to end, and has to show signs of life */
    int ender;           /* the signal for which; 0: none */
    double interrupted;  /* when the last SIGINT or SIGTERM came */
    int interrupter;     /* which it was; 0: none */
    bool dropping;       /* told twice to end: output that nobody takes is not waited for */
    bool over;           /* the manager has said its last word, or is gone */
    ev_timer last_call;  /* once it is over: until then somebody has to take something */
    struct saver *saver; /* NULL: output is not saved */
    bool runs;           /* in the background: the program goes on without a foreground */
    struct foreground *foreground; /* NULL: there is none, or it is gone */
    bool relays;                   /* what cannot be saved goes to the foreground */
    int saved;                     /* of a viewer: the program's directory; -1: none yet */
    struct replay *replay;         /* of it; NULL: none yet */
    size_t shown;                  /* frames that it showed before it */
    struct buf held;               /* frames that come after what is replayed */
    ev_timer interrupt_due;        /* a Ctrl-C waits for what follows it */
};

/* ---- output ---- */

static void send_terminate(struct frontend *front, double grace, int number)
{
    struct frame frame = {
        .type = FRAME_TERMINATE, .flags = (uint16_t)number, .rank = frame_grace(grace)};
    if (front->manager)
        link_send(front->manager, &frame);
}

/* Where the user sees it: here, or at the terminal that this process has left. */
static void say_lines(struct frontend *front, const char *text, size_t len);

static void say_sentence(struct frontend *front, const struct error *err)
{
    const char *text = error_text(err);
    struct frame frame = {.type = FRAME_NOTE, .bytes = text, .len = strlen(text)};
    if (front->role == FRONTEND_BACKGROUND)
        foreground_send(front->foreground, &frame);
    else
        say_lines(front, text, strlen(text));
}

/* What the user is shown is saved, too. */
static void save_frame(struct frontend *front, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    if (front->saver && saver_take(front->saver, frame, &err) < 0) {
        front->relays = front->role == FRONTEND_BACKGROUND;
        if (!front->relays)
            say_sentence(front, &err);
    }
    error_clear(&err);
}

static void pay(struct frontend *front)
{
    if (front->relays && !foreground_has_room(front->foreground))
        return;
    if (!front->manager || (!front->dropping && output_pending(front->output) > OUTPUT_BUDGET))
        return;
    link_consumed(front->manager, front->unpaid);
    front->unpaid = 0;
}

/* What the reader has not taken is dropped, and that is no success. */
static void drop_rest(struct frontend *front, int number)
{
    if (output_pending(front->output) && !front->result.status)
        front->result.status = 128 + number;
    ev_break(front->loop, EVBREAK_ALL);
}

static void on_drained(void *arg, size_t bytes)
{
    struct frontend *front = arg;
    (void)bytes;
    pay(front);
    if (front->replay)
        replay_resume(front->replay);
    if (front->over && !output_pending(front->output))
        ev_break(front->loop, EVBREAK_ALL);
    else if (ev_is_active(&front->last_call))
        ev_timer_again(front->loop, &front->last_call);
}

/* The program goes on without this process; by signal `number`, or 0. */
static void frontend_leave(struct frontend *front, int number)
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
        if (front->manager)
            say_lines(front, line, strlen(line));
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
        send_terminate(front, front->spec->kill_grace, 0);
}

static void on_output_failed(void *arg, const struct error *err)
{
    struct frontend *front = arg;
    if (front->err.text)
        return;
    error_set(&front->err, "%s", error_text(err));
    send_terminate(front, front->spec->kill_grace, 0);
}

static const struct output_ops output_ops = {on_drained, on_output_closed, on_output_failed};

static uint32_t frontend_node_of(void *arg, uint32_t rank)
{
    return task_table_node(((struct frontend *)arg)->mapped, rank);
}

static const char *frontend_host_of(void *arg, uint32_t rank)
{
    return task_table_host(((struct frontend *)arg)->mapped, rank);
}

static enum output_stream stream_of(const struct frame *frame)
{
    return frame->flags & FRAME_STDERR ? OUTPUT_STDERR : OUTPUT_STDOUT;
}

/* In the background there is nowhere else to show it. */
static bool goes_to_file(const struct frontend *front, const struct frame *frame)
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
    if (front->dropping || (front->role == FRONTEND_BACKGROUND && !goes_to_file(front, frame)))
        ;
    else if (!frame->len)
        output_end(front->output, frame->rank, stream);
    else if (output_write(front->output, frame->rank, stream, frame->bytes, frame->len,
                          frame->flags & FRAME_UNFINISHED && !front->spec->unbuffered, &err) < 0)
        on_output_failed(front, &err);
    pay(front);
    error_clear(&err);
}

/* ---- input ---- */

static void ask_input(struct frontend *front)
{
    size_t room = front->manager ? link_room(front->manager) : 0;
    if (!front->input || front->input_over || front->asked >= INPUT_WINDOW / 2 || !room)
        return;
    size_t more = room < INPUT_WINDOW - front->asked ? room : INPUT_WINDOW - front->asked;
    front->asked += more;
    stdin_reader_want(front->input, more);
}

static void send_input(void *arg, const void *bytes, size_t len)
{
    struct frontend *front = arg;
    struct frame frame = {.type = FRAME_STDIN, .bytes = bytes, .len = len};
    if (front->manager)
        link_send(front->manager, &frame);
}

static void on_input(void *arg, const void *bytes, size_t len)
{
    struct frontend *front = arg;
    front->asked -= len < front->asked ? len : front->asked;
    if (!user_terminal_read(&front->terminal, bytes, len)) {
        if (((const char *)bytes)[len - 1] == '\n' && stdin_reader_echoes(front->input))
            output_typed(front->output);
        send_input(front, bytes, len);
    }
    ask_input(front);
}

static void on_input_end(void *arg)
{
    struct frontend *front = arg;
    struct frame frame = {.type = FRAME_STDIN_END};
    front->input_over = true;
    if (!user_terminal_ended(&front->terminal) && front->manager)
        link_send(front->manager, &frame);
}

static void on_input_failed(void *arg, const struct error *err)
{
    struct frontend *front = arg;
    if (!front->err.text)
        error_set(&front->err, "%s", error_text(err));
    on_input_end(front);
    send_terminate(front, front->spec->kill_grace, 0);
}

static const struct stdin_reader_ops input_ops = {on_input, on_input_end, on_input_failed};

static int start_input(struct frontend *front, struct error *err)
{
    if (front->spec->input == SPEC_INPUT_NONE || front->spec->input == SPEC_INPUT_TOOLS)
        return 0;
    const char *path = front->spec->input == SPEC_INPUT_FILE ? front->spec->input_arg : NULL;
    front->input = stdin_reader_new(front->loop, path, &input_ops, front, err);
    if (!front->input)
        return -1;
    ask_input(front);
    return 0;
}

/* ---- from the manager ---- */

/* How long the manager may be silent once it is to end. Before there are tasks it has to do no more
 * than leave. */
static double patience(const struct frontend *front)
{
    double most = front->spec->node_timeout;
    return task_table_ntasks(front->mapped) || most < TOLD_TO_END ? most : TOLD_TO_END;
}

/* In the background stdin is a file, or empty; who is at the terminal passes it on. */
static bool reads_input(const struct frontend *front)
{
    bool file = front->spec->input == SPEC_INPUT_FILE;
    switch (front->role) {
    case FRONTEND_BACKGROUND:
        return file || front->spec->detach;
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
        link_watch(front->manager, patience(front));
    if (rc == 0 && first) {
        output_name(front->output, task_table_program(front->mapped));
        if (reads_input(front))
            rc = start_input(front, &err);
        user_terminal_start(&front->terminal);
    }
    if (rc < 0)
        on_output_failed(front, &err);
    error_clear(&err);
}

/* Lines of text, each after our name. */
static void say_lines(struct frontend *front, const char *text, size_t len)
{
    struct buf lines = BUF_INIT;
    terminal_lines(&lines, "tprun", text, len);
    if (lines.len)
        output_say(front->output, OUTPUT_STDERR, buf_bytes(&lines), lines.len);
    buf_free(&lines);
}

/* ---- the end ---- */

static void on_last_call(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct frontend *front = timer->data;
    (void)events;
    if (front->result.goes_on)
        ev_break(loop, EVBREAK_ALL);
    else
        drop_rest(front, front->interrupter);
}

static void tell_end(struct frontend *front, const char *messages)
{
    if (!front->foreground)
        return;
    json_t *end =
        json_pack("{s:i, s:o}", "status", front->result.status, "messages", frame_text(messages));
    char *text = json_dumps(end, JSON_COMPACT);
    struct frame frame = {.type = FRAME_END, .bytes = text, .len = text ? strlen(text) : 0};
    foreground_send(front->foreground, &frame);
    free(text);
    json_decref(end);
}

/* Nothing more comes: what there is to say of it is said, and all of it waits for its readers. */
static void wind_up(struct frontend *front, const char *messages)
{
    front->over = true;
    ev_timer_stop(front->loop, &front->interrupt_due);
    if (front->saver)
        saver_end(front->saver, front->result.status, messages);
    tell_end(front, messages);
    link_free(front->manager);
    front->manager = NULL;
    output_end_all(front->output);
    if (!front->result.quiet || front->err.text)
        say_lines(front, messages, strlen(messages));
    if (front->dropping || !output_pending(front->output))
        drop_rest(front, front->interrupter);
    else if (front->interrupter)
        ev_timer_again(front->loop, &front->last_call);
}

/* The manager is lost. Tasks are ended before any reader is waited for. */
static void frontend_give_up(struct frontend *front)
{
    struct buf lines = BUF_INIT;
    progress_clear(&front->progress);
    char *survivors = front->lost ? front->lost(front->lost_arg) : NULL;
    buf_printf(&lines, "%s\n%s", error_text(&front->err), survivors ? survivors : "");
    front->result.status = 1;
    wind_up(front, buf_text(&lines));
    buf_free(&lines);
    free(survivors);
}

static void take_end(struct frontend *front, const struct frame *frame)
{
    json_t *end = frame_json(frame, NULL);
    const char *messages = json_string_value(json_object_get(end, "messages"));
    front->result.status = (int)json_integer_value(json_object_get(end, "status"));
    if (front->err.text) {
        front->result.status = 1;
        wind_up(front, error_text(&front->err));
    } else {
        wind_up(front, messages ? messages : "");
    }
    json_decref(end);
}

static void frontend_take(struct frontend *front, const struct frame *frame)
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
        say_lines(front, frame->bytes, frame->len);
        break;
    case FRAME_END:
        take_end(front, frame);
        break;
    default:
        break;
    }
}

/* ---- in the background ---- */

static void take_save(struct frontend *front, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    char *path = mem_copy_text_n(frame->bytes, frame->len);
    if (!front->saver)
        front->saver = saver_new(front->spec);
    if (saver_open(front->saver, path, &err) < 0) {
        front->relays = front->role == FRONTEND_BACKGROUND;
        say_sentence(front, &err);
    }
    error_clear(&err);
    free(path);
}

/* The other process hears of the start and the end; what comes between is saved. */
static void take_in_background(struct frontend *front, const struct frame *frame)
{
    bool shows = frame->type == FRAME_NOTE || frame->type == FRAME_SHOW ||
                 frame->type == FRAME_PROGRESS || frame->type == FRAME_MAPPED;
    if (frame->type == FRAME_SAVE)
        front->runs = true;
    bool start = frame->type == FRAME_MAPPED || frame->type == FRAME_RUNS ||
                 (frame->type == FRAME_SAVE && !front->relays);
    bool rest = front->relays && (shows || frame->type == FRAME_OUTPUT);
    if (start || rest || (shows && !front->runs))
        foreground_send(front->foreground, frame);
    if (frame->type == FRAME_OUTPUT || frame->type == FRAME_MAPPED || frame->type == FRAME_END)
        frontend_take(front, frame);
}

static void on_order(void *owner, const struct frame *frame)
{
    struct frontend *front = owner;
    front->input_over |= frame->type == FRAME_STDIN_END;
    if (front->manager)
        link_send(front->manager, frame);
}

static bool on_takes_input(void *owner)
{
    const struct frontend *front = owner;
    return !front->manager || link_room(front->manager);
}

/* Before the program runs nobody knows its id, so it ends with the terminal. */
static void on_foreground_gone(void *owner)
{
    struct frontend *front = owner;
    foreground_free(front->foreground);
    front->foreground = NULL;
    pay(front);
    if (!front->runs)
        send_terminate(front, 0, SIGHUP);
    else if (!reads_input(front) && !front->input_over)
        on_input_end(front); /* nobody types any more */
}

static void on_foreground_room(void *owner)
{
    pay(owner);
}

static const struct foreground_ops foreground_ops = {on_order, on_takes_input, on_foreground_room,
                                                     on_foreground_gone};

/* ---- at the terminal of a program that goes on without it ---- */

static void on_replayed(void *owner, const struct frame *frame)
{
    struct frontend *front = owner;
    if (frame->type != FRAME_MAPPED && (!front->wants || front->wants(front->wants_arg, frame)))
        frontend_take(front, frame);
}

static bool on_replay_full(void *owner)
{
    const struct frontend *front = owner;
    return !front->dropping && output_pending(front->output) > OUTPUT_BUDGET;
}

static void take_held_frames(struct frontend *front)
{
    struct frame frame;
    replay_free(front->replay);
    front->replay = NULL;
    while (!front->over && frame_decode(&front->held, &frame, NULL) > 0) {
        frontend_take(front, &frame);
        buf_consume(&front->held, FRAME_HEADER + frame.len);
    }
}

static void hold_frame(struct frontend *front, const struct frame *frame)
{
    unsigned char header[FRAME_HEADER];
    frame_encode_header(frame, header);
    buf_add(&front->held, header, sizeof(header));
    buf_add(&front->held, frame->bytes, frame->len);
}

static void on_replay_missing(void *owner, uint64_t bytes, const char *why)
{
    struct frontend *front = owner;
    if (why && front->manager) { /* what is not saved comes from there */
        char *note = mem_format("output is not saved any more: %s", why);
        say_lines(front, note, strlen(note));
        free(note);
        take_held_frames(front);
        return;
    }
    char *line = why ? mem_format("%" PRIu64 " bytes of output were not saved: %s", bytes, why)
                     : mem_format("%" PRIu64 " bytes of output are not here any more: the limit of "
                                  "saved output was reached (--save-limit)",
                                  bytes);
    say_lines(front, line, strlen(line));
    free(line);
}

/* What the program ended with came before, if it is known. */
static void on_replay_ended(void *owner, int status, const char *why)
{
    struct frontend *front = owner;
    replay_free(front->replay);
    front->replay = NULL;
    if (front->over)
        return;
    front->result.status = status == REPLAY_GOES_ON ? 0 : status < 0 ? 1 : status;
    wind_up(front, why ? why
                   : status == -1
                       ? "how the program ended is not known: the process that saved its "
                         "output is gone"
                       : "");
}

static const struct replay_ops replay_ops = {on_replayed, on_replay_full, on_replay_missing,
                                             on_replay_ended};

static int open_saved(void *arg, const char *name)
{
    const struct frontend *front = arg;
    return openat(front->saved, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

static void view_saved(struct frontend *front, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    char *path = mem_copy_text_n(frame->bytes, frame->len);
    front->saved = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct saved_reader *reader =
        front->saved < 0 ? NULL : saved_reader_new(open_saved, front, &err);
    if (reader)
        front->replay = replay_new(front->loop, reader, front->shown, true, &replay_ops, front);
    error_clear(&err);
    free(path);
}

static void print_id(struct frontend *front)
{
    char *line = mem_format("%s\n", task_table_program(front->mapped));
    int failed = terminal_print(STDOUT_FILENO, line, strlen(line));
    if (failed) {
        struct error err = ERROR_INIT;
        error_set(&err, "stdout: cannot write: %s; program %s goes on", strerror(failed),
                  task_table_program(front->mapped));
        say_sentence(front, &err);
        error_clear(&err);
    }
    free(line);
    front->result.status = failed != 0;
    front->result.goes_on = true;
    front->over = true;
    if (!output_pending(front->output))
        ev_break(front->loop, EVBREAK_ALL);
}

/* Of the front end in the background: once output is saved, it is read from there. */
static void take_at_terminal(struct frontend *front, const struct frame *frame)
{
    bool saved = frame->type == FRAME_NOTE || frame->type == FRAME_SHOW;
    if (frame->type == FRAME_SAVE && front->role == FRONTEND_VIEWER)
        view_saved(front, frame);
    else if (frame->type == FRAME_RUNS && front->role == FRONTEND_STARTER)
        print_id(front);
    else if (!front->replay || frame->type == FRAME_MAPPED)
        frontend_take(front, frame);
    else if (saved || frame->type == FRAME_OUTPUT || frame->type == FRAME_END)
        hold_frame(front, frame);
    front->shown += saved && !front->replay;
}

static void frontend_on_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct frontend *front = arg;
    (void)link;
    if (front->over)
        return;
    if (frame->type == FRAME_SAVE && front->role <= FRONTEND_BACKGROUND)
        take_save(front, frame);
    if (frame->type != FRAME_END)
        save_frame(front, frame);
    if (front->role == FRONTEND_BACKGROUND)
        take_in_background(front, frame);
    else if (front->role == FRONTEND_ATTACHED)
        frontend_take(front, frame);
    else
        take_at_terminal(front, frame);
}

static void frontend_on_room(struct link *link, void *arg)
{
    struct frontend *front = arg;
    (void)link;
    ask_input(front);
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
        return;
    }
    if (unheard)
        error_set(&front->err,
                  "ended by %s before any task was started: the manager of this run read its "
                  "input or made the layout, did not answer for %g s, and is killed",
                  signal_name(front->ender), patience(front));
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

static const struct link_ops manager_ops = {frontend_on_frame, frontend_on_room, on_closed, NULL,
                                            NULL};

/* ---- signals ---- */

/* True when it is the second of its kind within a second: the end, at once. */
static bool is_repeated(struct frontend *front, int number)
{
    double now = ev_now(front->loop);
    bool again = now - front->interrupted < TWICE;
    if (number != SIGINT && number != SIGTERM)
        return false;
    front->interrupted = now;
    front->interrupter = number;
    if (!again)
        return false;
    front->dropping = true;
    pay(front);
    send_terminate(front, 0, number);
    return true;
}

/* A manager that was stopped, or is busy for very long, would keep us waiting for ever. */
static void watch_manager(struct frontend *front, int ender)
{
    front->ender = ender;
    if (front->manager && !front->watched)
        link_watch(front->manager, patience(front));
    front->watched = true;
}

static void on_terminal_end(void *arg)
{
    struct frontend *front = arg;
    double grace = front->spec->kill_grace;
    if (front->over)
        drop_rest(front, SIGHUP);
    watch_manager(front, SIGHUP);
    user_terminal_hang_up(&front->terminal);
    send_terminate(front, grace < HANG_UP_GRACE ? grace : HANG_UP_GRACE, SIGHUP);
}

static const struct user_terminal_ops terminal_ops = {send_input, on_terminal_end};

static void on_interrupt_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct frontend *front = timer->data;
    struct frame frame = {.type = FRAME_SIGNAL, .flags = SIGINT};
    (void)loop, (void)events;
    if (front->manager)
        link_send(front->manager, &frame);
}

/* Ctrl-C then Ctrl-Z: this process goes, and the program stays. Where that can be, what Ctrl-C means is known
 * a moment later. True: it is dealt with. */
static bool take_keys(struct frontend *front, int number, bool from_terminal)
{
    bool waits = ev_is_active(&front->interrupt_due);
    bool after = number == SIGTSTP && from_terminal && front->interrupter == SIGINT &&
                 ev_now(front->loop) - front->interrupted < TWICE;
    if (front->over)
        return false;
    if (front->role == FRONTEND_ATTACHED && after) {
        static const char refused[] =
            "cannot leave this program to itself: start it with --on-disconnect=continue for that, "
            "or with --detach";
        say_lines(front, refused, strlen(refused));
        return true;
    }
    if (front->role != FRONTEND_VIEWER || !(front->replay || task_table_ntasks(front->mapped)))
        return false;
    bool ends = number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
    if (front->id && ends && (!front->manager || number == SIGTERM)) { /* it only looks */
        frontend_leave(front, number);
        return true;
    }
    ev_timer_stop(front->loop, &front->interrupt_due);
    if (number == SIGHUP || (waits && number == SIGTSTP)) {
        frontend_leave(front, number == SIGHUP ? SIGHUP : 0);
        return true;
    }
    if (number != SIGINT || !from_terminal || waits)
        return false;
    static const char choice[] =
        "Ctrl-C again within 1 s ends the program, Ctrl-Z leaves it to itself";
    say_lines(front, choice, strlen(choice));
    front->interrupted = ev_now(front->loop);
    front->interrupter = SIGINT;
    ev_timer_set(&front->interrupt_due, TWICE, 0);
    ev_timer_start(front->loop, &front->interrupt_due);
    return true;
}

static void on_signal(void *arg, int number, const char *sender, bool from_terminal)
{
    struct frontend *front = arg;
    struct frame frame = {
        .type = FRAME_SIGNAL, .flags = (uint16_t)number, .bytes = sender, .len = strlen(sender)};
    bool ends = number != SIGTSTP && number != SIGCONT && number != SIGWINCH;
    if (from_terminal && ends && isatty(STDERR_FILENO))
        output_break(front->output); /* the terminal's ^C stands there */
    if (take_keys(front, number, from_terminal))
        return;
    if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT)
        watch_manager(front, number);
    if (is_repeated(front, number) && !front->over)
        return;
    if (front->over && ends)
        drop_rest(front, number);
    bool ours = user_terminal_signal(&front->terminal, number);
    if (front->manager && !ours)
        link_send(front->manager, &frame);
    if (number == SIGTSTP) {
        if (front->manager)
            link_flush(front->manager, 1.0);
        raise(SIGSTOP);
    } else if (number == SIGCONT && front->input) {
        stdin_reader_resume(front->input);
    }
}

/* ---- life ---- */

static void frontend_close(struct frontend *front)
{
    user_terminal_leave(&front->terminal);
    signal_source_free(front->signals);
    ev_timer_stop(front->loop, &front->interrupt_due);
    replay_free(front->replay);
    if (front->saved >= 0)
        close(front->saved);
    saver_free(front->saver);
    foreground_free(front->foreground);
    buf_free(&front->held);
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
                             .lost_arg = from->lost_arg,
                             .saved = -1,
                             .interrupted = -INFINITY};
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
    front.output = output_new(front.loop, &config, &output_ops, &front, &front.err);
    ev_timer_init(&front.last_call, on_last_call, 0, LAST_CALL);
    front.last_call.data = &front;
    user_terminal_init(&front.terminal, spec, &terminal_ops, &front, &front.manager, front.output);
    ev_timer_init(&front.interrupt_due, on_interrupt_due, 0, 0);
    front.interrupt_due.data = &front;
    if (from->fd >= 0)
        front.manager = link_new(front.loop, from->fd, from->fd, &manager_ops, &front);
    if (from->reader)
        front.replay = replay_new(front.loop, from->reader, 0, from->follows, &replay_ops, &front);
    if (from->role == FRONTEND_BACKGROUND) {
        front.saver = saver_new(spec);
        front.foreground = foreground_new(front.loop, from->foreground, &foreground_ops, &front);
    }
    front.signals = signal_source_new(front.loop, passed_on, NSIGNALS, on_signal, &front);
    if (!front.signals) {
        error_set(&front.err, "cannot watch for signals: %s", strerror(errno));
        frontend_give_up(&front);
    }
    if (!front.over || output_pending(front.output))
        ev_run(front.loop, 0);
    frontend_close(&front);
    return front.result;
}

#include "launcher/cli/frontend.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/cli/mapped.h"
#include "launcher/stdio/input.h"
#include "launcher/stdio/output.h"
#include "launcher/tree/link.h"

#define INPUT_WINDOW 131072 /* bytes of stdin that are asked for at a time */
#define OUTPUT_BUDGET                                                                              \
    (8u << 20)    /* bytes that may wait here for a slow reader, or for a long line
                                    of another task to end, before tasks have to wait */
#define TWICE 1.0 /* s within which a second SIGINT or SIGTERM ends it all at once */

/* What reaches every task; a signal that was ignored when tprun started stays so. */
static const int passed_on[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH};
enum { NSIGNALS = sizeof(passed_on) / sizeof(passed_on[0]) };

struct frontend {
    struct ev_loop *loop;
    const struct spec *spec;
    struct frontend_result *result;
    struct error *err;
    struct link *manager;
    struct output *output;
    struct input *input;
    size_t unpaid; /* bulk bytes taken for which no credit was given back */
    size_t asked;  /* bytes of stdin asked for and not yet come */
    bool input_over;
    struct mapped *mapped;
    ev_signal signals[NSIGNALS];
    double interrupted; /* when the last SIGINT or SIGTERM came */
    bool dropping;      /* told twice to end: output that nobody takes is not waited for */
    bool ended;
};

/* 0, or an errno. Waits where the descriptor is non-blocking. */
static int write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
            continue;
        }
        if (n < 0)
            return errno;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

/* ---- output ---- */

static void send_terminate(struct frontend *front, double grace, int number)
{
    struct frame frame = {
        .type = FRAME_TERMINATE, .flags = (uint16_t)number, .rank = frame_grace(grace)};
    if (front->manager)
        link_send(front->manager, &frame);
}

static void pay(struct frontend *front)
{
    if (!front->manager ||
        (front->output && !front->dropping && output_pending(front->output) > OUTPUT_BUDGET))
        return;
    link_consumed(front->manager, front->unpaid);
    front->unpaid = 0;
}

static void on_drained(void *arg, size_t bytes)
{
    struct frontend *front = arg;
    (void)bytes;
    pay(front);
    if (front->ended && !output_pending(front->output))
        ev_break(front->loop, EVBREAK_ALL);
}

static void on_output_closed(void *arg, enum output_stream stream)
{
    struct frontend *front = arg;
    if (stream == OUTPUT_STDOUT && !front->result->quiet) {
        front->result->quiet = true;
        send_terminate(front, front->spec->kill_grace, 0);
    }
}

static void on_output_failed(void *arg, const struct error *err)
{
    struct frontend *front = arg;
    if (front->err->text)
        return;
    error_set(front->err, "%s", error_text(err));
    send_terminate(front, front->spec->kill_grace, 0);
}

static const struct output_ops output_ops = {on_drained, on_output_closed, on_output_failed};

static uint32_t node_of(void *arg, uint32_t rank)
{
    return mapped_node(((struct frontend *)arg)->mapped, rank);
}

static const char *host_of(void *arg, uint32_t rank)
{
    return mapped_host(((struct frontend *)arg)->mapped, rank);
}

static void take_output(struct frontend *front, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    enum output_stream stream = frame->flags & FRAME_STDERR ? OUTPUT_STDERR : OUTPUT_STDOUT;
    front->unpaid += link_weight(frame);
    if (stream == OUTPUT_STDERR && frame->len)
        front->result->inside_line = ((const char *)frame->bytes)[frame->len - 1] != '\n';
    if (front->dropping)
        ;
    else if (front->output && !frame->len)
        output_end(front->output, frame->rank, stream);
    else if (front->output &&
             output_write(front->output, frame->rank, stream, frame->bytes, frame->len,
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
    input_want(front->input, more);
}

static void on_input(void *arg, const void *bytes, size_t len)
{
    struct frontend *front = arg;
    struct frame frame = {.type = FRAME_STDIN, .bytes = bytes, .len = len};
    front->asked -= len < front->asked ? len : front->asked;
    if (front->manager)
        link_send(front->manager, &frame);
    ask_input(front);
}

static void on_input_end(void *arg)
{
    struct frontend *front = arg;
    struct frame frame = {.type = FRAME_STDIN_END};
    front->input_over = true;
    if (front->manager)
        link_send(front->manager, &frame);
}

static void on_input_failed(void *arg, const struct error *err)
{
    struct frontend *front = arg;
    if (!front->err->text)
        error_set(front->err, "%s", error_text(err));
    on_input_end(front);
    send_terminate(front, front->spec->kill_grace, 0);
}

static const struct input_ops input_ops = {on_input, on_input_end, on_input_failed};

static int start_input(struct frontend *front, struct error *err)
{
    if (front->spec->input == SPEC_INPUT_NONE || front->spec->input == SPEC_INPUT_TOOLS)
        return 0;
    const char *path = front->spec->input == SPEC_INPUT_FILE ? front->spec->input_arg : NULL;
    front->input = input_new(front->loop, path, &input_ops, front, err);
    if (!front->input)
        return -1;
    ask_input(front);
    return 0;
}

/* ---- from the manager ---- */

static int open_output(struct frontend *front, struct error *err)
{
    struct output_config config = {.label = front->spec->label,
                                   .templates = {front->spec->output, front->spec->error},
                                   .ntasks = mapped_ntasks(front->mapped),
                                   .program = mapped_program(front->mapped),
                                   .host = host_of,
                                   .node = node_of};
    front->output = output_new(front->loop, &config, &output_ops, front, err);
    return front->output ? start_input(front, err) : -1;
}

/* The first group, or one that is added. */
static void take_mapped(struct frontend *front, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    json_t *value = frame_json(frame, &err);
    int rc = value
                 ? mapped_add(front->mapped, value, front->spec->output || front->spec->error, &err)
                 : -1;
    if (rc == 0 && front->output)
        output_grow(front->output, mapped_ntasks(front->mapped));
    else if (rc == 0)
        rc = open_output(front, &err);
    if (rc < 0)
        on_output_failed(front, &err);
    error_clear(&err);
}

static void take_show(struct frontend *front, const struct frame *frame)
{
    bool error = frame->flags & FRAME_STDERR;
    int failed = write_all(error ? 2 : 1, frame->bytes, frame->len);
    if (failed == EPIPE && !error)
        front->result->quiet = true;
    else if (failed && !error && !front->err->text)
        error_set(front->err, "cannot write to standard output: %s", strerror(failed));
}

static void take_note(struct frontend *front, const struct frame *frame)
{
    struct buf line = BUF_INIT;
    (void)front;
    buf_printf(&line, "tprun: %.*s\n", (int)frame->len, (const char *)frame->bytes);
    write_all(2, buf_bytes(&line), line.len);
    buf_free(&line);
}

static void take_end(struct frontend *front, const struct frame *frame)
{
    json_t *end = frame_json(frame, NULL);
    const char *messages = json_string_value(json_object_get(end, "messages"));
    front->ended = true;
    front->result->status = (int)json_integer_value(json_object_get(end, "status"));
    buf_add_text(&front->result->messages, messages ? messages : "");
    json_decref(end);
    link_free(front->manager);
    front->manager = NULL;
    if (!front->output || front->dropping || !output_pending(front->output))
        ev_break(front->loop, EVBREAK_ALL);
}

static void on_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct frontend *front = arg;
    (void)link;
    switch (frame->type) {
    case FRAME_OUTPUT:
        take_output(front, frame);
        break;
    case FRAME_SHOW:
        take_show(front, frame);
        break;
    case FRAME_MAPPED:
        take_mapped(front, frame);
        break;
    case FRAME_NOTE:
        take_note(front, frame);
        break;
    case FRAME_END:
        take_end(front, frame);
        break;
    default:
        break;
    }
}

static void on_room(struct link *link, void *arg)
{
    (void)link;
    ask_input(arg);
}

static void on_closed(struct link *link, void *arg, const struct error *why)
{
    struct frontend *front = arg;
    (void)link;
    (void)why;
    ev_break(front->loop, EVBREAK_ALL);
}

static const struct link_ops manager_ops = {on_frame, on_room, on_closed, NULL, NULL};

/* ---- signals ---- */

static void send_signal(struct frontend *front, int number)
{
    struct frame frame = {.type = FRAME_SIGNAL, .flags = (uint16_t)number};
    if (front->manager)
        link_send(front->manager, &frame);
}

static void on_signal(struct ev_loop *loop, ev_signal *watcher, int events)
{
    struct frontend *front = watcher->data;
    (void)events;
    if (watcher->signum == SIGINT || watcher->signum == SIGTERM) {
        double now = ev_now(loop);
        bool again = now - front->interrupted < TWICE;
        front->interrupted = now;
        if (again) {
            front->dropping = true;
            pay(front);
            send_terminate(front, 0, watcher->signum);
        }
        if (again && !front->ended)
            return;
    }
    if (front->ended && watcher->signum != SIGTSTP && watcher->signum != SIGCONT &&
        watcher->signum != SIGWINCH)
        ev_break(loop, EVBREAK_ALL); /* what the reader does not take is dropped */
    send_signal(front, watcher->signum);
    if (watcher->signum == SIGTSTP) {
        if (front->manager)
            link_flush(front->manager, 1.0);
        raise(SIGSTOP);
    } else if (watcher->signum == SIGCONT && front->input) {
        input_resume(front->input);
    }
}

static void watch_signals(struct frontend *front)
{
    for (int i = 0; i < NSIGNALS; i++) {
        struct sigaction now;
        sigaction(passed_on[i], NULL, &now);
        ev_signal_init(&front->signals[i], on_signal, passed_on[i]);
        front->signals[i].data = front;
        if (now.sa_handler != SIG_IGN)
            ev_signal_start(front->loop, &front->signals[i]);
    }
}

/* ---- life ---- */

static void frontend_close(struct frontend *front)
{
    for (int i = 0; i < NSIGNALS; i++)
        ev_signal_stop(front->loop, &front->signals[i]);
    if (front->output && !front->ended)
        output_flush(front->output); /* the manager is gone: what came of it is shown */
    input_free(front->input);
    output_free(front->output);
    link_free(front->manager);
    front->manager = NULL;
    mapped_free(front->mapped);
}

int frontend_run(const struct spec *spec, int fd, struct frontend_result *result, struct error *err)
{
    struct frontend front = {.spec = spec, .result = result, .err = err, .interrupted = -INFINITY};
    signal(SIGPIPE, SIG_IGN);
    front.loop = ev_default_loop(0);
    front.mapped = mapped_new();
    front.manager = link_new(front.loop, fd, fd, &manager_ops, &front);
    watch_signals(&front);
    ev_run(front.loop, 0);
    frontend_close(&front);
    if (!front.ended && !err->text)
        return error_set(err, "the manager of this run is gone (killed, or out of memory); its "
                              "tasks are being ended");
    return err->text ? -1 : 0;
}

/* tpctl attach: what was saved of a program's output and what comes, to its end; signals of the terminal, and input,
 * go to its tasks. */
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "affinity/sets/idset.h"
#include "base/mem.h"
#include "launcher/process/reap.h"
#include "launcher/stdio/terminal.h"
#include "launcher/tpctl/ask_manager.h"
#include "launcher/tpctl/tpctl_view.h"
#include "launcher/tree/link.h"

#define ORDERS_LEAVE 1.0 /* s */

/* ---- a process that has orders carried out: an answer may take seconds, and output goes on meanwhile ---- */

struct orders {
    const struct found_program *program;
    struct link *viewer;
    struct link *input; /* to the manager; NULL: nothing is sent, or is taken any more */
    size_t owed;        /* bytes of input of the viewer that have not gone on */
};

static void orders_complain(const struct orders *orders, const char *text, size_t len)
{
    char *line = mem_format("program %s: %.*s", found_program_id(orders->program), (int)len, text);
    terminal_complain("tpctl", line, strlen(line));
    free(line);
}

static void pass_signal(const struct orders *orders, const struct frame *frame)
{
    struct control_request request = {.method = CONTROL_METHOD_SIGNAL, .number = frame->flags};
    struct control_answer answer = {0};
    struct error err = ERROR_INIT;
    if (frame->type == FRAME_TERMINATE) {
        request.method = CONTROL_METHOD_TERMINATE;
        request.grace = frame->rank / 1000.0;
    }
    int number = frame->flags;
    bool order = frame->type == FRAME_TERMINATE;
    if (frame->type == FRAME_SIGNAL) /* others are about this terminal */
        order = number == SIGINT || number == SIGQUIT || number == SIGUSR1 || number == SIGUSR2;
    int status = order ? ask_manager(orders->program, &request, &answer, &err) : 0;
    if (status && status != TPCTL_WRONG_STATE) /* it may end by itself */
        terminal_complain("tpctl", error_text(&err), strlen(error_text(&err)));
    control_answer_clear(&answer);
    error_clear(&err);
}

/* Without it the viewer reads no more. */
static void orders_settle(struct orders *orders)
{
    if (!orders->input || !link_room(orders->input))
        return;
    link_consumed(orders->viewer, orders->owed);
    orders->owed = 0;
}

static void attach_on_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct orders *orders = arg;
    (void)link;
    if (frame->type != FRAME_STDIN && frame->type != FRAME_STDIN_END) {
        pass_signal(orders, frame);
        return;
    }
    orders->owed += link_weight(frame);
    if (orders->input)
        link_send(orders->input, frame);
    orders_settle(orders);
}

static void attach_on_closed(struct link *link, void *arg, const struct error *why)
{
    (void)link, (void)arg, (void)why;
    _exit(0);
}

static const struct link_ops attach_link_ops = {attach_on_frame, NULL, attach_on_closed, NULL,
                                                NULL};

static void drop_input(struct orders *orders)
{
    link_free(orders->input);
    orders->input = NULL;
}

/* All of it was taken, or nobody reads it any more. */
static void take_last_word(struct orders *orders, const struct frame *frame)
{
    struct control_answer answer = {0};
    json_t *value = frame_json(frame, NULL);
    if (value && control_answer_from_json(&answer, value, NULL) == 0 && answer.status)
        orders_complain(orders, answer.error, strlen(answer.error));
    control_answer_clear(&answer);
    json_decref(value);
    drop_input(orders);
}

static void input_on_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct orders *orders = arg;
    (void)link;
    if (frame->type == FRAME_NOTE)
        orders_complain(orders, frame->bytes, frame->len);
    else if (frame->type == FRAME_CONTROL)
        take_last_word(orders, frame);
}

static void input_on_room(struct link *link, void *arg)
{
    (void)link;
    orders_settle(arg);
}

/* With the program: the viewer sees that. */
static void input_on_closed(struct link *link, void *arg, const struct error *why)
{
    (void)link, (void)why;
    drop_input(arg);
}

static const struct link_ops input_link_ops = {input_on_frame, input_on_room, input_on_closed, NULL,
                                               NULL};

/* The descriptor to it, or -1 with a sentence. `input` is the connection for that, which is taken, or -1. */
static int start_orders(const struct found_program *program, int input, pid_t *started,
                        struct error *err)
{
    int pair[2] = {-1, -1};
    pid_t pid = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        error_set(err, "cannot make a socket pair: %s", strerror(errno));
    else if ((pid = fork()) < 0)
        error_set(err, "cannot start a process: %s", strerror(errno));
    if (pid == 0) {
        struct orders orders = {.program = program};
        struct ev_loop *loop = ev_default_loop(0);
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        close(pair[0]);
        signal(SIGPIPE, SIG_IGN);
        setsid();      /* the terminal's signals are the other's */
        dup2(null, 0); /* and so is what is typed */
        orders.viewer = link_new(loop, pair[1], pair[1], &attach_link_ops, &orders);
        if (input >= 0)
            orders.input = link_new(loop, input, input, &input_link_ops, &orders);
        ev_run(loop, 0);
        _exit(0);
    }
    if (pid < 0 && pair[0] >= 0)
        close(pair[0]);
    if (pair[1] >= 0)
        close(pair[1]);
    if (input >= 0)
        close(input);
    *started = pid;
    return pid < 0 ? -1 : pair[0];
}

/* ---- what is wanted ---- */

struct attach_options {
    bool input;
    bool eof;
    struct idset *ranks; /* NULL: all that read stdin */
};

static int attach_options(const struct method_call *call, struct attach_options *options,
                          struct error *err)
{
    const char *input = method_value(call, TPCTL_INPUT);
    options->eof = method_value(call, TPCTL_EOF);
    options->input = input && strcmp(input, "none") != 0;
    if (options->eof && !options->input)
        return error_usage(err, "--eof: nothing is sent: give --input, too");
    if (!options->input || strcmp(input, "all") == 0)
        return 0;
    options->ranks = idset_decode(input, err);
    if (options->ranks && idset_empty(options->ranks))
        error_set(err, "expected at least one rank");
    if (options->ranks && !err->text)
        return 0;
    error_prefix(err, "--input");
    err->kind = ERROR_USAGE;
    return -1;
}

/* A connection for it in *input, or an exit status with a sentence. */
static int ask_for_input(const struct found_program *program, const struct attach_options *options,
                         int *input, struct error *err)
{
    struct control_request request = {.method = CONTROL_METHOD_INPUT, .ranks = options->ranks};
    struct control_answer answer = {0};
    int status = ask_manager_and_stay(program, &request, &answer, input, err);
    control_answer_clear(&answer);
    return status;
}

/* ---- the method ---- */

static int attach(const struct method_call *call, const struct found_program *program,
                  const struct attach_options *options, struct error *err)
{
    int input = -1, orders = -1, status = 0;
    pid_t process = -1;
    struct saved_reader *reader = tpctl_view_reader(program, true, &status, err);
    if (reader && options->input)
        status = ask_for_input(program, options, &input, err);
    if (reader && !status && found_program_lives(program))
        status = (orders = start_orders(program, input, &process, err)) < 0 ? -1 : 0;
    else if (input >= 0)
        close(input);
    if (!reader || status) {
        saved_reader_free(reader);
        return status;
    }
    struct spec *spec = tpctl_view_spec(call, program);
    spec->input = options->input ? SPEC_INPUT_RANKS : SPEC_INPUT_NONE;
    spec->input_stays = !options->eof;
    struct frontend_config config = {.spec = spec,
                                     .role = FRONTEND_VIEWER,
                                     .fd = orders,
                                     .foreground = -1,
                                     .id = found_program_id(program),
                                     .reader = reader,
                                     .follows = true};
    struct frontend_result result = frontend_run(&config);
    if (process > 0) /* who sends input next finds that this one does not any more */
        reap(process, ORDERS_LEAVE, NULL);
    spec_free(spec);
    return frontend_status(&result);
}

int tpctl_attach(struct method_call *call, struct error *err)
{
    const struct found_program *program;
    struct attach_options options = {0};
    int status = attach_options(call, &options, err);
    struct program_search *search = status == 0 ? tpctl_search(call, err) : NULL;
    if (status == 0)
        status = search ? tpctl_find(call, search, call->words[0], &program, err) : -1;
    if (status == 0)
        status = attach(call, program, &options, err);
    program_search_free(search);
    idset_free(options.ranks);
    return status;
}

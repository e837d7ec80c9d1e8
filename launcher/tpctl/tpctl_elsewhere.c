/* The caller's side of a tpctl that is run on another host. */
#include "launcher/tpctl/tpctl_elsewhere.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/string_list.h"
#include "launcher/control/instance_address.h"
#include "launcher/ledger/claims_file.h"
#include "launcher/ledger/instance_directory.h"
#include "launcher/process/pseudo_terminal.h"
#include "launcher/process/signal_source.h"
#include "launcher/process/terminal_modes.h"
#include "launcher/protocol/command_request.h"
#include "launcher/protocol/instance_request.h"
#include "launcher/stdio/nonblocking_writer.h"
#include "launcher/stdio/raw_terminal.h"
#include "launcher/stdio/stdin_reader.h"
#include "launcher/stdio/terminal.h"
#include "launcher/tpctl/tpctl.h"
#include "launcher/tree/link.h"

#define INPUT_WINDOW 65536 /* bytes of stdin that are asked for at a time */
#define PATIENCE 10.0      /* s that the other side may be silent, once this one was told to end */

struct elsewhere {
    struct ev_loop *loop;
    struct link *link; /* NULL: it is closed */
    struct signal_source *signals;
    struct command_request request;
    struct nonblocking_writer sinks[2]; /* stdout, or the archive, and stderr */
    bool deaf[2];                       /* nobody reads it any more, and the other side knows */
    struct input *input;                /* NULL: nothing is read */
    size_t asked;
    int tty;             /* the terminal, or -1 */
    bool raw;            /* it is to give keys one by one */
    char *sent;          /* the stdin of tpctl new; NULL: it is this one */
    const char *archive; /* the file of reap --archive; NULL: none */
    int file;            /* it; -1 */
    bool kept;           /* the other side was told that it is whole: it stays */
    bool over;           /* the other side has said its last word */
    int status;
    int killer; /* the signal that ended the command, or this process; 0: none */
    bool lost;  /* it has not */
};

static const int passed_on[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH};
enum { NPASSED = sizeof(passed_on) / sizeof(passed_on[0]) };

/* ---- whether ---- */

/* The manager of the caller's program holds its lock in the instance's directory. A copy of that directory on another host
 * has the same id, and nobody who holds it. */
static bool is_here(const char *path, const char *id, const char *program)
{
    struct instance *instance = instance_open_outer(path, id);
    uint64_t number;
    bool here = instance && number_parse(program, UINT64_MAX - 2, &number) &&
                ledger_is_alive(instance, number);
    instance_close(instance);
    return here;
}

static bool needs_other_host(void)
{
    const char *batch = getenv(BATCH_VARIABLE), *path = getenv("TPRUN_INSTANCE");
    const char *id = getenv("TPRUN_INSTANCE_ID"), *program = getenv("TPRUN_PROGRAM");
    return batch && *batch && path && id && program && !getenv(COMMAND_HERE) &&
           !is_here(path, id, program);
}

/* ---- what is asked ---- */

/* The words as they were understood. The archive is written here: it goes through stdout. */
static char **elsewhere_words(const struct method_call *call)
{
    struct string_list words = {0};
    string_list_add_copy(&words, call->method->name);
    if (call->method->run == tpctl_new) /* what it is to make goes to its stdin */
        return string_list_take(&words);
    for (size_t i = 0; i < call->ngiven; i++) {
        const struct method_given *given = &call->given[i];
        const char *name = call->program->options[given->option].name;
        const char *value = given->option == TPCTL_ARCHIVE ? "-" : given->value;
        string_list_add(&words,
                        value ? mem_format("--%s=%s", name, value) : mem_format("--%s", name));
    }
    string_list_add_copy(&words, "--");
    for (size_t i = 0; i < call->nwords; i++)
        string_list_add_copy(&words, call->words[i]);
    return string_list_take(&words);
}

/* Stdin is left alone unless the method reads it: a script's loop may read it, too. */
static bool reads_stdin(const struct method_call *call)
{
    const char *input = method_value(call, TPCTL_INPUT);
    bool named = strcmp(call->method->name, "top") == 0 || (input && strcmp(input, "none") != 0);
    for (size_t i = 0; i < call->nwords; i++)
        named = named || strcmp(call->words[i], "-") == 0;
    for (size_t i = 0; i < call->ngiven; i++)
        named = named || (call->given[i].value && strcmp(call->given[i].value, "-") == 0);
    return named && !method_value(call, TPCTL_ARCHIVE) && call->method->run != tpctl_new;
}

static bool is_same_file(int one, int other)
{
    struct stat a, b;
    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static void fill_request(struct elsewhere *elsewhere, const struct method_call *call)
{
    struct command_request *request = &elsewhere->request;
    bool reads = reads_stdin(call);
    request->words = elsewhere_words(call);
    elsewhere->tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    for (int fd = 0; fd <= 2; fd++) {
        bool open = fcntl(fd, F_GETFD) >= 0 && (fd || reads || isatty(fd));
        request->streams[fd] = !open        ? COMMAND_STREAM_NONE
                               : isatty(fd) ? COMMAND_STREAM_TERMINAL
                                            : COMMAND_STREAM_BYTES;
        if (isatty(fd) && !request->terminal)
            request->terminal = terminal_modes_of(fd);
    }
    if (!request->terminal && elsewhere->tty >= 0)
        request->terminal = terminal_modes_of(elsewhere->tty);
    if (elsewhere->archive)
        request->streams[0] = request->streams[1] = COMMAND_STREAM_BYTES;
    if (elsewhere->sent)
        request->streams[0] = COMMAND_STREAM_BYTES;
    request->merged = request->streams[1] == COMMAND_STREAM_BYTES &&
                      request->streams[2] == COMMAND_STREAM_BYTES && !elsewhere->archive &&
                      is_same_file(STDOUT_FILENO, STDERR_FILENO);
}

/* ---- output ---- */

static void send_plain(const struct elsewhere *elsewhere, enum frame_type type, int flags)
{
    if (elsewhere->link)
        link_send(elsewhere->link, &(struct frame){.type = type, .flags = (uint16_t)flags});
}

static bool is_written(const struct elsewhere *elsewhere)
{
    return !elsewhere->sinks[0].queue.len && !elsewhere->sinks[1].queue.len;
}

/* Credit for what was written or dropped. */
static void output_settle(void *arg)
{
    struct elsewhere *elsewhere = arg;
    for (int i = 0; i < 2; i++) {
        struct nonblocking_writer *sink = &elsewhere->sinks[i];
        if (elsewhere->link && sink->left)
            link_consumed(elsewhere->link, sink->left);
        sink->left = 0;
        if (sink->error && !elsewhere->deaf[i]) {
            elsewhere->deaf[i] = true;
            send_plain(elsewhere, FRAME_OUTPUT, i ? FRAME_STDERR : 0);
        }
    }
    if (elsewhere->over && is_written(elsewhere))
        ev_break(elsewhere->loop, EVBREAK_ALL);
}

/* All of the archive has come. Nothing is removed there before this side says that it is kept. */
static void archive_end(struct elsewhere *elsewhere)
{
    struct stat info;
    bool kept = !elsewhere->sinks[0].error && fsync(elsewhere->file) == 0 &&
                fstat(elsewhere->file, &info) == 0 && info.st_size > 0;
    elsewhere->kept = kept && elsewhere->link;
    if (elsewhere->kept)
        link_send(elsewhere->link, &(struct frame){.type = FRAME_STDIN, .bytes = "\n", .len = 1});
    send_plain(elsewhere, FRAME_STDIN_END, 0);
}

static void elsewhere_take_output(struct elsewhere *elsewhere, const struct frame *frame)
{
    int stream = frame->flags & FRAME_STDERR ? 1 : 0;
    if (frame->len) {
        nonblocking_writer_put(&elsewhere->sinks[stream], frame->bytes, frame->len,
                               link_weight(frame));
    } else {
        link_consumed(elsewhere->link, link_weight(frame));
        if (!stream && elsewhere->file >= 0)
            archive_end(elsewhere);
    }
    output_settle(elsewhere);
}

static void elsewhere_take_end(struct elsewhere *elsewhere, const struct frame *frame)
{
    json_t *end = frame_json(frame, NULL);
    const char *messages = json_string_value(json_object_get(end, "messages"));
    elsewhere->status = end ? (int)json_integer_value(json_object_get(end, "status")) : 1;
    elsewhere->killer = (int)json_integer_value(json_object_get(end, "signal"));
    elsewhere->over = true;
    if (messages)
        terminal_complain("tpctl", messages, strlen(messages));
    json_decref(end);
    output_settle(elsewhere);
}

/* ---- the terminal ---- */

static void show_raw(struct elsewhere *elsewhere)
{
    bool on = elsewhere->raw && raw_terminal_enter(STDIN_FILENO);
    if (!on)
        raw_terminal_leave();
    for (int i = 0; i < 2; i++)
        elsewhere->sinks[i].returns = on && elsewhere->sinks[i].tty;
}

static void tell_size(const struct elsewhere *elsewhere)
{
    unsigned char bytes[8];
    struct frame frame = {.type = FRAME_TERMINAL, .bytes = bytes, .len = sizeof(bytes)};
    uint64_t size = elsewhere->tty >= 0 ? terminal_size(elsewhere->tty) : 0;
    for (int fd = 0; fd <= 2 && !size; fd++)
        size = terminal_size(fd);
    frame_put_u64(bytes, size);
    if (size && elsewhere->link)
        link_send(elsewhere->link, &frame);
}

/* The command has stopped: so does this process, for its shell to see. */
static void stop_here(struct elsewhere *elsewhere)
{
    raw_terminal_leave();
    link_flush(elsewhere->link, 1.0);
    raise(SIGSTOP);
}

/* ---- input and signals ---- */

static void ask_input(struct elsewhere *elsewhere)
{
    size_t room = elsewhere->link ? link_room(elsewhere->link) : 0;
    if (!elsewhere->input || elsewhere->asked >= INPUT_WINDOW / 2 || !room)
        return;
    size_t more = INPUT_WINDOW - elsewhere->asked;
    more = room < more ? room : more;
    elsewhere->asked += more;
    stdin_reader_want(elsewhere->input, more);
}

static void on_typed(void *arg, const void *bytes, size_t len)
{
    struct elsewhere *elsewhere = arg;
    struct frame frame = {.type = FRAME_STDIN, .bytes = bytes, .len = len};
    elsewhere->asked -= len < elsewhere->asked ? len : elsewhere->asked;
    if (elsewhere->link)
        link_send(elsewhere->link, &frame);
    ask_input(elsewhere);
}

static void on_typed_end(void *arg)
{
    send_plain(arg, FRAME_STDIN_END, 0);
}

static void on_typed_failed(void *arg, const struct error *err)
{
    terminal_complain("tpctl", error_text(err), strlen(error_text(err)));
    on_typed_end(arg);
}

static const struct stdin_reader_ops typed_ops = {on_typed, on_typed_end, on_typed_failed};

static void elsewhere_on_signal(void *arg, int number, const char *sender, bool from_terminal)
{
    struct elsewhere *elsewhere = arg;
    struct frame frame = {.type = FRAME_SIGNAL,
                          .flags = (uint16_t)number,
                          .rank = from_terminal ? FRAME_SIGNAL_TYPED : 0};
    bool ends = number != SIGTSTP && number != SIGCONT && number != SIGWINCH;
    (void)sender;
    if (ends && (elsewhere->over || !elsewhere->link)) {
        elsewhere->killer = number;
        ev_break(elsewhere->loop, EVBREAK_ALL);
        return;
    }
    if (number == SIGCONT) {
        show_raw(elsewhere);
        if (elsewhere->input)
            stdin_reader_resume(elsewhere->input);
    }
    if (number == SIGCONT || number == SIGWINCH)
        tell_size(elsewhere);
    if (number != SIGWINCH && elsewhere->link)
        link_send(elsewhere->link, &frame);
    if (ends)
        link_watch(elsewhere->link, PATIENCE);
}

/* ---- the other side ---- */

static void elsewhere_on_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct elsewhere *elsewhere = arg;
    (void)link;
    switch (frame->type) {
    case FRAME_OUTPUT:
        elsewhere_take_output(elsewhere, frame);
        break;
    case FRAME_TERMINAL:
        elsewhere->raw = frame->rank;
        show_raw(elsewhere);
        break;
    case FRAME_SIGNAL:
        stop_here(elsewhere);
        break;
    case FRAME_END:
        elsewhere_take_end(elsewhere, frame);
        break;
    default:
        break;
    }
}

static void elsewhere_on_room(struct link *link, void *arg)
{
    (void)link;
    ask_input(arg);
}

static void elsewhere_on_closed(struct link *link, void *arg, const struct error *why)
{
    struct elsewhere *elsewhere = arg;
    (void)why;
    elsewhere->link = NULL;
    elsewhere->lost = !elsewhere->over;
    link_free(link);
    if (elsewhere->lost)
        ev_break(elsewhere->loop, EVBREAK_ALL);
}

static const struct link_ops elsewhere_link_ops = {elsewhere_on_frame, elsewhere_on_room,
                                                   elsewhere_on_closed, NULL, NULL};

/* ---- the whole ---- */

static int elsewhere_start(struct elsewhere *elsewhere, const struct method_call *call,
                           struct error *err)
{
    if (call->method->run == tpctl_new) {
        json_t *made = tpctl_new_request(call, err);
        elsewhere->sent = made ? json_dumps(made, JSON_COMPACT) : NULL;
        json_decref(made);
        if (!elsewhere->sent)
            return -1;
    }
    int fd = instance_connect(getenv(BATCH_VARIABLE), err);
    if (fd < 0)
        return error_prefix(err,
                            "this command is in an instance (%s is set), which cannot be reached",
                            BATCH_VARIABLE);
    elsewhere->archive = method_value(call, TPCTL_ARCHIVE);
    if (elsewhere->archive) {
        elsewhere->file = open(elsewhere->archive, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (elsewhere->file < 0) {
            error_set(err, "--archive %s: cannot make it: %s", elsewhere->archive, strerror(errno));
            close(fd);
            return -1;
        }
    }
    fill_request(elsewhere, call);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* as a full disk */
    elsewhere->loop = ev_default_loop(0);
    elsewhere->link = link_new(elsewhere->loop, fd, fd, &elsewhere_link_ops, elsewhere);
    for (int i = 0; i < 2; i++) {
        nonblocking_writer_init(&elsewhere->sinks[i], elsewhere->loop, output_settle, elsewhere);
        nonblocking_writer_borrow(&elsewhere->sinks[i],
                                  i == 0 && elsewhere->file >= 0 ? elsewhere->file : i + 1);
    }
    elsewhere->signals =
        signal_source_new(elsewhere->loop, passed_on, NPASSED, elsewhere_on_signal, elsewhere);
    if (!elsewhere->signals)
        return error_set(err, "cannot watch for signals: %s", strerror(errno));
    json_t *request = command_request_to_json(&elsewhere->request);
    link_send_json(elsewhere->link, FRAME_COMMAND, 0, 0, request);
    json_decref(request);
    if (elsewhere->sent) {
        struct frame text = {
            .type = FRAME_STDIN, .bytes = elsewhere->sent, .len = strlen(elsewhere->sent)};
        link_send(elsewhere->link, &text);
        send_plain(elsewhere, FRAME_STDIN_END, 0);
        return 0;
    }
    if (elsewhere->request.streams[0] == COMMAND_STREAM_NONE || !reads_stdin(call))
        return 0;
    elsewhere->input = stdin_reader_new(elsewhere->loop, NULL, &typed_ops, elsewhere, err);
    ask_input(elsewhere);
    return elsewhere->input ? 0 : -1;
}

/* Of what could not be written the other side knows no more than that. */
static void tell_lost_output(struct elsewhere *elsewhere, struct error *err)
{
    int why = elsewhere->sinks[0].error;
    if (!why || why == EPIPE)
        return;
    elsewhere->killer = 0;
    elsewhere->status = 1;
    if (elsewhere->archive)
        error_set(err, "--archive %s: cannot write: %s; nothing is removed", elsewhere->archive,
                  strerror(why));
    else
        error_set(err, "stdout: cannot write: %s", strerror(why));
}

static void elsewhere_close(struct elsewhere *elsewhere)
{
    struct stat info;
    raw_terminal_leave();
    signal_source_free(elsewhere->signals);
    stdin_reader_free(elsewhere->input);
    for (int i = 0; i < 2 && elsewhere->loop; i++)
        nonblocking_writer_free(&elsewhere->sinks[i]);
    link_free(elsewhere->link);
    if (elsewhere->file >= 0 && !elsewhere->kept &&
        (elsewhere->status || elsewhere->killer || fstat(elsewhere->file, &info) < 0 ||
         !info.st_size))
        unlink(elsewhere->archive);
    if (elsewhere->file >= 0)
        close(elsewhere->file);
    if (elsewhere->tty >= 0)
        close(elsewhere->tty);
    command_request_clear(&elsewhere->request);
    free(elsewhere->sent);
}

static int elsewhere_run(const struct method_call *call)
{
    struct error err = ERROR_INIT;
    struct elsewhere elsewhere = {.tty = -1, .file = -1, .status = 1};
    if (elsewhere_start(&elsewhere, call, &err) == 0)
        ev_run(elsewhere.loop, 0);
    if (elsewhere.lost)
        error_set(&err, "the instance has ended, or its manager does not answer");
    tell_lost_output(&elsewhere, &err);
    if (err.text && err.kind == ERROR_USAGE)
        elsewhere.status = 2;
    elsewhere_close(&elsewhere);
    terminal_complain("tpctl", err.text ? err.text : "", err.text ? strlen(err.text) : 0);
    error_clear(&err);
    if (elsewhere.killer) {
        signal(elsewhere.killer, SIG_DFL);
        raise(elsewhere.killer);
    }
    return elsewhere.killer ? 128 + elsewhere.killer : elsewhere.status;
}

bool tpctl_elsewhere(const struct method_program *program, char *const *words, int *status)
{
    struct method_call call = {0};
    bool runs = false;
    if (!needs_other_host() || (words[0] && strcmp(words[0], "--version") == 0))
        return false;
    if (method_scan(program, words, &call, NULL) == 0 && !method_value(&call, program->help)) {
        runs = true;
        *status = elsewhere_run(&call);
    }
    method_call_clear(&call);
    return runs;
}

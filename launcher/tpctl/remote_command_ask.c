/* The caller's side of a tpctl that is run on another host. */
#include "launcher/tpctl/remote_command_ask.h"

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
#include "launcher/protocol/instance_request.h"
#include "launcher/protocol/remote_command_request.h"
#include "launcher/protocol/stage_list.h"
#include "launcher/stdio/nonblocking_writer.h"
#include "launcher/stdio/raw_terminal.h"
#include "launcher/stdio/stdin_reader.h"
#include "launcher/stdio/terminal.h"
#include "launcher/tpctl/tpctl.h"
#include "launcher/tree/link.h"

#define INPUT_WINDOW 65536 /* bytes of stdin that are asked for at a time */
#define PATIENCE 10.0      /* s that the other side may be silent, once this one was told to end */

struct remote_command {
    struct ev_loop *loop;
    struct link *link; /* NULL: it is closed */
    struct signal_source *signals;
    struct remote_command_request request;
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
    bool told_to_end;    /* the other side was, and may be silent for PATIENCE since then */
    bool over;           /* the other side has said its last word */
    bool lost;           /* it has not, and does not any more */
    int status;
    int killer; /* the signal that ended the command, or this process; 0: none */
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

/* The path of an instance is one of the other host. */
static char *remote_command_value(const struct method_given *given)
{
    bool relative =
        given->option == TPCTL_INSTANCE && given->value[0] != '/' && strchr(given->value, '/');
    char *here = relative ? getcwd(NULL, 0) : NULL;
    char *value = here ? stage_path(given->value, here)
                       : mem_copy_text(given->option == TPCTL_ARCHIVE ? "-" : given->value);
    free(here);
    return value;
}

/* The words as they were understood. The archive is written here: it goes through stdout. */
static char **remote_command_words(const struct method_call *call)
{
    struct string_list words = {0};
    string_list_add_copy(&words, call->method->name);
    if (call->method->run == tpctl_new) /* what it is to make goes to its stdin */
        return string_list_take(&words);
    for (size_t i = 0; i < call->ngiven; i++) {
        const struct method_given *given = &call->given[i];
        const char *name = call->program->options[given->option].name;
        char *value = remote_command_value(given);
        string_list_add(&words,
                        value ? mem_format("--%s=%s", name, value) : mem_format("--%s", name));
        free(value);
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

static void fill_request(struct remote_command *command, const struct method_call *call)
{
    struct remote_command_request *request = &command->request;
    bool reads = reads_stdin(call);
    request->words = remote_command_words(call);
    command->tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    for (int fd = 0; fd <= 2; fd++) {
        bool open = fcntl(fd, F_GETFD) >= 0 && (fd || reads || isatty(fd));
        request->streams[fd] = !open        ? COMMAND_STREAM_NONE
                               : isatty(fd) ? COMMAND_STREAM_TERMINAL
                                            : COMMAND_STREAM_BYTES;
        if (isatty(fd) && !request->terminal)
            request->terminal = terminal_modes_of(fd);
    }
    if (!request->terminal && command->tty >= 0)
        request->terminal = terminal_modes_of(command->tty);
    if (command->archive)
        request->streams[0] = request->streams[1] = COMMAND_STREAM_BYTES;
    if (command->sent)
        request->streams[0] = COMMAND_STREAM_BYTES;
    request->merged = request->streams[1] == COMMAND_STREAM_BYTES &&
                      request->streams[2] == COMMAND_STREAM_BYTES && !command->archive &&
                      is_same_file(STDOUT_FILENO, STDERR_FILENO);
}

/* ---- output ---- */

static void send_plain(const struct remote_command *command, enum frame_type type, int flags)
{
    if (command->link)
        link_send(command->link, &(struct frame){.type = type, .flags = (uint16_t)flags});
}

static bool is_written(const struct remote_command *command)
{
    return !command->sinks[0].queue.len && !command->sinks[1].queue.len;
}

/* Credit for what was written or dropped. */
static void output_settle(void *arg)
{
    struct remote_command *command = arg;
    for (int i = 0; i < 2; i++) {
        struct nonblocking_writer *sink = &command->sinks[i];
        if (command->link && sink->left)
            link_consumed(command->link, sink->left);
        sink->left = 0;
        if (sink->error && !command->deaf[i]) {
            command->deaf[i] = true;
            send_plain(command, FRAME_OUTPUT, i ? FRAME_STDERR : 0);
        }
    }
    if (command->over && is_written(command))
        ev_break(command->loop, EVBREAK_ALL);
}

/* All of the archive has come. Nothing is removed there before this side says that it is kept. */
static void archive_end(struct remote_command *command)
{
    struct stat info;
    bool kept = !command->sinks[0].error && fsync(command->file) == 0 &&
                fstat(command->file, &info) == 0 && info.st_size > 0;
    command->kept = kept && command->link;
    if (command->kept)
        link_send(command->link, &(struct frame){.type = FRAME_STDIN, .bytes = "\n", .len = 1});
    send_plain(command, FRAME_STDIN_END, 0);
}

static void remote_command_take_output(struct remote_command *command, const struct frame *frame)
{
    int stream = frame->flags & FRAME_STDERR ? 1 : 0;
    if (frame->len) {
        nonblocking_writer_put(&command->sinks[stream], frame->bytes, frame->len,
                               link_weight(frame));
    } else {
        link_consumed(command->link, link_weight(frame));
        if (!stream && command->file >= 0)
            archive_end(command);
    }
    output_settle(command);
}

static void remote_command_take_end(struct remote_command *command, const struct frame *frame)
{
    json_t *end = frame_json(frame, NULL);
    const char *messages = json_string_value(json_object_get(end, "messages"));
    command->status = end ? (int)json_integer_value(json_object_get(end, "status")) : 1;
    command->killer = (int)json_integer_value(json_object_get(end, "signal"));
    command->over = true;
    if (messages)
        terminal_complain("tpctl", messages, strlen(messages));
    json_decref(end);
    output_settle(command);
}

/* ---- the terminal ---- */

static void show_raw(struct remote_command *command)
{
    bool on = command->raw && raw_terminal_enter(STDIN_FILENO);
    if (!on)
        raw_terminal_leave();
    for (int i = 0; i < 2; i++)
        command->sinks[i].returns = on && command->sinks[i].tty;
}

static void tell_size(const struct remote_command *command)
{
    unsigned char bytes[8];
    struct frame frame = {.type = FRAME_TERMINAL, .bytes = bytes, .len = sizeof(bytes)};
    uint64_t size = command->tty >= 0 ? terminal_size(command->tty) : 0;
    for (int fd = 0; fd <= 2 && !size; fd++)
        size = terminal_size(fd);
    frame_put_u64(bytes, size);
    if (size && command->link)
        link_send(command->link, &frame);
}

/* The command has stopped: so does this process, for its shell to see. */
static void stop_here(struct remote_command *command)
{
    raw_terminal_leave();
    link_flush(command->link, 1.0);
    raise(SIGSTOP);
}

/* ---- input and signals ---- */

static void ask_input(struct remote_command *command)
{
    size_t room = command->link ? link_room(command->link) : 0;
    if (!command->input || command->asked >= INPUT_WINDOW / 2 || !room)
        return;
    size_t more = INPUT_WINDOW - command->asked;
    more = room < more ? room : more;
    command->asked += more;
    stdin_reader_want(command->input, more);
}

static void on_typed(void *arg, const void *bytes, size_t len)
{
    struct remote_command *command = arg;
    struct frame frame = {.type = FRAME_STDIN, .bytes = bytes, .len = len};
    command->asked -= len < command->asked ? len : command->asked;
    if (command->link)
        link_send(command->link, &frame);
    ask_input(command);
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

static void remote_command_on_signal(void *arg, int number, const char *sender, bool from_terminal)
{
    struct remote_command *command = arg;
    struct frame frame = {.type = FRAME_SIGNAL,
                          .flags = (uint16_t)number,
                          .rank = from_terminal ? FRAME_SIGNAL_TYPED : 0};
    bool ends = number != SIGTSTP && number != SIGCONT && number != SIGWINCH;
    (void)sender;
    if (ends && (command->over || !command->link)) {
        command->killer = number;
        ev_break(command->loop, EVBREAK_ALL);
        return;
    }
    if (number == SIGCONT) {
        show_raw(command);
        if (command->input)
            stdin_reader_resume(command->input);
    }
    if (number == SIGCONT || number == SIGWINCH)
        tell_size(command);
    if (number != SIGWINCH && command->link)
        link_send(command->link, &frame);
    if (ends && !command->told_to_end) /* a watch that begins anew gives it more time */
        link_watch(command->link, PATIENCE);
    command->told_to_end |= ends;
}

/* ---- the other side ---- */

static void remote_command_on_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct remote_command *command = arg;
    (void)link;
    switch (frame->type) {
    case FRAME_OUTPUT:
        remote_command_take_output(command, frame);
        break;
    case FRAME_TERMINAL:
        command->raw = frame->rank;
        show_raw(command);
        break;
    case FRAME_SIGNAL:
        stop_here(command);
        break;
    case FRAME_END:
        remote_command_take_end(command, frame);
        break;
    default:
        break;
    }
}

static void remote_command_on_room(struct link *link, void *arg)
{
    (void)link;
    ask_input(arg);
}

static void remote_command_on_closed(struct link *link, void *arg, const struct error *why)
{
    struct remote_command *command = arg;
    (void)why;
    command->link = NULL;
    command->lost = !command->over;
    link_free(link);
    if (command->lost)
        ev_break(command->loop, EVBREAK_ALL);
}

static const struct link_ops remote_command_link_ops = {
    remote_command_on_frame, remote_command_on_room, remote_command_on_closed, NULL, NULL};

/* ---- the whole ---- */

static int remote_command_start(struct remote_command *command, const struct method_call *call,
                                struct error *err)
{
    if (call->method->run == tpctl_new) {
        json_t *made = tpctl_new_request(call, err);
        command->sent = made ? json_dumps(made, JSON_COMPACT) : NULL;
        json_decref(made);
        if (!command->sent)
            return -1;
    }
    int fd = instance_connect(getenv(BATCH_VARIABLE), err);
    if (fd < 0)
        return error_prefix(err,
                            "this command is in an instance (%s is set), which cannot be reached",
                            BATCH_VARIABLE);
    command->archive = method_value(call, TPCTL_ARCHIVE);
    if (command->archive) {
        command->file = open(command->archive, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (command->file < 0) {
            error_set(err, "--archive %s: cannot make it: %s", command->archive, strerror(errno));
            close(fd);
            return -1;
        }
    }
    fill_request(command, call);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* as a full disk */
    command->loop = ev_default_loop(0);
    command->link = link_new(command->loop, fd, fd, &remote_command_link_ops, command);
    for (int i = 0; i < 2; i++) {
        nonblocking_writer_init(&command->sinks[i], command->loop, output_settle, command);
        nonblocking_writer_borrow(&command->sinks[i],
                                  i == 0 && command->file >= 0 ? command->file : i + 1);
    }
    command->signals =
        signal_source_new(command->loop, passed_on, NPASSED, remote_command_on_signal, command);
    if (!command->signals)
        return error_set(err, "cannot watch for signals: %s", strerror(errno));
    json_t *request = remote_command_request_to_json(&command->request);
    link_send_json(command->link, FRAME_COMMAND, 0, 0, request);
    json_decref(request);
    if (command->sent) {
        struct frame text = {
            .type = FRAME_STDIN, .bytes = command->sent, .len = strlen(command->sent)};
        link_send(command->link, &text);
        send_plain(command, FRAME_STDIN_END, 0);
        return 0;
    }
    if (command->request.streams[0] == COMMAND_STREAM_NONE || !reads_stdin(call))
        return 0;
    command->input = stdin_reader_new(command->loop, NULL, &typed_ops, command, err);
    ask_input(command);
    return command->input ? 0 : -1;
}

/* Of what could not be written the other side knows no more than that. */
static void tell_lost_output(struct remote_command *command, struct error *err)
{
    int why = command->sinks[0].error;
    if (!why || why == EPIPE)
        return;
    command->killer = 0;
    command->status = 1;
    if (command->archive)
        error_set(err, "--archive %s: cannot write: %s; nothing is removed", command->archive,
                  strerror(why));
    else
        error_set(err, "stdout: cannot write: %s", strerror(why));
}

static void remote_command_close(struct remote_command *command)
{
    struct stat info;
    raw_terminal_leave();
    signal_source_free(command->signals);
    stdin_reader_free(command->input);
    for (int i = 0; i < 2 && command->loop; i++)
        nonblocking_writer_free(&command->sinks[i]);
    link_free(command->link);
    if (command->file >= 0 && !command->kept &&
        (command->status || command->killer || fstat(command->file, &info) < 0 || !info.st_size))
        unlink(command->archive);
    if (command->file >= 0)
        close(command->file);
    if (command->tty >= 0)
        close(command->tty);
    remote_command_request_clear(&command->request);
    free(command->sent);
}

static int remote_command_run(const struct method_call *call)
{
    struct error err = ERROR_INIT;
    struct remote_command command = {.tty = -1, .file = -1, .status = 1};
    if (remote_command_start(&command, call, &err) == 0)
        ev_run(command.loop, 0);
    if (command.lost)
        error_set(&err, "the instance has ended, or its manager does not answer");
    tell_lost_output(&command, &err);
    if (err.text && err.kind == ERROR_USAGE)
        command.status = 2;
    remote_command_close(&command);
    terminal_complain("tpctl", err.text ? err.text : "", err.text ? strlen(err.text) : 0);
    error_clear(&err);
    if (command.killer) {
        signal(command.killer, SIG_DFL);
        raise(command.killer);
    }
    return command.killer ? 128 + command.killer : command.status;
}

bool remote_command_ask(const struct method_program *program, char *const *words, int *status)
{
    struct method_call call = {0};
    bool runs = false;
    if (!needs_other_host() || (words[0] && strcmp(words[0], "--version") == 0))
        return false;
    if (method_scan(program, words, &call, NULL) == 0 && !method_value(&call, program->help)) {
        runs = true;
        *status = remote_command_run(&call);
    }
    method_call_clear(&call);
    return runs;
}

/* A command with its streams at the other end of a link. */
#include "launcher/cli/remote_command_serve.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/process/program_path.h"
#include "launcher/process/pseudo_terminal.h"
#include "launcher/process/terminal_modes.h"
#include "launcher/stdio/terminal.h"
#include "launcher/tree/link.h"

#define COMMAND "tpctl"
#define PIECE 65536
#define REST 1.0    /* s for what the command left to write, once it has ended */
#define HUNG_UP 2.0 /* s that it has to end when its caller is gone */
#define SPARE_FD 10 /* the lower ones are those of the child */
#define OUTLETS 3   /* its terminal, its stdout, its stderr */

/* What the command writes. */
struct outlet {
    struct command *command;
    int fd;         /* -1: closed, or not used */
    uint16_t flags; /* of its frames */
    ev_io reader;
};

struct command {
    struct ev_loop *loop;
    struct link *caller;
    pid_t pid;
    bool ended; /* the process */
    int status;
    bool told; /* the caller was told so */
    struct outlet outlets[OUTLETS];
    int master, terminal; /* both ends of its terminal; -1: none */
    bool raw;             /* it reads keys one by one */
    int input;            /* what it reads is written there; -1: nothing is taken */
    struct buf typed;     /* that waits for it */
    size_t owed;          /* bytes that the caller may send again once this is gone */
    bool input_ends;      /* behind that */
    ev_io writer;
    ev_child child;
    ev_timer due;
};

/* The terminal serves for both directions, and stays open. */
static void end_descriptor(const struct command *command, int *fd, ev_io *watcher)
{
    ev_io_stop(command->loop, watcher);
    if (*fd != command->master)
        close(*fd);
    *fd = -1;
}

/* ---- what it writes ---- */

/* Keys are read one by one once the command says so, as tpctl top does. */
static void watch_mode(struct command *command)
{
    struct termios modes;
    if (command->master < 0 || tcgetattr(command->master, &modes) < 0)
        return;
    bool raw = !(modes.c_lflag & ICANON);
    if (raw != command->raw)
        link_send(command->caller, &(struct frame){.type = FRAME_TERMINAL, .rank = raw});
    command->raw = raw;
}

/* The last word, once all that it wrote is sent. */
static void command_tell_end(struct command *command)
{
    for (size_t i = 0; i < OUTLETS; i++)
        if (command->outlets[i].fd >= 0)
            return;
    if (!command->ended || command->told)
        return;
    bool killed = WIFSIGNALED(command->status);
    json_t *end = json_pack("{s:i, s:i}", "status", killed ? 1 : WEXITSTATUS(command->status),
                            "signal", killed ? WTERMSIG(command->status) : 0);
    command->told = true;
    ev_timer_stop(command->loop, &command->due);
    link_send_json(command->caller, FRAME_END, 0, 0, end);
    json_decref(end);
}

static void outlet_close(struct outlet *outlet)
{
    struct command *command = outlet->command;
    struct frame end = {.type = FRAME_OUTPUT, .flags = outlet->flags};
    if (outlet->fd < 0)
        return;
    end_descriptor(command, &outlet->fd, &outlet->reader);
    link_send(command->caller, &end);
    command_tell_end(command);
}

static void outlet_on_readable(struct ev_loop *loop, ev_io *io, int events)
{
    struct outlet *outlet = io->data;
    struct command *command = outlet->command;
    char bytes[PIECE];
    size_t room = link_room(command->caller);
    (void)events;
    if (!room) { /* command_on_room() goes on */
        ev_io_stop(loop, io);
        return;
    }
    room -= FRAME_HEADER;
    ssize_t got = read(outlet->fd, bytes, room < sizeof(bytes) ? room : sizeof(bytes));
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        outlet_close(outlet);
        return;
    }
    struct frame frame = {
        .type = FRAME_OUTPUT, .flags = outlet->flags, .bytes = bytes, .len = (size_t)got};
    watch_mode(command);
    link_send(command->caller, &frame);
}

static void outlet_open(struct command *command, size_t at, int fd, uint16_t flags)
{
    struct outlet *outlet = &command->outlets[at];
    *outlet = (struct outlet){.command = command, .fd = fd, .flags = flags};
    if (fd < 0)
        return;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    ev_io_init(&outlet->reader, outlet_on_readable, fd, EV_READ);
    outlet->reader.data = outlet;
    ev_io_start(command->loop, &outlet->reader);
}

/* ---- what it reads ---- */

static void input_pay(struct command *command)
{
    if (command->typed.len || !command->owed)
        return;
    link_consumed(command->caller, command->owed);
    command->owed = 0;
}

/* It takes no more, or gets none. */
static void input_close(struct command *command)
{
    if (command->input < 0)
        return;
    end_descriptor(command, &command->input, &command->writer);
    buf_free(&command->typed);
    input_pay(command);
}

static void input_write(struct command *command)
{
    while (command->input >= 0 && command->typed.len) {
        ssize_t done = write(command->input, buf_bytes(&command->typed), command->typed.len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno == EAGAIN) {
            ev_io_start(command->loop, &command->writer);
            return;
        }
        if (done < 0) {
            input_close(command);
            return;
        }
        buf_consume(&command->typed, (size_t)done);
    }
    ev_io_stop(command->loop, &command->writer);
    input_pay(command);
    if (!command->input_ends || command->input < 0)
        return;
    if (command->input == command->master)
        pseudo_terminal_type_end(command->master);
    input_close(command);
}

static void input_on_writable(struct ev_loop *loop, ev_io *io, int events)
{
    (void)loop, (void)events;
    input_write(io->data);
}

static void take_input(struct command *command, const struct frame *frame)
{
    command->owed += link_weight(frame);
    command->input_ends |= frame->type == FRAME_STDIN_END;
    if (command->input >= 0)
        buf_add(&command->typed, frame->bytes, frame->len);
    input_write(command);
}

/* ---- what is done to it ---- */

/* A key of the terminal means the same here, as if it were typed there: the kernel sends it. */
static void take_signal(struct command *command, const struct frame *frame)
{
    static const int taken[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
    int number = frame->flags;
    bool known = false;
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        known = known || taken[i] == number;
    if (command->ended || !known)
        return;
    bool key = number == SIGINT || number == SIGQUIT || number == SIGTSTP;
    if (frame->rank != FRAME_SIGNAL_TYPED || !key || command->master < 0 ||
        ioctl(command->master, TIOCSIG, number) < 0)
        kill(-command->pid, number);
}

/* Nobody reads this stream any more. */
static void take_closed(struct command *command, const struct frame *frame)
{
    for (size_t i = 1; i < OUTLETS && !frame->len; i++) /* not of its terminal */
        if (command->outlets[i].flags == frame->flags)
            outlet_close(&command->outlets[i]);
}

static void command_on_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct command *command = arg;
    (void)link;
    if (frame->type == FRAME_STDIN || frame->type == FRAME_STDIN_END)
        take_input(command, frame);
    else if (frame->type == FRAME_SIGNAL)
        take_signal(command, frame);
    else if (frame->type == FRAME_TERMINAL && frame->len == 8 && command->master >= 0)
        terminal_set_size(command->master, frame_get_u64(frame->bytes));
    else if (frame->type == FRAME_OUTPUT)
        take_closed(command, frame);
}

static void command_on_room(struct link *link, void *arg)
{
    struct command *command = arg;
    (void)link;
    for (size_t i = 0; i < OUTLETS; i++)
        if (command->outlets[i].fd >= 0)
            ev_io_start(command->loop, &command->outlets[i].reader);
}

static void command_on_closed(struct link *link, void *arg, const struct error *why)
{
    struct command *command = arg;
    (void)link, (void)why;
    ev_break(command->loop, EVBREAK_ALL);
}

static const struct link_ops command_link_ops = {command_on_frame, command_on_room,
                                                 command_on_closed, NULL, NULL};

/* ---- the process ---- */

/* What it started may still hold its streams. */
static void command_on_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct command *command = timer->data;
    bool waits = false;
    (void)events;
    for (size_t i = 0; i < OUTLETS; i++) {
        int left = 0, fd = command->outlets[i].fd;
        waits = waits || (fd >= 0 && ioctl(fd, FIONREAD, &left) == 0 && left > 0);
    }
    if (waits) { /* the caller has not taken all of it */
        ev_timer_set(timer, REST, 0);
        ev_timer_start(loop, timer);
        return;
    }
    for (size_t i = 0; i < OUTLETS; i++)
        outlet_close(&command->outlets[i]);
}

static void command_on_child(struct ev_loop *loop, ev_child *child, int events)
{
    struct command *command = child->data;
    (void)events;
    if (WIFSTOPPED(child->rstatus)) {
        link_send(command->caller,
                  &(struct frame){.type = FRAME_SIGNAL, .flags = WSTOPSIG(child->rstatus)});
        return;
    }
    if (WIFCONTINUED(child->rstatus))
        return;
    ev_child_stop(loop, child);
    command->ended = true;
    command->status = child->rstatus;
    watch_mode(command);
    if (command->terminal >= 0)
        close(command->terminal);
    command->terminal = -1;
    command_tell_end(command);
    if (!command->told)
        ev_timer_start(loop, &command->due);
}

struct child_streams {
    int fds[3];
    int terminal;
};

/* In the child. */
static void become_command(const struct child_streams *streams, char *const *words)
{
    sigset_t stop;
    setpgid(0, 0);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    if (streams->terminal >= 0) {
        sigemptyset(&stop);
        sigaddset(&stop, SIGTTOU);
        sigprocmask(SIG_BLOCK, &stop, NULL);
        tcsetpgrp(streams->terminal, getpid());
    }
    sigemptyset(&stop);
    sigprocmask(SIG_SETMASK, &stop, NULL);
    for (int fd = 0; fd <= 2; fd++)
        dup2(streams->fds[fd], fd);
    setenv(COMMAND_HERE, "1", 1);
    if (chdir("/") == 0)
        execv(words[0], words);
    char *text = mem_format("cannot run %s on the host of the instance's manager: %s", words[0],
                            strerror(errno));
    terminal_complain(COMMAND, text, strlen(text));
    _exit(1);
}

static int open_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        int moved = fcntl(ends[i], F_DUPFD_CLOEXEC, SPARE_FD);
        close(ends[i]);
        ends[i] = moved;
    }
    return ends[0] < 0 || ends[1] < 0 ? -1 : 0;
}

/* What is typed is shown where it is typed, and what is shown goes through another terminal. */
static int open_terminal(struct command *command, const char *modes, struct error *err)
{
    struct termios now;
    if (pseudo_terminal_open(&command->master, &command->terminal, err) < 0)
        return -1;
    terminal_modes_set(command->terminal, modes, NULL);
    if (tcgetattr(command->terminal, &now) == 0) {
        now.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
        now.c_oflag &= ~(tcflag_t)OPOST;
        tcsetattr(command->terminal, TCSANOW, &now);
    }
    ioctl(command->terminal, TIOCSCTTY, 0);
    fcntl(command->master, F_SETFL, fcntl(command->master, F_GETFL) | O_NONBLOCK);
    return 0;
}

/* Sets `ours` to our ends of the pipes; -1 for a stream without a pipe. */
static int open_streams(struct command *command, const struct remote_command_request *request,
                        struct child_streams *streams, int ours[3], struct error *err)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    null = null < 0 ? -1 : fcntl(null, F_DUPFD_CLOEXEC, SPARE_FD);
    streams->terminal = command->terminal;
    for (int fd = 0; fd <= 2; fd++) {
        int ends[2];
        ours[fd] = -1;
        streams->fds[fd] = null;
        if (request->streams[fd] == COMMAND_STREAM_TERMINAL) {
            streams->fds[fd] = command->terminal;
        } else if (fd == 2 && request->merged) {
            streams->fds[fd] = streams->fds[1];
        } else if (request->streams[fd] == COMMAND_STREAM_BYTES) {
            if (open_pipe(ends) < 0)
                return error_set(err, "cannot make a pipe: %s", strerror(errno));
            streams->fds[fd] = ends[fd != 0];
            ours[fd] = ends[fd == 0];
        }
    }
    return null < 0 ? error_set(err, "/dev/null: %s", strerror(errno)) : 0;
}

static char **command_words(const struct remote_command_request *request)
{
    struct string_list words = {0};
    string_list_add(&words, program_path(COMMAND));
    for (char **word = request->words; *word; word++)
        string_list_add_copy(&words, *word);
    return string_list_take(&words);
}

/* Its terminal is what it was typed at; of a terminal that is stdin alone nothing is read. */
static void watch_streams(struct command *command, const struct remote_command_request *request,
                          const int ours[3])
{
    const enum command_stream *streams = request->streams;
    bool shows = streams[1] == COMMAND_STREAM_TERMINAL || streams[2] == COMMAND_STREAM_TERMINAL;
    outlet_open(command, 0, shows ? command->master : -1,
                streams[1] == COMMAND_STREAM_TERMINAL ? 0 : FRAME_STDERR);
    outlet_open(command, 1, ours[1], 0);
    outlet_open(command, 2, ours[2], FRAME_STDERR);
    command->input = streams[0] == COMMAND_STREAM_TERMINAL ? command->master : ours[0];
    if (command->input < 0)
        return;
    fcntl(command->input, F_SETFL, fcntl(command->input, F_GETFL) | O_NONBLOCK);
    ev_io_init(&command->writer, input_on_writable, command->input, EV_WRITE);
    command->writer.data = command;
}

static int command_start(struct command *command, const struct remote_command_request *request,
                         struct error *err)
{
    struct child_streams streams;
    int ours[3] = {-1, -1, -1};
    if (request->terminal && open_terminal(command, request->terminal, err) < 0)
        return -1;
    if (open_streams(command, request, &streams, ours, err) < 0)
        return -1;
    char **words = command_words(request);
    command->pid = fork();
    if (command->pid == 0)
        become_command(&streams, words);
    string_list_free(words);
    if (command->pid < 0)
        return error_set(err, "cannot start a process: %s", strerror(errno));
    setpgid(command->pid, command->pid);
    for (int fd = 0; fd <= 2; fd++)
        if (ours[fd] >= 0)
            close(streams.fds[fd]);
    watch_streams(command, request, ours);
    return 0;
}

/* Its caller is gone: as if its terminal were. */
static void hang_up(struct command *command)
{
    static const struct timespec piece = {.tv_nsec = 10000000};
    if (command->ended)
        return;
    kill(-command->pid, SIGHUP);
    kill(-command->pid, SIGCONT);
    for (double waited = 0; waited < HUNG_UP; waited += 0.01) {
        if (waitpid(command->pid, NULL, WNOHANG) != 0)
            return;
        nanosleep(&piece, NULL);
    }
    kill(-command->pid, SIGKILL);
}

int remote_command_serve(int caller, const struct remote_command_request *request,
                         struct error *err)
{
    struct command command = {
        .loop = ev_default_loop(0), .master = -1, .terminal = -1, .input = -1};
    for (size_t i = 0; i < OUTLETS; i++)
        command.outlets[i].fd = -1;
    setsid();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    if (command_start(&command, request, err) < 0)
        return -1;
    command.caller = link_new(command.loop, caller, caller, &command_link_ops, &command);
    ev_timer_init(&command.due, command_on_due, REST, 0);
    ev_child_init(&command.child, command_on_child, command.pid, 1);
    command.due.data = command.child.data = &command;
    ev_child_start(command.loop, &command.child);
    ev_run(command.loop, 0);
    hang_up(&command);
    link_free(command.caller);
    return 0;
}

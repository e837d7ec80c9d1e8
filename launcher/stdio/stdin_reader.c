/* Reads stdin in the way that its kind needs, for the front end. */
#include "launcher/stdio/stdin_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"

#define INPUT_CHUNK 65536
/* How soon a background process tries again, if somebody types. */
#define INPUT_LOOK 1.0

struct input {
    struct ev_loop *loop;
    struct stdin_reader_ops ops;
    void *arg;
    char *name;
    int fd;
    bool owned;
    bool tty;
    bool over;     /* the end or a failure was told */
    size_t wanted; /* how many bytes more may be read */
    ssize_t (*read)(int fd, void *room, size_t len);
    ev_io readable;
    ev_timer look; /* waits for the foreground; without a descriptor, tells the end */
    char *room;    /* INPUT_CHUNK bytes */
};

/* A background process that reads its terminal is stopped, unless it blocks SIGTTIN: then it is
 * told EIO. So the kernel judges who is in the foreground, in the moment of reading, and nothing
 * goes wrong when the shell takes the terminal back just before. */
static ssize_t read_terminal(int fd, void *room, size_t len)
{
    sigset_t stop, old;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTIN);
    pthread_sigmask(SIG_BLOCK, &stop, &old);
    ssize_t count = read(fd, room, len);
    int saved = errno;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = saved;
    return count;
}

/* Somebody else may read the same pipe, and have been faster. Kernels that can't do this without
 * waiting (Linux before 6.4) say so. */
static ssize_t read_pipe(int fd, void *room, size_t len)
{
    struct iovec into = {.iov_base = room, .iov_len = len};
    ssize_t count = preadv2(fd, &into, 1, -1, RWF_NOWAIT);
    return count < 0 && errno == EOPNOTSUPP ? read(fd, room, len) : count;
}

static ssize_t read_socket(int fd, void *room, size_t len)
{
    return recv(fd, room, len, MSG_DONTWAIT);
}

static void input_stop(struct input *input)
{
    ev_io_stop(input->loop, &input->readable);
    ev_timer_stop(input->loop, &input->look);
}

static void input_watch(struct input *input)
{
    input_stop(input);
    if (input->wanted && !input->over)
        ev_io_start(input->loop, &input->readable);
}

static void input_end(struct input *input)
{
    input_stop(input);
    input->over = true;
    input->ops.end(input->arg);
}

static void input_not_read(struct input *input, int error)
{
    if (error == EAGAIN || error == EINTR)
        return;
    struct pollfd state = {.fd = input->fd};
    bool from_terminal = error == EIO && input->tty;
    bool hung_up = from_terminal && poll(&state, 1, 0) > 0;
    if (from_terminal && !hung_up) { /* this process is in the background */
        input_stop(input);
        ev_timer_set(&input->look, INPUT_LOOK, 0);
        ev_timer_start(input->loop, &input->look);
    } else if (hung_up || error == EBADF) {
        input_end(input);
    } else {
        struct error err = ERROR_INIT;
        input_stop(input);
        input->over = true;
        error_set(&err, "%s: cannot read: %s", input->name, strerror(error));
        input->ops.failed(input->arg, &err);
        error_clear(&err);
    }
}

/* A file that cannot be polled (a regular file, /dev/null) counts as ready in each turn of the
 * loop; one chunk a turn leaves room for the others. The user's function comes last in each
 * branch: it may free the input. */
static void input_ready(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct input *input = watcher->data;
    (void)loop;
    (void)events;
    size_t most = input->wanted < INPUT_CHUNK ? input->wanted : INPUT_CHUNK;
    ssize_t count = input->read(input->fd, input->room, most);
    if (count < 0) {
        input_not_read(input, errno);
    } else if (count == 0) {
        input_end(input);
    } else {
        input->wanted -= (size_t)count;
        if (!input->wanted)
            input_stop(input);
        input->ops.data(input->arg, input->room, (size_t)count);
    }
}

static void input_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct input *input = timer->data;
    (void)loop;
    (void)events;
    if (input->fd < 0)
        input_end(input);
    else
        input_watch(input);
}

static int input_take(struct input *input, struct error *err)
{
    struct stat st;
    if (fstat(input->fd, &st) < 0) {
        input->fd = -1;
        ev_timer_set(&input->look, 0, 0);
        ev_timer_start(input->loop, &input->look);
        return 0;
    }
    if (S_ISDIR(st.st_mode))
        return error_set(err, "%s is a directory: it cannot be read as input", input->name);
    input->read = S_ISSOCK(st.st_mode) ? read_socket : S_ISFIFO(st.st_mode) ? read_pipe : read;
    input->tty = isatty(input->fd);
    if (input->tty)
        input->read = read_terminal;
    /* Another process may read the same terminal (less, at the other end of a pipeline), and be
     * faster: a read must not wait then. Where a terminal can't be reopened, it may. */
    if (input->tty && !input->owned) {
        char path[32];
        snprintf(path, sizeof(path), "/proc/self/fd/%d", input->fd);
        int mine = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (mine >= 0) {
            input->fd = mine;
            input->owned = true;
        }
    }
    ev_io_set(&input->readable, input->fd, EV_READ);
    return 0;
}

struct input *stdin_reader_new(struct ev_loop *loop, const char *path,
                               const struct stdin_reader_ops *ops, void *arg, struct error *err)
{
    struct input *input = mem_alloc(sizeof(*input));
    input->loop = loop;
    input->ops = *ops;
    input->arg = arg;
    input->name = mem_copy_text(path ? path : "stdin");
    input->room = mem_resize(NULL, INPUT_CHUNK, 1);
    ev_io_init(&input->readable, input_ready, -1, EV_READ);
    ev_timer_init(&input->look, input_look, 0, 0);
    input->readable.data = input->look.data = input;
    if (path) {
        input->owned = true;
        input->fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    }
    if (input->fd < 0)
        error_set(err, "--input \"%s\": cannot open: %s", path, strerror(errno));
    else if (input_take(input, err) == 0)
        return input;
    stdin_reader_free(input);
    return NULL;
}

void stdin_reader_want(struct input *input, size_t bytes)
{
    bool idle = !input->wanted;
    input->wanted += bytes;
    if (idle && input->fd >= 0)
        input_watch(input);
}

void stdin_reader_resume(struct input *input)
{
    if (input->fd >= 0)
        input_watch(input);
}

bool stdin_reader_echoes(const struct input *input)
{
    struct termios mode;
    return input->tty && tcgetattr(input->fd, &mode) == 0 && mode.c_lflag & ECHO;
}

void stdin_reader_free(struct input *input)
{
    if (!input)
        return;
    input_stop(input);
    if (input->owned && input->fd >= 0)
        close(input->fd);
    free(input->name);
    free(input->room);
    free(input);
}

/* tpsingleton PORT - the task that stands in for a process which was started without a launcher.
 *
 * Its own PMI session is the process's: after the singinit exchange every byte is passed on, both
 * ways, until one of the two has closed. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "launcher/cli/singleton.h"
#include "pmi-server/pmi1/wire.h"
#include "pmi-server/server/number.h"

#define MAX_LINE 1024  /* of the client; and no line of ours here is longer */
#define PATIENCE 30000 /* ms for an answer before it is given up */
#define INIT "cmd=init pmi_version=1 pmi_subversion=1\n"

struct side {
    const char *name;
    int fd;
    struct buf in; /* not yet passed on, or not yet understood */
};

static int fail(const char *name, const char *what)
{
    fprintf(stderr, "tprun: singleton: %s %s\n", name, what);
    return -1;
}

static int side_send(struct side *side, const char *bytes, size_t len)
{
    while (len) {
        ssize_t sent = write(side->fd, bytes, len);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return -1;
        bytes += sent;
        len -= (size_t)sent;
    }
    return 0;
}

/* More bytes; 0 at the end of them. */
static ssize_t side_receive(struct side *side)
{
    ssize_t got;
    do
        got = read(side->fd, buf_reserve(&side->in, 4096), 4096);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        buf_added(&side->in, (size_t)got);
    return got;
}

/* The next line, its newline included, stays at the front of side->in. 0 for none. */
static size_t side_line(struct side *side)
{
    for (;;) {
        const char *newline = memchr(buf_bytes(&side->in), '\n', side->in.len);
        struct pollfd poll_fd = {.fd = side->fd, .events = POLLIN};
        if (newline)
            return (size_t)(newline - buf_bytes(&side->in)) + 1;
        if (side->in.len > MAX_LINE || poll(&poll_fd, 1, PATIENCE) <= 0 || side_receive(side) <= 0)
            return 0;
    }
}

/* The next line, taken apart in `text`; 0, or -1 where it is not this command. */
static int side_expect(struct side *side, const char *command, char text[MAX_LINE + 1],
                       struct pmi1_line *line)
{
    size_t len = side_line(side);
    if (!len || len > MAX_LINE)
        return fail(side->name, "did not answer");
    memcpy(text, buf_bytes(&side->in), len);
    buf_consume(&side->in, len);
    const char *have = pmi1_line_parse(line, text, len - 1) ? pmi1_line_value(line, "cmd") : NULL;
    return have && strcmp(have, command) == 0 ? 0 : fail(side->name, "said something else");
}

/* Our own session with the launcher, as far as the name of its space. `init` is its first reply. */
static int open_session(struct side *launcher, struct buf *init, struct buf *space)
{
    char text[MAX_LINE + 1];
    struct pmi1_line line;
    size_t len;
    if (side_send(launcher, INIT, strlen(INIT)) < 0 || !(len = side_line(launcher)))
        return fail(launcher->name, "did not answer");
    buf_add(init, buf_bytes(&launcher->in), len);
    buf_consume(&launcher->in, len);
    if (side_send(launcher, "cmd=get_my_kvsname\n", 19) < 0 ||
        side_expect(launcher, "my_kvsname", text, &line) < 0)
        return -1;
    const char *name = pmi1_line_value(&line, "kvsname");
    if (!name)
        return fail(launcher->name, "gave no name of a space");
    buf_add_text(space, name);
    return 0;
}

/* stdio=no whatever the process would let us have: what it has open is its user's. */
static int greet_process(struct side *process, const struct buf *space)
{
    static const char hello[] = "cmd=singinit authtype=none\n";
    char text[MAX_LINE + 1];
    struct pmi1_line line;
    struct buf info = BUF_INIT;
    if (side_send(process, hello, strlen(hello)) < 0 ||
        side_expect(process, "singinit", text, &line) < 0)
        return -1;
    const char *version = pmi1_line_value(&line, "pmi_version");
    bool known = version && strcmp(version, "1") == 0;
    buf_printf(&info, "cmd=singinit_info versionok=%s stdio=no kvsname=%s\n", known ? "yes" : "no",
               buf_text(space));
    int rc = side_send(process, buf_bytes(&info), info.len);
    buf_free(&info);
    return known ? rc : fail(process->name, "speaks another version than PMI-1");
}

/* Its session has been opened already: the reply to its init is the one that we had. */
static int answer_init(struct side *process, const struct buf *init)
{
    char text[MAX_LINE + 1];
    struct pmi1_line line;
    if (side_expect(process, "init", text, &line) < 0)
        return -1;
    return side_send(process, buf_bytes(init), init->len);
}

/* False where `from` has closed, or `to` hears no more. */
static bool pass_on(struct side *from, struct side *to)
{
    if (side_receive(from) <= 0)
        return false;
    int rc = side_send(to, buf_bytes(&from->in), from->in.len);
    buf_clear(&from->in);
    return rc == 0;
}

static void relay(struct side *process, struct side *launcher)
{
    struct pollfd fds[] = {{.fd = process->fd, .events = POLLIN},
                           {.fd = launcher->fd, .events = POLLIN}};
    bool open = side_send(launcher, buf_bytes(&process->in), process->in.len) == 0;
    buf_clear(&process->in);
    while (open) {
        if (poll(fds, 2, -1) < 0)
            open = errno == EINTR;
        else
            open = (!fds[0].revents || pass_on(process, launcher)) &&
                   (!fds[1].revents || pass_on(launcher, process));
    }
}

int main(int argc, char *argv[])
{
    const char *fd = getenv("PMI_FD");
    int port, own;
    if (argc != 2 || !pmi_parse_int(argv[1], &port) || port < 1 || port > 65535 || !fd ||
        !pmi_parse_int(fd, &own))
        return fail("this program", "is started by tprun only"), 2;
    signal(SIGPIPE, SIG_IGN);
    struct side launcher = {.name = "the agent", .fd = own};
    struct side process = {.name = "the process"};
    struct buf init = BUF_INIT, space = BUF_INIT;
    if (open_session(&launcher, &init, &space) < 0)
        return 1;
    process.fd = singleton_connect(port);
    if (process.fd < 0)
        return fail("the process that asked", "is not there any more"), 1;
    if (greet_process(&process, &space) < 0 || answer_init(&process, &init) < 0)
        return 1;
    relay(&process, &launcher);
    buf_free(&init);
    buf_free(&space);
    buf_free(&process.in);
    buf_free(&launcher.in);
    return 0;
}

/* tpsingleton PORT [stdio] - the task that stands in for a process which was started without a
 * launcher.
 *
 * Its own PMI session is the process's: after the singinit exchange every byte is passed on, both
 * ways, until one of the two has closed. With the word stdio so are standard input, output and
 * error, if the process lets us have them, and then these have to end, too. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "launcher/mpiexec/relay.h"
#include "launcher/mpiexec/singleton.h"
#include "launcher/stdio/terminal.h"
#include "pmi-server/pmix/tcp_peers.h"
#include "pmi-server/wire/pmi1_line.h"

#define MAX_LINE 1024   /* of the client; and no line of ours here is longer */
#define PATIENCE 30000  /* ms for an answer before it is given up */
#define LAST_WORDS 1000 /* ms without any, from a process that has left its session */
#define INIT "cmd=init pmi_version=1 pmi_subversion=1\n"
#define ASK_SPACE "cmd=get_my_kvsname\n"
#define STDIO 3 /* input, output, error */

enum { TO_LAUNCHER, TO_PROCESS, INPUT, OUTPUT, ERRORS, RELAYS };

struct side {
    const char *name;
    int fd;
    struct buf in; /* not yet passed on, or not yet understood */
};

static int fail(const char *name, const char *what)
{
    char *text = mem_format("singleton: %s %s", name, what);
    terminal_complain("tprun", text, strlen(text));
    free(text);
    return -1;
}

/* The next line, its newline included, stays at the front of side->in. 0 for none. */
static size_t side_line(struct side *side)
{
    for (;;) {
        const char *newline = memchr(buf_bytes(&side->in), '\n', side->in.len);
        struct pollfd poll_fd = {.fd = side->fd, .events = POLLIN};
        if (newline)
            return (size_t)(newline - buf_bytes(&side->in)) + 1;
        if (side->in.len > MAX_LINE || poll(&poll_fd, 1, PATIENCE) <= 0)
            return 0;
        ssize_t got;
        do
            got = read(side->fd, buf_reserve(&side->in, 4096), 4096);
        while (got < 0 && errno == EINTR);
        if (got <= 0)
            return 0;
        buf_added(&side->in, (size_t)got);
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

/* Our own session with the launcher, as far as the name of its space. The process opens it once
 * more: what it says of versions counts. */
static int open_session(struct side *launcher, struct buf *space)
{
    char text[MAX_LINE + 1];
    struct pmi1_line line;
    if (file_write_all(launcher->fd, INIT, strlen(INIT)) < 0 ||
        side_expect(launcher, "response_to_init", text, &line) < 0 ||
        file_write_all(launcher->fd, ASK_SPACE, strlen(ASK_SPACE)) < 0 ||
        side_expect(launcher, "my_kvsname", text, &line) < 0)
        return -1;
    const char *name = pmi1_line_value(&line, "kvsname");
    if (!name)
        return fail(launcher->name, "gave no name of a space");
    buf_add_text(space, name);
    return 0;
}

static bool says(const struct pmi1_line *line, const char *name, const char *value)
{
    const char *have = pmi1_line_value(line, name);
    return have && strcmp(have, value) == 0;
}

/* The process takes them in this order: input, output, error. All have to be there before it is
 * told that they come: else it would wait for ever for one that does not. */
static bool connect_stdio(int port, int fds[STDIO])
{
    for (int i = 0; i < STDIO; i++) {
        fds[i] = singleton_connect(port);
        if (fds[i] >= 0)
            continue;
        while (i-- > 0) {
            close(fds[i]);
            fds[i] = -1;
        }
        return false;
    }
    return true;
}

/* Its input, output and error go into fds[], -1 each unless they are wanted and it lets us have
 * them. */
static int greet_process(struct side *process, const struct buf *space, int port, bool wanted,
                         int fds[STDIO])
{
    static const char hello[] = "cmd=singinit authtype=none\n";
    char text[MAX_LINE + 1];
    struct pmi1_line line;
    struct buf info = BUF_INIT;
    if (file_write_all(process->fd, hello, strlen(hello)) < 0 ||
        side_expect(process, "singinit", text, &line) < 0)
        return -1;
    if (!tcp_peers_is_own(process->fd)) /* the port may have become somebody else's */
        return fail(process->name, "is not known to be this user's");
    bool known = says(&line, "pmi_version", "1");
    bool stdio = known && wanted && says(&line, "stdio", "yes") && connect_stdio(port, fds);
    buf_printf(&info, "cmd=singinit_info versionok=%s stdio=%s kvsname=%s\n", known ? "yes" : "no",
               stdio ? "yes" : "no", buf_text(space));
    int rc = file_write_all(process->fd, buf_bytes(&info), info.len);
    buf_free(&info);
    return known ? rc : fail(process->name, "speaks another version than PMI-1");
}

/* Whatever came behind the exchange goes first. */
static struct relay relay_between(struct side *from, struct side *to)
{
    struct relay relay = {.from = from->fd, .to = to->fd, .held = from->in};
    from->in = (struct buf)BUF_INIT;
    return relay;
}

/* The launcher has gone; or the process has left its session, and its output has ended. */
static bool is_over(const struct relay *relays, size_t count)
{
    if (relays[TO_PROCESS].state == RELAY_DRY)
        return true;
    if (relays[TO_LAUNCHER].state == RELAY_OPEN)
        return false;
    for (size_t i = OUTPUT; i < count; i++)
        if (relays[i].state == RELAY_OPEN)
            return false;
    return true;
}

static void pass_on(struct side *process, struct side *launcher, const int fds[STDIO])
{
    struct relay relays[RELAYS] = {
        [TO_LAUNCHER] = relay_between(process, launcher),
        [TO_PROCESS] = relay_between(launcher, process),
        [INPUT] = {.from = STDIN_FILENO, .to = fds[0], .alone = true},
        [OUTPUT] = {.from = fds[1], .to = STDOUT_FILENO, .alone = true},
        [ERRORS] = {.from = fds[2], .to = STDERR_FILENO, .alone = true},
    };
    size_t count = fds[0] < 0 ? INPUT : RELAYS;
    bool told = false;
    while (!is_over(relays, count)) {
        bool left = relays[TO_LAUNCHER].state != RELAY_OPEN;
        if (relay_turn(relays, count, left && !told ? LAST_WORDS : -1))
            continue;
        /* A process that did not finalize is a lost one to the agent, which then ends this task, too. So the
         * agent is told when the last words have come, or when they are long in coming. */
        close(relays[TO_LAUNCHER].to);
        relays[TO_PROCESS].state = RELAY_DEAF;
        told = true;
    }
    for (size_t i = 0; i < RELAYS; i++)
        buf_free(&relays[i].held);
}

static int stand_in(int own, int port, bool stdio)
{
    struct side launcher = {.name = "the agent", .fd = own};
    struct side process = {.name = "the process"};
    struct buf space = BUF_INIT;
    int fds[STDIO] = {-1, -1, -1};
    int rc = open_session(&launcher, &space);
    if (rc == 0 && (process.fd = singleton_connect(port)) < 0)
        rc = fail("the process that asked", "is not there any more");
    if (rc == 0)
        rc = greet_process(&process, &space, port, stdio, fds);
    if (rc == 0)
        pass_on(&process, &launcher, fds);
    buf_free(&space);
    buf_free(&process.in);
    buf_free(&launcher.in);
    return rc < 0 ? 1 : 0;
}

int main(int argc, char *argv[])
{
    const char *fd = getenv("PMI_FD");
    int port, own;
    bool stdio = argc == 3 && strcmp(argv[2], SINGLETON_STDIO) == 0;
    if (argc != 2 + stdio || !number_parse_int(argv[1], &port) || port < 1 || port > 65535 || !fd ||
        !number_parse_int(fd, &own))
        return fail("this program", "is started by tprun only"), 2;
    signal(SIGPIPE, SIG_IGN);
    return stand_in(own, port, stdio);
}
